// The polytope that epa.ts expands: triangles, their adjacent faces, and which face is nearest to the origin. It grows
// by one vertex at a time: the faces that the vertex sees form a disc, and are replaced by faces from the disc's border
// (the horizon) to the vertex. Visibility is decided exactly for the vertices as stored (math/predicates.ts), so it
// remains a polytope, however flat its faces become.

import { orient3d } from '../../math/predicates';
import { reserve } from '../../memory';
import { VERTEX_BYTES, Vertex, vertexAt } from './minkowski-difference';

@unmanaged
export class Face {
  normalX: f64; normalY: f64; normalZ: f64;
  distance: f64;
  vertex0: u32; vertex1: u32; vertex2: u32;
  /** The adjacent faces across the edges that begin at vertex 0, 1 and 2. */
  beside0: u32; beside1: u32; beside2: u32;
  /** IN_USE, VISIBLE or, for an unused face, the next one in the free list. */
  state: u32;
  pad: u32;
}

export const IN_USE: u32 = 0xfffffffe;
const VISIBLE: u32 = 0xfffffffd;
export const NO_FACE: u32 = 0xffffffff;

const FACE_BYTES: usize = offsetof<Face>();

export let vertices: usize = 0; // Vertex each
/** For each vertex of the last horizon, the new face whose horizon edge begins there: u32 each. */
let horizonFaces: usize = 0;
let vertexCapacity: u32 = 0;
export let vertexCount: u32 = 0;

let faces: usize = 0; // Face each
/** The distance of each face's plane from the origin, or Infinity if the face is unused: f64 each. */
let distances: usize = 0;
/** A lower bound of the distances of each GROUP_SIZE faces, and of each GROUP_SIZE groups: f64 each. */
let groupBounds: usize = 0;
let supergroupBounds: usize = 0;
/** The faces that the new vertex sees, u32 each. */
let visibleFaces: usize = 0;
let faceCapacity: u32 = 0;
export let faceIndexEnd: u32 = 0;
/** The head of the free list of faces below `faceIndexEnd`, or NO_FACE. */
let freeFace: u32 = NO_FACE;

/** Initial capacities of vertices and faces: pairs that hardly penetrate take about 20 vertices. */
const MIN_VERTICES: u32 = 256;
const MIN_FACES: u32 = 512;
/**
 * How many faces share a lower bound of their distances, and how many groups share another: `nearestFace` reads 64 numbers
 * on each level for 262,144 faces.
 */
const GROUP_SIZE: u32 = 64;
const GROUP_SHIFT: u32 = 6;
const SUPERGROUP_SIZE: u32 = GROUP_SIZE * GROUP_SIZE;
const SUPERGROUP_SHIFT: u32 = 2 * GROUP_SHIFT;

// @ts-ignore: decorator
@inline
export function faceAt(i: u32): Face {
  return changetype<Face>(faces + i * <u32>FACE_BYTES);
}

// @ts-ignore: decorator
@inline
function vertexOf(face: Face, k: u32): u32 {
  return load<u32>(changetype<usize>(face) + (<usize>k << 2), offsetof<Face>('vertex0'));
}

// @ts-ignore: decorator
@inline
function adjacentFace(face: Face, k: u32): u32 {
  return load<u32>(changetype<usize>(face) + (<usize>k << 2), offsetof<Face>('beside0'));
}

// @ts-ignore: decorator
@inline
function setAdjacentFace(face: Face, k: u32, beside: u32): void {
  store<u32>(changetype<usize>(face) + (<usize>k << 2), beside, offsetof<Face>('beside0'));
}

/** Begins an empty polytope. Throws OUT_OF_MEMORY. */
export function beginPolytope(): void {
  vertexCount = 0;
  faceIndexEnd = 0;
  freeFace = NO_FACE;
  reserveVertices(8);
  reserveFaces(4);
}

/** Adds a vertex, which the caller must set, and returns it. Throws OUT_OF_MEMORY. */
export function addVertex(): Vertex {
  reserveVertices(vertexCount + 1);
  return vertexAt(vertices, vertexCount++);
}

/** Sets the number of vertices: at most as many as were added, or four. */
export function setVertexCount(count: u32): void {
  vertexCount = count;
}

/** Makes room for `count` vertices. */
function reserveVertices(count: u32): void {
  if (count <= vertexCapacity) return;
  const capacity = max(max(2 * vertexCapacity, count), MIN_VERTICES);
  vertices = reserve(vertices, <usize>vertexCount * VERTEX_BYTES, <u64>capacity * VERTEX_BYTES);
  horizonFaces = reserve(horizonFaces, 0, <u64>capacity << 2);
  vertexCapacity = capacity;
}

