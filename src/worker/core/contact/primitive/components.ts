// Finds the connected components of the triangles that a primitive overlaps: triangles with a common corner, compared by
// position. Sets by union-find, positions by a hash table with open addressing. Exact: two corners are the same if all
// bits of their coordinates agree.

import { checkpoint } from '../../checkpoint';
import { beginSets, rootOf, unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { CHUNK, NONE, overlappingAt, overlappingCount } from './overlapping-triangles';

/** The first triangle of each component, the head of a list that is linked by `next`; NONE ends the list. */
let heads: usize = 0;
export let componentCount: u32 = 0;

let table: usize = 0;
let tails: usize = 0;
/** Up to this many triangles are compared pairwise. */
const FEW: u32 = 6;

// @ts-ignore: decorator
@inline
export function componentAt(i: u32): u32 {
  return load<u32>(heads + (<usize>i << 2));
}

/**
 * Finds the components, in the order of their first triangles, and lists the triangles of each in ascending order.
 * Throws OUT_OF_MEMORY.
 */
export function findComponents(mesh: Mesh): void {
  parents = reserve(parents, 0, <u64>overlappingCount << 2);
  beginSets(parents, overlappingCount);
  if (overlappingCount <= FEW) joinFew();
  else joinMany(mesh);
  heads = reserve(heads, 0, <u64>overlappingCount << 2);
  tails = reserve(tails, 0, <u64>overlappingCount << 2);
  componentCount = 0;
  for (let i: u32 = 0; i < overlappingCount; i += CHUNK) {
    listSome(i, min<u32>(i + CHUNK, overlappingCount));
    checkpoint(CHUNK);
  }
}

function listSome(from: u32, end: u32): void {
  for (let i = from; i < end; i++) {
    const root = rootOf(parents, i), met = overlappingAt(i);
    met.next = NONE;
    if (root == i) {
      store<u32>(heads + (<usize>componentCount << 2), i);
      componentCount++;
    } else overlappingAt(load<u32>(tails + (<usize>root << 2))).next = i;
    store<u32>(tails + (<usize>root << 2), i);
  }
}

/**
 * For each triangle, an earlier one of its component, or itself (math/union-find.ts). Stored apart from the triangles,
 * so that it fits into caches.
 */
let parents: usize = 0;

// @ts-ignore: decorator
@inline
function cornerOf(i: u32, k: usize): usize {
  return changetype<usize>(overlappingAt(i)) + k * 24;
}

// @ts-ignore: decorator
@inline
function isSamePlace(p: usize, q: usize): bool {
  return load<f64>(p) == load<f64>(q) && load<f64>(p, 8) == load<f64>(q, 8) && load<f64>(p, 16) == load<f64>(q, 16);
}

function joinFew(): void {
  for (let i: u32 = 1; i < overlappingCount; i++) {
    for (let j: u32 = 0; j < i; j++) {
      for (let k: usize = 0; k < 9; k++) {
        if (!isSamePlace(cornerOf(i, k / 3), cornerOf(j, k % 3))) continue;
        unite(parents, i, j);
        break;
      }
    }
  }
}

/**
 * Joins the triangles that share a corner, by a hash table of positions. The table has the corner of one triangle for
 * each position: 3 · index + corner + 1, 0 for an empty slot. Corners that are the same vertex of an indexed mesh are
 * joined without a lookup in the table: five of six in the dragon, which takes a third of the time. Throws
 * OUT_OF_MEMORY.
 */
function joinMany(mesh: Mesh): void {
  const slots = <u32>1 << (32 - clz(overlappingCount * 6));
  table = reserve(table, 0, <u64>slots << 2);
  memory.fill(table, 0, <usize>slots << 2);
  indices = 0;
  // If few triangles overlap a mesh of many vertices, clearing the list of vertices would cost more than it saves.
  if (mesh.indexed && mesh.vertexCount <= overlappingCount * 16) {
    indices = changetype<usize>(mesh) + mesh.indices;
    vertices = reserve(vertices, 0, <u64>mesh.vertexCount << 2);
    memory.fill(vertices, 0, <usize>mesh.vertexCount << 2);
  }
  for (let i: u32 = 0; i < overlappingCount; i += CHUNK) {
    joinSome(i, min<u32>(i + CHUNK, overlappingCount), slots - 1);
    checkpoint(3 * CHUNK);
  }
}

/** The mesh's indices, 0 if vertices are not used; and for each vertex 1 + the first triangle at it, 0 if none yet. */
let indices: usize = 0;
let vertices: usize = 0;

function joinSome(from: u32, end: u32, mask: u32): void {
  for (let i = from; i < end; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      if (indices != 0) {
        const vertex = load<u32>(indices + (<usize>(overlappingAt(i).triangle * 3 + k) << 2));
        const known = vertices + (<usize>vertex << 2);
        const first = load<u32>(known);
        if (first != 0) {
          unite(parents, i, first - 1);
          continue;
        }
        store<u32>(known, i + 1);
      }
      const corner = cornerOf(i, k);
      let slot = hashOf(corner) & mask;
      for (;;) {
        const known = load<u32>(table + (<usize>slot << 2));
        if (known == 0) {
          store<u32>(table + (<usize>slot << 2), 3 * i + k + 1);
          break;
        }
        const other = (known - 1) / 3;
        if (isSamePlace(corner, cornerOf(other, (known - 1) % 3))) {
          unite(parents, i, other);
          break;
        }
        slot = (slot + 1) & mask;
      }
    }
  }
}

/** Hashes the coordinates of a corner: multiplies and mixes as in MurmurHash3 (Appleby, 2011). */
// @ts-ignore: decorator
@inline
function hashOf(corner: usize): u32 {
  let h = load<u64>(corner) * 0x9e3779b97f4a7c15;
  h = (rotl<u64>(h, 29) ^ load<u64>(corner, 8)) * 0xbf58476d1ce4e5b9;
  h = (rotl<u64>(h, 31) ^ load<u64>(corner, 16)) * 0x94d049bb133111eb;
  return <u32>((h ^ (h >> 29)) >> 32) ^ <u32>h;
}
