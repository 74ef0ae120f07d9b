// The occluder shapes of objects: triangles with their shared edges. For a small mesh these are its own triangles. A closed
// mesh also has a box inside of it, which is covered from wherever one looks from outside: it is found by growing a box about
// the centre of the bounds while no triangle intersects it and its centre is inside. What an open mesh hides from a moving eye
// is in relief.ts.
//
// They are made once per mesh (occluder-table.ts).

import { Affine, invert, setIdentity } from '../math/affine';
import { mix } from '../math/hash';
import { allocate, reserve } from '../memory';
import { meshMeetsCube } from '../mesh/query/mesh-pair';
import { windingOfClosedMesh } from '../mesh/query/ray-parity';
import { Mesh, blockAt, composeTreeMap, triangleOf } from '../mesh/tree/layout';
import { HAS_BOX, NO_BOX, UNKNOWN, findOccluder, findOrAddOccluder } from './occluder-table';

/**
 * A mesh with more triangles is not used as an occluder by its triangles: this is half a frame's budget
 * (scene/view/occlusion.ts).
 */
export const MAX_TRIANGLES: u32 = 2048;

/** Triangles and edges; the vertices of 3 f64 each follow, and then TRIANGLE_BYTES per triangle. */
@unmanaged
export class OccluderShape {
  vertexCount: u32;
  triangleCount: u32;
  edgeCount: u32;
  pad: u32;
}

/** Three vertices, then three edges << 1, plus a bit for their direction: all u16. */
export const TRIANGLE_BYTES: usize = 16;
export const VERTEX_BYTES: usize = 24;

/**
 * A box inside of a closed mesh: the map from the cube to it, in mesh space, as an Affine, and the mesh's winding number about
 * it.
 */
@unmanaged
export class InnerBox {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  winding: i32;
}

// @ts-ignore: decorator
@inline
export function verticesOf(shape: OccluderShape): usize {
  return changetype<usize>(shape) + 16;
}

// @ts-ignore: decorator
@inline
export function cornersOf(shape: OccluderShape): usize {
  return verticesOf(shape) + shape.vertexCount * <u32>VERTEX_BYTES;
}

/** Returns one of a triangle's three vertices. */
// @ts-ignore: decorator
@inline
export function vertexOf(shape: OccluderShape, triangle: u32, i: usize): u32 {
  return load<u16>(cornersOf(shape) + triangle * <u32>TRIANGLE_BYTES + (i << 1));
}

/** Returns the edge from a vertex of a triangle to the next, << 1, plus 1 if the edge has the opposite direction. */
// @ts-ignore: decorator
@inline
export function edgeOf(shape: OccluderShape, triangle: u32, i: usize): u32 {
  return load<u16>(cornersOf(shape) + triangle * <u32>TRIANGLE_BYTES + (i << 1), 6);
}

/** Returns whether the shape or the box of a mesh has been made, if it can have one. */
export function isComputed(mesh: Mesh, isBox: bool): bool {
  const entry = findOccluder(<u32>changetype<usize>(mesh));
  return entry !== null && (isBox ? entry.boxState != UNKNOWN : entry.hasShape != 0);
}

/** Returns the triangles of a mesh, or null if they are too many. Makes them on first use. Throws OUT_OF_MEMORY. */
export function shapeOf(mesh: Mesh): OccluderShape | null {
  if (mesh.keptCount > MAX_TRIANGLES) return null;
  const entry = findOrAddOccluder(<u32>changetype<usize>(mesh));
  if (entry.hasShape == 0) {
    entry.shape = <u32>changetype<usize>(makeShape(mesh));
    entry.hasShape = 1;
  }
  return changetype<OccluderShape | null>(<usize>entry.shape);
}

/** Returns a box inside of a closed mesh, or null if none was found. Throws OUT_OF_MEMORY. */
export function innerBoxOf(mesh: Mesh): InnerBox | null {
  if (!mesh.closed) return null;
  const entry = findOrAddOccluder(<u32>changetype<usize>(mesh));
  if (entry.boxState == UNKNOWN) {
    const inner = findInnerBox(mesh);
    entry.boxState = inner == 0 ? NO_BOX : HAS_BOX;
    entry.innerBox = inner;
  }
  return changetype<InnerBox | null>(entry.innerBox);
}

// --- triangles ---

let table: usize = 0; // u16 + 1, by hash
let corners: usize = 0; // u16 per corner of each triangle
let positions: usize = 0; // 3 f32 per vertex
let edges: usize = 0; // two u16 per edge: the smaller vertex first

const MAX_VERTICES: u32 = 3 * MAX_TRIANGLES;
const TABLE_SIZE: u32 = 16384;

