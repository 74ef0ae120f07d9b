// The shortest vector from the origin out of a Minkowski difference, by the expanding polytope algorithm (van den
// Bergen, "Proximity Queries and Penetration Depth Computation on 3D Game Objects", 2001). A polytope inside the
// difference expands at the face that is nearest along its normal, until that face lies on the surface of the difference
// itself. It starts from any tetrahedron, and the origin may be outside of it: faces that have the origin in front have
// negative distances, and the lowest is expanded first. Every tested direction gives an upper bound: moving b by the
// difference's reach along it surely separates the two.
//
// The polytope (polytope.ts) grows in its own memory until the vector is the shortest but for PRECISION. Only a
// difference that is nearly a ball about the origin, of meshes with many vertices or of round shapes, would need a face
// for each of its own faces: there the global search ends at MOST_VERTICES and continues around the best direction only.
// The result is then the shortest vector near that direction; for balls it is at most 0.03 % longer than the shortest.
//
// There is no warm start: with the last frame's direction as a start, which is 0.03 rad off by now, two balls of 162
// corners take 15 instead of 17 vertices, which is not worth results that depend on the past.

import { checkpoint } from '../../checkpoint';
import { Support } from './support';
import { copyVertex, setVertex, vertexAt } from './minkowski-difference';
import { cornerOf } from './gjk';
import {
  KEPT, NO_FACE, addVertex, beginPolytope, faceAt, faceEnd, grow, lowestFace, retire, sees, setFirstFaces, setVertexCount,
  vertexCount, vertices, volumeOf,
} from './polytope';

/** The best direction so far, as a unit vector, and how far the difference reaches along it. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let wayLength: f64 = 0;

/**
 * Vertex limits of a polytope, for meshes and for round shapes. In a ball the 16,380 faces of the first are 0.0003 of
 * the radius below the surface, the 2,044 of the second 0.0024: 1 - cos r for the circle of radius r around an
 * equilateral triangle of 4π / 16,380. Two concentric balls of 2,562 vertices are compared exactly in 15 ms, two of
 * 81,002 would take 4,100 ms.
 */
const MOST_VERTICES: u32 = 8192;
const MOST_ROUND_VERTICES: u32 = 1024;
/**
 * How many more vertices are added around the best direction, and the cosine of the angle to it within which faces are
 * considered: 0.1.
 */
const MORE_VERTICES: u32 = 1024;
const NEAR: f64 = 0.995;
/** The rounding error of the difference of two heights, relative to the size of both bodies. */
const RELATIVE_ROUNDING: f64 = 1e-14;
/** A translation that exceeds the least one by no more than this fraction of the depth is good enough. */
const PRECISION: f64 = 1e-7;

let rounding: f64 = 0;

/**
 * Finds the shortest translation that separates the two bodies and sets wayX … wayLength. `size` is about the size of
 * both bodies. `bare`: without their balls. `held`: the tetrahedron of gjk.ts may be the first polytope. `isRound`: the
 * difference has round parts. Throws OUT_OF_MEMORY.
 */
export function findWay(a: Support, b: Support, size: f64, bare: bool, held: bool, isRound: bool): void {
  rounding = size * RELATIVE_ROUNDING;
  wayLength = Infinity;
  beginPolytope();
  // A flat difference is separated along its normal, which has been tested.
  if (!(held && takeTetrahedron(size)) && !setTetrahedron(a, b, bare)) return;
  if (expand(a, b, bare, isRound ? MOST_ROUND_VERTICES : MOST_VERTICES)) return;
  retireOthers();
  if (!expand(a, b, bare, vertexCount + MORE_VERTICES) && isRound) goDownhill(a, b, bare);
}

/**
 * How many vertices are added between two checkpoints, and the work units of each: two support mappings and the faces
 * that it sees.
 */
const VERTICES_AT_ONCE: u32 = 64;
const WORK_OF_VERTEX: i32 = 16;

/** Expands the polytope up to `mostVertices` vertices. Returns false if the result may still not be the least. */
function expand(a: Support, b: Support, bare: bool, mostVertices: u32): bool {
  while (vertexCount < mostVertices) {
    if (expandSome(a, b, bare, min(mostVertices, vertexCount + VERTICES_AT_ONCE))) return true;
    checkpoint(<i32>VERTICES_AT_ONCE * WORK_OF_VERTEX);
  }
  return false;
}

/** Expands the polytope like `expand`, but without a checkpoint. */
function expandSome(a: Support, b: Support, bare: bool, mostVertices: u32): bool {
  while (vertexCount < mostVertices) {
    const index = lowestFace();
    if (index == NO_FACE) return true;
    const face = faceAt(index);
    const distance = face.distance;
    const reach = add(a, b, face.normalX, face.normalY, face.normalZ, bare);
    if (wayLength - max(distance, 0.0) <= PRECISION * wayLength + rounding || reach - distance <= rounding) return true;
    if (sees(faceAt(index), vertexAt(vertices, vertexCount - 1))) grow(index);
    else retire(index);
  }
  return false;
}

/** Retires all faces except those around the best direction. */
function retireOthers(): void {
  for (let i: u32 = 0; i < faceEnd; i++) {
    const face = faceAt(i);
    if (face.state == KEPT && !(face.normalX * wayX + face.normalY * wayY + face.normalZ * wayZ > NEAR)) retire(i);
  }
}

/**
 * Adds the support point of the difference along a unit direction as a vertex, and keeps the direction if it is the best
 * so far. Returns the vertex's height along it.
 */
