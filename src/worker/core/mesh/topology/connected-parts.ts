// The connected parts of a mesh's surface; triangles that have a corner in common, by position, are connected. What
// does not meet the surface of another mesh lies in it or out of it part by part, so one corner of each part is kept.

import { mix } from '../../math/hash';
import { allocate, release, reserve } from '../../memory';
import { Mesh, blockAt, triangleOf } from '../tree/layout';

/** A corner of a part, in tree space. */
@unmanaged
export class Part {
  x: f32; y: f32; z: f32;
  pad: f32;
}

const PART_BYTES: usize = 16;
/** In front of the parts: how many there are. */
const HEAD: usize = 16;

/** How many parts there are, found when first asked for. Throws OUT_OF_MEMORY; the mesh is as it was then. */
export function partCount(mesh: Mesh): u32 {
  if (mesh.parts == 0) mesh.parts = <u32>findParts(mesh);
  return load<u32>(mesh.parts);
}

/** Of a mesh whose parts were counted. */
// @ts-ignore: decorator
@inline
export function partAt(mesh: Mesh, index: u32): Part {
  return changetype<Part>(<usize>mesh.parts + HEAD + <usize>index * PART_BYTES);
}

/** A vertex of a triangle in the tree. */
@unmanaged
class Vertex {
  /** Address of a corner that is there, 0 where no triangle has the vertex. */
  corner: u32;
  /** Number of a vertex in the same part; that of a part's root is its own. */
  parent: u32;
}

const VERTEX_BYTES: usize = 8;
let vertices: usize = 0;
let vertexCount: u32 = 0;
let usedCount: u32 = 0;
let rootCount: u32 = 0;
/** Numbers of vertices by the hash of their position, and 1; 0 where there is none. */
let table: usize = 0;

// @ts-ignore: decorator
@inline
function vertexAt(index: u32): Vertex {
  return changetype<Vertex>(vertices + <usize>index * VERTEX_BYTES);
}

// @ts-ignore: decorator
@inline
function isRoot(index: u32): bool {
  return vertexAt(index).corner != 0 && vertexAt(index).parent == index;
}

function findParts(mesh: Mesh): usize {
  connect(mesh);
  if (rootCount > 1) weld();
  const parts = listRoots();
  release(vertices);
  vertices = 0;
  return parts;
}

/** By the indices; of a mesh without, or with more vertices than corners, each corner is a vertex of its own. */
function connect(mesh: Mesh): void {
  const corners = mesh.triangleCount * 3;
  const indices: usize = mesh.indexed && mesh.vertexCount <= corners ? changetype<usize>(mesh) + mesh.indices : 0;
  vertexCount = indices ? mesh.vertexCount : corners;
  usedCount = 0;
  rootCount = 0;
  vertices = reserve(vertices, 0, <u64>vertexCount * VERTEX_BYTES);
  memory.fill(vertices, 0, <usize>vertexCount * VERTEX_BYTES);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      const triangle = triangleOf(block, lane);
      if (triangle < 0) continue;
      const at = indices + <usize>triangle * 12;
      const corner = changetype<usize>(block) + (<usize>lane << 2);
      const a = use(indices ? load<u32>(at) : triangle * 3, corner);
      unite(a, use(indices ? load<u32>(at, 4) : triangle * 3 + 1, corner + 48));
      unite(a, use(indices ? load<u32>(at, 8) : triangle * 3 + 2, corner + 96));
    }
  }
}

/** A part of its own, the first time. */
// @ts-ignore: decorator
@inline
function use(index: u32, corner: usize): u32 {
  const vertex = vertexAt(index);
  if (vertex.corner == 0) {
    vertex.corner = <u32>corner;
    vertex.parent = index;
    usedCount++;
    rootCount++;
  }
  return index;
}

/** Unites vertices in the same place. */
function weld(): void {
  // Three quarters full if no two are.
  let capacity: u32 = 4;
  while (<u64>capacity * 3 < <u64>usedCount * 4) capacity <<= 1;
  table = reserve(table, 0, <u64>capacity << 2);
  memory.fill(table, 0, <usize>capacity << 2);
  for (let i: u32 = 0; i < vertexCount; i++) {
    if (vertexAt(i).corner == 0) continue;
    const position = cornerAt(vertexAt(i).corner);
    const hash = mix(mix(<u64>i64x2.extract_lane(position, 0)) + <u64>i64x2.extract_lane(position, 1));
    let at = <u32>hash & (capacity - 1);
    for (; load<u32>(table + (<usize>at << 2)) != 0; at = (at + 1) & (capacity - 1)) {
      const other = load<u32>(table + (<usize>at << 2)) - 1;
      if (!i32x4.all_true(f32x4.eq(cornerAt(vertexAt(other).corner), position))) continue;
      unite(i, other);
      break;
    }
    if (load<u32>(table + (<usize>at << 2)) == 0) store<u32>(table + (<usize>at << 2), i + 1);
  }
  release(table);
  table = 0;
}

/** Zeros lose their sign. */
// @ts-ignore: decorator
@inline
function cornerAt(corner: usize): v128 {
  return f32x4.add(f32x4(load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), 0), f32x4.splat(0));
}

/** Makes two parts one (Tarjan and van Leeuwen, "Worst-Case Analysis of Set Union Algorithms", 1984). */
function unite(a: u32, b: u32): void {
  const rootA = rootOf(a), rootB = rootOf(b);
  if (rootA == rootB) return;
  rootCount--;
  if (rootA < rootB) vertexAt(rootB).parent = rootA;
  else vertexAt(rootA).parent = rootB;
}

/** Halves the way for the next. */
function rootOf(index: u32): u32 {
  let vertex = vertexAt(index);
  while (vertex.parent != index) {
    vertex.parent = vertexAt(vertex.parent).parent;
    index = vertex.parent;
    vertex = vertexAt(index);
  }
  return index;
}

function listRoots(): usize {
  const parts = allocate(HEAD + <u64>rootCount * PART_BYTES);
  store<u32>(parts, rootCount);
  let to = parts + HEAD;
  for (let i: u32 = 0; i < vertexCount; i++) {
    if (!isRoot(i)) continue;
    v128.store(to, cornerAt(vertexAt(i).corner));
    to += PART_BYTES;
  }
  return parts;
}
