// The connected parts of a mesh's surface; triangles that have a vertex in common, by position, are connected. What
// does not meet the surface of another mesh lies in it or out of it part by part, so one triangle of each part is kept,
// the first one in the tree. Exact.

import { unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Derivation } from './derivation-state';
import { PART_BYTES } from './derived-layout';

// @ts-ignore: decorator
@inline
function parentOf(d: Derivation, vertex: u32): u32 {
  return load<u32>(d.parents + (<usize>vertex << 2));
}

/** Unites the parts that two vertices are in. Most know that they are in one. */
// @ts-ignore: decorator
@inline
export function uniteVertices(d: Derivation, a: u32, b: u32): void {
  if (parentOf(d, a) != parentOf(d, b)) unite(d.parents, a, b);
}

/**
 * Lists the part that begins with a slot, if one does; `vertex` is that of its first corner. As vertices have their numbers in the
 * order in which slots have them, that is the least of a part where the slot is its first, and later parts have greater ones.
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
