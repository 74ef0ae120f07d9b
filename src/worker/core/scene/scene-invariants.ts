// Invariants of the scene, checked by tests.

import { GENERATION_BITS, SHAPE_MESH } from '../../../shared/layout';
import { Affine, areEqual } from '../math/affine';
import { Mesh } from '../mesh/tree/layout';
import { checkTree } from '../mesh/tree/tree-invariants';
import { MESH_OK } from '../mesh/tree/mesh-check';
import { Item, boxListOf } from '../shape/item';
import { listUses } from '../shared-lists';
import { BOUNDS_CURRENT, isPosed, poseOf } from '../skin/pose';
import { Proxy, boundsOf } from '../shape/proxy';
import {
  Box, NO_TREE, UNPLACED, boxAt, idAt, isReserved, itemAt, liveCount, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ,
  slotCount,
} from './objects';
import {
  Cell, HOLE, MOVING_TREE, SCATTERED, TREE_COUNT, Tree, cellAt, isInCell, laneAt, readProxy, slotAt, treeOf,
} from './index/octree';
import { capacityOf, freeOrder } from './index/ranges';
import { pairIn } from './pairs/pair-list';
import { pairCount, pairs } from './pairs/pairs';
import { updateTrees } from './scene';

export const SCENE_OK = 0;
export const SCENE_ID = 20;
export const SCENE_COUNT = 21;
export const SCENE_BOX_TOO_SMALL = 22;
export const SCENE_PLACE = 23;
export const SCENE_RANGES = 24;
export const SCENE_CELL_TOO_SMALL = 25;
export const SCENE_WRONG_CELL = 26;
export const SCENE_PAIR_ORDER = 27;
export const SCENE_STALE = 28;
export const SCENE_LISTS = 29;
export const SCENE_POSE = 30;

/**
 * Returns whether the tree of a pose that has been computed is valid and within the bounds that were estimated for it before.
 */
function isPoseSound(item: Item): bool {
  if (item.shape != SHAPE_MESH) return true;
  const mesh = changetype<Mesh>(item.mesh);
  if (!isPosed(mesh) || poseOf(mesh).state == BOUNDS_CURRENT) return true;
  const pose = poseOf(mesh);
  return (
    checkTree(mesh) == MESH_OK && pose.minX <= mesh.minX && pose.minY <= mesh.minY && pose.minZ <= mesh.minZ &&
    mesh.maxX <= pose.maxX && mesh.maxY <= pose.maxY && mesh.maxZ <= pose.maxZ
  );
}

export function checkScene(): u32 {
  updateTrees();
  checkedCount = listUseCount = 0;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const code = idAt(slot) == 0 ? checkFree(slot) : checkObject(slot);
    if (code != SCENE_OK) return code;
  }
  if (checkedCount != liveCount) return SCENE_COUNT;
  if (listUseCount != listUses()) return SCENE_LISTS;
  let treeObjectCount: u32 = 0;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) {
    const tree = treeOf(treeIndex);
    treeObjectCount += tree.count - tree.holes;
    const code = treeIndex == MOVING_TREE ? checkOctree(tree) : checkGrowing(tree);
    if (code != SCENE_OK) return code;
  }
  return treeObjectCount == checkedCount ? checkPairs() : SCENE_COUNT;
}

/** Counts of the objects that were checked, and of the shared lists that they use. */
let checkedCount: u32 = 0;
let listUseCount: u32 = 0;

/** Checks a slot without an object, which may be reserved for one. */
function checkFree(slot: u32): u32 {
  if (!isReserved(slot)) return SCENE_OK;
  if (itemAt(slot).id != 0) return SCENE_ID;
  return boxAt(slot).tree == NO_TREE && boxAt(slot).position == UNPLACED ? SCENE_OK : SCENE_PLACE;
}

/** Checks that an object is where its box says, that its proxy is up to date, and that its box contains it. */
function checkObject(slot: u32): u32 {
  const item = itemAt(slot), box = boxAt(slot);
  if (item.id != idAt(slot) || item.id >> GENERATION_BITS != slot) return SCENE_ID;
  checkedCount++;
  if (item.faceSides != 0) listUseCount++;
  if (boxListOf(item) != 0) listUseCount++;
  if (!isPoseSound(item)) return SCENE_POSE;
  if (box.tree >= TREE_COUNT || box.position >= treeOf(box.tree).positions) return SCENE_PLACE;
  const tree = treeOf(box.tree);
  if (slotAt(tree, box.position) != slot) return SCENE_PLACE;
  const proxy = readProxy(tree, box.position);
  const hasProxies = tree.proxies != 0;
  if (proxy.id != item.id || (hasProxies && !isFresh(proxy, slot)) || !isLaneEqual(laneAt(tree, box.position), box)) {
    return SCENE_STALE;
  }
  return boxContainsCorners(boundsOf(proxy, proxyBounds), box) ? SCENE_OK : SCENE_BOX_TOO_SMALL;
}

