// The shortest vector from the origin out of a Minkowski difference, by the expanding polytope algorithm (van den
// Bergen, "Proximity Queries and Penetration Depth Computation on 3D Game Objects", 2001). A polytope inside the
// difference expands at the face that is nearest along its normal, until that face lies on the surface of the difference
// itself. It starts from any tetrahedron, and the origin may be outside of it: faces that have the origin in front have
// negative distances, and the lowest is expanded first. Every tested direction gives an upper bound: moving b by the
// difference's reach along it surely separates the two.
//
// The polytope (polytope.ts) grows in its own memory until the vector is the shortest but for PRECISION. Only a
// difference that is nearly a ball about the origin, of meshes with many vertices or of round shapes, would need a face
// for each of its own faces: there the global search ends at MAX_VERTICES and continues around the best direction only.
// The result is then the shortest vector near that direction; for balls it is at most 0.03 % longer than the shortest.
//
// There is no warm start: with the last frame's direction as a start, which is 0.03 rad off by now, two balls of 162
// corners take 15 instead of 17 vertices, which is not worth results that depend on the past.

import { checkpoint } from '../../checkpoint';
import { Support } from './support';
import { copyVertex, setVertex, vertexAt } from './minkowski-difference';
import { simplexVertex } from './gjk';
import {
  IN_USE, NO_FACE, addVertex, beginPolytope, faceAt, faceIndexEnd, addVisibleVertex, nearestFace, retire, isInFront,
  setFirstFaces, setVertexCount, vertexCount, vertices, volumeOf,
} from './polytope';

/** The best direction so far, as a unit vector, and how far the difference reaches along it. */
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let penetrationDepth: f64 = 0;

/**
 * Vertex limits of a polytope, for meshes and for round shapes. In a ball the 16,380 faces of the first are 0.0003 of
 * the radius below the surface, the 2,044 of the second 0.0024: 1 - cos r for the circle of radius r around an
 * equilateral triangle of 4π / 16,380. Two concentric balls of 2,562 vertices are compared exactly in 15 ms, two of
 * 81,002 would take 4,100 ms.
 */
const MAX_VERTICES: u32 = 8192;
const MAX_ROUND_VERTICES: u32 = 1024;
/**
 * How many more vertices are added around the best direction, and the cosine of the angle to it within which faces are
 * considered: 0.1.
 */
const EXTRA_VERTICES: u32 = 1024;
const NEAR_COSINE: f64 = 0.995;
/** The rounding error of the difference of two heights, relative to the size of both bodies. */
const RELATIVE_ROUNDING: f64 = 1e-14;
/** A translation that exceeds the least one by no more than this fraction of the depth is good enough. */
const PRECISION: f64 = 1e-7;

let rounding: f64 = 0;

/**
 * Finds the shortest translation that separates the bodies, and sets directionX … penetrationDepth. `size` is about the size of
 * both bodies. `isCoreOnly`: without their balls. `hasSimplex`: the tetrahedron of gjk.ts may be the first polytope.
 * `isRound`: the difference has round parts. Throws OUT_OF_MEMORY.
 */
export function findPenetration(a: Support, b: Support, size: f64, isCoreOnly: bool, hasSimplex: bool, isRound: bool): void {
  rounding = size * RELATIVE_ROUNDING;
  penetrationDepth = Infinity;
  beginPolytope();
  // A flat difference is separated along its normal, which has been tested.
  if (!(hasSimplex && copySimplex(size)) && !setTetrahedron(a, b, isCoreOnly)) return;
  if (expand(a, b, isCoreOnly, isRound ? MAX_ROUND_VERTICES : MAX_VERTICES)) return;
  retireOthers();
  if (!expand(a, b, isCoreOnly, vertexCount + EXTRA_VERTICES) && isRound) refineRoundSurface(a, b, isCoreOnly);
}

/**
 * How many vertices are added between two checkpoints, and the work units of each: two support mappings and the faces
 * that it sees.
 */
const BATCH_VERTICES: u32 = 64;
const WORK_PER_VERTEX: i32 = 16;

