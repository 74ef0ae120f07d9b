// Invariants of the scene, checked by tests.

import { GENERATION_BITS, SHAPE_MESH } from '../../../shared/layout';
import { Affine, same } from '../math/affine';
import { Mesh } from '../mesh/tree/layout';
import { checkTree } from '../mesh/tree/tree-invariants';
import { MESH_OK } from '../mesh/tree/mesh-check';
import { Item, boxListOf } from '../shape/item';
import { listUses } from '../shared-lists';
import { SET, isPosed, poseOf } from '../skin/pose';
import { Proxy, boundsOf } from '../shape/proxy';
import {
  Box, NO_TREE, UNPLACED, boxAt, idAt, isReserved, itemAt, liveCount, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ,
  slotCount,
} from './objects';
import { Cell, HOLE, MOVING_TREE, SCATTERED, TREE_COUNT, Tree, cellAt, inCell, laneAt, readPlace, slotAt, treeOf } from './index/octree';
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
  if (!isPosed(mesh) || poseOf(mesh).state == SET) return true;
  const pose = poseOf(mesh);
  return (
    checkTree(mesh) == MESH_OK && pose.lowX <= mesh.lowX && pose.lowY <= mesh.lowY && pose.lowZ <= mesh.lowZ &&
    mesh.highX <= pose.highX && mesh.highY <= pose.highY && mesh.highZ <= pose.highZ
  );
}

export function checkScene(): u32 {
  updateTrees();
  live = listed = 0;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const code = idAt(slot) == 0 ? checkFree(slot) : checkObject(slot);
    if (code != SCENE_OK) return code;
  }
  if (live != liveCount) return SCENE_COUNT;
  if (listed != listUses()) return SCENE_LISTS;
  let held: u32 = 0;
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = treeOf(which);
    held += tree.count - tree.holes;
    const code = which == MOVING_TREE ? checkOctree(tree) : checkGrowing(tree);
    if (code != SCENE_OK) return code;
  }
  return held == live ? checkPairs() : SCENE_COUNT;
}

/** Counts of the objects that were checked, and of the shared lists that they use. */
let live: u32 = 0;
let listed: u32 = 0;

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
  live++;
  if (item.faceSides != 0) listed++;
  if (boxListOf(item) != 0) listed++;
  if (!isPoseSound(item)) return SCENE_POSE;
  if (box.tree >= TREE_COUNT || box.position >= treeOf(box.tree).positions) return SCENE_PLACE;
  const tree = treeOf(box.tree);
  if (slotAt(tree, box.position) != slot) return SCENE_PLACE;
  const proxy = readPlace(tree, box.position);
  const isKept = tree.proxies != 0;
  if (proxy.id != item.id || (isKept && !isFresh(proxy, slot)) || !isLane(laneAt(tree, box.position), box)) {
    return SCENE_STALE;
  }
  return boxHoldsCorners(boundsOf(proxy, known), box) ? SCENE_OK : SCENE_BOX_TOO_SMALL;
}

/** Checks that pairs are in ascending order. */
function checkPairs(): u32 {
  for (let i: u32 = 1; i < pairCount; i++) {
    const p = pairIn(pairs, i - 1), q = pairIn(pairs, i);
    if (p.a > q.a || (p.a == q.a && p.b >= q.b)) return SCENE_PAIR_ORDER;
  }
  return SCENE_OK;
}

const known = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

function isFresh(proxy: Proxy, slot: u32): bool {
  return (
    same(orientedBounds(slot), boundsOf(proxy, known)) &&
    proxy.edgeXx == <f32>known.xx && proxy.edgeYy == <f32>known.yy && proxy.edgeZz == <f32>known.zz
  );
}

function isLane(at: usize, box: Box): bool {
  return (
    load<f32>(at) == box.lowX && load<f32>(at, 16) == box.lowY && load<f32>(at, 32) == box.lowZ &&
    load<f32>(at, 48) == box.highX && load<f32>(at, 64) == box.highY && load<f32>(at, 80) == box.highZ
  );
}

