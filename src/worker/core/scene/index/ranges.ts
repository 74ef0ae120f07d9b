// Ranges of positions for the cells of a growing octree: the buddy system (Knowlton, "A Fast Storage Allocator", 1965).
// A range has 2^order blocks of four positions and begins at a multiple of its size, so that two free halves are merged.
// Free ranges are linked into lists within their own first blocks.

import { reserveExactly, release } from '../../memory';
import { PROXY_BYTES } from '../../shape/proxy';
import { BLOCK_BYTES, ORDERS, Tree, changeVersion } from './octree';

/** The end of a list, and the order of a cell without a range. */
export const NO_RANGE: u32 = 0xffffffff;
/**
 * Marks the first block of a free range, combined with its order; blocks in use have the index of their cell instead.
 */
const FREE: u32 = 0x80000000;
/** The least order of ranges that are added at the end: 256 positions. */
const MIN_ADDED_ORDER: u32 = 6;

/** Returns how many positions a range has. */
// @ts-ignore: decorator
@inline
export function capacityOf(order: u32): u32 {
  return order == NO_RANGE ? 0 : 4 << order;
}

/** Returns the order of the smallest range with this many positions, at least one block. */
// @ts-ignore: decorator
@inline
export function orderFor(count: u32): u32 {
  const blocks = (count + 3) >> 2;
  return blocks <= 1 ? 0 : 32 - clz(blocks - 1);
}

/** Gives up all ranges, and frees their memory if it is much. */
export function clearRanges(tree: Tree): void {
  memory.fill(tree.freeRanges, 0xff, <usize>ORDERS << 2);
  tree.positions = 0;
  if (tree.capacity <= KEPT_CAPACITY) return;
  release(tree.slots);
  release(tree.cellByBlock);
  release(tree.visibleLayers);
  release(tree.blocks);
  release(tree.proxies);
  tree.slots = tree.cellByBlock = tree.visibleLayers = tree.blocks = tree.proxies = 0;
  tree.capacity = 0;
}

/** This many positions are kept for new objects. */
const KEPT_CAPACITY: u32 = 1024;

/**
 * Makes sure that ranges with `blocks` blocks in total can be taken without allocating. With more than `maxProxies`
 * positions the tree gives up its proxies. Throws OUT_OF_MEMORY.
 */
export function reserveRanges(tree: Tree, blocks: u32, maxProxies: u32): void {
  // An added range ends at a multiple of its size, and has a minimum size.
  const needed = tree.positions + ((2 * blocks + (2 << MIN_ADDED_ORDER)) << 2);
  if (needed <= tree.capacity) return;
  // Grows by half: with growth by a quarter, the holes that copies leave behind are seldom large enough for the next
  // copies, and 200,000 objects that are added while frames run, with contacts, take 370 MB instead of less than 340.
  const capacity = max(needed, tree.capacity + ((tree.capacity >> 3) << 2));
  changeVersion(tree); // invalidates copies of its addresses (bounding-spheres.ts)
  const used = <usize>tree.positions;
  const hasProxies = tree.proxies != 0 || used == 0;
  const bytes = <u64>capacity << 2;
  tree.slots = reserveExactly(tree.slots, used << 2, bytes);
  tree.cellByBlock = reserveExactly(tree.cellByBlock, used, bytes >> 2);
  tree.visibleLayers = reserveExactly(tree.visibleLayers, used << 2, bytes);
  tree.blocks = reserveExactly(tree.blocks, (used >> 2) * BLOCK_BYTES, <u64>(capacity >> 2) * BLOCK_BYTES);
  if (capacity > maxProxies) {
    release(tree.proxies);
    tree.proxies = 0;
  } else if (hasProxies) tree.proxies = reserveExactly(tree.proxies, used * PROXY_BYTES, <u64>capacity * PROXY_BYTES);
  tree.capacity = capacity;
}

/** Takes a range for a cell; `reserveRanges` must have been called before. Returns its first position. */
export function allocateRange(tree: Tree, order: u32, cell: u32): u32 {
  let freeOrder = minFreeOrder(tree, order);
  if (freeOrder == ORDERS) {
    addRange(tree, max(order, MIN_ADDED_ORDER));
    freeOrder = minFreeOrder(tree, order);
  }
  const block = load<u32>(headOf(tree, freeOrder));
  unlink(tree, block, freeOrder);
  while (freeOrder > order) link(tree, block + (1 << --freeOrder), freeOrder);
  setOwner(tree, block << 2, order, cell);
  return block << 2;
}

