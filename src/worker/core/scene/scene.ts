// The scene: objects and the trees that index them, which are brought up to date on demand.

import { CONTACTS_NONE, FLAG_CONTINUOUS, FLAG_STATIC, OBJECT_CONTACTS, OBJECT_FLAGS } from '../../../shared/layout';
import { now } from '../host';
import { Affine, areUsableVectors, equalsVectors, setFromVectors } from '../math/affine';
import { reserve } from '../memory';
import {
  NO_TREE, UNPLACED, boxAt, applyDescription, releaseSlot, idAt, isAlive, itemAt, moveOrigin, orientedBounds, reachAt,
  reserveRecord, reserveSlots, sceneOriginX, sceneOriginY, sceneOriginZ, slotCount, updateBox, slotOf,
} from './objects';
import { worldOf } from '../shape/item';
import {
  MOVING_TREE, PASSIVE_TREE, STATIC_TREE, TREE_COUNT, Tree, cellAt, clearSlot, isEmpty, markMoved, movedPositions, updateMoved,
  markChanged, updateSlot, refitTree, slotAt, treeOf,
} from './index/octree';
import { beginTree, buildTree, enlist } from './index/build';
import { addToTree, clearTree, refitDirty, removeFromTree, updateInTree } from './index/growing';
import { insert } from './index/insert';
import { SlotSet, addSlot, hasSlot, moveSlots, removeLast, reserveSet, slotIn } from './slot-set';
import { isAnyReaching, recordMotionStart } from './motions';
import { recordReplacedSlot, reserveLastIds } from './view/last-ids';

/** Dirty slots: the pairs of their objects are to be found again. */
export const changedSlots = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Slots that changed while a frame is under way: the next frame finds their pairs. */
const changedSlotsSince = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** The set that currently records changes: `changedSlots` or `changedSlotsSince`. */
let currentChanges: SlotSet = changedSlots;

/** Bitmap of the slots that had changed in the last frame; as many words as that of `changedSlots`. */
let awakeBits: usize = 0;

/** Makes room for recording changes of all slots below `count`. Throws OUT_OF_MEMORY. */
function reserveChanges(count: u32): void {
  const words = changedSlots.words;
  const bits = (count + 31) >> 5;
  if (bits > words) {
    awakeBits = reserve(awakeBits, words << 2, <u64>bits << 2);
    memory.fill(awakeBits + (<usize>words << 2), 0, <usize>(bits - words) << 2);
  }
  reserveSet(changedSlots, count);
}

/**
 * Ends the changes of a frame whose pairs are found. An object that did not change in it is asleep until it changes. Allocates
 * nothing.
 */
export function endChanges(): void {
  const changed = changedSlots.bits;
  changedSlots.bits = awakeBits;
  changedSlots.count = 0;
  memory.fill(changedSlots.bits, 0, <usize>changedSlots.words << 2);
  awakeBits = changed;
}

/** Returns whether an object neither changed in the last frame nor has changed since. */
export function isAsleep(slot: u32): bool {
  const word = slot >> 5;
  const isAwake = word < changedSlots.words && (load<u32>(awakeBits + (<usize>word << 2)) & (1 << (slot & 31))) != 0;
  return !isAwake && !hasSlot(changedSlots, slot) && !hasSlot(changedSlotsSince, slot);
}

/** Makes sure that `beginChangesSince` allocates nothing. Throws OUT_OF_MEMORY. */
export function reserveChangesSince(): void {
  reserveSet(changedSlotsSince, slotCount);
}

/** Records changes for the next frame from now on. */
export function beginChangesSince(): void {
  currentChanges = changedSlotsSince;
}

/** Hands the changes that were recorded since `beginChangesSince` to the coming frame. */
export function endChangesSince(): void {
  currentChanges = changedSlots;
  moveSlots(changedSlotsSince, changedSlots);
}

/**
 * The slots that changed since visibility was last found: objects that may still be moving do not occlude in lasting answers.
 */
export const changedSinceCull = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));

/** Objects of the growing trees (static and passive) that have no position yet, or need another one. */
const slotsToPlace = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));

/** Bitmap of the slots of the moving tree: it finds them quickly among a million others. */
let movingBits: usize = 0;
let movingWords: u32 = 0;