/** Checks that pairs are in ascending order. */
function checkPairs(): u32 {
  for (let i: u32 = 1; i < pairCount; i++) {
    const p = pairIn(pairs, i - 1), q = pairIn(pairs, i);
    if (p.a > q.a || (p.a == q.a && p.b >= q.b)) return SCENE_PAIR_ORDER;
  }
  return SCENE_OK;
}

const proxyBounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

function isFresh(proxy: Proxy, slot: u32): bool {
  return (
    areEqual(orientedBounds(slot), boundsOf(proxy, proxyBounds)) &&
    proxy.edgeXx == <f32>proxyBounds.xx && proxy.edgeYy == <f32>proxyBounds.yy && proxy.edgeZz == <f32>proxyBounds.zz
  );
}

function isLaneEqual(at: usize, box: Box): bool {
  return (
    load<f32>(at) == box.minX && load<f32>(at, 16) == box.minY && load<f32>(at, 32) == box.minZ &&
    load<f32>(at, 48) == box.maxX && load<f32>(at, 64) == box.maxY && load<f32>(at, 80) == box.maxZ
  );
}

function boxContainsCorners(b: Affine, box: Box): bool {
  for (let corner = 0; corner < 8; corner++) {
    const sx = corner & 1 ? 1.0 : -1.0, sy = corner & 2 ? 1.0 : -1.0, sz = corner & 4 ? 1.0 : -1.0;
    const x = b.tx - sceneOriginX + (sx * b.xx + sy * b.yx + sz * b.zx);
    const y = b.ty - sceneOriginY + (sx * b.xy + sy * b.yy + sz * b.zy);
    const z = b.tz - sceneOriginZ + (sx * b.xz + sy * b.yz + sz * b.zz);
    if (x < box.minX || x > box.maxX || y < box.minY || y > box.maxY || z < box.minZ || z > box.maxZ) return false;
  }
  return true;
}

/**
 * Checks an octree: ranges nest and cover all positions; bounds contain everything below; an object that is not counted as a
 * misfit is in its cell.
 */
function checkOctree(tree: Tree): u32 {
  if (tree.count == 0) return SCENE_OK;
  let covered: u32 = 0;
  let misfits: u32 = 0;
  for (let index: u32 = 0; index < tree.cellCount; index++) {
    const cell = cellAt(tree, index);
    covered += (cell.firstChild == 0 ? cell.end : cell.ownEnd) - cell.start;
    const code = checkRanges(tree, cell, index);
    if (code != SCENE_OK) return code;
    for (let position = cell.start; position < cell.ownEnd; position++) {
      const slot = slotAt(tree, position);
      if (slot == HOLE) continue;
      if (!containsBox(cell, boxAt(slot))) return SCENE_CELL_TOO_SMALL;
      if (!isInCell(cell, boxAt(slot))) misfits++;
    }
  }
  if (covered != tree.positions || tree.positions > tree.capacity) return SCENE_RANGES;
  return misfits <= tree.misfits ? SCENE_OK : SCENE_WRONG_CELL;
}

/**
 * Checks that a cell's own range and those of its children are adjacent and cover its range, unless objects were added below
 * it later, and that its bounds contain the children's.
 */
function checkRanges(tree: Tree, cell: Cell, index: u32): u32 {
  if (cell.firstChild == 0) return cell.ownEnd > cell.end ? SCENE_RANGES : SCENE_OK;
  const isContiguous = cell.end != SCATTERED;
  let expectedStart = cell.ownEnd;
  for (let i: u32 = 0; i < 8; i++) {
    const child = cellAt(tree, cell.firstChild + i);
    if (child.parent != index || child.end < child.start || (isContiguous && child.start != expectedStart)) return SCENE_RANGES;
    expectedStart = child.end;
    if (!isChildWithin(child, cell)) return SCENE_CELL_TOO_SMALL;
  }
  return !isContiguous || expectedStart == cell.end ? SCENE_OK : SCENE_RANGES;
}

