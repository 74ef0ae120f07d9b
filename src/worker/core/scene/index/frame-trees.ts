// The trees of the objects that make pairs, as the frame under way sees them. When the scene changes during the broad
// phase, that continues in copies of the trees' arrays, at the same indices and positions.
//
// A heap of 20,000 boxes has a broad phase of 160 to 210 ms, and its trees are copied in 2. Alternatives: to hold changes
// back until the broad phase is done (as before: a pick waited for all of it), or to copy data before each change
// (copy-on-write), which allocates memory in the middle of changes that must not fail.

import { reserve } from '../../memory';
import { PROXY_BYTES } from '../../shape/proxy';
import {
  BLOCK_BYTES, CELL_BYTES, MOVING_TREE, STATIC_TREE, TREE_BYTES, Tree, treeOf,
} from './octree';

/** The trees with the indices 0 and 1 are copied: objects of the third make no pairs. */
const COPIED_TREES: u32 = 2;
const copies: usize = memory.data(<i32>COPIED_TREES * <i32>offsetof<Tree>(), 16);
/** Whether the frame reads the copies. */
export let areCopied: bool = false;

// @ts-ignore: decorator
@inline
function copyOf(treeIndex: u32): Tree {
  return changetype<Tree>(copies + treeIndex * <u32>TREE_BYTES);
}

/** Returns the tree of static or of moving objects as the frame sees it. */
export function treeOfFrame(treeIndex: u32): Tree {
  return areCopied ? copyOf(treeIndex) : treeOf(treeIndex);
}

/** Returns how many bytes `copyTrees` copies. */
export function bytesOfTrees(): u64 {
  return bytesOf(treeOf(STATIC_TREE)) + bytesOf(treeOf(MOVING_TREE));
}

function bytesOf(tree: Tree): u64 {
  return (
    <u64>tree.cellCount * CELL_BYTES + <u64>tree.childBlockCount * BLOCK_BYTES +
    (<u64>tree.positions >> 2) * BLOCK_BYTES + <u64>tree.positions * (PROXY_BYTES + 4)
  );
}

/** Copies the trees, which must be up to date. Throws OUT_OF_MEMORY; then the frame reads the trees themselves. */
export function copyTrees(): void {
  for (let treeIndex: u32 = 0; treeIndex < COPIED_TREES; treeIndex++) {
    const tree = treeOf(treeIndex), copy = copyOf(treeIndex);
    copy.cells = copyArray(copy.cells, tree.cells, <u64>tree.cellCount * CELL_BYTES);
    copy.childBlocks = copyArray(copy.childBlocks, tree.childBlocks, <u64>tree.childBlockCount * BLOCK_BYTES);
    copy.slots = copyArray(copy.slots, tree.slots, <u64>tree.positions << 2);
    copy.blocks = copyArray(copy.blocks, tree.blocks, (<u64>tree.positions >> 2) * BLOCK_BYTES);
    copy.proxies = copyArray(copy.proxies, tree.proxies, <u64>tree.positions * PROXY_BYTES);
    copy.cellCount = tree.cellCount;
    copy.count = tree.count;
    copy.holes = tree.holes;
    copy.positions = tree.positions;
  }
}

function copyArray(to: usize, from: usize, bytes: u64): usize {
  const array = reserve(to, 0, max<u64>(bytes, 64));
  memory.copy(array, from, <usize>bytes);
  return array;
}

/** Lets the frame read the copies. */
export function useTreeCopies(): void {
  areCopied = true;
}

/** Lets the frame read the trees again. */
export function dropTreeCopies(): void {
  areCopied = false;
}

/** Returns the address in the copies of the proxy at an address. */
export function copiedProxy(address: u32): u32 {
  for (let treeIndex: u32 = 0; treeIndex < COPIED_TREES; treeIndex++) {
    const tree = treeOf(treeIndex);
    const offset = <usize>address - tree.proxies;
    if (offset < <usize>tree.positions * PROXY_BYTES) return <u32>(copyOf(treeIndex).proxies + offset);
  }
  return address;
}