/**
 * Handles a change of an object's shape or transform: updates its bounds and its position in a tree, or leaves the
 * position to `updateTrees`. Allocates nothing.
 */
export function refreshBounds(slot: u32): void {
  const bounds = orientedBounds(slot);
  updateBox(slot, bounds);
  const box = boxAt(slot);
  const tree = treeOf(box.tree);
  if (box.tree != PASSIVE_TREE) addSlot(currentChanges, slot);
  addSlot(changedSinceCull, slot);
  if (box.tree != MOVING_TREE) {
    if (box.position == UNPLACED || !updateInTree(tree, slot)) addSlot(slotsToPlace, slot);
  } else if (tree.isBuilt) {
    if (box.position != UNPLACED) updateSlot(tree, slot, bounds);
    else if (!insert(tree, slot, bounds)) tree.isBuilt = 0;
  }
}

/** Adds or changes an object. Later operations on it allocate nothing, except in a frame. Throws OUT_OF_MEMORY. */
export function putObject(id: u32, description: usize): void {
  const slot = slotOf(id);
  if (slot >= slotCount) {
    reserveChanges(slot + 1);
    if (currentChanges == changedSlotsSince) reserveSet(changedSlotsSince, slot + 1);
    reserveSet(slotsToPlace, slot + 1);
    reserveSet(changedSinceCull, slot + 1);
    reserveMoving(slot + 1);
    reserveLastIds(slot + 1);
    reserveSlots(slot);
  }
  reserveRecord(slot, description);
  const treeIndex = treeFor(description);
  const box = boxAt(slot);
  if (box.tree != treeIndex) {
    leaveTree(slot);
    box.tree = treeIndex;
    if (treeIndex == MOVING_TREE) setMoving(slot, true);
  }
  if (idAt(slot) != id) recordReplacedSlot(slot);
  applyDescription(id, description);
  refreshBounds(slot);
}

/** Takes an object out of its tree, if it is in one. Its pairs are to be found again. */
function leaveTree(slot: u32): void {
  const box = boxAt(slot);
  if (box.tree == NO_TREE) return;
  if (box.tree != PASSIVE_TREE) addSlot(currentChanges, slot);
  if (box.tree == MOVING_TREE) setMoving(slot, false);
  if (box.position == UNPLACED) return;
  if (box.tree == MOVING_TREE) clearSlot(treeOf(MOVING_TREE), slot);
  else removeFromTree(treeOf(box.tree), slot);
}

function reserveMoving(slots: u32): void {
  const words = (slots + 31) >> 5;
  movingBits = reserve(movingBits, movingWords << 2, <u64>words << 2);
  if (words <= movingWords) return;
  memory.fill(movingBits + (<usize>movingWords << 2), 0, <usize>(words - movingWords) << 2);
  movingWords = words;
}

function setMoving(slot: u32, isMoving: bool): void {
  const at = movingBits + (<usize>(slot >> 5) << 2);
  const bit: u32 = 1 << (slot & 31);
  store<u32>(at, isMoving ? load<u32>(at) | bit : load<u32>(at) & ~bit);
}

function treeFor(description: usize): u32 {
  if (!(load<u32>(description, OBJECT_FLAGS) & FLAG_STATIC)) return MOVING_TREE;
  return load<u32>(description, OBJECT_CONTACTS) == CONTACTS_NONE ? PASSIVE_TREE : STATIC_TREE;
}

/** Sets the layers of an object. Does nothing if it is not alive. */
export function setLayers(id: u32, layers: u32): void {
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  itemAt(slot).layers = layers;
  refreshBounds(slot);
}

/** Removes an object. Does nothing if the object does not exist because adding it ran out of memory. */
export function removeObject(id: u32): void {
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  recordReplacedSlot(slot);
  leaveTree(slot);
  releaseSlot(slot);
}

/** Moves an object, as `moveTo` does. */
export function moveObject(slot: u32, matrix: Affine): bool {
  const at = changetype<usize>(matrix);
  return moveTo(
    slot, v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48), v128.load(at, 64), v128.load(at, 80),
  );
}

/**
 * Moves an object to a matrix, given as its six vectors. `updateMovedObjects` must follow once after all objects have been
 * moved. Returns false if the matrix is not `isUsable`. Setting the same matrix again does not count as a movement.
 */
