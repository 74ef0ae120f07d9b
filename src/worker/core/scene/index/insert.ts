// Adds moving objects to the octree after it was built: objects that are added frame by frame do not require a rebuild in each
// frame. Cells have a reserve block for them, and the positions of removed objects; a full leaf gets children.
//
// Boxes added row after row, 400,000 of them and a thousand per frame, took 17 to 22 s of updates when a full cell caused a
// rebuild, as in nearly every frame; they take 1.6 to 1.9 s. A rebuild remains for when the room runs out.

import { Affine } from '../../math/affine';
import { WORD_BYTES } from '../../sizes';
import { Box, boxAt } from '../objects';
import { MIN_COUNT_FOR_RESERVES } from './build';
import {
  Cell, HOLE, SCATTERED, Tree, cellAt, changeVersion, clearPosition, digitOf, fitCell, isInCell, setChildCube, slotAt,
  writePosition,
} from './octree';

/** How many positions in a row a leaf without any gets: a leaf of a build has about 20 objects. */
const RANGE_POSITIONS: u32 = 16;
/** Cells are not split below this part of the root, 2^-20: objects that lie closer together cause a rebuild. */
const MIN_CELL_RATIO: f32 = 9.5367431640625e-7;

/** Gives a slot with bounds its position. Allocates nothing. Returns false if there is no room, and the tree must be rebuilt. */
export function insert(tree: Tree, slot: u32, bounds: Affine): bool {
  if (tree.count < MIN_COUNT_FOR_RESERVES) return false;
  const box = boxAt(slot);
  // Tries the cell that a build would choose; if that is full, descends by the object's centre, whatever its size.
  let index: u32 = 0;
  let position = HOLE;
  for (let isSizeIgnored = false; position == HOLE; ) {
    const cell = cellAt(tree, index);
    const digit = digitOf(box, cell.centreX, cell.centreY, cell.centreZ, isSizeIgnored ? Infinity : cell.half);
    if (cell.firstChild == 0 || digit == 0) position = freePositionIn(tree, index);
    if (position != HOLE) break;
    if (cell.firstChild == 0 && !addChildren(tree, index)) return false;
    if (digit == 0) isSizeIgnored = true;
    else index = cell.firstChild + digit - 1;
  }
  const cell = cellAt(tree, index);
  cell.ownEnd = max(cell.ownEnd, (position & ~3) + 4);
  cell.dirty = 1;
  tree.dirty = 1;
  if (tree.holes > 0) tree.holes--;
  else tree.count++;
  if (!isInCell(cell, box)) tree.misfits++;
  box.position = position;
  store<u32>(tree.slots + (<usize>position << 2), slot);
  writePosition(tree, position, slot, bounds);
  changeVersion(tree);
  return true;
}

/** Finds a free position among a cell's own. Returns HOLE if there is none. */
function freePositionIn(tree: Tree, index: u32): u32 {
  const cell = cellAt(tree, index);
  if (cell.end == cell.start) appendRange(tree, cell, index);
  const end = cell.firstChild == 0 ? cell.end : cell.ownEnd;
  for (let position = cell.start; position < end; position++) if (slotAt(tree, position) == HOLE) return position;
  return HOLE;
}

/** Returns whether there is room for another range. */
function hasRangeRoom(tree: Tree): bool {
  return tree.positions + RANGE_POSITIONS <= tree.capacity;
}

/** Gives a leaf without positions a range behind all others, if there is room. */
function appendRange(tree: Tree, cell: Cell, index: u32): void {
  if (!hasRangeRoom(tree)) return;
  const start = tree.positions, end = start + RANGE_POSITIONS;
  cell.start = cell.ownEnd = start;
  cell.end = tree.positions = end;
  for (let position = start; position < end; position++) {
    clearPosition(tree, position);
    store<u32>(tree.cellByBlock + (<usize>(position >> 2) * WORD_BYTES), index);
  }
  // The range is not adjacent to those of its ancestors.
  let ancestor = index;
  while (ancestor != 0) {
    ancestor = cellAt(tree, ancestor).parent;
    cellAt(tree, ancestor).end = SCATTERED;
  }
}

/** Gives a full leaf eight empty children. Its own objects stay. Returns false if there is no room. */
function addChildren(tree: Tree, index: u32): bool {
  const cell = cellAt(tree, index), first = tree.cellCount;
  if (!(cell.half > cellAt(tree, 0).half * MIN_CELL_RATIO)) return false;
  if (!hasRangeRoom(tree) || first + 8 > tree.cellCapacity) {
    tree.capacity = 0; // the rebuild makes new room: otherwise there would be a rebuild in each frame
    return false;
  }
  tree.cellCount += 8;
  cell.firstChild = first;
  cell.childBlocks = tree.childBlockCount;
  tree.childBlockCount += 2;
  for (let i: u32 = 0; i < 8; i++) {
    const child = cellAt(tree, first + i);
    child.start = child.ownEnd = child.end = child.firstChild = child.dirty = 0;
    child.parent = index;
    setChildCube(child, i, cell.centreX, cell.centreY, cell.centreZ, cell.half);
    fitCell(tree, first + i);
  }
  return true;
}
