// What a frame's budget does not suffice for waits. With a budget, what the broad phase finds is queued with what waits
// from the frames before, and looked at by age, then ids, until the time is up.

import { SHAPE_MESH } from '../../../../shared/layout';
import { now } from '../../host';
import { APART } from '../../math/obb-sat-f64';
import { compareForms } from '../../math/obb-sat-f32';
import { reserve } from '../../memory';
import { Candidate } from '../../shape/proxy';
import { look } from './found-pairs';
import { boxAt, slotOf } from '../objects';
import { candidateAt, treeOf } from '../index/octree';
import { radixPass, sortByIds } from './radix-sort';
import { unpaired } from '../scene';
import { hasSlot } from '../slot-set';

/** Two objects whose bounds overlap. */
@unmanaged
class Queued {
  b: u32; // as in Pair
  a: u32;
  /** The frame in which it was queued first. */
  since: u32;
  /** In the queue, or LOOKED_AT. */
  place: u32;
}

const QUEUED_BYTES: usize = 16;
const LOOKED_AT: u32 = 0xffffffff;

// All sorted by ids.
let waiting: usize = 0; // since the frames before
let waitingCount: u32 = 0;
let fresh: usize = 0; // found in this one
let freshCount: u32 = 0;
let queue: usize = 0; // both, as far as they are still to be looked at
let queueCount: u32 = 0;

let order: usize = 0; // the queue by age
let spare: usize = 0;
let frame: u32 = 0;
let cursor: u32 = 0;
/** How many of the queue have to wait. */
export let leftCount: u32 = 0;

// @ts-ignore: decorator
@inline
function queuedIn(list: usize, i: u32): Queued {
  return changetype<Queued>(list + i * <u32>QUEUED_BYTES);
}

// @ts-ignore: decorator
@inline
function idsIn(list: usize, i: u32): u64 {
  return load<u64>(list + i * <u32>QUEUED_BYTES);
}

// @ts-ignore: decorator
@inline
function copyQueued(to: Queued, from: Queued): void {
  v128.store(changetype<usize>(to), v128.load(changetype<usize>(from)));
}

/** Whether anything changed about two objects, so that what was found of them is no longer true. */
// @ts-ignore: decorator
@inline
export function isTouched(a: u32, b: u32): bool {
  return hasSlot(unpaired, slotOf(a)) || hasSlot(unpaired, slotOf(b));
}

/** Whether there are pairs that wait from the frames before. */
export function hasWaiting(): bool {
  return waitingCount > 0;
}

export function beginQueue(): void {
  freshCount = 0;
  queueCount = 0;
  leftCount = 0;
  cursor = 0;
}

/** Queues two objects that may collide; `a` has the lower id. */
export function enqueue(a: Candidate, b: Candidate): void {
  // Of two that are as they were all is known, or they wait already.
  if (!isTouched(a.id, b.id) || compareForms(a.form(), b.form()) == APART) return;
  fresh = reserve(fresh, freshCount * <u32>QUEUED_BYTES, <u64>(freshCount + 1) * QUEUED_BYTES);
  const queued = queuedIn(fresh, freshCount++);
  queued.a = a.id;
  queued.b = b.id;
  queued.since = frame;
}

/** Looks at queued pairs, oldest first, until the clock says so, and at one at least. Throws OUT_OF_MEMORY. */
export function lookUntil(deadline: f64): void {
  spare = reserve(spare, 0, <u64>freshCount * QUEUED_BYTES);
  sortByIds<Queued>(fresh, spare, freshCount);
  mergeQueue();
  orderByAge();
  let done: u32 = 0;
  let effort: u32 = 0;
  while (done < queueCount) {
    const queued = queuedIn(order, done++);
    const a = candidateOf(slotOf(queued.a)), b = candidateOf(slotOf(queued.b));
    look(a, b);
    queuedIn(queue, queued.place).place = LOOKED_AT;
    // A mesh may take a while; among other shapes the clock would take as long as they do.
    effort += a.shape == SHAPE_MESH || b.shape == SHAPE_MESH ? 16 : 1;
    if (effort < 16) continue;
    if (now() >= deadline) break;
    effort = 0;
  }
  leftCount = queueCount - done;
}

function candidateOf(slot: u32): Candidate {
  const box = boxAt(slot);
  return candidateAt(treeOf(box.tree), box.position);
}

/** What waits stays in the queue when nothing changed about it, or when it was found again. */
function mergeQueue(): void {
  queue = reserve(queue, 0, <u64>(freshCount + waitingCount) * QUEUED_BYTES);
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < freshCount || j < waitingCount) {
    const found = i < freshCount ? idsIn(fresh, i) : u64.MAX_VALUE;
    const known = j < waitingCount ? idsIn(waiting, j) : u64.MAX_VALUE;
    const old = queuedIn(waiting, j);
    const queued = queuedIn(queue, queueCount);
    if (known <= found) j++;
    if (known < found) {
      if (isTouched(old.a, old.b)) continue;
      copyQueued(queued, old);
    } else {
      copyQueued(queued, queuedIn(fresh, i++));
      if (known == found) queued.since = old.since;
    }
    queued.place = queueCount++;
  }
}

function orderByAge(): void {
  order = reserve(order, 0, <u64>queueCount * QUEUED_BYTES);
  spare = reserve(spare, 0, <u64>queueCount * QUEUED_BYTES);
  let oldest: u32 = 0;
  for (let i: u32 = 0; i < queueCount; i++) oldest = max(oldest, frame - queuedIn(queue, i).since);
  for (let i: u32 = 0; i < queueCount; i++) {
    const queued = queuedIn(order, i);
    copyQueued(queued, queuedIn(queue, i));
    queued.since += oldest - frame; // from 0 on
  }
  for (let shift: u32 = 0; shift < 32 && oldest >> shift != 0; shift += 11) {
    radixPass<Queued>(order, spare, queueCount, offsetof<Queued>('since'), shift, min<u32>(11, 32 - shift));
    const sorted = spare;
    spare = order;
    order = sorted;
  }
}

/** What became of a pair; asked in the order of ids. */
export const NOT_QUEUED: u32 = 0;
export const LOOKED: u32 = 1;
export const LEFT: u32 = 2;

export function fateOf(ids: u64): u32 {
  while (cursor < queueCount && idsIn(queue, cursor) < ids) cursor++;
  if (cursor == queueCount || idsIn(queue, cursor) != ids) return NOT_QUEUED;
  return queuedIn(queue, cursor).place == LOOKED_AT ? LOOKED : LEFT;
}

/** What is left of the queue waits for the next frame. Needs no memory. */
export function takeWaiting(): void {
  const last = waiting;
  waiting = queue;
  queue = last;
  waitingCount = 0;
  for (let i: u32 = 0; i < queueCount; i++) {
    const queued = queuedIn(waiting, i);
    if (queued.place != LOOKED_AT) copyQueued(queuedIn(waiting, waitingCount++), queued);
  }
  queueCount = 0;
  frame++;
}