/** Expands the polytope up to `maxVertices` vertices. Returns false if the result may still not be the least. */
function expand(a: Support, b: Support, isCoreOnly: bool, maxVertices: u32): bool {
  while (vertexCount < maxVertices) {
    if (expandBatch(a, b, isCoreOnly, min(maxVertices, vertexCount + BATCH_VERTICES))) return true;
    checkpoint(<i32>BATCH_VERTICES * WORK_PER_VERTEX);
  }
  return false;
}

/** Expands the polytope like `expand`, but without a checkpoint. */
function expandBatch(a: Support, b: Support, isCoreOnly: bool, maxVertices: u32): bool {
  while (vertexCount < maxVertices) {
    const index = nearestFace();
    if (index == NO_FACE) return true;
    const face = faceAt(index);
    const distance = face.distance;
    const height = addSupportVertex(a, b, face.normalX, face.normalY, face.normalZ, isCoreOnly);
    if (penetrationDepth - max(distance, 0.0) <= PRECISION * penetrationDepth + rounding || height - distance <= rounding)
      return true;
    if (isInFront(faceAt(index), vertexAt(vertices, vertexCount - 1))) addVisibleVertex(index);
    else retire(index);
  }
  return false;
}

/** Retires all faces except those around the best direction. */
function retireOthers(): void {
  for (let i: u32 = 0; i < faceIndexEnd; i++) {
    const face = faceAt(i);
    if (face.state == IN_USE && !(face.normalX * directionX + face.normalY * directionY +
      face.normalZ * directionZ > NEAR_COSINE)) retire(i);
  }
}

/**
 * Adds the support point of the difference along a unit direction as a vertex, and keeps the direction if it is the best
 * so far. Returns the vertex's height along it.
 */
function addSupportVertex(a: Support, b: Support, x: f64, y: f64, z: f64, isCoreOnly: bool): f64 {
  const vertex = addVertex();
  setVertex(vertex, a, b, x, y, z, isCoreOnly);
  const height = vertex.x * x + vertex.y * y + vertex.z * z;
  if (height < penetrationDepth) {
    penetrationDepth = height;
    directionX = x; directionY = y; directionZ = z;
  }
  return height;
}

/** Step limit of `refineRoundSurface`: each step tests the direction of the support point of the last direction. */
const MAX_STEPS = 32;

/**
 * Refines the best direction where the difference is round: at the point of its surface nearest to the origin, the
 * vector to that point is the normal.
 */
function refineRoundSurface(a: Support, b: Support, isCoreOnly: bool): void {
  for (let step = 0; step < MAX_STEPS; step++) {
    const previousDepth = penetrationDepth;
    setVertexCount(0);
    addSupportVertex(a, b, directionX, directionY, directionZ, isCoreOnly);
    const vertex = vertexAt(vertices, 0), x = vertex.x, y = vertex.y, z = vertex.z;
    const length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) return;
    addSupportVertex(a, b, x / length, y / length, z / length, isCoreOnly);
    if (!(penetrationDepth < previousDepth - PRECISION * previousDepth)) return;
  }
}

// --- the first tetrahedron ---

/** If the tetrahedron's volume is less than this, relative to the size, a larger one is built. */
const MIN_RELATIVE_VOLUME: f64 = 1e-10;

/** Takes the tetrahedron of gjk.ts that contains the origin. Returns false if it is flat. */
function copySimplex(size: f64): bool {
  setVertexCount(4);
  for (let i: u32 = 0; i < 4; i++) copyVertex(vertexAt(vertices, i), simplexVertex(i));
  const volume = volumeOf(0, 1, 2, 3);
  if (!(abs(volume) > MIN_RELATIVE_VOLUME * size * size * size)) return false;
  if (volume > 0) setFirstFaces(0, 1, 2, 3);
  else setFirstFaces(0, 2, 1, 3);
  return true;
}