function makeShape(mesh: Mesh): OccluderShape {
  table = reserve(table, 0, TABLE_SIZE << 1);
  corners = reserve(corners, 0, MAX_VERTICES << 1);
  positions = reserve(positions, 0, MAX_VERTICES * 12);
  edges = reserve(edges, 0, MAX_VERTICES << 2);
  memory.fill(table, 0, TABLE_SIZE << 1);
  let vertexCount: u32 = 0, triangleCount: u32 = 0;
  for (let i: u32 = 0; i < mesh.blockCount; i++) {
    const block = blockAt(mesh, i);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      for (let k: usize = 0; k < 3; k++) {
        const at = changetype<usize>(block) + k * 48 + (<usize>lane << 2);
        const vertex = findOrAddVertex(load<f32>(at) + 0, load<f32>(at, 16) + 0, load<f32>(at, 32) + 0, vertexCount);
        if (vertex == vertexCount) vertexCount++;
        store<u16>(corners + ((triangleCount * 3 + <u32>k) << 1), <u16>vertex);
      }
      triangleCount++;
    }
  }
  const bytes = 16 + vertexCount * <u32>VERTEX_BYTES + triangleCount * <u32>TRIANGLE_BYTES;
  const shape = changetype<OccluderShape>(allocate(bytes));
  shape.vertexCount = vertexCount;
  shape.triangleCount = triangleCount;
  for (let i: u32 = 0; i < 3 * vertexCount; i++) {
    store<f64>(verticesOf(shape) + (<usize>i << 3), <f64>load<f32>(positions + (<usize>i << 2)));
  }
  memory.fill(table, 0, TABLE_SIZE << 1);
  let edgeCount: u32 = 0;
  for (let t: u32 = 0; t < triangleCount; t++) {
    const to = cornersOf(shape) + t * <u32>TRIANGLE_BYTES;
    for (let k: u32 = 0; k < 3; k++) {
      const from = load<u16>(corners + ((t * 3 + k) << 1)), next = load<u16>(corners + ((t * 3 + (k + 1) % 3) << 1));
      store<u16>(to + (<usize>k << 1), from);
      const edge = findOrAddEdge(min<u32>(from, next), max<u32>(from, next), edgeCount);
      if (edge == edgeCount) edgeCount++;
      store<u16>(to + (<usize>k << 1), <u16>((edge << 1) | u32(from > next)), 6);
    }
  }
  shape.edgeCount = edgeCount;
  return shape;
}

function findOrAddVertex(x: f32, y: f32, z: f32, count: u32): u32 {
  const xy = <u64>reinterpret<u32>(x) | (<u64>reinterpret<u32>(y) << 32);
  let i = <u32>(mix(mix(xy) + reinterpret<u32>(z)) >> 32) & (TABLE_SIZE - 1);
  for (; ; i = (i + 1) & (TABLE_SIZE - 1)) {
    const existing = load<u16>(table + (<usize>i << 1));
    if (existing == 0) break;
    const at = positions + (<usize>existing - 1) * 12;
    if (load<f32>(at) == x && load<f32>(at, 4) == y && load<f32>(at, 8) == z) return existing - 1;
  }
  store<u16>(table + (<usize>i << 1), <u16>(count + 1));
  const at = positions + <usize>count * 12;
  store<f32>(at, x);
  store<f32>(at, y, 4);
  store<f32>(at, z, 8);
  return count;
}

function findOrAddEdge(first: u32, second: u32, count: u32): u32 {
  let i = <u32>(mix(<u64>first | (<u64>second << 32)) >> 32) & (TABLE_SIZE - 1);
  for (; ; i = (i + 1) & (TABLE_SIZE - 1)) {
    const existing = load<u16>(table + (<usize>i << 1));
    if (existing == 0) break;
    const at = edges + (<usize>existing - 1) * 4;
    if (load<u16>(at) == first && load<u16>(at, 2) == second) return existing - 1;
  }
  store<u16>(table + (<usize>i << 1), <u16>(count + 1));
  store<u16>(edges + (<usize>count << 2), <u16>first);
  store<u16>(edges + (<usize>count << 2), <u16>second, 2);
  return count;
}

// --- the cube ---

/** The cube [-1, 1]³, its triangles facing outwards. */
export const CUBE = changetype<OccluderShape>(memory.data(16 + 8 * <i32>VERTEX_BYTES + 12 * <i32>TRIANGLE_BYTES, 16));

function setCube(): void {
  CUBE.vertexCount = 8;
  CUBE.triangleCount = 12;
  for (let i: u32 = 0; i < 8; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      store<f64>(verticesOf(CUBE) + ((i * 3 + k) << 3), (i >> k) & 1 ? 1 : -1);
    }
  }
  let triangle: u32 = 0;
  for (let axis: u32 = 0; axis < 3; axis++) {
    const u: u32 = 1 << ((axis + 1) % 3), v: u32 = 1 << ((axis + 2) % 3);
    for (let side: u32 = 0; side < 2; side++) {
      const at = side << axis;
      for (let half: u32 = 0; half < 2; half++) {
        // Counterclockwise from outside: u, then v, on the far side of the axis.
        const second = half == 0 ? at + u : at + u + v, third = half == 0 ? at + u + v : at + v;
        const to = cornersOf(CUBE) + triangle * <u32>TRIANGLE_BYTES;
        store<u16>(to, <u16>at);
        store<u16>(to, <u16>(side ? second : third), 2);
        store<u16>(to, <u16>(side ? third : second), 4);
        for (let k: usize = 0; k < 3; k++) {
          const from = load<u16>(to + (k << 1)), next = load<u16>(to + ((k + 1) % 3 << 1));
          const edge = edgeOfCube((min<u32>(from, next) << 3) | max<u32>(from, next));
          store<u16>(to + (k << 1), <u16>((edge << 1) | u32(from > next)), 6);
        }
        triangle++;
      }
    }
  }
}

