// The state that a frame still reads when the scene changes before the frame is answered. A frame whose contacts take long is
// computed between queries, and these must see what was moved, added and removed meanwhile. Before the first such change, this
// copies the ids by slot and the objects of all pairs that are still to be examined. During the broad phase, which does not know
// the pairs yet, it copies the trees and all objects that the trees do not describe completely. Code that changes a mesh puts a
// new one in its place (mesh-table.ts) and keeps the old one unchanged until the frame is answered.

import { CONTACTS_NONE, FLAG_CONTINUOUS, SHAPE_BOX, SHAPE_SPHERE } from '../../../shared/layout';
import { reserve } from '../memory';
import { Item, KEPT_ITEM_BYTES, keepItem, keptItem } from '../shape/item';
import { PROXY_BYTES, Proxy } from '../shape/proxy';
import { REACHING_BYTE, REACH_BYTES, Reach } from '../shape/reach';
import { areCopied, bytesOfTrees, copyTrees, dropTrees, takeTrees, treeOfFrame } from './index/frame-trees';
import { HOLE, MOVING_TREE, PASSIVE_TREE, STATIC_TREE, proxyAt, slotAt, treeOf } from './index/octree';
import { boxAt, idAt, ids, itemAt, knownReachAt, reachAt, slotCount, slotOf } from './objects';
import { isAnyReaching, noteStart } from './ways';

const RECORD_BYTES: usize = PROXY_BYTES + KEPT_ITEM_BYTES + REACH_BYTES;

let isTaken: bool = false;
let idsThen: usize = 0;
/** By slot: the number of its record plus one; 0 if it has none. */
let places: usize = 0;
/** How many slots there were at the time. */
let slotCountThen: u32 = 0;
let records: usize = 0;
let recordCount: u32 = 0;

/** Begins a snapshot: `keepObject` for each object must follow, then `takeSnapshot`. Throws OUT_OF_MEMORY. */
export function beginSnapshot(): void {
  const bytes = max<u64>(<u64>slotCount << 2, 64);
  idsThen = reserve(idsThen, 0, bytes);
  memory.copy(idsThen, ids, slotCount << 2);
  places = reserve(places, 0, bytes);
  memory.fill(places, 0, slotCount << 2);
  slotCountThen = slotCount;
  recordCount = 0;
}

/** Copies an object of the scene, once. Throws OUT_OF_MEMORY. */
export function keepObject(id: u32): void {
  const at = places + (<usize>slotOf(id) << 2);
  if (load<u32>(at) != 0) return;
  records = reserve(records, recordCount * <u32>RECORD_BYTES, <u64>(recordCount + 1) * RECORD_BYTES);
  const record = records + recordCount * <u32>RECORD_BYTES;
  memory.copy(record, changetype<usize>(liveProxy(id)), PROXY_BYTES);
  keepItem(record + PROXY_BYTES, itemAt(slotOf(id)));
  const reach = reachAt(slotOf(id));
  if (changetype<usize>(reach) != 0) {
    if (itemAt(slotOf(id)).flags & FLAG_CONTINUOUS) noteStart(reach, itemAt(slotOf(id)));
    memory.copy(record + PROXY_BYTES + KEPT_ITEM_BYTES, changetype<usize>(reach), REACH_BYTES);
  }
  store<u32>(at, ++recordCount);
}

export function takeSnapshot(isOfTrees: bool): void {
  isTaken = true;
  if (isOfTrees) takeTrees();
}

/** Lets the frame read the live scene again. */
export function dropSnapshot(): void {
  isTaken = false;
  dropTrees();
}

// --- during the broad phase ---

/** By slot: the tree of an object from bit 30 on, and its position below; NOWHERE if it makes no pairs. */
let treePlaces: usize = 0;
const TREE_SHIFT: u32 = 30;
const POSITION_MASK: u32 = (1 << TREE_SHIFT) - 1;
export const NOWHERE: u32 = 0xffffffff;

/**
 * Returns how many bytes `keepAll` copies, not counting the records of meshes and capsules if no object has a reach beyond its
 * shape.
 */
