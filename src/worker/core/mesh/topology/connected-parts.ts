// The connected parts of a mesh's surface; triangles with a common vertex, by position, are connected. If two surfaces
// do not intersect, each part lies entirely inside or outside the other mesh, so one triangle per part is stored, the
// first one in the tree. Exact.

import { unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Derivation } from './derivation-state';
import { PART_BYTES } from './derived-layout';

// @ts-ignore: decorator
@inline
function parentOf(d: Derivation, vertex: u32): u32 {
  return load<u32>(d.parents + (<usize>vertex << 2));
}

/** Unites the parts of two vertices. Most of them are known to be in the same part already. */
// @ts-ignore: decorator
@inline
export function uniteVertices(d: Derivation, a: u32, b: u32): void {
  if (parentOf(d, a) != parentOf(d, b)) unite(d.parents, a, b);
}

/**
 * Lists the part whose first slot this is, if any; `vertex` is the slot's first corner. Since vertices are numbered in
 * the order of the slots, it is the lowest vertex of a part if the slot is the part's first one, and later parts have
 * higher ones.
 */
// @ts-ignore: decorator
@inline
export function listPart(d: Derivation, slot: u32, vertex: u32): void {
  if (parentOf(d, vertex) != vertex || vertex < d.partEnd) return;
  d.partEnd = vertex + 1;
  const used = <usize>d.partCount * PART_BYTES;
  d.parts = reserve(d.parts, used, <u64>used + PART_BYTES);
  store<u32>(d.parts + used, slot);
  d.partCount++;
}