function boxHoldsCorners(b: Affine, box: Box): bool {
  for (let corner = 0; corner < 8; corner++) {
    const sx = corner & 1 ? 1.0 : -1.0, sy = corner & 2 ? 1.0 : -1.0, sz = corner & 4 ? 1.0 : -1.0;
    const x = b.tx - sceneOriginX + (sx * b.xx + sy * b.yx + sz * b.zx);
    const y = b.ty - sceneOriginY + (sx * b.xy + sy * b.yy + sz * b.zy);
    const z = b.tz - sceneOriginZ + (sx * b.xz + sy * b.yz + sz * b.zz);
    if (x < box.lowX || x > box.highX || y < box.lowY || y > box.highY || z < box.lowZ || z > box.highZ) return false;
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
  let strays: u32 = 0;
  for (let index: u32 = 0; index < tree.cellCount; index++) {
    const cell = cellAt(tree, index);
    covered += (cell.firstChild == 0 ? cell.end : cell.ownEnd) - cell.start;
    const code = checkRanges(tree, cell, index);
    if (code != SCENE_OK) return code;
    for (let position = cell.start; position < cell.ownEnd; position++) {
      const slot = slotAt(tree, position);
      if (slot == HOLE) continue;
      if (!holds(cell, boxAt(slot))) return SCENE_CELL_TOO_SMALL;
      if (!inCell(cell, boxAt(slot))) strays++;
    }
  }
  if (covered != tree.positions || tree.positions > tree.capacity) return SCENE_RANGES;
  return strays <= tree.misfits ? SCENE_OK : SCENE_WRONG_CELL;
}

/**
 * Checks that a cell's own range and those of its children are adjacent and cover its range, unless objects were added below
 * it later, and that its bounds contain the children's.
 */
function checkRanges(tree: Tree, cell: Cell, index: u32): u32 {
  if (cell.firstChild == 0) return cell.ownEnd > cell.end ? SCENE_RANGES : SCENE_OK;
  const isWhole = cell.end != SCATTERED;
  let from = cell.ownEnd;
  for (let i: u32 = 0; i < 8; i++) {
    const child = cellAt(tree, cell.firstChild + i);
    if (child.parent != index || child.end < child.start || (isWhole && child.start != from)) return SCENE_RANGES;
    from = child.end;
    if (!within(child, cell)) return SCENE_CELL_TOO_SMALL;
  }
  return !isWhole || from == cell.end ? SCENE_OK : SCENE_RANGES;
}

/**
 * Checks a growing octree: objects are dense in the ranges of their cells, positions outside all ranges are free; bounds
 * contain everything below and are tight; every object is in its cell.
 */
function checkGrowing(tree: Tree): u32 {
  if (tree.count == 0) return tree.cellCount == 0 && tree.positions == 0 ? SCENE_OK : SCENE_COUNT;
  found = 0;
  blocks = 0;
  const code = checkCell(tree, 0);
  if (code != SCENE_OK) return code;
  if (found != tree.count) return SCENE_COUNT;
  for (let block: u32 = 0; block < tree.positions >> 2; ) {
    const order = freeOrder(tree, block);
    if (order >= 0) {
      for (let i: u32 = 0; i < 4 << order; i++) if (slotAt(tree, (block << 2) + i) != HOLE) return SCENE_RANGES;
      block += 1 << order;
      blocks += 1 << order;
    } else block++;
  }
  return blocks == tree.positions >> 2 ? SCENE_OK : SCENE_RANGES;
}

let found: u32 = 0;
let blocks: u32 = 0;

function checkCell(tree: Tree, index: u32): u32 {
  const cell = cellAt(tree, index);
  if (!isRangeSound(tree, cell, index)) return SCENE_RANGES;
  blocks += capacityOf(cell.order) >> 2;
  found += cell.ownCount;
  let lowX: f32 = Infinity, highZ: f32 = -Infinity;
  for (let position = cell.start; position < cell.start + cell.ownCount; position++) {
    const slot = slotAt(tree, position);
    if (slot == HOLE || boxAt(slot).position != position) return SCENE_PLACE;
    const box = boxAt(slot);
    lowX = min(lowX, box.lowX);
    highZ = max(highZ, box.highZ);
    if (!holds(cell, box)) return SCENE_CELL_TOO_SMALL;
    if (!inCell(cell, box)) return SCENE_WRONG_CELL;
  }
  for (let position = cell.start + cell.ownCount; position < cell.ownEnd; position++) {
    if (slotAt(tree, position) != HOLE || load<f32>(laneAt(tree, position)) != Infinity) return SCENE_PLACE;
  }
  if (cell.ownLowX != lowX || cell.ownHighZ != highZ) return SCENE_CELL_TOO_SMALL;
  for (let i: u32 = 0; i < 8 && cell.firstChild != 0; i++) {
    const child = cellAt(tree, cell.firstChild + i);
    if (child.parent != index) return SCENE_RANGES;
    if (child.lowX <= child.highX && !within(child, cell)) return SCENE_CELL_TOO_SMALL;
    const code = checkCell(tree, cell.firstChild + i);
    if (code != SCENE_OK) return code;
    lowX = min(lowX, child.lowX);
    highZ = max(highZ, child.highZ);
  }
  return cell.lowX == lowX && cell.highZ == highZ ? SCENE_OK : SCENE_CELL_TOO_SMALL;
}

/** Returns whether a cell has a range of its own, of the size that it records. */
function isRangeSound(tree: Tree, cell: Cell, index: u32): bool {
  if (cell.dirty || cell.end != SCATTERED || cell.ownCount > capacityOf(cell.order)) return false;
  if (cell.ownEnd != cell.start + ((cell.ownCount + 3) & ~3)) return false;
  for (let i: u32 = 0; i < capacityOf(cell.order) >> 2; i++) {
    if (load<u32>(tree.cellOf + (<usize>((cell.start >> 2) + i) << 2)) != index) return false;
  }
  return true;
}

/** Returns whether a cell's bounds contain a box. */
function holds(cell: Cell, box: Box): bool {
  return !(
    box.lowX < cell.lowX || box.highX > cell.highX || box.lowY < cell.lowY || box.highY > cell.highY ||
    box.lowZ < cell.lowZ || box.highZ > cell.highZ
  );
}

function within(child: Cell, cell: Cell): bool {
  return (
    child.lowX >= cell.lowX && child.highX <= cell.highX && child.lowY >= cell.lowY && child.highY <= cell.highY &&
    child.lowZ >= cell.lowZ && child.highZ <= cell.highZ
  );
}
