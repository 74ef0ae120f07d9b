// The connected parts of a mesh's surface; triangles that have a corner in common, by position, are connected. What
// does not meet the surface of another mesh lies in it or out of it part by part, so one corner of each part is kept.

import { mix } from '../math/mix';
import { allocate, release, reserve } from '../memory';
import { Mesh, blockAt, triangleOf } from './layout';

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

/** A position among those of the mesh, hashed to its place in the table. */
@unmanaged
class Place {
  /** Address of a corner that is there, 0 where the place is empty. */
  corner: u32;
  /** Index of a place in the same part; that of a part's root is its own. */
  parent: u32;
}

const PLACE_BYTES: usize = 8;
let table: usize = 0;
let mask: u32 = 0;

// @ts-ignore: decorator
@inline
function placeAt(index: u32): Place {
  return changetype<Place>(table + <usize>index * PLACE_BYTES);
}

// @ts-ignore: decorator
@inline
function isRoot(index: u32): bool {
  return placeAt(index).corner != 0 && placeAt(index).parent == index;
}

function findParts(mesh: Mesh): usize {
  // Three quarters full if no two corners are the same.
  let capacity: u32 = 4;
  while (capacity < mesh.keptCount * 4) capacity <<= 1;
  mask = capacity - 1;
  table = reserve(table, 0, <u64>capacity * PLACE_BYTES);
  memory.fill(table, 0, <usize>capacity * PLACE_BYTES);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      const corner = changetype<usize>(block) + (<usize>lane << 2);
      const a = findPlace(corner);
      unite(a, findPlace(corner + 48));
      unite(a, findPlace(corner + 96));
    }
  }
  const parts = listRoots(capacity);
  release(table);
  table = 0;
  return parts;
}

function listRoots(capacity: u32): usize {
  let count: u32 = 0;
  for (let i: u32 = 0; i < capacity; i++) if (isRoot(i)) count++;
  const parts = allocate(HEAD + <u64>count * PART_BYTES);
  store<u32>(parts, count);
  let to = parts + HEAD;
  for (let i: u32 = 0; i < capacity; i++) {
    if (!isRoot(i)) continue;
    v128.store(to, cornerAt(placeAt(i).corner));
    to += PART_BYTES;
  }
  return parts;
}

/** Zeros lose their sign. */
// @ts-ignore: decorator
@inline
function cornerAt(corner: usize): v128 {
  return f32x4.add(f32x4(load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), 0), f32x4.splat(0));
}

/** The place of a corner's position. */
function findPlace(corner: usize): u32 {
  const position = cornerAt(corner);
  let index = <u32>mix(mix(<u64>i64x2.extract_lane(position, 0)) + <u64>i64x2.extract_lane(position, 1)) & mask;
  for (; placeAt(index).corner != 0; index = (index + 1) & mask) {
    if (i32x4.all_true(f32x4.eq(cornerAt(placeAt(index).corner), position))) return index;
  }
  placeAt(index).corner = <u32>corner;
  placeAt(index).parent = index;
  return index;
}

/** Makes two parts one (Tarjan and van Leeuwen, "Worst-Case Analysis of Set Union Algorithms", 1984). */
function unite(a: u32, b: u32): void {
  const rootA = rootOf(a), rootB = rootOf(b);
  // By index, which stands for rank: places are hashes.
  if (rootA < rootB) placeAt(rootB).parent = rootA;
  else placeAt(rootA).parent = rootB;
}

/** Halves the way for the next. */
function rootOf(index: u32): u32 {
  let place = placeAt(index);
  while (place.parent != index) {
    place.parent = placeAt(place.parent).parent;
    index = place.parent;
    place = placeAt(index);
  }
  return index;
}
