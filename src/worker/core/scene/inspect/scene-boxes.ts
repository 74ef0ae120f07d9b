// Lists the cells of the octrees and the bounds of objects, in world frames in float64.

import {
  FLAG_CULLABLE, FLAG_STATIC, INSPECTED_SCENE_BYTES, INSPECTED_SCENE_CELLS, INSPECTED_SCENE_MOVING,
  INSPECTED_SCENE_OBJECTS, INSPECTED_SCENE_ORIGIN, INSPECTED_SCENE_PASSIVE, INSPECTED_SCENE_STATIC,
} from '../../../../shared/layout';
import { AFFINE_BYTES, copy } from '../../math/affine';
import { release, reserve } from '../../memory';
import {
  Cell, HOLE, MOVING_TREE, PASSIVE_TREE, STATIC_TREE, TREE_COUNT, Tree, cellAt, isEmpty, slotAt, treeOf,
} from '../index/octree';
import { idAt, itemAt, liveCount, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ, slotCount } from '../objects';
import { isAsleep, updateTrees } from '../scene';
import { addBox, boxCount, clearBoxes } from './inspected-boxes';

const NO_PARENT: u32 = 0xffffffff;
const sceneFigures: usize = memory.data(INSPECTED_SCENE_BYTES, 16);

/** Returns the address of the figures of the scene in its current state: INSPECTED_SCENE_*. Throws OUT_OF_MEMORY. */
export function inspectScene(): usize {
  updateTrees();
  store<u32>(sceneFigures, liveCount, INSPECTED_SCENE_OBJECTS);
  store<u32>(sceneFigures, countIn(MOVING_TREE), INSPECTED_SCENE_MOVING);
  store<u32>(sceneFigures, countIn(STATIC_TREE), INSPECTED_SCENE_STATIC);
  store<u32>(sceneFigures, countIn(PASSIVE_TREE), INSPECTED_SCENE_PASSIVE);
  let cells: u32 = 0;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++)
    if (!isEmpty(treeOf(treeIndex))) cells += treeOf(treeIndex).cellCount;
  store<u32>(sceneFigures, cells, INSPECTED_SCENE_CELLS);
  store<f64>(sceneFigures, sceneOriginX, INSPECTED_SCENE_ORIGIN);
  store<f64>(sceneFigures, sceneOriginY, INSPECTED_SCENE_ORIGIN + 8);
  store<f64>(sceneFigures, sceneOriginZ, INSPECTED_SCENE_ORIGIN + 16);
  return sceneFigures;
}

function countIn(treeIndex: u32): u32 {
  return treeOf(treeIndex).count - treeOf(treeIndex).holes;
}

/**
 * Lists the bounds of the cells of all octrees that have objects in their subtree, at most `maxCount`. Parents come before
 * their children. Words of a cell: its level, the index of its parent or NO_PARENT, the number of objects in itself and
 * not in its children, and the index of its tree. Returns whether there are more. Throws OUT_OF_MEMORY.
 */
export function inspectCells(maxCount: u32): bool {
  updateTrees();
  clearBoxes();
  /** The cell of each box. */
  let cells: usize = 0;
  let isTruncated = false;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT && !isTruncated; treeIndex++) {
    const tree = treeOf(treeIndex);
    if (isEmpty(tree)) continue;
    let next = boxCount;
    isTruncated = boxCount == maxCount;
    if (!isTruncated) cells = addCell(cells, tree, treeIndex, 0, 0, NO_PARENT);
    for (let level: u32 = 1; next < boxCount && !isTruncated; level++) {
      const levelEnd = boxCount;
      for (; next < levelEnd && !isTruncated; next++) {
        const firstChild = cellAt(tree, load<u32>(cells + (<usize>next << 2))).firstChild;
        for (let i: u32 = 0; i < 8 && firstChild != 0; i++) {
          const child = cellAt(tree, firstChild + i);
          if (!(child.minX <= child.maxX)) continue; // empty
          isTruncated = boxCount == maxCount;
          if (isTruncated) break;
          cells = addCell(cells, tree, treeIndex, firstChild + i, level, next);
        }
      }
    }
  }
  release(cells);
  return isTruncated;
}

function addCell(cells: usize, tree: Tree, treeIndex: u32, index: u32, level: u32, parent: u32): usize {
  const used = <usize>boxCount << 2;
  const newCells = reserve(cells, used, <u64>used + 4);
  store<u32>(newCells + used, index);
  const cell = cellAt(tree, index);
  const frame = addBox(level, parent, ownCount(tree, cell), treeIndex);
  memory.fill(changetype<usize>(frame), 0, AFFINE_BYTES);
  frame.xx = 0.5 * (<f64>cell.maxX - <f64>cell.minX);
  frame.yy = 0.5 * (<f64>cell.maxY - <f64>cell.minY);
  frame.zz = 0.5 * (<f64>cell.maxZ - <f64>cell.minZ);
  frame.tx = 0.5 * (<f64>cell.minX + <f64>cell.maxX) + sceneOriginX;
  frame.ty = 0.5 * (<f64>cell.minY + <f64>cell.maxY) + sceneOriginY;
  frame.tz = 0.5 * (<f64>cell.minZ + <f64>cell.maxZ) + sceneOriginZ;
  return newCells;
}

function ownCount(tree: Tree, cell: Cell): u32 {
  let count: u32 = 0;
  for (let position = cell.start; position < cell.ownEnd; position++) if (slotAt(tree, position) != HOLE) count++;
  return count;
}

/**
 * Lists the oriented bounds of objects by slot, at most `maxCount`. Words: the id, 1 if it is static, 1 if views list it, 1
 * if it moves and is asleep. Returns whether there are more. Throws OUT_OF_MEMORY.
 */
export function inspectBounds(maxCount: u32): bool {
  clearBoxes();
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const id = idAt(slot);
    if (id == 0) continue;
    if (boxCount == maxCount) return true;
    const item = itemAt(slot);
    const isSleeping: u32 = !(item.flags & FLAG_STATIC) && isAsleep(slot) ? 1 : 0;
    const frame = addBox(id, item.flags & FLAG_STATIC ? 1 : 0, item.flags & FLAG_CULLABLE ? 1 : 0, isSleeping);
    copy(frame, orientedBounds(slot));
  }
  return false;
}
