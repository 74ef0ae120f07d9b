// The connected parts of a mesh's surface; triangles that have a vertex in common, by position, are connected. What
// does not meet the surface of another mesh lies in it or out of it part by part, so one triangle of each part is kept,
// the first one in the tree. Exact.

import { beginSets, rootOf, unite } from '../../math/union-find';
import { allocate, reserve } from '../../memory';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf, resultOf, vertexOf } from './derivation-state';
import { PART_BYTES, partsAt } from './derived-layout';

export function beginUniting(d: Derivation): void {
  d.degrees = allocate(<u64>d.vertexCount << 2);
  memory.fill(d.degrees, 0, <usize>d.vertexCount << 2);
  d.parents = allocate(<u64>d.vertexCount << 2);
  beginSets(d.parents, d.vertexCount);
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
      unite(d.parents, a, b);
      unite(d.parents, a, c);
    }
  }
}

// @ts-ignore: decorator
@inline
function increment(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

/** Lists the parts that begin in blocks from `start` to `end` by their first slots, which `heads` marks at their roots. */
export function listParts(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      const at = d.heads + (<usize>rootOf(d.parents, vertexOf(d, slot, 0)) << 2);
      if (load<u32>(at) != 0) continue;
      store<u32>(at, 1);
      const used = <usize>d.partCount * PART_BYTES;
      d.parts = reserve(d.parts, used, <u64>used + PART_BYTES);
      store<u32>(d.parts + used, slot);
      d.partCount++;
    }
  }
}

/** Writes the parts into the result. */
export function writeParts(d: Derivation): void {
  memory.copy(partsAt(meshOf(d), resultOf(d)), d.parts, <usize>d.partCount * PART_BYTES);
}