/** Builds a tetrahedron of vertices that are far out. Returns false if the difference is flat. */
function setTetrahedron(a: Support, b: Support, isCoreOnly: bool): bool {
  const axis = setLongestEdge(a, b, isCoreOnly);
  if (axis < 0 || !setFarthestFromEdge(a, b, axis, isCoreOnly) || !setFarthestFromTriangle(a, b, isCoreOnly)) return false;
  setVertexCount(4);
  const volume = volumeOf(0, 1, 2, 3);
  if (volume > 0) setFirstFaces(0, 1, 2, 3);
  else if (volume < 0) setFirstFaces(0, 2, 1, 3);
  return volume != 0;
}

/**
 * Sets the first two vertices: the extreme points along the axis of the longest projection. Returns that axis, or -1 if
 * the difference is a point.
 */
function setLongestEdge(a: Support, b: Support, isCoreOnly: bool): i32 {
  let longest: f64 = -1;
  let axis = 0;
  for (let i = 0; i < 3; i++) {
    const length = setExtremePoints(a, b, i, isCoreOnly);
    if (length <= longest) continue;
    longest = length;
    axis = i;
  }
  setExtremePoints(a, b, axis, isCoreOnly);
  return longest > 0 ? axis : -1;
}

/** Sets the first two vertices to the extreme points along an axis. Returns how far apart they are along it. */
function setExtremePoints(a: Support, b: Support, axis: i32, isCoreOnly: bool): f64 {
  setVertexCount(0);
  return (
    addSupportVertex(a, b, axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0, isCoreOnly) +
    addSupportVertex(a, b, axis == 0 ? -1 : 0, axis == 1 ? -1 : 0, axis == 2 ? -1 : 0, isCoreOnly)
  );
}

/** The normal of the triangle of the first three vertices. */
let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;

/**
 * Sets the third vertex: the farthest from the edge, of four directions perpendicular to it. Returns false if all are on
 * the edge's line.
 */
function setFarthestFromEdge(a: Support, b: Support, axis: i32, isCoreOnly: bool): bool {
  const p = vertexAt(vertices, 0), q = vertexAt(vertices, 1);
  const ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
  let maxHeight: f64 = 0;
  nx = ny = nz = 0;
  // e × the unit vector of another axis, to which e is not parallel.
  const ux = axis == 0 ? -ez : axis == 1 ? ey : 0.0, uy = axis == 1 ? -ex : axis == 2 ? ez : 0.0;
  const uz = axis == 0 ? ex : axis == 2 ? -ey : 0.0;
  const vx = ey * uz - ez * uy, vy = ez * ux - ex * uz, vz = ex * uy - ey * ux;
  for (let i = 0; i < 4; i++) {
    const s: f64 = i & 1 ? -1 : 1;
    let dx = s * (i & 2 ? vx : ux), dy = s * (i & 2 ? vy : uy), dz = s * (i & 2 ? vz : uz);
    const scale = 1.0 / sqrt(dx * dx + dy * dy + dz * dz);
    dx *= scale; dy *= scale; dz *= scale;
    setVertexCount(3);
    addSupportVertex(a, b, dx, dy, dz, isCoreOnly);
    const r = vertexAt(vertices, 3);
    const fx = r.x - p.x, fy = r.y - p.y, fz = r.z - p.z;
    const height = dx * fx + dy * fy + dz * fz;
    if (height <= maxHeight) continue;
    maxHeight = height;
    copyVertex(vertexAt(vertices, 2), r);
    nx = ey * fz - ez * fy; ny = ez * fx - ex * fz; nz = ex * fy - ey * fx;
  }
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  if (!(length > 0)) return false;
  nx /= length; ny /= length; nz /= length;
  return true;
}

/** Sets the fourth vertex: the farthest from the triangle, on either side. Returns false if all are in its plane. */
function setFarthestFromTriangle(a: Support, b: Support, isCoreOnly: bool): bool {
  const p = vertexAt(vertices, 0);
  const base = nx * p.x + ny * p.y + nz * p.z;
  setVertexCount(3);
  const above = addSupportVertex(a, b, nx, ny, nz, isCoreOnly) - base;
  const below = addSupportVertex(a, b, -nx, -ny, -nz, isCoreOnly) + base;
  if (!(max(above, below) > 0)) return false;
  if (below > above) copyVertex(vertexAt(vertices, 3), vertexAt(vertices, 4));
  return true;
}