function add(a: Support, b: Support, x: f64, y: f64, z: f64, bare: bool): f64 {
  const vertex = addVertex();
  setVertex(vertex, a, b, x, y, z, bare);
  const reach = vertex.x * x + vertex.y * y + vertex.z * z;
  if (reach < wayLength) {
    wayLength = reach;
    wayX = x; wayY = y; wayZ = z;
  }
  return reach;
}

/** Step limit of `goDownhill`: each step tests the direction of the support point of the last direction. */
const MOST_STEPS = 32;

/**
 * Refines the best direction where the difference is round: at the point of its surface nearest to the origin, the
 * vector to that point is the normal.
 */
function goDownhill(a: Support, b: Support, bare: bool): void {
  for (let step = 0; step < MOST_STEPS; step++) {
    const before = wayLength;
    setVertexCount(0);
    add(a, b, wayX, wayY, wayZ, bare);
    const vertex = vertexAt(vertices, 0), x = vertex.x, y = vertex.y, z = vertex.z;
    const length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) return;
    add(a, b, x / length, y / length, z / length, bare);
    if (!(wayLength < before - PRECISION * before)) return;
  }
}

// --- the first tetrahedron ---

/** If the tetrahedron's volume is less than this, relative to the size, a larger one is built. */
const FLAT: f64 = 1e-10;

/** Takes the tetrahedron of gjk.ts that contains the origin. Returns false if it is flat. */
function takeTetrahedron(size: f64): bool {
  setVertexCount(4);
  for (let i: u32 = 0; i < 4; i++) copyVertex(vertexAt(vertices, i), cornerOf(i));
  const volume = volumeOf(0, 1, 2, 3);
  if (!(abs(volume) > FLAT * size * size * size)) return false;
  if (volume > 0) setFirstFaces(0, 1, 2, 3);
  else setFirstFaces(0, 2, 1, 3);
  return true;
}

/** Builds a tetrahedron of vertices that are far out. Returns false if the difference is flat. */
function setTetrahedron(a: Support, b: Support, bare: bool): bool {
  const axis = setLongestEdge(a, b, bare);
  if (axis < 0 || !setFarthestFromEdge(a, b, axis, bare) || !setFarthestFromTriangle(a, b, bare)) return false;
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
function setLongestEdge(a: Support, b: Support, bare: bool): i32 {
  let longest: f64 = -1;
  let axis = 0;
  for (let i = 0; i < 3; i++) {
    const length = setEnds(a, b, i, bare);
    if (length <= longest) continue;
    longest = length;
    axis = i;
  }
  setEnds(a, b, axis, bare);
  return longest > 0 ? axis : -1;
}

/** Sets the first two vertices to the extreme points along an axis. Returns how far apart they are along it. */
function setEnds(a: Support, b: Support, axis: i32, bare: bool): f64 {
  setVertexCount(0);
  return (
    add(a, b, axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0, bare) +
    add(a, b, axis == 0 ? -1 : 0, axis == 1 ? -1 : 0, axis == 2 ? -1 : 0, bare)
  );
}

/** The normal of the triangle of the first three vertices. */
let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;

/**
 * Sets the third vertex: the farthest from the edge, of four directions perpendicular to it. Returns false if all are on
 * the edge's line.
 */
function setFarthestFromEdge(a: Support, b: Support, axis: i32, bare: bool): bool {
  const p = vertexAt(vertices, 0), q = vertexAt(vertices, 1);
  const ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
  let best: f64 = 0;
  nx = ny = nz = 0;
  // e × the unit vector of another axis, to which e is not parallel.
  const ux = axis == 0 ? -ez : axis == 1 ? ey : 0.0, uy = axis == 1 ? -ex : axis == 2 ? ez : 0.0;
  const uz = axis == 0 ? ex : axis == 2 ? -ey : 0.0;
  const vx = ey * uz - ez * uy, vy = ez * ux - ex * uz, vz = ex * uy - ey * ux;
  for (let i = 0; i < 4; i++) {
    const s: f64 = i & 1 ? -1 : 1;
    let dx = s * (i & 2 ? vx : ux), dy = s * (i & 2 ? vy : uy), dz = s * (i & 2 ? vz : uz);
    const over = 1.0 / sqrt(dx * dx + dy * dy + dz * dz);
    dx *= over; dy *= over; dz *= over;
    setVertexCount(3);
    add(a, b, dx, dy, dz, bare);
    const r = vertexAt(vertices, 3);
    const fx = r.x - p.x, fy = r.y - p.y, fz = r.z - p.z;
    const height = dx * fx + dy * fy + dz * fz;
    if (height <= best) continue;
    best = height;
    copyVertex(vertexAt(vertices, 2), r);
    nx = ey * fz - ez * fy; ny = ez * fx - ex * fz; nz = ex * fy - ey * fx;
  }
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  if (!(length > 0)) return false;
  nx /= length; ny /= length; nz /= length;
  return true;
}

/** Sets the fourth vertex: the farthest from the triangle, on either side. Returns false if all are in its plane. */
function setFarthestFromTriangle(a: Support, b: Support, bare: bool): bool {
  const p = vertexAt(vertices, 0);
  const base = nx * p.x + ny * p.y + nz * p.z;
  setVertexCount(3);
  const above = add(a, b, nx, ny, nz, bare) - base;
  const below = add(a, b, -nx, -ny, -nz, bare) + base;
  if (!(max(above, below) > 0)) return false;
  if (below > above) copyVertex(vertexAt(vertices, 3), vertexAt(vertices, 4));
  return true;
}
