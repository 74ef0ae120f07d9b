// The shortest way out of a Minkowski difference: the expanding polytope algorithm (van den Bergen, "Proximity Queries
// and Penetration Depth Computation on 3D Game Objects", 2001). A polytope within the difference grows at the face
// that is least far along its normal, until that face is one of the difference itself. It begins with any tetrahedron,
// and the origin may be outside: faces that it is in front of have negative distances, the lowest of which is looked
// at first. Every direction that was looked at gives a bound: moving b by the difference's reach along it surely parts
// the two.
//
// Which faces a new vertex sees is decided exactly on the vertices as they are stored (math/predicates.ts), so what it
// sees is a disc and the polytope stays one, however flat its faces become. It grows in memory of its own until the
// way is the least but for PRECISION. Only differences that are all but a ball about the origin, of meshes of many
// vertices or of round shapes, would take a face for each of theirs: there the search ends at MOST_VERTICES, and goes
// on around the best direction alone. The way is the least one near that direction then; of balls no more than 0.03 %
// longer than the least.
//
// Nothing of the frame before is used: with its way at hand, 0.03 rad off by now, two balls of 162 corners take 15
// instead of 17 vertices, which is not worth answers that depend on the past.

import { checkpoint } from '../../checkpoint';
import { orient3d } from '../../math/predicates';
import { reserve } from '../../memory';
import { Support } from './support';
import { VERTEX_BYTES, Vertex, copyVertex, setVertex, vertexAt } from './minkowski-difference';
import { cornerOf } from './gjk';

/** The best direction that was seen, as a unit vector, and how far the difference reaches along it. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let wayLength: f64 = 0;

@unmanaged
class Face {
  normalX: f64; normalY: f64; normalZ: f64;
  distance: f64;
  vertex0: u32; vertex1: u32; vertex2: u32;
  /** The faces beyond the edges that begin at vertex 0, 1 and 2. */
  beside0: u32; beside1: u32; beside2: u32;
  /** KEPT, SEEN or, in a face that is not in use, the next such face. */
  state: u32;
  pad: u32;
}

const KEPT: u32 = 0xfffffffe;
const SEEN: u32 = 0xfffffffd;
const NO_FACE: u32 = 0xffffffff;

const FACE_BYTES: usize = offsetof<Face>();

let vertices: usize = 0; // Vertex each
/** The new face whose horizon edge begins at a vertex, for each vertex of the last horizon: u32 each. */
let begins: usize = 0;
let vertexRoom: u32 = 0;
let vertexCount: u32 = 0;

let faces: usize = 0; // Face each
/** The distance of each face's plane from the origin, or Infinity where the face is not in use: f64 each. */
let distances: usize = 0;
/** A lower bound of the distances of each GROUP faces, and the same of each GROUP groups: f64 each. */
let groups: usize = 0;
let supergroups: usize = 0;
/** The faces that the new vertex sees, u32 each. */
let seen: usize = 0;
let faceRoom: u32 = 0;
let faceEnd: u32 = 0;
/** The first face below faceEnd that is not in use, else NO_FACE. */
let freeFace: u32 = NO_FACE;

/** How many vertices and faces there is room for at first: pairs that hardly penetrate take about 20 vertices. */
const LEAST_VERTICES: u32 = 256;
const LEAST_FACES: u32 = 512;
/**
 * How many faces share a lower bound of their distances, and how many groups another: lowestFace reads 64 numbers on
 * each level for 262,144 faces.
 */
const GROUP: u32 = 64;
const GROUP_SHIFT: u32 = 6;
const SUPERGROUP: u32 = GROUP * GROUP;
const SUPERGROUP_SHIFT: u32 = 2 * GROUP_SHIFT;

/**
 * The most vertices of a polytope, for meshes and for round shapes. In a ball the 16,380 faces of the first are 0.0003
 * of the radius below the surface, the 2,044 of the second 0.0024: 1 - cos r for the circle of radius r around an
 * equilateral triangle of 4π / 16,380. Two concentric balls of 2,562 vertices are compared exactly in 15 ms, two of
 * 81,002 would take 4,100 ms.
 */
const MOST_VERTICES: u32 = 8192;
const MOST_ROUND_VERTICES: u32 = 1024;
/**
 * How many vertices more are added around the best direction, and the cosine of the angle with it up to which faces are
 * looked at: 0.1.
 */
