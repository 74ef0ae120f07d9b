// The state that a frame still reads when the scene changes before the frame is answered. A frame whose contacts take long is
// computed between queries, and these must see what was moved, added and removed meanwhile. Before the first such change, this
// copies the ids by slot and the objects of all pairs that are still to be examined. During the broad phase, which does not know
// the pairs yet, it copies the trees and all objects that the trees do not describe completely. Code that changes a mesh puts a
// new one in its place (mesh-table.ts) and keeps the old one unchanged until the frame is answered.

import { CONTACTS_NONE, FLAG_CONTINUOUS, SHAPE_BOX, SHAPE_SPHERE } from '../../../shared/layout';
import { reserve } from '../memory';
import { Item, ITEM_COPY_BYTES, copyItem, copiedItem } from '../shape/item';
import { PROXY_BYTES, Proxy } from '../shape/proxy';
import { REACHING_BYTE, REACH_COPY_BYTES, Reach } from '../shape/reach';
import { areCopied, bytesOfTrees, copyTrees, dropTreeCopies, useTreeCopies, treeOfFrame } from './index/frame-trees';
import { HOLE, MOVING_TREE, PASSIVE_TREE, STATIC_TREE, proxyAt, slotAt, treeOf } from './index/octree';
import { boxAt, idAt, ids, itemAt, knownReachAt, reachAt, slotCount, slotOf } from './objects';
import { isAnyReaching, recordMotionStart } from './motions';

const RECORD_BYTES: usize = PROXY_BYTES + ITEM_COPY_BYTES + REACH_COPY_BYTES;

let isTaken: bool = false;
let snapshotIds: usize = 0;
/** The index of each slot's record plus one; 0 if it has none. */
let recordBySlot: usize = 0;
/** How many slots there were at the time. */
let snapshotSlotCount: u32 = 0;
let records: usize = 0;
let recordCount: u32 = 0;

/** Begins a snapshot: `snapshotObject` for each object must follow, then `takeSnapshot`. Throws OUT_OF_MEMORY. */
export function beginSnapshot(): void {
  const bytes = max<u64>(<u64>slotCount << 2, 64);
  snapshotIds = reserve(snapshotIds, 0, bytes);
  memory.copy(snapshotIds, ids, slotCount << 2);
  recordBySlot = reserve(recordBySlot, 0, bytes);
  memory.fill(recordBySlot, 0, slotCount << 2);
  snapshotSlotCount = slotCount;
  recordCount = 0;
}

/** Copies an object of the scene, once. Throws OUT_OF_MEMORY. */
export function snapshotObject(id: u32): void {
  const at = recordBySlot + (<usize>slotOf(id) << 2);
  if (load<u32>(at) != 0) return;
  records = reserve(records, recordCount * <u32>RECORD_BYTES, <u64>(recordCount + 1) * RECORD_BYTES);
  const record = records + recordCount * <u32>RECORD_BYTES;
  memory.copy(record, changetype<usize>(liveProxy(id)), PROXY_BYTES);
  copyItem(record + PROXY_BYTES, itemAt(slotOf(id)));
  const reach = reachAt(slotOf(id));
  if (changetype<usize>(reach) != 0) {
    if (itemAt(slotOf(id)).flags & FLAG_CONTINUOUS) recordMotionStart(reach, itemAt(slotOf(id)));
    memory.copy(record + PROXY_BYTES + ITEM_COPY_BYTES, changetype<usize>(reach), REACH_COPY_BYTES);
  }
  store<u32>(at, ++recordCount);
}

export function takeSnapshot(hasTrees: bool): void {
  isTaken = true;
  if (hasTrees) useTreeCopies();
}

/** Lets the frame read the live scene again. */
export function dropSnapshot(): void {
  isTaken = false;
  dropTreeCopies();
}

// --- during the broad phase ---

/** The tree of each slot's object from bit 30 on, and its position below; NO_POSITION if it makes no pairs. */
let treePositions: usize = 0;
const TREE_SHIFT: u32 = 30;
const POSITION_MASK: u32 = (1 << TREE_SHIFT) - 1;
export const NO_POSITION: u32 = 0xffffffff;

/**
 * Returns how many bytes `snapshotAll` copies, not counting the records of meshes and capsules if no object has a reach
 * beyond its shape.
 */
