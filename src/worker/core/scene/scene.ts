// The scene: objects and the trees that index them, which are brought up to date on demand.

import { CONTACTS_NONE, FLAG_CONTINUOUS, FLAG_STATIC, OBJECT_CONTACTS, OBJECT_FLAGS } from '../../../shared/layout';
import { now } from '../host';
import { Affine, areUsable, isMade, make } from '../math/affine';
import { reserve } from '../memory';
import {
  NO_TREE, UNPLACED, boxAt, describe, forget, idAt, isAlive, itemAt, moveOrigin, orientedBounds, reachAt, reserveRecord,
  reserveSlots, sceneOriginX, sceneOriginY, sceneOriginZ, slotCount, setBox, slotOf,
} from './objects';
import { worldOf } from '../shape/item';
import {
  MOVING_TREE, PASSIVE_TREE, STATIC_TREE, TREE_COUNT, Tree, cellAt, clearSlot, isEmpty, markMoved, movedPositions, moveWithin,
  noteChange, place, refitTree, slotAt, treeOf,
} from './index/octree';
import { beginTree, buildTree, enlist } from './index/build';
import { addToTree, clearTree, refitDirty, removeFromTree, updateInTree } from './index/growing';
import { insert } from './index/insert';
import { SlotSet, addSlot, hasSlot, moveSlots, removeLast, reserveSet, slotIn } from './slot-set';
import { isAnyReaching, noteStart } from './ways';
import { replaceSlot, reserveLastIds } from './view/last-ids';

/** Dirty slots: the pairs of their objects are to be found again. */
export const unpaired = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Slots that changed while a frame is under way: the next frame finds their pairs. */
const unpairedSince = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** The set that currently records changes: `unpaired` or `unpairedSince`. */
let noted: SlotSet = unpaired;

/** Bitmap of the slots that had changed in the last frame; as many words as that of `unpaired`. */
let awakeBits: usize = 0;

/** Makes room for recording changes of all slots below `count`. Throws OUT_OF_MEMORY. */
function reserveChanges(count: u32): void {
  const words = unpaired.words;
  const bits = (count + 31) >> 5;
  if (bits > words) {
    awakeBits = reserve(awakeBits, words << 2, <u64>bits << 2);
    memory.fill(awakeBits + (<usize>words << 2), 0, <usize>(bits - words) << 2);
  }
  reserveSet(unpaired, count);
}

/**
 * Ends the changes of a frame whose pairs are found. An object that did not change in it is asleep until it changes. Allocates
 * nothing.
 */
export function endChanges(): void {
  const changed = unpaired.bits;
  unpaired.bits = awakeBits;
  unpaired.count = 0;
  memory.fill(unpaired.bits, 0, <usize>unpaired.words << 2);
  awakeBits = changed;
}

/** Returns whether an object neither changed in the last frame nor has changed since. */
export function isAsleep(slot: u32): bool {
  const word = slot >> 5;
  const isAwake = word < unpaired.words && (load<u32>(awakeBits + (<usize>word << 2)) & (1 << (slot & 31))) != 0;
  return !isAwake && !hasSlot(unpaired, slot) && !hasSlot(unpairedSince, slot);
}

/** Makes sure that `beginChangesSince` allocates nothing. Throws OUT_OF_MEMORY. */
export function reserveChangesSince(): void {
  reserveSet(unpairedSince, slotCount);
}

/** Records changes for the next frame from now on. */
export function beginChangesSince(): void {
  noted = unpairedSince;
}

/** Hands the changes that were recorded since `beginChangesSince` to the coming frame. */
export function endChangesSince(): void {
  noted = unpaired;
  moveSlots(unpairedSince, unpaired);
}

/**
 * The slots that changed since visibility was last found: objects that may still be moving do not occlude in lasting answers.
 */
export const unsteady = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));

/** Objects of the growing trees (static and passive) that have no position yet, or need another one. */
const displaced = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));

/** Bitmap of the slots of the moving tree: it finds them quickly among a million others. */
let movingBits: usize = 0;
let movingWords: u32 = 0;

/**
 * Notes that the shape or the transform of an object has changed: updates its bounds and its position in a tree, or leaves the
 * position to `updateTrees`. Allocates nothing.
 */