const MORE_VERTICES: u32 = 1024;
const NEAR: f64 = 0.995;
/** Two heights may differ by so much as they are rounded, relative to the size of both bodies. */
const RELATIVE_ROUNDING: f64 = 1e-14;
/** A way that is longer than the least by no more than this part of the depth is as good. */
const PRECISION: f64 = 1e-7;

let rounding: f64 = 0;

// @ts-ignore: decorator
@inline
function faceAt(i: u32): Face {
  return changetype<Face>(faces + i * <u32>FACE_BYTES);
}

// @ts-ignore: decorator
@inline
function vertexOf(face: Face, k: u32): u32 {
  return load<u32>(changetype<usize>(face) + (<usize>k << 2), offsetof<Face>('vertex0'));
}

// @ts-ignore: decorator
@inline
function besideOf(face: Face, k: u32): u32 {
  return load<u32>(changetype<usize>(face) + (<usize>k << 2), offsetof<Face>('beside0'));
}

// @ts-ignore: decorator
@inline
function setBeside(face: Face, k: u32, beside: u32): void {
  store<u32>(changetype<usize>(face) + (<usize>k << 2), beside, offsetof<Face>('beside0'));
}

/**
 * Finds the shortest way to part the two bodies and sets wayX … wayLength. `size` is about the size of both bodies.
 * `bare`: without their balls. `held`: the tetrahedron of gjk.ts may be the first polytope. `isRound`: the difference
 * has round parts. Throws OUT_OF_MEMORY.
 */
export function findWay(a: Support, b: Support, size: f64, bare: bool, held: bool, isRound: bool): void {
  rounding = size * RELATIVE_ROUNDING;
  wayLength = Infinity;
  vertexCount = 0;
  faceEnd = 0;
  freeFace = NO_FACE;
  reserveVertices(8);
  reserveFaces(4);
  // A flat difference is parted along its normal, which was looked at.
  if (!(held && takeTetrahedron(size)) && !setTetrahedron(a, b, bare)) return;
  if (expand(a, b, bare, isRound ? MOST_ROUND_VERTICES : MOST_VERTICES)) return;
  retireOthers();
  if (!expand(a, b, bare, vertexCount + MORE_VERTICES) && isRound) goDownhill(a, b, bare);
}

/**
 * How many vertices are added between two checkpoints, and what each counts for: two support mappings and the faces
 * that it sees.
 */
const VERTICES_AT_ONCE: u32 = 64;
const WORK_OF_VERTEX: i32 = 16;

/** Grows the polytope up to so many vertices. Answers false where the way may still not be the least. */
function expand(a: Support, b: Support, bare: bool, mostVertices: u32): bool {
  while (vertexCount < mostVertices) {
    if (expandSome(a, b, bare, min(mostVertices, vertexCount + VERTICES_AT_ONCE))) return true;
    checkpoint(<i32>VERTICES_AT_ONCE * WORK_OF_VERTEX);
  }
  return false;
}

/** Grows the polytope as `expand` does, but without a checkpoint. */
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

/** Retires all faces but those around the best direction. */
function retireOthers(): void {
  for (let i: u32 = 0; i < faceEnd; i++) {
    const face = faceAt(i);
    if (face.state == KEPT && !(face.normalX * wayX + face.normalY * wayY + face.normalZ * wayZ > NEAR)) retire(i);
  }
}

/** Makes room for so many vertices. */
function reserveVertices(count: u32): void {
  if (count <= vertexRoom) return;
  const room = max(max(2 * vertexRoom, count), LEAST_VERTICES);
  vertices = reserve(vertices, <usize>vertexCount * VERTEX_BYTES, <u64>room * VERTEX_BYTES);
  begins = reserve(begins, 0, <u64>room << 2);
  vertexRoom = room;
}

/** Makes room for faces up to a number. */
function reserveFaces(end: u32): void {
  if (end <= faceRoom) return;
  const room = (max(max(2 * faceRoom, end), LEAST_FACES) + SUPERGROUP - 1) & ~(SUPERGROUP - 1);
  faces = reserve(faces, <usize>faceEnd * FACE_BYTES, <u64>room * FACE_BYTES);
  distances = reserve(distances, <usize>faceEnd << 3, <u64>room << 3);
  groups = reserve(groups, <usize>(faceRoom >> GROUP_SHIFT) << 3, <u64>(room >> GROUP_SHIFT) << 3);
  supergroups = reserve(
    supergroups, <usize>(faceRoom >> SUPERGROUP_SHIFT) << 3, <u64>(room >> SUPERGROUP_SHIFT) << 3,
  );
  seen = reserve(seen, <usize>faceEnd << 2, <u64>room << 2);
  faceRoom = room;
}