/** Makes room for faces of indices below `end`. */
function reserveFaces(end: u32): void {
  if (end <= faceCapacity) return;
  const capacity = (max(max(2 * faceCapacity, end), MIN_FACES) + SUPERGROUP_SIZE - 1) & ~(SUPERGROUP_SIZE - 1);
  faces = reserve(faces, <usize>faceIndexEnd * FACE_BYTES, <u64>capacity * FACE_BYTES);
  distances = reserve(distances, <usize>faceIndexEnd << 3, <u64>capacity << 3);
  groupBounds = reserve(groupBounds, <usize>(faceCapacity >> GROUP_SHIFT) << 3, <u64>(capacity >> GROUP_SHIFT) << 3);
  supergroupBounds = reserve(
    supergroupBounds, <usize>(faceCapacity >> SUPERGROUP_SHIFT) << 3, <u64>(capacity >> SUPERGROUP_SHIFT) << 3,
  );
  visibleFaces = reserve(visibleFaces, <usize>faceIndexEnd << 2, <u64>capacity << 2);
  faceCapacity = capacity;
}

/** Returns six times the volume of a tetrahedron, with the exact sign: positive if s is behind the triangle p, q, r. */
export function volumeOf(p: u32, q: u32, r: u32, s: u32): f64 {
  return orientationOf(vertexAt(vertices, p), vertexAt(vertices, q), vertexAt(vertices, r), vertexAt(vertices, s));
}

// @ts-ignore: decorator
@inline
function orientationOf(p: Vertex, q: Vertex, r: Vertex, s: Vertex): f64 {
  return orient3d(p.x, p.y, p.z, q.x, q.y, q.z, r.x, r.y, r.z, s.x, s.y, s.z);
}

/** Sets the faces of a tetrahedron whose vertex s is behind the triangle p, q, r. */
export function setFirstFaces(p: u32, q: u32, r: u32, s: u32): void {
  for (let i = 0; i < 4; i++) acquireFace();
  setFace(0, p, q, r);
  setFace(1, q, p, s);
  setFace(2, r, q, s);
  setFace(3, p, r, s);
  linkFace(0, 1, 2, 3);
  linkFace(1, 0, 3, 2);
  linkFace(2, 0, 1, 3);
  linkFace(3, 0, 2, 1);
}

function linkFace(face: u32, beside0: u32, beside1: u32, beside2: u32): void {
  setAdjacentFace(faceAt(face), 0, beside0);
  setAdjacentFace(faceAt(face), 1, beside1);
  setAdjacentFace(faceAt(face), 2, beside2);
}

// --- faces ---

/** Takes an unused face and returns its index. There must be room for it. */
function acquireFace(): u32 {
  if (freeFace != NO_FACE) {
    const index = freeFace;
    freeFace = faceAt(index).state;
    return index;
  }
  const index = faceIndexEnd++;
  if ((index & (GROUP_SIZE - 1)) == 0) store<f64>(boundAt(groupBounds, index >> GROUP_SHIFT), Infinity);
  if ((index & (SUPERGROUP_SIZE - 1)) == 0) store<f64>(boundAt(supergroupBounds, index >> SUPERGROUP_SHIFT), Infinity);
  return index;
}

// @ts-ignore: decorator
@inline
function boundAt(list: usize, index: u32): usize {
  return list + (<usize>index << 3);
}

/**
 * Sets the vertices, plane and bounds of a face. Its area is not 0, since no vertex is collinear with an edge of which
 * it sees only one side.
 */
function setFace(index: u32, p: u32, q: u32, r: u32): void {
  const face = faceAt(index);
  const a = vertexAt(vertices, p), b = vertexAt(vertices, q), c = vertexAt(vertices, r);
  const ex = b.x - a.x, ey = b.y - a.y, ez = b.z - a.z;
  const fx = c.x - a.x, fy = c.y - a.y, fz = c.z - a.z;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const scale = length > 0 ? 1.0 / length : 0.0;
  face.normalX = nx * scale; face.normalY = ny * scale; face.normalZ = nz * scale;
  // A face whose normal is lost to rounding is never the lowest.
  face.distance = length > 0 ? face.normalX * a.x + face.normalY * a.y + face.normalZ * a.z : Infinity;
  store<f64>(boundAt(distances, index), face.distance);
  const group = boundAt(groupBounds, index >> GROUP_SHIFT), supergroup = boundAt(supergroupBounds, index >> SUPERGROUP_SHIFT);
  if (face.distance < load<f64>(group)) store<f64>(group, face.distance);
  if (face.distance < load<f64>(supergroup)) store<f64>(supergroup, face.distance);
  face.vertex0 = p; face.vertex1 = q; face.vertex2 = r;
  face.state = IN_USE;
}