/**
 * Checks a growing octree: objects are dense in the ranges of their cells, positions outside all ranges are free; bounds
 * contain everything below and are tight; every object is in its cell.
 */
function checkGrowing(tree: Tree): u32 {
  if (tree.count == 0) return tree.cellCount == 0 && tree.positions == 0 ? SCENE_OK : SCENE_COUNT;
  objectCount = 0;
  blockCount = 0;
  const code = checkCell(tree, 0);
  if (code != SCENE_OK) return code;
  if (objectCount != tree.count) return SCENE_COUNT;
  for (let block: u32 = 0; block < tree.positions >> 2; ) {
    const order = freeOrder(tree, block);
    if (order >= 0) {
      for (let i: u32 = 0; i < 4 << order; i++) if (slotAt(tree, (block << 2) + i) != HOLE) return SCENE_RANGES;
      block += 1 << order;
      blockCount += 1 << order;
    } else block++;
  }
  return blockCount == tree.positions >> 2 ? SCENE_OK : SCENE_RANGES;
}

let objectCount: u32 = 0;
let blockCount: u32 = 0;

function checkCell(tree: Tree, index: u32): u32 {
  const cell = cellAt(tree, index);
  if (!isRangeSound(tree, cell, index)) return SCENE_RANGES;
  blockCount += capacityOf(cell.order) >> 2;
  objectCount += cell.ownCount;
  let minX: f32 = Infinity, maxZ: f32 = -Infinity;
  for (let position = cell.start; position < cell.start + cell.ownCount; position++) {
    const slot = slotAt(tree, position);
    if (slot == HOLE || boxAt(slot).position != position) return SCENE_PLACE;
    const box = boxAt(slot);
    minX = min(minX, box.minX);
    maxZ = max(maxZ, box.maxZ);
    if (!containsBox(cell, box)) return SCENE_CELL_TOO_SMALL;
    if (!isInCell(cell, box)) return SCENE_WRONG_CELL;
  }
  for (let position = cell.start + cell.ownCount; position < cell.ownEnd; position++) {
    if (slotAt(tree, position) != HOLE || load<f32>(laneAt(tree, position)) != Infinity) return SCENE_PLACE;
  }
  if (cell.ownMinX != minX || cell.ownMaxZ != maxZ) return SCENE_CELL_TOO_SMALL;
  for (let i: u32 = 0; i < 8 && cell.firstChild != 0; i++) {
    const child = cellAt(tree, cell.firstChild + i);
    if (child.parent != index) return SCENE_RANGES;
    if (child.minX <= child.maxX && !isChildWithin(child, cell)) return SCENE_CELL_TOO_SMALL;
    const code = checkCell(tree, cell.firstChild + i);
    if (code != SCENE_OK) return code;
    minX = min(minX, child.minX);
    maxZ = max(maxZ, child.maxZ);
  }
  return cell.minX == minX && cell.maxZ == maxZ ? SCENE_OK : SCENE_CELL_TOO_SMALL;
}

/** Returns whether a cell has a range of its own, of the size that it records. */
function isRangeSound(tree: Tree, cell: Cell, index: u32): bool {
  if (cell.dirty || cell.end != SCATTERED || cell.ownCount > capacityOf(cell.order)) return false;
  if (cell.ownEnd != cell.start + ((cell.ownCount + 3) & ~3)) return false;
  for (let i: u32 = 0; i < capacityOf(cell.order) >> 2; i++) {
    if (load<u32>(tree.cellByBlock + (<usize>((cell.start >> 2) + i) << 2)) != index) return false;
  }
  return true;
}

/** Returns whether a cell's bounds contain a box. */
function containsBox(cell: Cell, box: Box): bool {
  return !(
    box.minX < cell.minX || box.maxX > cell.maxX || box.minY < cell.minY || box.maxY > cell.maxY ||
    box.minZ < cell.minZ || box.maxZ > cell.maxZ
  );
}

function isChildWithin(child: Cell, cell: Cell): bool {
  return (
    child.minX >= cell.minX && child.maxX <= cell.maxX && child.minY >= cell.minY && child.maxY <= cell.maxY &&
    child.minZ >= cell.minZ && child.maxZ <= cell.maxZ
  );
}
