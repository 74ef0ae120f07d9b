// Descends all octrees to all objects that may be in a volume: conservative, by each cell's box as the image of a cube.

import { Affine } from '../../math/affine';
import { reserve } from '../../memory';
import { boxAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  Cell, HOLE, TREE_COUNT, Tree, cellAt, isEmpty, laneAt, slotAt,
} from './octree';
import { treeAtPrecision } from './bounding-spheres';
import { OUTSIDE, allLimits, boxLimits } from '../query/volume';
import { testList } from '../query/result-ids';

/**
 * Called with a position whose box is not outside of the volume, and the limits that cross the box. It may narrow the
 * volume.
 */
export type Visit = (tree: Tree, position: u32, limits: u64) => void;

const ENTRY_BYTES: usize = 16;
/** The stack of cells, and the limits that cross each. */
let stack: usize = 0;
const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

let visitListed: Visit | null = null;

/** Visits the objects of a list of `count` ids at an address as `descend` would, or all if the address is 0. */
export function descendTo(ids: usize, count: u32, visit: Visit): void {
  visitListed = visit;
  if (ids == 0) descend(visit);
  else testList(ids, count, 1, visitSlot);
}

export function descend(visit: Visit): void {
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) descendTree(treeAtPrecision(treeIndex), visit);
}

function visitSlot(slot: u32): void {
  const box = boxAt(slot), tree = treeAtPrecision(box.tree);
  const limits = boxLimits(boxOf(laneAt(tree, box.position), 16), allLimits());
  if (limits != OUTSIDE) visitListed!(tree, box.position, limits);
}

function descendTree(tree: Tree, visit: Visit): void {
  if (isEmpty(tree)) return;
  let stackSize = push(0, 0, allLimits());
  while (stackSize != 0) {
    const top = stack + --stackSize * <u32>ENTRY_BYTES;
    const cell = cellAt(tree, load<u32>(top));
    const limits = load<u64>(top, 8);
    for (let position = cell.start; position < cell.ownEnd; position++) {
      if (slotAt(tree, position) == HOLE) continue;
      const crossingLimits = limits == 0 ? 0 : boxLimits(boxOf(laneAt(tree, position), 16), limits);
      if (crossingLimits != OUTSIDE) visit(tree, position, crossingLimits);
    }
    for (let i: u32 = 0; i < 8 && cell.firstChild != 0; i++) {
      const child = cellAt(tree, cell.firstChild + i);
      if (!(child.minX <= child.maxX)) continue; // empty
      const crossingLimits = limits == 0 ? 0 : boxLimits(boxOf(cellBoundsAt(child), 4), limits);
      if (crossingLimits != OUTSIDE) stackSize = push(stackSize, cell.firstChild + i, crossingLimits);
    }
  }
}

function push(stackSize: u32, cell: u32, limits: u64): u32 {
  stack = reserve(stack, stackSize * <u32>ENTRY_BYTES, <u64>(stackSize + 1) * ENTRY_BYTES);
  const at = stack + stackSize * <u32>ENTRY_BYTES;
  store<u32>(at, cell);
  store<u64>(at, limits, 8);
  return stackSize + 1;
}

// @ts-ignore: decorator
@inline
function cellBoundsAt(cell: Cell): usize {
  return changetype<usize>(cell) + offsetof<Cell>('minX');
}

/**
 * Sets the map from the cube to a box relative to the scene's origin, given as min x, y, z, max x, y, z, `stride`
 * bytes apart.
 */
function boxOf(at: usize, stride: usize): Affine {
  const minX = <f64>load<f32>(at), minY = <f64>load<f32>(at + stride), minZ = <f64>load<f32>(at + 2 * stride);
  const maxX = <f64>load<f32>(at + 3 * stride), maxY = <f64>load<f32>(at + 4 * stride);
  const maxZ = <f64>load<f32>(at + 5 * stride);
  box.xx = 0.5 * (maxX - minX);
  box.yy = 0.5 * (maxY - minY);
  box.zz = 0.5 * (maxZ - minZ);
  box.tx = 0.5 * (minX + maxX) + sceneOriginX;
  box.ty = 0.5 * (minY + maxY) + sceneOriginY;
  box.tz = 0.5 * (minZ + maxZ) + sceneOriginZ;
  return box;
}
