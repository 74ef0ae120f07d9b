// Builds the octree of moving objects: slots are partitioned top down, eight ways, and laid out in blocks of four.

import { allocate, reserve } from '../../memory';
import { PROXY_BYTES } from '../../shape/proxy';
import { boxAt, orientedBounds } from '../objects';
import {
  BLOCK_BYTES, CELL_BYTES, Cell, DIGITS, Tree, cellAt, changeVersion, clearPosition, digitOf, fitCell, reserveMoved, setChildCube,
  setCube, writePosition,
} from './octree';
import { WORD_BYTES } from '../../sizes';

/**
 * Cells with no more objects than this are not split. Measured on 10,000 boxes, with which a leaf then holds 20: with leaves of 2
 * or 3 instead, rays take 1.26 and moving boxes 1.4 times as long.
 */
const MAX_LEAF_OBJECTS: u32 = 40;
/** In trees of at least this many objects, each leaf with objects gets a reserve block; smaller trees are rebuilt in no time. */
export const MIN_COUNT_FOR_RESERVES: u32 = 1024;
/** The slots to be placed, and the scratch list for partitioning them. */
let slotOrder: usize = 0;
let spare: usize = 0;
/** The stack of cells to be split; and its initial capacity: the children of thirty levels. */
let pending: usize = 0;
const INITIAL_PENDING: u32 = 8 * 30;

const digitCounts: usize = memory.data(DIGITS * WORD_BYTES, 16);
const digitStarts: usize = memory.data(DIGITS * WORD_BYTES, 16);

/** Begins a build for `count` objects; the caller then writes their slots with `enlist`. */
export function beginTree(tree: Tree, count: u32): void {
  tree.isBuilt = 0;
  slotOrder = reserve(slotOrder, 0, max<u64>(<u64>count << 2, 64));
  spare = reserve(spare, 0, max<u64>(<u64>count << 2, 64));
  tree.count = count;
  tree.positions = 0;
  tree.cellCount = 0;
  tree.childBlockCount = 0;
  tree.misfits = 0;
  tree.holes = 0;
  tree.dirty = 0;
}

// @ts-ignore: decorator
@inline
export function enlist(position: u32, slot: u32): void {
  store<u32>(slotOrder + (<usize>position << 2), slot);
}

export function buildTree(tree: Tree): void {
  const count = tree.count;
  const root = newCell(tree, 0);
  root.start = 0;
  root.end = count;
  setCube(root, slotOrder, count);
  if (pending == 0) pending = allocate(INITIAL_PENDING * WORD_BYTES);
  store<u32>(pending, 0);
  let top: u32 = 1;
  while (top > 0) {
    const index = load<u32>(pending + (--top << 2));
    splitCell(tree, index);
    const first = cellAt(tree, index).firstChild;
    if (first == 0) continue;
    pending = reserve(pending, top << 2, <u64>(top + 8) << 2);
    for (let i: u32 = 0; i < 8; i++) store<u32>(pending + (top++ << 2), first + i);
  }
  const isFull = tree.capacity == 0; // or this is the first build
  layOut(tree);
  if (isFull && count >= MIN_COUNT_FOR_RESERVES) reserveCells(tree);
  fillPositions(tree);
  for (let i = tree.cellCount; i > 0; i--) fitCell(tree, i - 1);
  tree.isBuilt = 1;
  changeVersion(tree);
}

function newCell(tree: Tree, parent: u32): Cell {
  const index = tree.cellCount++;
  tree.cells = reserve(tree.cells, index * <u32>CELL_BYTES, <u64>tree.cellCount * CELL_BYTES);
  const cell = cellAt(tree, index);
  cell.firstChild = 0;
  cell.parent = parent;
  cell.dirty = 0;
  return cell;
}

/**
 * Makes room for twice as many additional cells, for objects that are inserted later. When rows were added up to 400,000 boxes,
 * there was a build at each growth to 1.12 times with room for as many additional cells, and to 1.2 times with four times as
 * many.
 */
function reserveCells(tree: Tree): void {
  tree.cellCapacity = 3 * tree.cellCount;
  tree.cells = reserve(tree.cells, tree.cellCount * <u32>CELL_BYTES, <u64>tree.cellCapacity * CELL_BYTES);
  const blocks = tree.cellCapacity >> 2; // two for eight
  tree.childBlocks = reserve(tree.childBlocks, tree.childBlockCount * <u32>BLOCK_BYTES, <u64>blocks * BLOCK_BYTES);
}

