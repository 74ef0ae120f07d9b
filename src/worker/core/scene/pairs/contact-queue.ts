// The pairs that a frame has to look at. With a budget, what the broad phase finds is queued with what waits from the
// frames before, and looked at by age, then ids; what the budget does not suffice for waits. Without a budget the queue
// holds the pairs with a mesh, which are looked at in slices, all of them.

import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { slotOf } from '../objects';
import { mayMeet } from './reaching-pairs';
import { radixPass, sortByIds } from './radix-sort';
import { unpaired } from '../scene';
import { hasSlot } from '../slot-set';

/** Two objects whose bounds overlap. */
@unmanaged
export class Queued {
  b: u32; // as in Pair
  a: u32;
  /** The frame in which it was queued first. */
  since: u32;
  /** The place in the queue, or REFRESHED or LOOKED_AT. */
  place: u32;
}

const QUEUED_BYTES: usize = 16;
const LOOKED_AT: u32 = 0xffffffff;
/**
 * The place of a pair that was looked at as its objects were in an older frame: it has an answer, and waits for a new
 * one.
 */
const REFRESHED: u32 = 0xfffffffe;

// All sorted by ids.
let waiting: usize = 0; // since the frames before
/** How many pairs wait for the next frame, those that have an old answer, too. */
export let waitingPairs: u32 = 0;
let fresh: usize = 0; // found in this one
let freshCount: u32 = 0;
let queue: usize = 0; // both, as far as they are still to be looked at
let queueCount: u32 = 0;

let order: usize = 0; // the queue by age
let spare: usize = 0;
let frame: u32 = 0;
let cursor: u32 = 0;
/** Whether pairs wait for later frames. Without a budget the queue is what this frame looks at, in any order. */
export let isBudgeted: bool = false;
/** How many pairs there are to look at in this frame. */
export let queuedCount: u32 = 0;
/** How many pairs of the queue have to wait. */
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

/** Tests whether anything changed about two objects, so that what was found of them is no longer true. */
// @ts-ignore: decorator
@inline
export function isTouched(a: u32, b: u32): bool {
  return hasSlot(unpaired, slotOf(a)) || hasSlot(unpaired, slotOf(b));
}

/** Tests whether there are pairs that wait from the frames before. */
export function hasWaiting(): bool {
  return waitingPairs > 0;
}

export function beginQueue(withBudget: bool): void {
  isBudgeted = withBudget;
  queuedCount = 0;
  freshCount = 0;
  queueCount = 0;
  leftCount = 0;
  cursor = 0;
}

/** Queues two objects that may collide; `a` has the lower id. */
export function enqueue(a: Proxy, b: Proxy): void {
  // Two that are as they were are known, or wait already.
  if (!isTouched(a.id, b.id) || !mayMeet(a, b)) return;
  postpone(a.id, b.id);
}

/** Answers how many pairs were queued in this frame so far. */
export function queuedFresh(): u32 {
  return freshCount;
}

/** Queues two objects by their ids; `a` is the lower one. Throws OUT_OF_MEMORY. */
export function postpone(a: u32, b: u32): void {
  fresh = reserve(fresh, freshCount * <u32>QUEUED_BYTES, <u64>(freshCount + 1) * QUEUED_BYTES);
  const queued = queuedIn(fresh, freshCount++);
  queued.a = a;
  queued.b = b;
  queued.since = frame;
}

/** Ends the queueing of this frame: puts the pairs in the order in which they are looked at. Throws OUT_OF_MEMORY. */
export function closeQueue(): void {
  if (!isBudgeted) {
    queuedCount = freshCount;
    return;
  }
  spare = reserve(spare, 0, <u64>freshCount * QUEUED_BYTES);
  sortByIds<Queued>(fresh, spare, freshCount);
  mergeQueue();
  orderByAge();
  queuedCount = leftCount = queueCount;
}

/**
 * Answers the i-th pair in the order in which pairs are looked at: with a budget by age, then ids; without as they were
 * found.
 */
export function queuedByAge(i: u32): Queued {
  return queuedIn(isBudgeted ? order : fresh, i);
}

/** Tells whether a pair of the frame's queue has its answer. */
export function isAnswered(queued: Queued): bool {
  return isBudgeted && queuedIn(queue, queued.place).place >= REFRESHED;
}

/** Notes that a pair was looked at. */
export function markLooked(queued: Queued): void {
  if (isBudgeted) markDone(queued.place, false);
}

/**
 * Notes that the pair at a place of the queue was looked at. With `isOld` it was looked at as an older frame had it,
 * and stays in the queue as the youngest.
 */
export function markDone(place: i32, isOld: bool): void {
  const queued = queuedIn(queue, place);
  queued.place = isOld ? REFRESHED : LOOKED_AT;
  if (isOld) queued.since = frame;
  else leftCount--;
}

/** Answers where a pair is in the queue of this frame, -1 where it is not. */
export function placeInQueue(a: u32, b: u32): i32 {
  const ids = (<u64>a << 32) | b;
  let low: u32 = 0, high = queueCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (idsIn(queue, middle) < ids) low = middle + 1;
    else high = middle;
  }
  return low < queueCount && idsIn(queue, low) == ids ? <i32>low : -1;
}

/**
 * Merges the waiting pairs and the new ones into the queue. A waiting pair stays when nothing changed about it, or when
 * it was found again. Throws OUT_OF_MEMORY.
 */
function mergeQueue(): void {
  queue = reserve(queue, 0, <u64>(freshCount + waitingPairs) * QUEUED_BYTES);
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < freshCount || j < waitingPairs) {
    const found = i < freshCount ? idsIn(fresh, i) : u64.MAX_VALUE;
    const known = j < waitingPairs ? idsIn(waiting, j) : u64.MAX_VALUE;
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

/** What became of a pair; must be asked in the order of ids. */
export const NOT_QUEUED: u32 = 0;
export const LOOKED: u32 = 1;
export const LEFT: u32 = 2;
/** The answer where an older frame's contact was found now and a new one is waited for. */
export const RENEWED: u32 = 3;

export function fateOf(ids: u64): u32 {
  while (cursor < queueCount && idsIn(queue, cursor) < ids) cursor++;
  if (cursor == queueCount || idsIn(queue, cursor) != ids) return NOT_QUEUED;
  const place = queuedIn(queue, cursor).place;
  return place == LOOKED_AT ? LOOKED : place == REFRESHED ? RENEWED : LEFT;
}

/** Answers the i-th of the pairs that wait. */
export function waitingAt(i: u32): Queued {
  return queuedIn(waiting, i);
}

/** Makes what is left of the queue wait for the next frame. Needs no memory. */
export function takeWaiting(): void {
  const last = waiting;
  waiting = queue;
  queue = last;
  waitingPairs = 0;
  for (let i: u32 = 0; i < queueCount; i++) {
    const queued = queuedIn(waiting, i);
    if (queued.place != LOOKED_AT) copyQueued(queuedIn(waiting, waitingPairs++), queued);
  }
  queueCount = 0;
  frame++;
}