/** Returns the face that is nearest to the origin; NO_FACE if none has a normal. */
export function nearestFace(): u32 {
  const groupCount = (faceIndexEnd + GROUP_SIZE - 1) >> GROUP_SHIFT,
    supergroupCount = (faceIndexEnd + SUPERGROUP_SIZE - 1) >> SUPERGROUP_SHIFT;
  while (true) {
    const supergroup = indexOfMinimum(supergroupBounds, 0, supergroupCount);
    if (supergroup == NO_FACE) return NO_FACE;
    const group = indexOfMinimum(groupBounds, supergroup << GROUP_SHIFT, min((supergroup + 1) << GROUP_SHIFT, groupCount));
    // A bound is raised if its least element has been removed.
    if (raiseBound(supergroupBounds, supergroup, groupBounds, group)) continue;
    const index = indexOfMinimum(distances, group << GROUP_SHIFT, min((group + 1) << GROUP_SHIFT, faceIndexEnd));
    if (!raiseBound(groupBounds, group, distances, index)) return index;
  }
}

/** Returns the index of the least number from `from` to before `end`; NO_FACE if none is finite. */
function indexOfMinimum(list: usize, from: u32, end: u32): u32 {
  let minimum = Infinity;
  let index = NO_FACE;
  for (let i = from; i < end; i++) {
    const distance = load<f64>(boundAt(list, i));
    if (!(distance < minimum)) continue;
    minimum = distance;
    index = i;
  }
  return index;
}

/** Raises a bound to the least number that it bounds, the one at `minimumIndex`. Returns whether the bound was lower. */
function raiseBound(bounds: usize, index: u32, list: usize, minimumIndex: u32): bool {
  const bound = boundAt(bounds, index);
  const minimum = minimumIndex == NO_FACE ? Infinity : load<f64>(boundAt(list, minimumIndex));
  if (minimum <= load<f64>(bound)) return false;
  store<f64>(bound, minimum);
  return true;
}

/**
 * Ensures that a face is never the lowest again: it lies on the surface of the difference itself, except for the
 * rounding of its normal.
 */
export function retire(index: u32): void {
  faceAt(index).distance = Infinity;
  store<f64>(boundAt(distances, index), Infinity);
}

/** Returns whether a vertex is in front of a face, exactly. */
// @ts-ignore: decorator
@inline
export function isInFront(face: Face, vertex: Vertex): bool {
  return orientationOf(
    vertexAt(vertices, face.vertex0), vertexAt(vertices, face.vertex1), vertexAt(vertices, face.vertex2), vertex,
  ) < 0;
}

/** Replaces all faces that the last vertex sees, found by a flood fill from one of them, by faces to that vertex. */
export function addVisibleVertex(first: u32): void {
  const last = vertexCount - 1;
  const vertex = vertexAt(vertices, last);
  let visibleCount: u32 = 1;
  store<u32>(visibleFaces, first);
  faceAt(first).state = VISIBLE;
  for (let i: u32 = 0; i < visibleCount; i++) {
    const face = faceAt(load<u32>(visibleFaces + (<usize>i << 2)));
    for (let k: u32 = 0; k < 3; k++) {
      const beside = faceAt(adjacentFace(face, k));
      if (beside.state == VISIBLE || !isInFront(beside, vertex)) continue;
      beside.state = VISIBLE;
      store<u32>(visibleFaces + (<usize>visibleCount << 2), adjacentFace(face, k));
      visibleCount++;
    }
  }
  addFan(last, visibleCount);
  freeVisibleFaces(visibleCount);
}

/** Adds faces from the edges of the horizon to the new vertex. */
function addFan(last: u32, visibleCount: u32): void {
  // A disc of n triangles has at most n + 2 border edges.
  reserveFaces(faceIndexEnd + visibleCount + 2);
  let start: u32 = 0;
  for (let i: u32 = 0; i < visibleCount; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      const face = faceAt(load<u32>(visibleFaces + (<usize>i << 2)));
      const outside = adjacentFace(face, k);
      if (faceAt(outside).state == VISIBLE) continue;
      const from = vertexOf(face, k), to = vertexOf(face, k == 2 ? 0 : k + 1);
      const index = acquireFace();
      setFace(index, from, to, last);
      setAdjacentFace(faceAt(index), 0, outside);
      replaceAdjacentFace(faceAt(outside), to, index);
      store<u32>(horizonFaces + (<usize>from << 2), index);
      start = index;
    }
  }
  // Links the new faces in one loop around the horizon.
  let index = start;
  do {
    const next = load<u32>(horizonFaces + (<usize>faceAt(index).vertex1 << 2));
    setAdjacentFace(faceAt(index), 1, next);
    setAdjacentFace(faceAt(next), 2, index);
    index = next;
  } while (index != start);
}

/** Sets the adjacent face across the edge of a face that begins at a vertex. */
function replaceAdjacentFace(face: Face, from: u32, beside: u32): void {
  setAdjacentFace(face, face.vertex0 == from ? 0 : face.vertex1 == from ? 1 : 2, beside);
}

function freeVisibleFaces(visibleCount: u32): void {
  for (let i: u32 = 0; i < visibleCount; i++) {
    const index = load<u32>(visibleFaces + (<usize>i << 2));
    faceAt(index).state = freeFace;
    freeFace = index;
    store<f64>(boundAt(distances, index), Infinity);
  }
}
