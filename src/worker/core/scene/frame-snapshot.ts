// What a frame still reads of the scene when the scene goes on before the frame is answered: a frame whose contacts take
// long is found between queries, which are to see what was moved, added and removed meanwhile. Before the first of such
// changes this copies the ids by slot, and the objects of all pairs that are still to be looked at. Whoever
// changes a mesh puts another in its place (mesh-table.ts) and leaves it as it is until the frame is answered.

import { reserve } from '../memory';
import { Item, KEPT_ITEM_BYTES, keepItem, keptItem } from '../shape/item';
import { PROXY_BYTES, Proxy } from '../shape/proxy';
import { proxyAt, treeOf } from './index/octree';
import { REACHING, REACH_BYTES, Reach } from '../shape/reach';
import { boxAt, ids, itemAt, reachAt, slotCount, slotOf } from './objects';

const RECORD_BYTES: usize = PROXY_BYTES + KEPT_ITEM_BYTES + REACH_BYTES;

let isTaken: bool = false;
let idsThen: usize = 0;
/** By slot: the number of its record plus one, 0 for none. */
let places: usize = 0;
/** How many slots there were. */
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

/** Copies an object that is in the scene, once. Throws OUT_OF_MEMORY. */
export function keepObject(id: u32): void {
  const at = places + (<usize>slotOf(id) << 2);
  if (load<u32>(at) != 0) return;
  records = reserve(records, recordCount * <u32>RECORD_BYTES, <u64>(recordCount + 1) * RECORD_BYTES);
  const record = records + recordCount * <u32>RECORD_BYTES;
  memory.copy(record, changetype<usize>(liveProxy(id)), PROXY_BYTES);
  keepItem(record + PROXY_BYTES, itemAt(slotOf(id)));
  const reach = reachAt(slotOf(id));
  if (changetype<usize>(reach) != 0) memory.copy(record + PROXY_BYTES + KEPT_ITEM_BYTES, changetype<usize>(reach), REACH_BYTES);
  store<u32>(at, ++recordCount);
}

export function takeSnapshot(): void {
  isTaken = true;
}

/** Lets the frame read the scene again. */
export function dropSnapshot(): void {
  isTaken = false;
}

/** Answers the ids by slot as the frame has them. */
export function idsOfFrame(): usize {
  return isTaken ? idsThen : ids;
}

/** Answers how many slots there are as the frame has them. */
export function slotCountOfFrame(): u32 {
  return isTaken ? slotCountThen : slotCount;
}

/** Answers the proxy of an object of a pair as the frame has it. */
export function proxyOf(id: u32): Proxy {
  const record = recordOf(id);
  return record == 0 ? liveProxy(id) : changetype<Proxy>(record);
}

/** Answers the record of an object of a pair as the frame has it. */
export function itemOf(id: u32): Item {
  const record = recordOf(id);
  return record == 0 ? itemAt(slotOf(id)) : keptItem(record + PROXY_BYTES);
}

/** Answers what an object of a pair reaches beyond its shape as the frame has it; 0 where it does not. */
export function reachOfFrame(id: u32): Reach {
  const record = recordOf(id);
  if (record == 0) return reachAt(slotOf(id));
  const isReaching = changetype<Item>(record + PROXY_BYTES).flags & REACHING;
  return changetype<Reach>(isReaching ? record + PROXY_BYTES + KEPT_ITEM_BYTES : 0);
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
