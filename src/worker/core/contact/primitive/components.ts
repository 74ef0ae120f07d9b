// Finds the connected components of the triangles that a primitive overlaps: triangles with a common corner, compared by
// position. Sets by union-find, positions by a hash table with open addressing. Exact: two corners are the same if all
// bits of their coordinates agree.

import { checkpoint } from '../../checkpoint';
import { makeSets, rootOf, unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { BATCH_TRIANGLES, NO_TRIANGLE, overlappingAt, overlappingCount } from './overlapping-triangles';

/** The first triangle of each component, the head of a list that is linked by `next`; NO_TRIANGLE ends the list. */
let heads: usize = 0;
export let componentCount: u32 = 0;

let hashTable: usize = 0;
let tails: usize = 0;
/** Up to this many triangles are compared pairwise. */
const MAX_PAIRWISE: u32 = 6;

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
  makeSets(parents, overlappingCount);
  if (overlappingCount <= MAX_PAIRWISE) joinPairwise();
  else joinByHash(mesh);
  heads = reserve(heads, 0, <u64>overlappingCount << 2);
  tails = reserve(tails, 0, <u64>overlappingCount << 2);
  componentCount = 0;
  for (let i: u32 = 0; i < overlappingCount; i += BATCH_TRIANGLES) {
    listBatch(i, min<u32>(i + BATCH_TRIANGLES, overlappingCount));
    checkpoint(BATCH_TRIANGLES);
  }
}

function listBatch(from: u32, end: u32): void {
  for (let i = from; i < end; i++) {
    const root = rootOf(parents, i), overlapping = overlappingAt(i);
    overlapping.next = NO_TRIANGLE;
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
function cornerAddress(i: u32, k: usize): usize {
  return changetype<usize>(overlappingAt(i)) + k * 24;
}

// @ts-ignore: decorator
@inline
function isSamePoint(p: usize, q: usize): bool {
  return load<f64>(p) == load<f64>(q) && load<f64>(p, 8) == load<f64>(q, 8) && load<f64>(p, 16) == load<f64>(q, 16);
}

function joinPairwise(): void {
  for (let i: u32 = 1; i < overlappingCount; i++) {
    for (let j: u32 = 0; j < i; j++) {
      for (let k: usize = 0; k < 9; k++) {
        if (!isSamePoint(cornerAddress(i, k / 3), cornerAddress(j, k % 3))) continue;
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
function joinByHash(mesh: Mesh): void {
  const slots = <u32>1 << (32 - clz(overlappingCount * 6));
  hashTable = reserve(hashTable, 0, <u64>slots << 2);
  memory.fill(hashTable, 0, <usize>slots << 2);
  indices = 0;
  // If few triangles overlap a mesh of many vertices, clearing the list of vertices would cost more than it saves.
  if (mesh.indexed && mesh.vertexCount <= overlappingCount * 16) {
    indices = changetype<usize>(mesh) + mesh.indices;
    vertexTriangles = reserve(vertexTriangles, 0, <u64>mesh.vertexCount << 2);
    memory.fill(vertexTriangles, 0, <usize>mesh.vertexCount << 2);
  }
  for (let i: u32 = 0; i < overlappingCount; i += BATCH_TRIANGLES) {
    joinBatch(i, min<u32>(i + BATCH_TRIANGLES, overlappingCount), slots - 1);
    checkpoint(3 * BATCH_TRIANGLES);
  }
}

/** The mesh's indices, 0 if vertices are not used; and for each vertex 1 + the first triangle at it, 0 if none yet. */
let indices: usize = 0;
let vertexTriangles: usize = 0;

function joinBatch(from: u32, end: u32, mask: u32): void {
  for (let i = from; i < end; i++) {
    for (let k: u32 = 0; k < 3; k++) {
      if (indices != 0) {
        const vertex = load<u32>(indices + (<usize>(overlappingAt(i).triangle * 3 + k) << 2));
        const vertexEntry = vertexTriangles + (<usize>vertex << 2);
        const firstEntry = load<u32>(vertexEntry);
        if (firstEntry != 0) {
          unite(parents, i, firstEntry - 1);
          continue;
        }
        store<u32>(vertexEntry, i + 1);
      }
      const corner = cornerAddress(i, k);
      let slot = hashOf(corner) & mask;
      for (;;) {
        const cornerEntry = load<u32>(hashTable + (<usize>slot << 2));
        if (cornerEntry == 0) {
          store<u32>(hashTable + (<usize>slot << 2), 3 * i + k + 1);
          break;
        }
        const other = (cornerEntry - 1) / 3;
        if (isSamePoint(corner, cornerAddress(other, (cornerEntry - 1) % 3))) {
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