/** The ends of the cube's edges that have been numbered. */
const cubeEdges = memory.data(18 * <i32>sizeof<u16>());

/** Returns the index of an edge of the cube, and assigns one if it has none. */
function edgeOfCube(ends: u32): u32 {
  let edge: u32 = 0;
  while (edge < CUBE.edgeCount && load<u16>(cubeEdges + (edge << 1)) != ends) edge++;
  if (edge == CUBE.edgeCount) store<u16>(cubeEdges + (CUBE.edgeCount++ << 1), <u16>ends);
  return edge;
}
setCube();

// --- the box inside ---

const toCube = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treeToMesh = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The first boxes that are tried, relative to the bounds: in a box-shaped mesh, the box must not touch the surface. */
const FIRST_SIZES = memory.data<f64>([0.9990234375, 0.9, 0.75, 0.577, 0.4, 0.25, 0.12]);
const FIRST_SIZE_COUNT: usize = 7;
/** Number of bisections of each side's distance outwards. */
const HALVINGS: u32 = 5;

// The box that is tried.
let minX: f64 = 0, minY: f64 = 0, minZ: f64 = 0;
let maxX: f64 = 0, maxY: f64 = 0, maxZ: f64 = 0;

/** Returns the address of a map to a box inside; 0 if none. */
function findInnerBox(mesh: Mesh): usize {
  const x = 0.5 * (mesh.minX + mesh.maxX), y = 0.5 * (mesh.minY + mesh.maxY), z = 0.5 * (mesh.minZ + mesh.maxZ);
  const hx = 0.5 * (mesh.maxX - mesh.minX), hy = 0.5 * (mesh.maxY - mesh.minY), hz = 0.5 * (mesh.maxZ - mesh.minZ);
  if (!(hx > 0 && hy > 0 && hz > 0)) return 0;
  setIdentity(toCube);
  composeTreeMap(treeToMesh, mesh, toCube);
  const winding = windingOfClosedMesh(mesh, treeToMesh, x, y, z);
  if (winding == 0) return 0;
  let isFound = false;
  for (let i: usize = 0; i < FIRST_SIZE_COUNT && !isFound; i++) {
    const size = load<f64>(FIRST_SIZES + (i << 3));
    minX = x - hx * size; minY = y - hy * size; minZ = z - hz * size;
    maxX = x + hx * size; maxY = y + hy * size; maxZ = z + hz * size;
    isFound = isBoxFree(mesh);
  }
  if (!isFound) return 0;
  minX = growSide(mesh, 0, minX, mesh.minX);
  maxX = growSide(mesh, 1, maxX, mesh.maxX);
  minY = growSide(mesh, 2, minY, mesh.minY);
  maxY = growSide(mesh, 3, maxY, mesh.maxY);
  minZ = growSide(mesh, 4, minZ, mesh.minZ);
  maxZ = growSide(mesh, 5, maxZ, mesh.maxZ);
  const box = changetype<InnerBox>(allocate(offsetof<InnerBox>()));
  setBox(changetype<Affine>(box));
  box.winding = winding;
  return changetype<usize>(box);
}

function growSide(mesh: Mesh, side: u32, from: f64, to: f64): f64 {
  let free = from, blocked = to;
  for (let i: u32 = 0; i < HALVINGS; i++) {
    const midpoint = 0.5 * (free + blocked);
    setSide(side, midpoint);
    if (isBoxFree(mesh)) free = midpoint;
    else blocked = midpoint;
  }
  setSide(side, free);
  return free;
}

function setSide(side: u32, value: f64): void {
  if (side == 0) minX = value;
  else if (side == 1) maxX = value;
  else if (side == 2) minY = value;
  else if (side == 3) maxY = value;
  else if (side == 4) minZ = value;
  else maxZ = value;
}

function isBoxFree(mesh: Mesh): bool {
  setBox(toCube);
  invert(toCube, toCube);
  return !meshMeetsCube(mesh, toCube);
}

function setBox(map: Affine): void {
  setIdentity(map);
  map.xx = 0.5 * (maxX - minX); map.yy = 0.5 * (maxY - minY); map.zz = 0.5 * (maxZ - minZ);
  map.tx = 0.5 * (maxX + minX); map.ty = 0.5 * (maxY + minY); map.tz = 0.5 * (maxZ + minZ);
}