export function touch(slot: u32): void {
  const bounds = orientedBounds(slot);
  setBox(slot, bounds);
  const box = boxAt(slot);
  const tree = treeOf(box.tree);
  if (box.tree != PASSIVE_TREE) addSlot(noted, slot);
  addSlot(unsteady, slot);
  if (box.tree != MOVING_TREE) {
    if (box.position == UNPLACED || !updateInTree(tree, slot)) addSlot(displaced, slot);
  } else if (tree.built) {
    if (box.position != UNPLACED) place(tree, slot, bounds);
    else if (!insert(tree, slot, bounds)) tree.built = 0;
  }
}

/** Adds or changes an object. Later operations on it allocate nothing, except in a frame. Throws OUT_OF_MEMORY. */
export function putObject(id: u32, description: usize): void {
  const slot = slotOf(id);
  if (slot >= slotCount) {
    reserveChanges(slot + 1);
    if (noted == unpairedSince) reserveSet(unpairedSince, slot + 1);
    reserveSet(displaced, slot + 1);
    reserveSet(unsteady, slot + 1);
    reserveMoving(slot + 1);
    reserveLastIds(slot + 1);
    reserveSlots(slot);
  }
  reserveRecord(slot, description);
  const which = treeFor(description);
  const box = boxAt(slot);
  if (box.tree != which) {
    leaveTree(slot);
    box.tree = which;
    if (which == MOVING_TREE) setMoving(slot, true);
  }
  if (idAt(slot) != id) replaceSlot(slot);
  describe(id, description);
  touch(slot);
}

/** Takes an object out of its tree, if it is in one. Its pairs are to be found again. */
function leaveTree(slot: u32): void {
  const box = boxAt(slot);
  if (box.tree == NO_TREE) return;
  if (box.tree != PASSIVE_TREE) addSlot(noted, slot);
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
  touch(slot);
}

/** Removes an object. Does nothing if the object does not exist because adding it ran out of memory. */
export function removeObject(id: u32): void {
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  replaceSlot(slot);
  leaveTree(slot);
  forget(slot);
}

/** Moves an object, as `moveTo` does. */
export function moveObject(slot: u32, matrix: Affine): bool {
  const at = changetype<usize>(matrix);
  return moveTo(
    slot, v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48), v128.load(at, 64), v128.load(at, 80),
  );
}

/**
 * Moves an object to a matrix, given as its six vectors. `placeMoved` must follow once after all objects have been moved. Returns
 * false if the matrix is not `usable`. Setting the same matrix again does not count as a movement.
 */
export function moveTo(slot: u32, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): bool {
  const item = itemAt(slot), world = worldOf(item);
  if (isMade(world, c0, c1, c2, c3, c4, c5)) return true;
  if (!areUsable(c0, c1, c2, c3, c4, c5)) return false;
  if (item.flags & FLAG_CONTINUOUS) noteStart(reachAt(slot), item);
  make(world, c0, c1, c2, c3, c4, c5);
  const box = boxAt(slot);
  if (box.tree != MOVING_TREE || box.position == UNPLACED || !treeOf(MOVING_TREE).built) {
    touch(slot);
    return true;
  }
  addSlot(noted, slot);
  addSlot(unsteady, slot);
  markMoved(box.position);
  return true;
}

/** Sum of the values that were read ahead, so that the reads are not optimized away. */
let ahead: u32 = 0;

/**
 * Sets the bounds of all objects that `moveObject` has moved. It visits them in the order of their positions, since most of what
 * is written is stored in that order. It reads the data of 32 objects before it places the first of them, because placing waits
 * for the caches. Frames of 10,000 turning boxes take 0.87 of the time that they took in the order of slots; the update alone
 * takes 0.79.
 */
export function placeMoved(): void {
  const tree = treeOf(MOVING_TREE);
  let sum: u32 = 0, any: u32 = 0;
  for (let position: u32 = 0; position < tree.positions; position += 32) {
    const at = movedPositions + (position >> 3), moved = load<u32>(at);
    if (moved == 0) continue;
    any = 1;
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
      const at = position + ctz(bits), slot = slotAt(tree, at), bounds = orientedBounds(slot);
      setBox(slot, bounds);
      if (tree.built) moveWithin(tree, at, slot, bounds);
    }
  }
  ahead = sum;
  if (any && tree.built) noteChange(tree);
}

