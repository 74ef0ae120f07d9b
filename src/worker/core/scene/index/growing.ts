// An octree that grows and shrinks with its objects, one by one: static objects are placed once, and a million of them
// are placed in slices, with queries answered in between. A full leaf is split, children with few objects are merged
// into one leaf, and the root is doubled towards objects outside of it. There is no build, so no frame waits for one.
//
// Differences from an octree that is built (build.ts): the positions of a subtree are not contiguous, so `end` of a cell
// is SCATTERED; the objects of a cell are dense, its holes are at the end of its last block; boxes of cells grow at once
// and shrink when `refitDirty` is called.
//
// Alternatives: builds in slices, where objects that are added or moved meanwhile must be found elsewhere, and two
// positions per object be kept; or batches that are merged (Bentley and Saxe, "Decomposable Searching Problems", 1980),
// of which every query must search several. A million instances in random order take 0.7 s in total this way, the build
// took 1.3 to 2 s at once.

import { PROXY_BYTES } from '../../shape/proxy';
import { reserve } from '../../memory';
import { Box, UNPLACED, boxAt, orientedBounds } from '../objects';
import {
  BLOCK_BYTES, CELL_BYTES, Cell, DIGITS, PASSIVE_TREE, SCATTERED, Tree, blockAt, cellAt, cellOf, changeVersion, childBlocksAt,
  clearPosition, digitOf, fitCell, isInCell, laneAt, midpoint, proxyAt, setChildCube, setCube, slotAt, storeLane,
  treeOf, writePosition,
} from './octree';
import {
  NO_RANGE, capacityOf, clearRanges, freeRange, hasFreeRange, orderFor, reserveRanges, setOwner, allocateRange,
} from './ranges';
import { WORD_BYTES } from '../../sizes';

/**
 * A leaf with more objects is split: as many as a range of order 4 has positions. With half as many, frames of 20,000 to
 * 200,000 objects take 1.3 to 1.6 times as long, and rays up to 1.2.
 */
const MAX_LEAF_OBJECTS: u32 = 64;
/**
 * Children that have no more than this in total are merged into one leaf; this is checked when one of them has
 * MERGE_CHECK_COUNT.
 */
const MAX_MERGED_OBJECTS: u32 = 32;
const MERGE_CHECK_COUNT: u32 = 4;
/** Cells are not split below this part of the root, 2^-40: objects that lie closer together stay together. */
const MIN_CELL_RATIO: f32 = 9.094947017729282e-13;

/**
 * Up to this many positions, objects that collide with nothing have proxies, too. Without them, a ray among 20,000 takes
 * twice as long, one among 500,000 1.5 times; with them, a million objects take 250 bytes more each.
 */
const MAX_PASSIVE_PROXIES: u32 = 1 << 16;

function maxProxies(tree: Tree): u32 {
  return tree == treeOf(PASSIVE_TREE) ? MAX_PASSIVE_PROXIES : u32.MAX_VALUE;
}

/** Empties a tree. The caller must reset the positions of its objects. */
export function clearTree(tree: Tree): void {
  tree.cellCount = 0;
  tree.childBlockCount = 0;
  tree.freeGroup = 0;
  tree.dirtyCount = 0;
  tree.count = 0;
  clearRanges(tree);
  changeVersion(tree);
}

/** Gives an object its position. Throws OUT_OF_MEMORY; the object then has none. */
export function addToTree(tree: Tree, slot: u32): void {
  const box = boxAt(slot);
  if (tree.cellCount == 0) makeRoot(tree);
  const index = cellWithRoom(tree, box);
  const cell = cellAt(tree, index);
  const position = cell.start + cell.ownCount++;
  if ((position & 3) == 0) {
    cell.ownEnd = position + 4;
    for (let i: u32 = 1; i < 4; i++) clearPosition(tree, position + i);
  }
  box.position = position;
  store<u32>(tree.slots + (<usize>position << 2), slot);
  writePosition(tree, position, slot, orientedBounds(slot));
  tree.count++;
  expand(tree, index, box);
  changeVersion(tree);
}

/** Removes an object from its position. Allocates nothing. */
export function removeFromTree(tree: Tree, slot: u32): void {
  const box = boxAt(slot);
  const position = box.position;
  const index = load<u32>(tree.cellByBlock + (<usize>(position >> 2) << 2));
  const cell = cellAt(tree, index);
  const last = cell.start + --cell.ownCount;
  if (position != last) movePosition(tree, last, position);
  clearPosition(tree, last);
  box.position = UNPLACED;
  if (--tree.count == 0) {
    clearTree(tree);
    return;
  }
  trim(tree, cell);
  markDirty(tree, index);
  changeVersion(tree);
  if (cell.ownCount > MERGE_CHECK_COUNT) return;
  if (cell.firstChild != 0) mergeChildren(tree, index);
  else if (index != 0) mergeChildren(tree, cell.parent);
}