export function bytesOfAll(): u64 {
  return bytesOfTrees() + <u64>slotCount * (4 + (isAnyReaching ? RECORD_BYTES : 0));
}

/**
 * Copies the trees, and the records of all objects other than boxes and spheres, which a proxy describes completely. If any
 * object has a reach beyond its shape, it copies the records of all objects, since pairs with such an object need the position of
 * the other one. Throws OUT_OF_MEMORY.
 */
export function keepAll(): void {
  copyTrees();
  treePlaces = reserve(treePlaces, 0, max<u64>(<u64>slotCount << 2, 64));
  memory.fill(treePlaces, 0xff, slotCount << 2);
  keepTree(STATIC_TREE);
  keepTree(MOVING_TREE);
}

function keepTree(which: u32): void {
  const tree = treeOf(which);
  for (let position: u32 = 0; position < tree.positions; position++) {
    const slot = slotAt(tree, position);
    if (slot == HOLE) continue;
    store<u32>(treePlaces + (<usize>slot << 2), (which << TREE_SHIFT) | position);
    const proxy = proxyAt(tree, position);
    const isKnown = !isAnyReaching && (proxy.shape == SHAPE_BOX || proxy.shape == SHAPE_SPHERE);
    if (isKnown || proxy.contacts == CONTACTS_NONE) continue;
    keepObject(proxy.id);
  }
}

/** Returns the place of a slot's object in the trees as the frame sees them; NOWHERE if it makes no pairs. */
export function treePlaceOf(slot: u32): u32 {
  if (areCopied) return load<u32>(treePlaces + (<usize>slot << 2));
  if (idAt(slot) == 0) return NOWHERE;
  const box = boxAt(slot);
  return box.tree == PASSIVE_TREE ? NOWHERE : (box.tree << TREE_SHIFT) | box.position;
}

// @ts-ignore: decorator
@inline
export function treeIn(place: u32): u32 {
  return place >> TREE_SHIFT;
}

// @ts-ignore: decorator
@inline
export function positionIn(place: u32): u32 {
  return place & POSITION_MASK;
}

// --- what the frame reads ---

/** Returns the ids by slot as the frame sees them. */
export function idsOfFrame(): usize {
  return isTaken ? idsThen : ids;
}

/** Returns how many slots there are as the frame sees them. */
export function slotCountOfFrame(): u32 {
  return isTaken ? slotCountThen : slotCount;
}

/** Returns the proxy of an object of a pair as the frame sees it. */
export function proxyOf(id: u32): Proxy {
  if (areCopied) {
    const place = treePlaceOf(slotOf(id));
    return proxyAt(treeOfFrame(treeIn(place)), positionIn(place));
  }
  const record = recordOf(id);
  return record == 0 ? liveProxy(id) : changetype<Proxy>(record);
}

/** Returns the record of an object of a pair as the frame sees it; for a box or a sphere it may be the live one. */
export function itemOf(id: u32): Item {
  const record = recordOf(id);
  return record == 0 ? itemAt(slotOf(id)) : keptItem(record + PROXY_BYTES);
}

/** Returns the reach of an object of a pair beyond its shape as the frame sees it; null if it has none. */
export function reachOfFrame(proxy: Proxy): Reach {
  return proxy.moreFlags & <u8>REACHING_BYTE ? knownReachOfFrame(proxy.id) : changetype<Reach>(0);
}

/** Does the same for an object that is known to have a reach, by its id. */
export function knownReachOfFrame(id: u32): Reach {
  const record = recordOf(id);
  if (record != 0) return changetype<Reach>(record + PROXY_BYTES + KEPT_ITEM_BYTES);
  return areCopied ? changetype<Reach>(0) : knownReachAt(slotOf(id));
}

function recordOf(id: u32): usize {
  if (!isTaken || slotOf(id) >= slotCountThen) return 0;
  const place = load<u32>(places + (<usize>slotOf(id) << 2));
  return place == 0 ? 0 : records + (place - 1) * <u32>RECORD_BYTES;
}

function liveProxy(id: u32): Proxy {
  const box = boxAt(slotOf(id));
  return proxyAt(treeOf(box.tree), box.position);
}