export function snapshotAllBytes(): u64 {
  return bytesOfTrees() + <u64>slotCount * (4 + (isAnyReaching ? RECORD_BYTES : 0));
}

/**
 * Copies the trees, and the records of all objects other than boxes and spheres, which a proxy describes completely. If any
 * object has a reach beyond its shape, it copies the records of all objects, since pairs with such an object need the position of
 * the other one. Throws OUT_OF_MEMORY.
 */
export function snapshotAll(): void {
  copyTrees();
  treePositions = reserve(treePositions, 0, max<u64>(<u64>slotCount << 2, 64));
  memory.fill(treePositions, 0xff, slotCount << 2);
  snapshotTree(STATIC_TREE);
  snapshotTree(MOVING_TREE);
}

function snapshotTree(treeIndex: u32): void {
  const tree = treeOf(treeIndex);
  for (let position: u32 = 0; position < tree.positions; position++) {
    const slot = slotAt(tree, position);
    if (slot == HOLE) continue;
    store<u32>(treePositions + (<usize>slot << 2), (treeIndex << TREE_SHIFT) | position);
    const proxy = proxyAt(tree, position);
    const isDescribedByProxy = !isAnyReaching && (proxy.shape == SHAPE_BOX || proxy.shape == SHAPE_SPHERE);
    if (isDescribedByProxy || proxy.contacts == CONTACTS_NONE) continue;
    snapshotObject(proxy.id);
  }
}

/**
 * Returns the position of a slot's object in the trees, with its tree, as the frame sees them; NO_POSITION if it makes no
 * pairs.
 */
export function treePositionOf(slot: u32): u32 {
  if (areCopied) return load<u32>(treePositions + (<usize>slot << 2));
  if (idAt(slot) == 0) return NO_POSITION;
  const box = boxAt(slot);
  return box.tree == PASSIVE_TREE ? NO_POSITION : (box.tree << TREE_SHIFT) | box.position;
}

// @ts-ignore: decorator
@inline
export function treeIndexIn(treePosition: u32): u32 {
  return treePosition >> TREE_SHIFT;
}

// @ts-ignore: decorator
@inline
export function positionIn(treePosition: u32): u32 {
  return treePosition & POSITION_MASK;
}

// --- what the frame reads ---

/** Returns the ids by slot as the frame sees them. */
export function idsOfFrame(): usize {
  return isTaken ? snapshotIds : ids;
}

/** Returns how many slots there are as the frame sees them. */
export function slotCountOfFrame(): u32 {
  return isTaken ? snapshotSlotCount : slotCount;
}

/** Returns the proxy of an object of a pair as the frame sees it. */
export function proxyOf(id: u32): Proxy {
  if (areCopied) {
    const treePosition = treePositionOf(slotOf(id));
    return proxyAt(treeOfFrame(treeIndexIn(treePosition)), positionIn(treePosition));
  }
  const record = recordOf(id);
  return record == 0 ? liveProxy(id) : changetype<Proxy>(record);
}

/** Returns the record of an object of a pair as the frame sees it; for a box or a sphere it may be the live one. */
export function itemOf(id: u32): Item {
  const record = recordOf(id);
  return record == 0 ? itemAt(slotOf(id)) : copiedItem(record + PROXY_BYTES);
}

/** Returns the reach of an object of a pair beyond its shape as the frame sees it; null if it has none. */
export function reachOfFrame(proxy: Proxy): Reach {
  return proxy.highFlags & <u8>REACHING_BYTE ? knownReachOfFrame(proxy.id) : changetype<Reach>(0);
}

/** Does the same for an object that is known to have a reach, by its id. */
export function knownReachOfFrame(id: u32): Reach {
  const record = recordOf(id);
  if (record != 0) return changetype<Reach>(record + PROXY_BYTES + ITEM_COPY_BYTES);
  return areCopied ? changetype<Reach>(0) : knownReachAt(slotOf(id));
}

function recordOf(id: u32): usize {
  if (!isTaken || slotOf(id) >= snapshotSlotCount) return 0;
  const recordPlusOne = load<u32>(recordBySlot + (<usize>slotOf(id) << 2));
  return recordPlusOne == 0 ? 0 : records + (recordPlusOne - 1) * <u32>RECORD_BYTES;
}

function liveProxy(id: u32): Proxy {
  const box = boxAt(slotOf(id));
  return proxyAt(treeOf(box.tree), box.position);
}