/**
 * Updates the transform or the shape of an object that has a position. Returns false if it belongs to another cell now:
 * then it must be removed and added. Allocates nothing.
 */
export function updateInTree(tree: Tree, slot: u32): bool {
  const box = boxAt(slot);
  if (!isInCell(cellOf(tree, box.position), box)) return false;
  const index = load<u32>(tree.cellByBlock + (<usize>(box.position >> 2) << 2));
  writePosition(tree, box.position, slot, orientedBounds(slot));
  markDirty(tree, index);
  expand(tree, index, box);
  changeVersion(tree);
  return true;
}

/**
 * Refits the boxes of cells that have lost objects, and of their ancestors; splits leaves whose objects lay together and
 * no longer do. Throws OUT_OF_MEMORY.
 */
export function refitDirty(tree: Tree): void {
  while (tree.dirtyCount > 0) {
    const index = load<u32>(tree.dirtyList + (--tree.dirtyCount << 2));
    const cell = cellAt(tree, index);
    cell.dirty = 0;
    if (fitCell(tree, index) && index != 0) markDirty(tree, cell.parent);
    if (isCrowded(cell)) split(tree, index);
  }
}

/** Returns whether a leaf has more objects than leaves should: they lie together, or did when they were added. */
// @ts-ignore: decorator
@inline
function isCrowded(cell: Cell): bool {
  return cell.firstChild == 0 && cell.ownCount > MAX_LEAF_OBJECTS;
}

function markDirty(tree: Tree, index: u32): void {
  const cell = cellAt(tree, index);
  if (cell.dirty) return;
  cell.dirty = 1;
  store<u32>(tree.dirtyList + (tree.dirtyCount++ << 2), index);
}

// --- cells ---

function makeRoot(tree: Tree): void {
  reserveCells(tree, 1);
  tree.cellCount = 1;
  const root = cellAt(tree, 0);
  memory.fill(changetype<usize>(root), 0, CELL_BYTES);
  makeLeaf(root);
  root.half = Infinity; // until it is split
  fitCell(tree, 0);
}

function makeLeaf(cell: Cell): void {
  cell.start = cell.ownEnd = 0;
  cell.end = SCATTERED;
  cell.ownCount = 0;
  cell.order = NO_RANGE;
  cell.firstChild = 0;
}

function reserveCells(tree: Tree, count: u32): void {
  tree.cells = reserve(tree.cells, tree.cellCount * <u32>CELL_BYTES, <u64>count * CELL_BYTES);
  tree.dirtyList = reserve(tree.dirtyList, tree.dirtyCount << 2, <u64>count << 2);
}

/** Makes sure that `newGroup` allocates nothing. Throws OUT_OF_MEMORY. It moves the cells. */
function reserveGroup(tree: Tree): void {
  if (tree.freeGroup != 0) return;
  reserveCells(tree, tree.cellCount + 8);
  tree.childBlocks = reserve(
    tree.childBlocks, tree.childBlockCount * <u32>BLOCK_BYTES, <u64>(tree.childBlockCount + 2) * BLOCK_BYTES,
  );
}

/** Makes eight empty leaves the children of a cell. `reserveGroup` must come before. */
function newGroup(tree: Tree, parent: u32): void {
  let first = tree.freeGroup;
  if (first != 0) tree.freeGroup = cellAt(tree, first).parent;
  else {
    first = tree.cellCount;
    tree.cellCount += 8;
    tree.childBlockCount += 2;
    for (let i: u32 = 0; i < 8; i++) cellAt(tree, first + i).dirty = 0;
  }
  const parentCell = cellAt(tree, parent);
  parentCell.firstChild = first;
  parentCell.childBlocks = (first - 1) >> 2; // two for eight
  for (let i: u32 = 0; i < 8; i++) {
    const child = cellAt(tree, first + i);
    makeLeaf(child);
    child.parent = parent;
    setChildCube(child, i, parentCell.centreX, parentCell.centreY, parentCell.centreZ, parentCell.half);
  }
}

