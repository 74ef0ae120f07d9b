// The connected parts of a mesh's surface; triangles that have a vertex in common, by position, are connected (Tarjan
// and van Leeuwen, "Worst-Case Analysis of Set Union Algorithms", 1984). What does not meet the surface of another mesh
// lies in it or out of it part by part, so one triangle of each part is kept, the first one in the tree. Exact.

import { allocate } from '../../memory';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf, resultOf, vertexOf } from './derivation-state';
import { PART_BYTES, partsAt } from './derived-layout';

export function beginUniting(d: Derivation): void {
  d.degrees = allocate(<u64>d.vertexCount << 2);
  memory.fill(d.degrees, 0, <usize>d.vertexCount << 2);
  d.parents = allocate(<u64>d.vertexCount << 2);
  for (let i: u32 = 0; i < d.vertexCount; i++) store<u32>(d.parents + (<usize>i << 2), i);
}

/** Unites the vertices of each triangle of blocks from `start` to `end`, and counts the triangles of each vertex. */
export function uniteBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      const a = vertexOf(d, slot, 0), b = vertexOf(d, slot, 1), c = vertexOf(d, slot, 2);
      increment(d.degrees + (<usize>a << 2));
      increment(d.degrees + (<usize>b << 2));
      increment(d.degrees + (<usize>c << 2));
      unite(d, a, b);
      unite(d, a, c);
    }
  }
}

// @ts-ignore: decorator
@inline
function increment(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

/** Unites the sets of two vertices; the lower number stays the root. */
function unite(d: Derivation, a: u32, b: u32): void {
  const rootA = rootOf(d, a), rootB = rootOf(d, b);
  if (rootA < rootB) store<u32>(d.parents + (<usize>rootB << 2), rootA);
  else store<u32>(d.parents + (<usize>rootA << 2), rootB);
}

/** Answers the root of a vertex's set; halves the path on the way. */
function rootOf(d: Derivation, vertex: u32): u32 {
  for (let parent = load<u32>(d.parents + (<usize>vertex << 2)); parent != vertex; ) {
    const next = load<u32>(d.parents + (<usize>parent << 2));
    store<u32>(d.parents + (<usize>vertex << 2), next);
    vertex = next;
    parent = load<u32>(d.parents + (<usize>vertex << 2));
  }
  return vertex;
}

/** Counts parts that begin in blocks from `start` to `end`; `heads` becomes each root's first slot, and 1. */
export function countParts(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      const at = d.heads + (<usize>rootOf(d, vertexOf(d, slot, 0)) << 2);
      if (load<u32>(at) != 0) continue;
      store<u32>(at, slot + 1);
      d.partCount++;
    }
  }
}

/** Writes the parts that begin in blocks from `start` to `end` into the result. */
export function writeParts(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  const parts = partsAt(mesh, resultOf(d));
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      if (load<u32>(d.heads + (<usize>rootOf(d, vertexOf(d, slot, 0)) << 2)) != slot + 1) continue;
      store<u32>(parts + <usize>d.partsDone * PART_BYTES, slot);
      d.partsDone++;
    }
  }
}
