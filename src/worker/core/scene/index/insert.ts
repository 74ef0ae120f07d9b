// Adds a moving object to the octree that is built, where a cell near its place has room: one more in a hundred thousand is no
// reason to build anew. Cells have a block in reserve for that, and the positions of objects that are gone.

import { Affine } from '../../math/affine';
import { Box, boxAt } from '../objects';
import { HOLE, Tree, cellAt, changeVersion, digitOf, inCell, slotAt, writePosition } from './octree';
import { FEWEST_FOR_RESERVES } from './build';

/**
 * How far above the object's own cell room is looked for, in all cells below: what lies together fills its cell soon.
 */
const LEVELS: u32 = 2;

/** Gives a slot with bounds its position. Answers false where there is no room, and the tree must be built anew. */
export function insert(tree: Tree, slot: u32, bounds: Affine): bool {
  const box = boxAt(slot);
  if (tree.count < FEWEST_FOR_RESERVES || !inCell(cellAt(tree, 0), box)) return false;
  let index = deepestCell(tree, box);
  let position = roomIn(tree, index, 0);
  for (let level: u32 = 1; position == HOLE && level <= LEVELS && index != 0; level++) {
    index = cellAt(tree, index).parent;
    position = roomIn(tree, index, level);
  }
  if (position == HOLE) return false;

  const cell = cellAt(tree, load<u32>(tree.cellOf + (<usize>(position >> 2) << 2)));
  cell.ownEnd = max(cell.ownEnd, (position & ~3) + 4);
  cell.dirty = 1;
  tree.dirty = 1;
  tree.count++;
  if (!inCell(cell, box)) tree.misfits++;
  box.position = position;
  store<u32>(tree.slots + (<usize>position << 2), slot);
  writePosition(tree, position, slot, bounds);
  changeVersion(tree);
  return true;
}

/** Finds the cell where a build would put an object, as the cells are now. */
function deepestCell(tree: Tree, box: Box): u32 {
  let index: u32 = 0;
  while (true) {
    const cell = cellAt(tree, index);
    const digit = cell.firstChild == 0 ? 0 : digitOf(box, cell.centreX, cell.centreY, cell.centreZ, cell.half);
    if (digit == 0) return index;
    index = cell.firstChild + digit - 1;
  }
}

/** Finds a free position of a cell or of those up to so many levels below it. Answers HOLE where there is none. */
function roomIn(tree: Tree, index: u32, levels: u32): u32 {
  const cell = cellAt(tree, index);
  const isLeaf = cell.firstChild == 0;
  const end = isLeaf ? cell.end : cellAt(tree, cell.firstChild).start;
  for (let position = cell.start; position < end; position++) if (slotAt(tree, position) == HOLE) return position;
  if (isLeaf || levels == 0) return HOLE;
  for (let i: u32 = 0; i < 8; i++) {
    const position = roomIn(tree, cell.firstChild + i, levels - 1);
    if (position != HOLE) return position;
  }
  return HOLE;
}
