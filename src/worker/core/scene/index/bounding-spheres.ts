// Bounding spheres, which extend beyond the octree's boxes. Cells and positions are the octree's own; the boxes are
// recomputed around the spheres on demand after a change, so that every traversal of an octree works for them, too.

import { PRECISION_SPHERE } from '../../../../shared/layout';
import { reserve } from '../../memory';
import { precision } from '../query/filter';
import { roundUp, roundDown, itemAt, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  BLOCK_BYTES, CELL_BYTES, HOLE, TREE_BYTES, TREE_COUNT, Tree, cellAt, fitCell, laneAt, slotAt, storeLane, treeOf,
} from './octree';
import { boundingRadius } from '../../shape/placed-shape';

const sphereTrees: usize = memory.data(<i32>TREE_COUNT * <i32>offsetof<Tree>(), 16);

/**
 * Returns a copy of an octree with the boxes of bounding spheres, and the `radiusOf` each position. Throws
 * OUT_OF_MEMORY.
 */
function sphereTree(treeIndex: u32): Tree {
  const tree = treeOf(treeIndex);
  const spheres = changetype<Tree>(sphereTrees + treeIndex * <u32>TREE_BYTES);
  if (spheres.version != tree.version) fitToSpheres(spheres, tree);
  return spheres;
}

/**
 * Returns the octree whose boxes contain the objects' representations at the requested precision. Throws OUT_OF_MEMORY.
 */
// @ts-ignore: decorator
@inline
export function treeAtPrecision(treeIndex: u32): Tree {
  return precision == PRECISION_SPHERE ? sphereTree(treeIndex) : treeOf(treeIndex);
}

// @ts-ignore: decorator
@inline
export function radiusOf(spheres: Tree, position: u32): f64 {
  return load<f64>(spheres.radii + (position << 3));
}

function fitToSpheres(spheres: Tree, tree: Tree): void {
  spheres.version = 0;
  spheres.cells = reserve(spheres.cells, 0, <u64>tree.cellCount * CELL_BYTES);
  spheres.childBlocks = reserve(spheres.childBlocks, 0, <u64>tree.childBlockCount * BLOCK_BYTES);
  spheres.blocks = reserve(spheres.blocks, 0, <u64>(tree.positions >> 2) * BLOCK_BYTES);
  spheres.radii = reserve(spheres.radii, 0, <u64>tree.positions << 3);
  spheres.cellCount = tree.cellCount;
  spheres.childBlockCount = tree.childBlockCount;
  spheres.proxies = tree.proxies;
  spheres.slots = tree.slots;
  spheres.visibleLayers = tree.visibleLayers;
  spheres.count = tree.count;
  spheres.holes = tree.holes;
  memory.copy(spheres.cells, tree.cells, tree.cellCount * <u32>CELL_BYTES);
  for (let position: u32 = 0; position < tree.positions; position++) setSphere(spheres, tree, position);
  if (tree.cellCount != 0) fitSubtree(spheres, 0);
  spheres.version = tree.version;
}

/** Fits the boxes of a cell's subtree, children first. */
function fitSubtree(tree: Tree, index: u32): void {
  const first = cellAt(tree, index).firstChild;
  for (let i: u32 = 0; i < 8 && first != 0; i++) fitSubtree(tree, first + i);
  fitCell(tree, index);
}

function setSphere(spheres: Tree, tree: Tree, position: u32): void {
  const lane = laneAt(spheres, position);
  const slot = slotAt(tree, position);
  if (slot == HOLE) {
    storeLane(lane, Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
    return;
  }
  const bounds = orientedBounds(slot);
  const x = bounds.tx - sceneOriginX, y = bounds.ty - sceneOriginY, z = bounds.tz - sceneOriginZ;
  const radius = boundingRadius(itemAt(slot));
  storeLane(
    lane,
    roundDown(x - radius), roundDown(y - radius), roundDown(z - radius), roundUp(x + radius), roundUp(y + radius),
    roundUp(z + radius),
  );
  store<f64>(spheres.radii + (<usize>position << 3), radius);
}