export function moveTo(slot: u32, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): bool {
  const item = itemAt(slot), world = worldOf(item);
  if (equalsVectors(world, c0, c1, c2, c3, c4, c5)) return true;
  if (!areUsableVectors(c0, c1, c2, c3, c4, c5)) return false;
  if (item.flags & FLAG_CONTINUOUS) recordMotionStart(reachAt(slot), item);
  setFromVectors(world, c0, c1, c2, c3, c4, c5);
  const box = boxAt(slot);
  if (box.tree != MOVING_TREE || box.position == UNPLACED || !treeOf(MOVING_TREE).isBuilt) {
    refreshBounds(slot);
    return true;
  }
  addSlot(currentChanges, slot);
  addSlot(changedSinceCull, slot);
  markMoved(box.position);
  return true;
}

/** Sum of the values that were read ahead, so that the reads are not optimized away. */
let prefetchSum: u32 = 0;

/**
 * Sets the bounds of all objects that `moveObject` has moved. It visits them in the order of their positions, since most of what
 * is written is stored in that order. It reads the data of 32 objects before it places the first of them, because placing waits
 * for the caches. Frames of 10,000 turning boxes take 0.87 of the time that they took in the order of slots; the update alone
 * takes 0.79.
 */
export function updateMovedObjects(): void {
  const tree = treeOf(MOVING_TREE);
  let sum: u32 = 0, isAnyMoved: u32 = 0;
  for (let position: u32 = 0; position < tree.positions; position += 32) {
    const at = movedPositions + (position >> 3), moved = load<u32>(at);
    if (moved == 0) continue;
    isAnyMoved = 1;
    store<u32>(at, 0);
    for (let bits = moved; bits != 0; bits &= bits - 1) {
      const slot = slotAt(tree, position + ctz(bits)), item = changetype<usize>(itemAt(slot));
      sum += load<u32>(item) + load<u32>(item, 64) + boxAt(slot).tree;
    }
    for (let bits = isAnyReaching ? moved : 0; bits != 0; bits &= bits - 1) {
      // If the object has no reach, this reads the first bytes of the memory.
      const reach = changetype<usize>(reachAt(slotAt(tree, position + ctz(bits))));
      sum += load<u32>(reach) + load<u32>(reach, 64) + load<u32>(reach, 128) + load<u32>(reach, 176);
    }
    for (let bits = moved; bits != 0; bits &= bits - 1) {
      const movedPosition = position + ctz(bits), slot = slotAt(tree, movedPosition), bounds = orientedBounds(slot);
      updateBox(slot, bounds);
      if (tree.isBuilt) updateMoved(tree, movedPosition, slot, bounds);
    }
  }
  prefetchSum = sum;
  if (isAnyMoved && tree.isBuilt) markChanged(tree);
}

/**
 * Brings the trees up to date. Static objects get their positions. The moving tree is rebuilt when it had no room for an object,
 * when a twentieth of its objects are not in their cells, or when three quarters of its positions are holes; otherwise it is only
 * refitted. Throws OUT_OF_MEMORY.
 */
export function updateTrees(): void {
  placeStaticObjects(Infinity);
  const moving = treeOf(MOVING_TREE);
  if (isStale(moving)) {
    if (recentre()) placeStaticObjects(Infinity);
    rebuild(moving);
  }
  refitTree(moving);
}

/** How many objects get positions between two readings of the clock: about 0.1 to 0.3 ms. */
const PLACEMENTS_PER_READING: u32 = 256;

/**
 * Gives static objects their positions, until a time by the clock of `now`. Returns whether all objects have one. Throws
 * OUT_OF_MEMORY; objects that already have a position then keep it.
 */
