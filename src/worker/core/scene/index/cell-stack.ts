// The stack for descending an octree depth first, the nearest cell first: for each waiting cell a lower bound of its distance,
// f32, and its number, u32.

import { indexOfMax } from '../../math/lanes';
import { reserve } from '../../memory';
import { VECTOR_BYTES } from '../../sizes';
import { Tree } from './octree';

export const CELL_ENTRY_BYTES: usize = 8;
const CELL = 4;

/** The address of the lowest entry. Descents do not nest. */
export let cellStack: usize = 0;
/** The distances of eight children, f32. */
export const childDistances: usize = memory.data(2 * VECTOR_BYTES, 16);

/** Begins with the root of a tree. Returns the end of the stack. Throws OUT_OF_MEMORY. */
export function beginCells(tree: Tree): usize {
  // Each cell that is popped pushes at most eight.
  cellStack = reserve(cellStack, 0, <u64>(tree.cellCount + 8) * CELL_ENTRY_BYTES);
  store<f32>(cellStack, 0);
  store<u32>(cellStack, 0, CELL);
  return cellStack + CELL_ENTRY_BYTES;
}

// @ts-ignore: decorator
@inline
export function distanceAt(entry: usize): f32 {
  return load<f32>(entry);
}

// @ts-ignore: decorator
@inline
export function cellAtEntry(entry: usize): u32 {
  return load<u32>(entry, CELL);
}

/** Pushes those of eight children whose bit is set, by `childDistances`, the nearest last. Returns the end of the stack. */
export function pushChildren(end: usize, firstChild: u32, children: u32): usize {
  let top = end;
  for (let bits = children; bits != 0; top += CELL_ENTRY_BYTES) {
    const farthest = indexOfMax(childDistances, bits);
    bits &= ~(1 << farthest);
    store<f32>(top, load<f32>(childDistances + (<usize>farthest << 2)));
    store<u32>(top, firstChild + farthest, CELL);
  }
  return top;
}