/** Makes a cell a leaf. Its children, which must be empty, become free; they may still be dirty. */
function freeGroup(tree: Tree, cell: Cell): void {
  const first = cell.firstChild;
  cellAt(tree, first).parent = tree.freeGroup;
  for (let i: u32 = 1; i < 8; i++) cellAt(tree, first + i).parent = 0;
  tree.freeGroup = first;
  cell.firstChild = 0;
}

function rootContains(tree: Tree, box: Box): bool {
  const root = cellAt(tree, 0);
  return isCentreWithin(box, root.centreX, root.centreY, root.centreZ, root.half);
}

/** Adds a root of twice the size above the root, towards a box. Throws OUT_OF_MEMORY. */
function doubleRoot(tree: Tree, box: Box): void {
  reserveGroup(tree);
  const root = cellAt(tree, 0);
  const half = root.half;
  const x = midpoint(box.minX, box.maxX) >= root.centreX, y = midpoint(box.minY, box.maxY) >= root.centreY;
  const z = midpoint(box.minZ, box.maxZ) >= root.centreZ;
  const octant: u32 = (x ? 0 : 1) | (y ? 0 : 2) | (z ? 0 : 4);
  // The old root is copied to one of the new cells once these exist.
  const oldStart = root.start, oldEnd = root.ownEnd, oldCount = root.ownCount, oldOrder = root.order;
  const oldChild = root.firstChild, oldBlocks = root.childBlocks;
  root.centreX += x ? half : -half;
  root.centreY += y ? half : -half;
  root.centreZ += z ? half : -half;
  root.half = half * 2;
  newGroup(tree, 0);
  const index = root.firstChild + octant;
  const cell = cellAt(tree, index);
  cell.start = oldStart;
  cell.ownEnd = oldEnd;
  cell.ownCount = oldCount;
  cell.order = oldOrder;
  cell.firstChild = oldChild;
  cell.childBlocks = oldBlocks;
  if (oldOrder != NO_RANGE) setOwner(tree, oldStart, oldOrder, index);
  for (let i: u32 = 0; i < 8; i++) cellAt(tree, oldChild + i).parent = index;
  root.start = root.ownEnd = 0;
  root.ownCount = 0;
  root.order = NO_RANGE;
  for (let i: u32 = 0; i < 8; i++) fitCell(tree, root.firstChild + i);
  fitCell(tree, 0);
}

/** Finds the deepest cell for a box, and makes room in it. Throws OUT_OF_MEMORY. */
function cellWithRoom(tree: Tree, box: Box): u32 {
  let index: u32 = 0;
  while (true) {
    // Also after it was just split: its cube then surrounds only the objects that it had.
    if (index == 0) while (!rootContains(tree, box)) doubleRoot(tree, box);
    const cell = cellAt(tree, index);
    const isLeaf = cell.firstChild == 0;
    const digit = isLeaf ? 0 : digitOf(box, cell.centreX, cell.centreY, cell.centreZ, cell.half);
    if (digit != 0) {
      index = cell.firstChild + digit - 1;
    } else if (cell.ownCount < capacityOf(cell.order)) {
      return index;
    } else if (!isLeaf || cell.ownCount < MAX_LEAF_OBJECTS || !split(tree, index)) {
      enlarge(tree, index);
      return index;
    }
  }
}

const digitCounts: usize = memory.data(DIGITS * WORD_BYTES, 16);