export function placeStaticObjects(deadline: f64): bool {
  let originMoves: u32 = 0;
  for (let count: u32 = 1; slotsToPlace.count != 0; count++) {
    const slot = slotIn(slotsToPlace, slotsToPlace.count - 1);
    if (idAt(slot) != 0 && boxAt(slot).tree != MOVING_TREE) givePosition(slot);
    removeLast(slotsToPlace);
    // All added objects may lie far away. It is better to know that early, since a new origin moves all objects that are already
    // placed.
    if (((count & (count - 1)) == 0 || slotsToPlace.count == 0) && originMoves < MAX_ORIGIN_MOVES && recentre()) {
      originMoves++;
      count = 0;
    }
    if (count % PLACEMENTS_PER_READING == 0 && now() >= deadline && slotsToPlace.count != 0) return false;
  }
  refitDirty(treeOf(STATIC_TREE));
  refitDirty(treeOf(PASSIVE_TREE));
  return true;
}

/** How often the origin moves at most in one call: an object beyond all bounds would make it move forever. */
const MAX_ORIGIN_MOVES: u32 = 4;

function givePosition(slot: u32): void {
  const box = boxAt(slot);
  const tree = treeOf(box.tree);
  if (box.position != UNPLACED) {
    if (updateInTree(tree, slot)) return;
    removeFromTree(tree, slot);
  }
  addToTree(tree, slot);
}

function isStale(moving: Tree): bool {
  return !moving.isBuilt || moving.misfits * 20 > moving.count + 320 || moving.holes * 4 > moving.count * 3 + 64;
}

function rebuild(moving: Tree): void {
  let count: u32 = 0;
  for (let w: u32 = 0; w < movingWords; w++) count += <u32>popcnt(load<u32>(movingBits + (<usize>w << 2)));
  beginTree(moving, count);
  let position: u32 = 0;
  for (let w: u32 = 0; w < movingWords; w++) {
    for (let bits = load<u32>(movingBits + (<usize>w << 2)); bits != 0; bits &= bits - 1) {
      enlist(position++, (w << 5) + <u32>ctz(bits));
    }
  }
  buildTree(moving);
}

// Bounds of all objects in the trees.
let minX: f32 = 0, minY: f32 = 0, minZ: f32 = 0;
let maxX: f32 = 0, maxY: f32 = 0, maxZ: f32 = 0;

function expandBounds(x0: f32, y0: f32, z0: f32, x1: f32, y1: f32, z1: f32): void {
  minX = min(minX, x0); maxX = max(maxX, x1);
  minY = min(minY, y0); maxY = max(maxY, y1);
  minZ = min(minZ, z0); maxZ = max(maxZ, z1);
}

/**
 * Moves the origin of the float32 bounds to the middle of the scene if that is far away relative to the scene's size. Returns
 * whether it did; then all trees must be rebuilt about the new origin.
 */
function recentre(): bool {
  minX = minY = minZ = Infinity;
  maxX = maxY = maxZ = -Infinity;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) {
    const tree = treeOf(treeIndex);
    if (treeIndex == MOVING_TREE && !tree.isBuilt) expandBoundsByMoving();
    if (isEmpty(tree) || (treeIndex == MOVING_TREE && !tree.isBuilt)) continue;
    const root = cellAt(tree, 0);
    expandBounds(root.minX, root.minY, root.minZ, root.maxX, root.maxY, root.maxZ);
  }
  if (!(minX <= maxX)) return false;
  const x = (minX + maxX) * <f32>0.5, y = (minY + maxY) * <f32>0.5, z = (minZ + maxZ) * <f32>0.5;
  const size = max(max(maxX - minX, maxY - minY), maxZ - minZ);
  if (!(max(max(abs(x), abs(y)), abs(z)) > size * 2)) return false;
  moveOrigin(sceneOriginX + x, sceneOriginY + y, sceneOriginZ + z);
  treeOf(MOVING_TREE).isBuilt = 0;
  clearTree(treeOf(STATIC_TREE));
  clearTree(treeOf(PASSIVE_TREE));
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) == 0 || boxAt(slot).tree == MOVING_TREE) continue;
    boxAt(slot).position = UNPLACED;
    addSlot(slotsToPlace, slot);
  }
  return true;
}

function expandBoundsByMoving(): void {
  for (let w: u32 = 0; w < movingWords; w++) {
    for (let bits = load<u32>(movingBits + (<usize>w << 2)); bits != 0; bits &= bits - 1) {
      const box = boxAt((w << 5) + <u32>ctz(bits));
      expandBounds(box.minX, box.minY, box.minZ, box.maxX, box.maxY, box.maxZ);
    }
  }
}