/**
 * Adds the support point of the difference along a unit direction as a vertex and keeps the direction where it is the
 * best so far. Answers the vertex's height along it.
 */
function add(a: Support, b: Support, x: f64, y: f64, z: f64, bare: bool): f64 {
  reserveVertices(vertexCount + 1);
  const vertex = vertexAt(vertices, vertexCount++);
  setVertex(vertex, a, b, x, y, z, bare);
  const reach = vertex.x * x + vertex.y * y + vertex.z * z;
  if (reach < wayLength) {
    wayLength = reach;
    wayX = x; wayY = y; wayZ = z;
  }
  return reach;
}

/** The most steps of `goDownhill`: each looks along the vector to the support point of the last direction. */
const MOST_STEPS = 32;

/**
 * Goes on from the best direction where the difference is round: at the place of its surface that is nearest to the
 * origin, the vector to the place is the normal.
 */
function goDownhill(a: Support, b: Support, bare: bool): void {
  for (let step = 0; step < MOST_STEPS; step++) {
    const before = wayLength;
    vertexCount = 0;
    add(a, b, wayX, wayY, wayZ, bare);
    const vertex = vertexAt(vertices, 0), x = vertex.x, y = vertex.y, z = vertex.z;
    const length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) return;
    add(a, b, x / length, y / length, z / length, bare);
    if (!(wayLength < before - PRECISION * before)) return;
  }
}

// --- the first tetrahedron ---

/** Where a tetrahedron has less of a volume than this, relative to the size, a larger one is looked for. */
const FLAT: f64 = 1e-10;

/** Takes the tetrahedron of gjk.ts that holds the origin. Answers false where it is flat. */
function takeTetrahedron(size: f64): bool {
  vertexCount = 4;
  for (let i: u32 = 0; i < 4; i++) copyVertex(vertexAt(vertices, i), cornerOf(i));
  const volume = volumeOf(0, 1, 2, 3);
  if (!(abs(volume) > FLAT * size * size * size)) return false;
  if (volume > 0) setFirstFaces(0, 1, 2, 3);
  else setFirstFaces(0, 2, 1, 3);
  return true;
}

/**
 * Answers six times the volume of a tetrahedron, with the right sign: positive where s is behind the triangle p, q, r.
 */
function volumeOf(p: u32, q: u32, r: u32, s: u32): f64 {
  return orientationOf(vertexAt(vertices, p), vertexAt(vertices, q), vertexAt(vertices, r), vertexAt(vertices, s));
}

// @ts-ignore: decorator
@inline
function orientationOf(p: Vertex, q: Vertex, r: Vertex, s: Vertex): f64 {
  return orient3d(p.x, p.y, p.z, q.x, q.y, q.z, r.x, r.y, r.z, s.x, s.y, s.z);
}

