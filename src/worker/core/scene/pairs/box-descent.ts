// Descends an octree with a box: the cells that it overlaps are kept on a stack, and four boxes of objects or of child
// cells are compared with it at once.

import { reserve } from '../../memory';
import { BLOCK_BYTES, Cell, Tree, childBlocksAt } from '../index/octree';

/** The stack of cells still to be visited, u32 each; it is reallocated when it grows. */
export let stack: usize = 0;

/** Finds which of the four boxes of a block overlap the box whose bounds are splatted; returns a bit mask. */
// @ts-ignore: decorator
@inline
export function boxAgainstFour(block: usize, minX: v128, minY: v128, minZ: v128, maxX: v128, maxY: v128, maxZ: v128): i32 {
  const x = v128.and(f32x4.le(v128.load(block), maxX), f32x4.ge(v128.load(block, 48), minX));
  const y = v128.and(f32x4.le(v128.load(block, 16), maxY), f32x4.ge(v128.load(block, 64), minY));
  const z = v128.and(f32x4.le(v128.load(block, 32), maxZ), f32x4.ge(v128.load(block, 80), minZ));
  return i32x4.bitmask(v128.and(v128.and(x, y), z));
}

/** Pushes the children of a cell that a box overlaps. Returns the new top of the stack. */
// @ts-ignore: decorator
@inline
export function pushChildren(
  stackTop: usize, tree: Tree, cell: Cell, minX: v128, minY: v128, minZ: v128, maxX: v128, maxY: v128, maxZ: v128,
): usize {
  if (cell.firstChild == 0) return stackTop;
  const used = stackTop - stack;
  stack = reserve(stack, used, used + CHILDREN_BYTES);
  let top = stack + used;
  const blocks = childBlocksAt(tree, cell);
  let bits =
    boxAgainstFour(blocks, minX, minY, minZ, maxX, maxY, maxZ) |
    (boxAgainstFour(blocks + BLOCK_BYTES, minX, minY, minZ, maxX, maxY, maxZ) << 4);
  while (bits != 0) {
    store<u32>(top, cell.firstChild + ctz(bits));
    top += 4;
    bits &= bits - 1;
  }
  return top;
}

/** The bytes of all children of a cell on the stack. */
const CHILDREN_BYTES: usize = 8 * 4;

export function push(top: usize, cell: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 4);
  store<u32>(stack + used, cell);
  return stack + used + 4;
}