/** Partitions a cell's range into its own objects and those of its children. */
function splitCell(tree: Tree, index: u32): void {
  const cell = cellAt(tree, index);
  const start = cell.start;
  const end = cell.end;
  cell.ownEnd = end;
  const count = end - start;
  if (count <= MAX_LEAF_OBJECTS) return;
  // A cell whose objects all fall into one child shrinks to the cube around them. A chain of cells would be useless, and if one
  // object is far away, the chain might not reach the others before float32 ends.
  for (let isTight = false; ; isTight = true) {
    memory.fill(digitCounts, 0, DIGITS * WORD_BYTES);
    const half = cell.half;
    const x = cell.centreX, y = cell.centreY, z = cell.centreZ;
    for (let i = start; i < end; i++) {
      const digit = digitOf(boxAt(load<u32>(slotOrder + (<usize>i << 2))), x, y, z, half);
      const at = digitCounts + (<usize>digit << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    if (load<u32>(digitCounts) == count) return;
    let onlyDigit: u32 = 0;
    for (let digit: u32 = 1; digit < 9; digit++) if (load<u32>(digitCounts + (<usize>digit << 2)) == count) onlyDigit = digit;
    if (onlyDigit == 0) break;
    if (isTight) return; // float32 ends here, or all centres coincide
    setCube(cell, slotOrder + (<usize>start << 2), count);
  }

  const half = cell.half;
  const x = cell.centreX, y = cell.centreY, z = cell.centreZ;
  let at = start;
  for (let digit: u32 = 0; digit < 9; digit++) {
    store<u32>(digitStarts + (<usize>digit << 2), at);
    at += load<u32>(digitCounts + (<usize>digit << 2));
  }
  for (let i = start; i < end; i++) {
    const slot = load<u32>(slotOrder + (<usize>i << 2));
    const to = digitStarts + (<usize>digitOf(boxAt(slot), x, y, z, half) << 2);
    const position = load<u32>(to);
    store<u32>(to, position + 1);
    store<u32>(spare + (<usize>position << 2), slot);
  }
  memory.copy(slotOrder + (<usize>start << 2), spare + (<usize>start << 2), <usize>count << 2);

  const first = tree.cellCount;
  cell.ownEnd = start + load<u32>(digitCounts);
  cell.firstChild = first;
  cell.childBlocks = tree.childBlockCount;
  tree.childBlockCount += 2;
  tree.childBlocks = reserve(
    tree.childBlocks, cell.childBlocks * <u32>BLOCK_BYTES, <u64>tree.childBlockCount * BLOCK_BYTES,
  );
  let from = cell.ownEnd;
  for (let digit: u32 = 1; digit < 9; digit++) {
    const n = load<u32>(digitCounts + (<usize>digit << 2));
    const child = newCell(tree, index); // moves the cells: `cell` must not be used below
    child.start = from;
    child.end = from + n;
    setChildCube(child, digit - 1, x, y, z, half);
    from += n;
  }
}

/** Turns ranges of the order into ranges of whole blocks. */
function layOut(tree: Tree): void {
  for (let i = tree.cellCount; i > 0; i--) {
    const cell = cellAt(tree, i - 1);
    cell.orderStart = cell.start;
    cell.ownCount = cell.ownEnd - cell.start;
    cell.end = (cell.ownCount + 3) & ~3; // the number of positions, for now
    if (cell.firstChild == 0 && cell.ownCount > 0 && tree.count >= MIN_COUNT_FOR_RESERVES) cell.end += 4;
    for (let c: u32 = 0; c < 8 && cell.firstChild != 0; c++) cell.end += cellAt(tree, cell.firstChild + c).end;
  }
  cellAt(tree, 0).start = 0;
  for (let i: u32 = 0; i < tree.cellCount; i++) {
    const cell = cellAt(tree, i);
    cell.end += cell.start;
    cell.ownEnd = cell.start + ((cell.ownCount + 3) & ~3);
    let from = cell.ownEnd;
    for (let c: u32 = 0; c < 8 && cell.firstChild != 0; c++) {
      const child = cellAt(tree, cell.firstChild + c);
      child.start = from;
      from += child.end;
    }
  }
  reservePositions(tree, cellAt(tree, 0).end);
}

function reservePositions(tree: Tree, positions: u32): void {
  if (tree.capacity < positions) {
    const capacity = (positions + (positions >> 1) + 3) & ~3;
    const bytes = <u64>capacity << 2;
    tree.slots = reserve(tree.slots, 0, bytes);
    tree.cellByBlock = reserve(tree.cellByBlock, 0, bytes >> 2);
    tree.visibleLayers = reserve(tree.visibleLayers, 0, bytes);
    tree.proxies = reserve(tree.proxies, 0, <u64>capacity * PROXY_BYTES);
    tree.blocks = reserve(tree.blocks, 0, <u64>(capacity >> 2) * BLOCK_BYTES);
    reserveMoved(capacity);
    tree.capacity = capacity;
  }
  tree.positions = positions;
}

/** Copies the data that traversals read from slots to positions. */
function fillPositions(tree: Tree): void {
  for (let index: u32 = 0; index < tree.cellCount; index++) {
    const cell = cellAt(tree, index);
    const end = cell.firstChild == 0 ? cell.end : cell.ownEnd;
    for (let position = cell.start; position < end; position++) {
      store<u32>(tree.cellByBlock + (<usize>(position >> 2) << 2), index);
      const indexInCell = position - cell.start;
      if (indexInCell >= cell.ownCount) {
        clearPosition(tree, position);
        continue;
      }
      const slot = load<u32>(slotOrder + (<usize>(cell.orderStart + indexInCell) << 2));
      boxAt(slot).position = position;
      store<u32>(tree.slots + (<usize>position << 2), slot);
      writePosition(tree, position, slot, orientedBounds(slot));
    }
  }
}