/** Makes a tetrahedron of vertices that are far out. Answers false where the difference is flat. */
function setTetrahedron(a: Support, b: Support, bare: bool): bool {
  // The longest of three shadows.
  let longest: f64 = -1;
  let axis = 0;
  for (let i = 0; i < 3; i++) {
    vertexCount = 0;
    const length = add(a, b, i == 0 ? 1 : 0, i == 1 ? 1 : 0, i == 2 ? 1 : 0, bare) +
      add(a, b, i == 0 ? -1 : 0, i == 1 ? -1 : 0, i == 2 ? -1 : 0, bare);
    if (length <= longest) continue;
    longest = length;
    axis = i;
  }
  vertexCount = 0;
  add(a, b, axis == 0 ? 1 : 0, axis == 1 ? 1 : 0, axis == 2 ? 1 : 0, bare);
  add(a, b, axis == 0 ? -1 : 0, axis == 1 ? -1 : 0, axis == 2 ? -1 : 0, bare);
  const p = vertexAt(vertices, 0), q = vertexAt(vertices, 1);
  const ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
  if (!(longest > 0)) return false;

  // The farthest from the line, of four directions at right angles to it.
  let best: f64 = 0;
  let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;
  // e × the unit vector of the axis after this one, to which it is not parallel.
  const ux = axis == 0 ? -ez : axis == 1 ? ey : 0.0, uy = axis == 1 ? -ex : axis == 2 ? ez : 0.0;
  const uz = axis == 0 ? ex : axis == 2 ? -ey : 0.0;
  const vx = ey * uz - ez * uy, vy = ez * ux - ex * uz, vz = ex * uy - ey * ux;
  for (let i = 0; i < 4; i++) {
    const s: f64 = i & 1 ? -1 : 1;
    let dx = s * (i & 2 ? vx : ux), dy = s * (i & 2 ? vy : uy), dz = s * (i & 2 ? vz : uz);
    const over = 1.0 / sqrt(dx * dx + dy * dy + dz * dz);
    dx *= over; dy *= over; dz *= over;
    vertexCount = 3;
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
  const base = nx * p.x + ny * p.y + nz * p.z;
  vertexCount = 3;
  const above = add(a, b, nx, ny, nz, bare) - base;
  const below = add(a, b, -nx, -ny, -nz, bare) + base;
  if (!(max(above, below) > 0)) return false;
  if (below > above) copyVertex(vertexAt(vertices, 3), vertexAt(vertices, 4));
  vertexCount = 4;
  const volume = volumeOf(0, 1, 2, 3);
  if (volume > 0) setFirstFaces(0, 1, 2, 3);
  else if (volume < 0) setFirstFaces(0, 2, 1, 3);
  return volume != 0;
}

/** Sets the faces of a tetrahedron whose vertex s is behind the triangle p, q, r. */
function setFirstFaces(p: u32, q: u32, r: u32, s: u32): void {
  for (let i = 0; i < 4; i++) takeFace();
  setFace(0, p, q, r);
  setFace(1, q, p, s);
  setFace(2, r, q, s);
  setFace(3, p, r, s);
  link(0, 1, 2, 3);
  link(1, 0, 3, 2);
  link(2, 0, 1, 3);
  link(3, 0, 2, 1);
}

function link(face: u32, beside0: u32, beside1: u32, beside2: u32): void {
  setBeside(faceAt(face), 0, beside0);
  setBeside(faceAt(face), 1, beside1);
  setBeside(faceAt(face), 2, beside2);
}

// --- faces ---

/** Takes a face that is not in use and answers its index. There must be room for it. */
function takeFace(): u32 {
  if (freeFace != NO_FACE) {
    const index = freeFace;
    freeFace = faceAt(index).state;
    return index;
  }
  const index = faceEnd++;
  if ((index & (GROUP - 1)) == 0) store<f64>(boundAt(groups, index >> GROUP_SHIFT), Infinity);
  if ((index & (SUPERGROUP - 1)) == 0) store<f64>(boundAt(supergroups, index >> SUPERGROUP_SHIFT), Infinity);
  return index;
}

// @ts-ignore: decorator
@inline
function boundAt(list: usize, index: u32): usize {
  return list + (<usize>index << 3);
}

/**
 * Sets the vertices, the plane and the bounds of a face. It has an area, as no vertex is in line with an edge of which
 * it sees one side only.
 */
function setFace(index: u32, p: u32, q: u32, r: u32): void {
  const face = faceAt(index);
  const a = vertexAt(vertices, p), b = vertexAt(vertices, q), c = vertexAt(vertices, r);
  const ex = b.x - a.x, ey = b.y - a.y, ez = b.z - a.z;
  const fx = c.x - a.x, fy = c.y - a.y, fz = c.z - a.z;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const over = length > 0 ? 1.0 / length : 0.0;
  face.normalX = nx * over; face.normalY = ny * over; face.normalZ = nz * over;
  // One whose normal is lost to rounding is never the lowest.
  face.distance = length > 0 ? face.normalX * a.x + face.normalY * a.y + face.normalZ * a.z : Infinity;
  store<f64>(boundAt(distances, index), face.distance);
  const group = boundAt(groups, index >> GROUP_SHIFT), supergroup = boundAt(supergroups, index >> SUPERGROUP_SHIFT);
  if (face.distance < load<f64>(group)) store<f64>(group, face.distance);
  if (face.distance < load<f64>(supergroup)) store<f64>(supergroup, face.distance);
  face.vertex0 = p; face.vertex1 = q; face.vertex2 = r;
  face.state = KEPT;
}

/** Answers the face that is nearest to the origin; NO_FACE where none has a normal. */
function lowestFace(): u32 {
  const groupCount = (faceEnd + GROUP - 1) >> GROUP_SHIFT, superCount = (faceEnd + SUPERGROUP - 1) >> SUPERGROUP_SHIFT;
  while (true) {
    const supergroup = lowestOf(supergroups, 0, superCount);
    if (supergroup == NO_FACE) return NO_FACE;
    const group = lowestOf(groups, supergroup << GROUP_SHIFT, min((supergroup + 1) << GROUP_SHIFT, groupCount));
    // Bounds are raised where what was the least is gone.
    if (isRaised(supergroups, supergroup, groups, group)) continue;
    const index = lowestOf(distances, group << GROUP_SHIFT, min((group + 1) << GROUP_SHIFT, faceEnd));
    if (!isRaised(groups, group, distances, index)) return index;
  }
}

/** Answers the index of the least number from `from` to before `end`; NO_FACE where none is finite. */
function lowestOf(list: usize, from: u32, end: u32): u32 {
  let least = Infinity;
  let index = NO_FACE;
  for (let i = from; i < end; i++) {
    const distance = load<f64>(boundAt(list, i));
    if (!(distance < least)) continue;
    least = distance;
    index = i;
  }
  return index;
}

/** Raises a bound to the least number that it bounds, the one at `lowest`. Answers whether the bound was lower. */
function isRaised(bounds: usize, index: u32, list: usize, lowest: u32): bool {
  const bound = boundAt(bounds, index);
  const least = lowest == NO_FACE ? Infinity : load<f64>(boundAt(list, lowest));
  if (least <= load<f64>(bound)) return false;
  store<f64>(bound, least);
  return true;
}

/**
 * Sees to it that a face is never the lowest again: it is a face of the difference itself, but for the rounding of its
 * normal.
 */
function retire(index: u32): void {
  faceAt(index).distance = Infinity;
  store<f64>(boundAt(distances, index), Infinity);
}

/** Tells whether a vertex is in front of a face, exactly. */
// @ts-ignore: decorator
@inline
function sees(face: Face, vertex: Vertex): bool {
  return orientationOf(
    vertexAt(vertices, face.vertex0), vertexAt(vertices, face.vertex1), vertexAt(vertices, face.vertex2), vertex,
  ) < 0;
}

/** Replaces all faces that the last vertex sees, found by a flood from one of them, by faces to that vertex. */
function grow(first: u32): void {
  const last = vertexCount - 1;
  const vertex = vertexAt(vertices, last);
  let seenCount: u32 = 1;
  store<u32>(seen, first);
  faceAt(first).state = SEEN;
  for (let i: u32 = 0; i < seenCount; i++) {
    const face = faceAt(load<u32>(seen + (<usize>i << 2)));
    for (let k: u32 = 0; k < 3; k++) {
      const beside = faceAt(besideOf(face, k));
      if (beside.state == SEEN || !sees(beside, vertex)) continue;
      beside.state = SEEN;
      store<u32>(seen + (<usize>seenCount << 2), besideOf(face, k));
      seenCount++;
    }
  }
  addFan(last, seenCount);
  freeSeen(seenCount);
}

/** Adds faces from the horizon's edges to the new vertex. */
function addFan(last: u32, seenCount: u32): void {
  // A disc of so many faces has two edges more around it.
  reserveFaces(faceEnd + seenCount + 2);
  let start: u32 = 0;
  for (let i: u32 = 0; i < seenCount; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      const face = faceAt(load<u32>(seen + (<usize>i << 2)));
      const outside = besideOf(face, k);
      if (faceAt(outside).state == SEEN) continue;
      const from = vertexOf(face, k), to = vertexOf(face, k == 2 ? 0 : k + 1);
      const index = takeFace();
      setFace(index, from, to, last);
      setBeside(faceAt(index), 0, outside);
      replaceBeside(faceAt(outside), to, index);
      store<u32>(begins + (<usize>from << 2), index);
      start = index;
    }
  }
  // Once around the horizon.
  let index = start;
  do {
    const next = load<u32>(begins + (<usize>faceAt(index).vertex1 << 2));
    setBeside(faceAt(index), 1, next);
    setBeside(faceAt(next), 2, index);
    index = next;
  } while (index != start);
}

/** Puts another face behind the edge of a face that begins at a vertex. */
function replaceBeside(face: Face, from: u32, beside: u32): void {
  setBeside(face, face.vertex0 == from ? 0 : face.vertex1 == from ? 1 : 2, beside);
}

function freeSeen(seenCount: u32): void {
  for (let i: u32 = 0; i < seenCount; i++) {
    const index = load<u32>(seen + (<usize>i << 2));
    faceAt(index).state = freeFace;
    freeFace = index;
    store<f64>(boundAt(distances, index), Infinity);
  }
}