/** Splits a leaf, if any of its objects belongs to a child. Returns whether it was split. Throws OUT_OF_MEMORY. */
function split(tree: Tree, index: u32): bool {
  reserveGroup(tree);
  // Nine ranges, each up to twice as large as its objects need.
  reserveRanges(tree, 2 * ((cellAt(tree, index).ownCount >> 2) + 9), maxProxies(tree));
  const cell = cellAt(tree, index);
  if (index == 0) setRootCube(tree, cell);
  const half = cell.half, x = cell.centreX, y = cell.centreY, z = cell.centreZ;
  const start = cell.start, count = cell.ownCount, end = start + count;
  memory.fill(digitCounts, 0, DIGITS * WORD_BYTES);
  for (let position = start; position < end; position++) {
    const at = digitCounts + (<usize>digitWithin(boxAt(slotAt(tree, position)), x, y, z, half) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  const minHalf = max(cellAt(tree, 0).half * MIN_CELL_RATIO, (abs(x) + abs(y) + abs(z)) * <f32>1e-6); // the limit of float32
  if (load<u32>(digitCounts) == count || !(half > minHalf)) {
    if (index == 0) cell.half = Infinity;
    return false;
  }
  newGroup(tree, index);
  for (let i: u32 = 0; i < 8; i++) {
    const n = load<u32>(digitCounts + (<usize>(i + 1) << 2));
    if (n == 0) continue;
    const child = cellAt(tree, cell.firstChild + i);
    child.order = orderFor(n);
    child.start = allocateRange(tree, child.order, cell.firstChild + i);
    child.ownEnd = child.start + ((n + 3) & ~3);
    for (let position = child.start + n; position < child.ownEnd; position++) clearPosition(tree, position);
  }
  cell.ownCount = 0;
  for (let position = start; position < end; position++) {
    const digit = digitWithin(boxAt(slotAt(tree, position)), x, y, z, half);
    const to = digit == 0 ? cell : cellAt(tree, cell.firstChild + digit - 1);
    const newPosition = to.start + to.ownCount++;
    if (newPosition != position) movePosition(tree, position, newPosition);
  }
  for (let position = start + cell.ownCount; position < end; position++) clearPosition(tree, position);
  trim(tree, cell);
  const first = cell.firstChild;
  for (let i: u32 = 0; i < 8; i++) fitCell(tree, first + i);
  if (fitCell(tree, index) && index != 0) markDirty(tree, cell.parent); // it may have been dirty
  for (let i: u32 = 0; i < 8; i++) if (isCrowded(cellAt(tree, first + i))) split(tree, first + i);
  return true;
}

/**
 * Returns the same as `digitOf`, and 0 for an object that has left the cube: it is near enough for the cell, but for no
 * child.
 */
function digitWithin(box: Box, x: f32, y: f32, z: f32, half: f32): u32 {
  return isCentreWithin(box, x, y, z, half) ? digitOf(box, x, y, z, half) : 0;
}

/** Returns whether the centre of a box is in a cube. */
// @ts-ignore: decorator
@inline
function isCentreWithin(box: Box, x: f32, y: f32, z: f32, half: f32): bool {
  return (
    abs(midpoint(box.minX, box.maxX) - x) <= half &&
    abs(midpoint(box.minY, box.maxY) - y) <= half &&
    abs(midpoint(box.minZ, box.maxZ) - z) <= half
  );
}

/**
 * Sets the smallest cube around the centres of a root that is a leaf; the cube has a minimum edge in case all centres
 * coincide.
 */
function setRootCube(tree: Tree, root: Cell): void {
  setCube(root, tree.slots + (<usize>root.start << 2), root.ownCount);
  root.half = max(root.half, max((abs(root.centreX) + abs(root.centreY) + abs(root.centreZ)) * <f32>1e-5, <f32>1e-30));
}

/** Doubles the range of a cell. Throws OUT_OF_MEMORY. */
function enlarge(tree: Tree, index: u32): void {
  const order = cellAt(tree, index).order;
  const next = order == NO_RANGE ? 0 : order + 1;
  reserveRanges(tree, 1 << next, maxProxies(tree));
  moveRange(tree, index, allocateRange(tree, next, index), next);
}

/** Moves all objects of a cell to another range, and frees the old one. */
function moveRange(tree: Tree, index: u32, start: u32, order: u32): void {
  const cell = cellAt(tree, index);
  const from = cell.start, oldOrder = cell.order, length = cell.ownEnd - from;
  if (oldOrder != NO_RANGE) {
    memory.copy(blockAt(tree, start), blockAt(tree, from), <usize>(length >> 2) * BLOCK_BYTES);
    memory.copy(tree.slots + (<usize>start << 2), tree.slots + (<usize>from << 2), <usize>length << 2);
    memory.copy(tree.visibleLayers + (<usize>start << 2), tree.visibleLayers + (<usize>from << 2), <usize>length << 2);
    if (tree.proxies != 0) {
      memory.copy(
        changetype<usize>(proxyAt(tree, start)), changetype<usize>(proxyAt(tree, from)), <usize>length * PROXY_BYTES,
      );
    }
    for (let i: u32 = 0; i < cell.ownCount; i++) boxAt(slotAt(tree, start + i)).position = start + i;
    freeRange(tree, from, oldOrder);
  }
  cell.start = start;
  cell.ownEnd = start + length;
  cell.order = order;
}

/** Frees the part of a cell's range that it no longer needs after losing objects. */
function trim(tree: Tree, cell: Cell): void {
  if (cell.order == NO_RANGE) return;
  if (cell.ownCount == 0) {
    freeRange(tree, cell.start, cell.order);
    cell.order = NO_RANGE;
    cell.start = cell.ownEnd = 0;
    return;
  }
  // Only at a quarter, so that an object that is repeatedly added and removed moves nothing.
  while (cell.order > 0 && cell.ownCount <= capacityOf(cell.order) >> 2) {
    cell.order--;
    freeRange(tree, cell.start + capacityOf(cell.order), cell.order);
  }
  cell.ownEnd = cell.start + ((cell.ownCount + 3) & ~3);
}

/**
 * Merges the children of a cell into it if they have few objects, then does the same for its parent. Allocates nothing.
 */
function mergeChildren(tree: Tree, parent: u32): void {
  for (let index = parent; ; index = cellAt(tree, index).parent) {
    const cell = cellAt(tree, index);
    let total = cell.ownCount;
    for (let i: u32 = 0; i < 8; i++) {
      const child = cellAt(tree, cell.firstChild + i);
      if (child.firstChild != 0) return;
      total += child.ownCount;
    }
    if (total > MAX_MERGED_OBJECTS) return;
    if (total > capacityOf(cell.order)) {
      const order = orderFor(total);
      if (!hasFreeRange(tree, order)) return;
      moveRange(tree, index, allocateRange(tree, order, index), order);
    }
    for (let i: u32 = 0; i < 8; i++) {
      const child = cellAt(tree, cell.firstChild + i);
      for (let k: u32 = 0; k < child.ownCount; k++) movePosition(tree, child.start + k, cell.start + cell.ownCount++);
      child.ownCount = 0;
      trim(tree, child);
    }
    cell.ownEnd = cell.start + ((cell.ownCount + 3) & ~3);
    for (let position = cell.start + cell.ownCount; position < cell.ownEnd; position++) clearPosition(tree, position);
    freeGroup(tree, cell);
    markDirty(tree, index);
    if (index == 0) {
      cell.half = Infinity;
      return;
    }
  }
}

// --- positions ---

/** Moves an object to a position; the old position is not cleared. */
function movePosition(tree: Tree, from: u32, to: u32): void {
  const slot = slotAt(tree, from);
  boxAt(slot).position = to;
  store<u32>(tree.slots + (<usize>to << 2), slot);
  store<u32>(tree.visibleLayers + (<usize>to << 2), load<u32>(tree.visibleLayers + (<usize>from << 2)));
  const lane = laneAt(tree, from);
  storeLane(
    laneAt(tree, to),
    load<f32>(lane), load<f32>(lane, 16), load<f32>(lane, 32), load<f32>(lane, 48), load<f32>(lane, 64), load<f32>(lane, 80),
  );
  if (tree.proxies == 0) return;
  memory.copy(changetype<usize>(proxyAt(tree, to)), changetype<usize>(proxyAt(tree, from)), PROXY_BYTES);
}

/** Enlarges the boxes of a cell and of its ancestors to contain the box of one of the cell's objects. */
function expand(tree: Tree, index: u32, box: Box): void {
  let cell = cellAt(tree, index);
  cell.ownMinX = min(cell.ownMinX, box.minX); cell.ownMaxX = max(cell.ownMaxX, box.maxX);
  cell.ownMinY = min(cell.ownMinY, box.minY); cell.ownMaxY = max(cell.ownMaxY, box.maxY);
  cell.ownMinZ = min(cell.ownMinZ, box.minZ); cell.ownMaxZ = max(cell.ownMaxZ, box.maxZ);
  for (let i = index; !containsBox(cell, box); ) {
    cell.minX = min(cell.minX, box.minX); cell.maxX = max(cell.maxX, box.maxX);
    cell.minY = min(cell.minY, box.minY); cell.maxY = max(cell.maxY, box.maxY);
    cell.minZ = min(cell.minZ, box.minZ); cell.maxZ = max(cell.maxZ, box.maxZ);
    if (i == 0) return;
    const parentCell = cellAt(tree, cell.parent);
    const octant = i - parentCell.firstChild;
    storeLane(
      childBlocksAt(tree, parentCell) + (octant >> 2) * <u32>BLOCK_BYTES + (<usize>(octant & 3) << 2),
      cell.minX, cell.minY, cell.minZ, cell.maxX, cell.maxY, cell.maxZ,
    );
    i = cell.parent;
    cell = parentCell;
  }
}

// @ts-ignore: decorator
@inline
function containsBox(cell: Cell, box: Box): bool {
  return (
    cell.minX <= box.minX && cell.minY <= box.minY && cell.minZ <= box.minZ &&
    cell.maxX >= box.maxX && cell.maxY >= box.maxY && cell.maxZ >= box.maxZ
  );
}