/**
 * Brings the trees up to date. Static objects get their positions. The moving tree is rebuilt when it had no room for an object,
 * when a twentieth of its objects are not in their cells, or when three quarters of its positions are holes; otherwise it is only
 * refitted. Throws OUT_OF_MEMORY.
 */
export function updateTrees(): void {
  settle(Infinity);
  const moving = treeOf(MOVING_TREE);
  if (isStale(moving)) {
    if (recentre()) settle(Infinity);
    rebuild(moving);
  }
  refitTree(moving);
}

/** How many objects get positions between two readings of the clock: about 0.1 to 0.3 ms. */
const PLACED_PER_READING: u32 = 256;

/**
 * Gives static objects their positions, until a time by the clock of `now`. Returns whether all objects have one. Throws
 * OUT_OF_MEMORY; objects that already have a position then keep it.
 */
export function settle(until: f64): bool {
  let moves: u32 = 0;
  for (let count: u32 = 1; displaced.count != 0; count++) {
    const slot = slotIn(displaced, displaced.count - 1);
    if (idAt(slot) != 0 && boxAt(slot).tree != MOVING_TREE) givePosition(slot);
    removeLast(displaced);
    // All added objects may lie far away. It is better to know that early, since a new origin moves all objects that are already
    // placed.
    if (((count & (count - 1)) == 0 || displaced.count == 0) && moves < MOST_MOVES && recentre()) {
      moves++;
      count = 0;
    }
    if (count % PLACED_PER_READING == 0 && now() >= until && displaced.count != 0) return false;
  }
  refitDirty(treeOf(STATIC_TREE));
  refitDirty(treeOf(PASSIVE_TREE));
  return true;
}

/** How often the origin moves at most in one call: an object beyond all bounds would make it move forever. */
const MOST_MOVES: u32 = 4;

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
  return !moving.built || moving.misfits * 20 > moving.count + 320 || moving.holes * 4 > moving.count * 3 + 64;
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
let lowX: f32 = 0, lowY: f32 = 0, lowZ: f32 = 0;
let highX: f32 = 0, highY: f32 = 0, highZ: f32 = 0;

function bound(x0: f32, y0: f32, z0: f32, x1: f32, y1: f32, z1: f32): void {
  lowX = min(lowX, x0); highX = max(highX, x1);
  lowY = min(lowY, y0); highY = max(highY, y1);
  lowZ = min(lowZ, z0); highZ = max(highZ, z1);
}

/**
 * Moves the origin of the float32 bounds to the middle of the scene if that is far away relative to the scene's size. Returns
 * whether it did; then all trees must be rebuilt about the new origin.
 */
function recentre(): bool {
  lowX = lowY = lowZ = Infinity;
  highX = highY = highZ = -Infinity;
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = treeOf(which);
    if (which == MOVING_TREE && !tree.built) boundMoving();
    if (isEmpty(tree) || (which == MOVING_TREE && !tree.built)) continue;
    const root = cellAt(tree, 0);
    bound(root.lowX, root.lowY, root.lowZ, root.highX, root.highY, root.highZ);
  }
  if (!(lowX <= highX)) return false;
  const x = (lowX + highX) * <f32>0.5, y = (lowY + highY) * <f32>0.5, z = (lowZ + highZ) * <f32>0.5;
  const size = max(max(highX - lowX, highY - lowY), highZ - lowZ);
  if (!(max(max(abs(x), abs(y)), abs(z)) > size * 2)) return false;
  moveOrigin(sceneOriginX + x, sceneOriginY + y, sceneOriginZ + z);
  treeOf(MOVING_TREE).built = 0;
  clearTree(treeOf(STATIC_TREE));
  clearTree(treeOf(PASSIVE_TREE));
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) == 0 || boxAt(slot).tree == MOVING_TREE) continue;
    boxAt(slot).position = UNPLACED;
    addSlot(displaced, slot);
  }
  return true;
}

function boundMoving(): void {
  for (let w: u32 = 0; w < movingWords; w++) {
    for (let bits = load<u32>(movingBits + (<usize>w << 2)); bits != 0; bits &= bits - 1) {
      const box = boxAt((w << 5) + <u32>ctz(bits));
      bound(box.lowX, box.lowY, box.lowZ, box.highX, box.highY, box.highZ);
    }
  }
}