/** Returns whether there is a free range of at least this order. */
export function hasFreeRange(tree: Tree, order: u32): bool {
  return minFreeOrder(tree, order) != ORDERS;
}

/** Returns the order of the free range that begins at a block, -1 if none does; for tests. */
export function freeOrder(tree: Tree, block: u32): i32 {
  const mark = load<u32>(tree.cellByBlock + (<usize>block << 2));
  return mark & FREE ? <i32>(mark & ~FREE) : -1;
}

/** Makes a cell the owner of the blocks of a range. */
export function setOwner(tree: Tree, position: u32, order: u32, cell: u32): void {
  const first = tree.cellByBlock + (<usize>(position >> 2) << 2);
  for (let at = first, end = first + (<usize>4 << order); at < end; at += 4) store<u32>(at, cell);
}

/** Frees a range. */
export function freeRange(tree: Tree, position: u32, order: u32): void {
  memory.fill(tree.slots + (<usize>position << 2), 0xff, <usize>16 << order); // HOLE
  freeBlocks(tree, position >> 2, order);
}

function freeBlocks(tree: Tree, first: u32, firstOrder: u32): void {
  const end = tree.positions >> 2;
  let block = first, order = firstOrder;
  for (; order + 1 < ORDERS; order++) {
    const buddy = block ^ (1 << order);
    if (buddy + (1 << order) > end || load<u32>(tree.cellByBlock + (<usize>buddy << 2)) != (FREE | order)) break;
    unlink(tree, buddy, order);
    block = min(block, buddy);
  }
  link(tree, block, order);
}

/** Adds a free range at the end, and frees the gap before its aligned start. */
function addRange(tree: Tree, order: u32): void {
  let end = tree.positions >> 2;
  const size: u32 = 1 << order;
  const start = (end + size - 1) & ~(size - 1);
  if ((start + size) << 2 > tree.capacity) unreachable();
  memory.fill(tree.slots + (<usize>end << 4), 0xff, <usize>(start + size - end) << 4);
  while (end < start) {
    const partOrder = <u32>ctz(end);
    tree.positions = (end + (1 << partOrder)) << 2;
    freeBlocks(tree, end, partOrder);
    end += 1 << partOrder;
  }
  tree.positions = (start + size) << 2;
  freeBlocks(tree, start, order);
}

/** Returns the least order, at least `order`, that has a free range; ORDERS if there is none. */
function minFreeOrder(tree: Tree, order: u32): u32 {
  let candidate = order;
  while (candidate < ORDERS && load<u32>(headOf(tree, candidate)) == NO_RANGE) candidate++;
  return candidate;
}

// @ts-ignore: decorator
@inline
function headOf(tree: Tree, order: u32): usize {
  return tree.freeRanges + (<usize>order << 2);
}

// @ts-ignore: decorator
@inline
function linksOf(tree: Tree, block: u32): usize {
  return tree.blocks + block * <u32>BLOCK_BYTES;
}

/**
 * Puts a free range first in its list: the links to the next and the previous one, u32 each, are in its first block.
 */
function link(tree: Tree, block: u32, order: u32): void {
  const head = headOf(tree, order), next = load<u32>(head);
  store<u32>(linksOf(tree, block), next);
  store<u32>(linksOf(tree, block), NO_RANGE, 4);
  if (next != NO_RANGE) store<u32>(linksOf(tree, next), block, 4);
  store<u32>(head, block);
  store<u32>(tree.cellByBlock + (<usize>block << 2), FREE | order);
}

function unlink(tree: Tree, block: u32, order: u32): void {
  const next = load<u32>(linksOf(tree, block)), previous = load<u32>(linksOf(tree, block), 4);
  if (next != NO_RANGE) store<u32>(linksOf(tree, next), previous, 4);
  if (previous == NO_RANGE) store<u32>(headOf(tree, order), next);
  else store<u32>(linksOf(tree, previous), next);
  store<u32>(tree.cellByBlock + (<usize>block << 2), 0);
}
