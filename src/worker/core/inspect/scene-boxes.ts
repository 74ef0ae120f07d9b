// Lists the boxes of the scene: the cells of its octrees, and the oriented bounds of its objects.

import { Affine, setIdentity } from '../math/affine';
import { reserve } from '../memory';
import { NO_TREE, boxAt, idAt, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ, slotCount } from '../scene/objects';
import { boundsIn } from '../scene/index/bounding-spheres';
import { Cell, HOLE, TREE_COUNT, Tree, cellAt, isEmpty, slotAt } from '../scene/index/octree';
import { updateTrees } from '../scene/scene';
import { addBox, boxCount } from './box-list';

const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The cells that wait, and the level of each: two u32. */
let waiting: usize = 0;

function push(count: u32, cell: u32, level: u32): u32 {
  waiting = reserve(waiting, count << 3, <u64>(count + 1) << 3);
  store<u32>(waiting + (<usize>count << 3), cell);
  store<u32>(waiting + (<usize>count << 3), level, 4);
  return count + 1;
}

/** Brings the trees up to date. Answers the scene's origin along an axis. */
export function sceneOrigin(axis: u32): f64 {
  updateTrees();
  return axis == 0 ? sceneOriginX : axis == 1 ? sceneOriginY : sceneOriginZ;
}

/**
 * Adds the cells of the octrees from level `first` to `last`, level by level, as the bounds of what lies in each; what is
 * empty is left out. The count is that of the cell's own objects, the kind is the tree (TREE_*). Answers how many boxes there
 * are. Throws OUT_OF_MEMORY.
 */
export function addCells(first: u32, last: u32): u32 {
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = boundsIn(which);
    if (!isEmpty(tree) && !addTree(tree, which, first, last)) break;
  }
  return boxCount;
}

function addTree(tree: Tree, which: u32, first: u32, last: u32): bool {
  let end = push(0, 0, 0);
  for (let i: u32 = 0; i < end; i++) {
    const index = load<u32>(waiting + (<usize>i << 3)), level = load<u32>(waiting + (<usize>i << 3), 4);
    const cell = cellAt(tree, index);
    if (!(cell.lowX <= cell.highX)) continue; // empty
    if (level >= first) {
      setCellBox(cell);
      if (!addBox(box, 0, level, ownCount(tree, cell), which)) return false;
    }
    for (let k: u32 = 0; k < 8 && level < last && cell.firstChild != 0; k++) end = push(end, cell.firstChild + k, level + 1);
  }
  return true;
}

function setCellBox(cell: Cell): void {
  const lowX = <f64>cell.lowX, lowY = <f64>cell.lowY, lowZ = <f64>cell.lowZ;
  const highX = <f64>cell.highX, highY = <f64>cell.highY, highZ = <f64>cell.highZ;
  setIdentity(box);
  box.xx = 0.5 * (highX - lowX);
  box.yy = 0.5 * (highY - lowY);
  box.zz = 0.5 * (highZ - lowZ);
  box.tx = 0.5 * (lowX + highX) + sceneOriginX;
  box.ty = 0.5 * (lowY + highY) + sceneOriginY;
  box.tz = 0.5 * (lowZ + highZ) + sceneOriginZ;
}

function ownCount(tree: Tree, cell: Cell): u32 {
  let count: u32 = 0;
  for (let position = cell.start; position < cell.ownEnd; position++) if (slotAt(tree, position) != HOLE) count++;
  return count;
}

/**
 * Adds the oriented bounds of all objects, by slot. The kind is the tree that an object is in. Answers how many boxes
 * there are. Throws OUT_OF_MEMORY.
 */
export function addBounds(): u32 {
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const id = idAt(slot);
    if (id == 0 || boxAt(slot).tree == NO_TREE) continue;
    if (!addBox(orientedBounds(slot), id, 0, 0, boxAt(slot).tree)) break;
  }
  return boxCount;
}
