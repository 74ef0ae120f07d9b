// The scene: objects and the two trees that index them, brought up to date when somebody asks.

import { FLAG_STATIC, OBJECT_FLAGS } from '../../../shared/layout';
import { Affine, copy, same, usable } from '../math/affine';
import {
  NO_TREE, UNPLACED, boxAt, describe, forget, idAt, isAlive, itemAt, moveOrigin, orientedBounds, reserveSlots,
  sceneOriginX, sceneOriginY, sceneOriginZ, slotCount, setBox, slotOf,
} from './objects';
import { worldOf } from '../shape/item';
import { MOVING_TREE, STATIC_TREE, clearSlot, place, refitTree, treeOf } from './index/octree';
import { beginTree, buildTree, enlist } from './index/build';
import { insert } from './index/insert';
import { SlotSet, addSlot, moveSlots, reserveSet } from './slot-set';
import { replaceSlot, reserveLastIds } from './view/last-ids';

/** The slots whose pairs are to be found anew. */
export const unpaired = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Those that changed while a frame is under way, whose pairs are the next one's to find. */
const unpairedSince = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** The one of both that takes note of changes. */
let noted: SlotSet = unpaired;

/** Leaves the changes from now on to the next frame. */
export function beginChangesSince(): void {
  noted = unpairedSince;
}

/** Makes the changes since then those of the frame that comes. */
export function endChangesSince(): void {
  noted = unpaired;
  moveSlots(unpairedSince, unpaired);
}

/**
 * Takes note that the shape or the place of an object has changed: its bounds follow, and its position in a tree that
 * is built.
 */
export function touch(slot: u32): void {
  addSlot(noted, slot);
  const bounds = orientedBounds(slot);
  setBox(slot, bounds);
  const box = boxAt(slot);
  const tree = treeOf(box.tree);
  if (!tree.built) return;
  if (box.position != UNPLACED) place(tree, slot, bounds);
  else if (!insert(tree, slot, bounds)) tree.built = 0;
}

/**
 * Adds an object, or changes one. Whatever is done to it later but in a frame needs no more memory. Throws
 * OUT_OF_MEMORY.
 */
export function putObject(id: u32, description: usize): void {
  const slot = slotOf(id);
  if (slot >= slotCount) {
    reserveSet(unpaired, slot + 1);
    reserveSet(unpairedSince, slot + 1);
    reserveLastIds(slot + 1);
    reserveSlots(slot);
  }
  const which = load<u32>(description, OBJECT_FLAGS) & FLAG_STATIC ? STATIC_TREE : MOVING_TREE;
  const box = boxAt(slot);
  if (box.tree != which) {
    if (box.position != UNPLACED) clearSlot(treeOf(box.tree), slot);
    box.tree = which;
  }
  if (idAt(slot) != id) replaceSlot(slot);
  describe(id, description);
  touch(slot);
}

/** Puts an object into other layers. One that is not alive stays so. */
export function setLayers(id: u32, layers: u32): void {
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  itemAt(slot).layers = layers;
  touch(slot);
}

/** Removes an object. One that is not there, as adding it ran out of memory, stays so. */
export function removeObject(id: u32): void {
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  addSlot(noted, slot);
  replaceSlot(slot);
  const box = boxAt(slot);
  if (box.position != UNPLACED) clearSlot(treeOf(box.tree), slot);
  forget(slot);
}

/**
 * Gives an object a new place. Answers false where the matrix is not `usable`. The same matrix again is no movement.
 */
export function moveObject(slot: u32, matrix: Affine): bool {
  const world = worldOf(itemAt(slot));
  if (same(world, matrix)) return true;
  if (!usable(matrix)) return false;
  copy(world, matrix);
  touch(slot);
  return true;
}

/**
 * Brings the trees up to date. A tree is built anew when there was no room in it for an object, or when a twentieth of
 * its positions are holes or have left their cells; otherwise only its bounds follow.
 */
export function updateTrees(): void {
  const rebuildStatic = isStale(STATIC_TREE);
  const rebuildMoving = isStale(MOVING_TREE);
  const all = (rebuildStatic || rebuildMoving) && recentre();
  if (all) {
    // Running out of memory in the first must not leave the second as it was about the old origin.
    treeOf(STATIC_TREE).built = 0;
    treeOf(MOVING_TREE).built = 0;
  }
  if (all || rebuildStatic) rebuild(STATIC_TREE);
  if (all || rebuildMoving) rebuild(MOVING_TREE);
  refitTree(treeOf(STATIC_TREE));
  refitTree(treeOf(MOVING_TREE));
}

function isStale(which: u32): bool {
  const tree = treeOf(which);
  return !tree.built || (tree.misfits + tree.holes) * 20 > tree.count + 320;
}

function rebuild(which: u32): void {
  const tree = treeOf(which);
  let count: u32 = 0;
  for (let slot: u32 = 0; slot < slotCount; slot++) if (boxAt(slot).tree == which) count++;
  beginTree(tree, count);
  let position: u32 = 0;
  for (let slot: u32 = 0; slot < slotCount; slot++) if (boxAt(slot).tree == which) enlist(position++, slot);
  buildTree(tree);
}

/** Moves the origin of the float32 bounds to the middle of the scene when that is far away for its size. */
function recentre(): bool {
  let lowX: f32 = Infinity, lowY: f32 = Infinity, lowZ: f32 = Infinity;
  let highX: f32 = -Infinity, highY: f32 = -Infinity, highZ: f32 = -Infinity;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const box = boxAt(slot);
    if (box.tree == NO_TREE) continue;
    lowX = min(lowX, box.lowX); highX = max(highX, box.highX);
    lowY = min(lowY, box.lowY); highY = max(highY, box.highY);
    lowZ = min(lowZ, box.lowZ); highZ = max(highZ, box.highZ);
  }
  if (!(lowX <= highX)) return false;
  const x = (lowX + highX) * <f32>0.5, y = (lowY + highY) * <f32>0.5, z = (lowZ + highZ) * <f32>0.5;
  const size = max(max(highX - lowX, highY - lowY), highZ - lowZ);
  if (!(max(max(abs(x), abs(y)), abs(z)) > size * 2)) return false;
  moveOrigin(sceneOriginX + x, sceneOriginY + y, sceneOriginZ + z);
  return true;
}
