// The pairs that a frame has to examine. With a budget, the pairs of the broad phase are queued with those that wait
// from previous frames, and examined by age, then ids; pairs beyond the budget wait. Without a budget the queue holds
// the pairs with a mesh, and all of them are examined in slices.

import { now } from '../../host';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { slotCount, slotOf } from '../objects';
import { mayMeet } from './reaching-pairs';
import { beginSort, passesFor, sortByBits, sortByIds } from './radix-sort';
import { RECORDS_PER_READING, RecordList, clearRecords, recordIn, appendRecord } from './record-list';
import { changedSlots } from '../scene';
import { SlotSet, addSlot, clearSlots, hasSlot, reserveSet } from '../slot-set';
import { isAnyReaching } from '../motions';

/** Two objects whose bounds overlap. */
@unmanaged
export class QueuedPair {
  b: u32; // as in Pair
  a: u32;
  /** The frame in which it was first queued. */
  since: u32;
  /** The index in the queue, or REFRESHED or EXAMINED. */
  queueIndex: u32;
}

const QUEUED_BYTES: usize = 16;
const EXAMINED: u32 = 0xffffffff;
/** The queue index of a pair that was examined in the state of an older frame: it has an answer and waits for a new one. */
const REFRESHED: u32 = 0xfffffffe;

// Sorted by ids.
let waitingQueue: usize = 0; // from previous frames
/** The slots of the objects of waiting pairs, if any object has a reach beyond its shape. */
export const waitingSlots = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** How many pairs wait for the next frame, including those that have an old answer. */
export let waitingPairCount: u32 = 0;
const newlyQueued = changetype<RecordList>(memory.data(<i32>offsetof<RecordList>(), 16)); // found in this frame
let newlyQueuedCount: u32 = 0;
let queue: usize = 0; // both, as far as they are still to be examined
let queueCount: u32 = 0;

let queueByAge: usize = 0; // the queue by age
let sorted: usize = 0; // the new pairs, sorted; then scratch space for sorting
/** The number of the coming frame, of those that examine pairs. */
export let frameIndex: u32 = 1;
let cursor: u32 = 0;
/** Whether pairs may wait for later frames. Without a budget this frame examines the whole queue, in any order. */
export let isBudgeted: bool = false;
/** How many pairs this frame has to examine. */
export let queuedCount: u32 = 0;
/** How many pairs of the queue are left waiting. */
export let remainingCount: u32 = 0;

// @ts-ignore: decorator
@inline
function queuedIn(list: usize, i: u32): QueuedPair {
  return changetype<QueuedPair>(list + i * <u32>QUEUED_BYTES);
}

// @ts-ignore: decorator
@inline
function idsIn(list: usize, i: u32): u64 {
  return load<u64>(list + i * <u32>QUEUED_BYTES);
}

// @ts-ignore: decorator
@inline
function copyQueued(to: QueuedPair, from: QueuedPair): void {
  v128.store(changetype<usize>(to), v128.load(changetype<usize>(from)));
}

/** Tests whether either of two objects has changed, so that earlier findings about the pair no longer hold. */
// @ts-ignore: decorator
@inline
export function isPairChanged(a: u32, b: u32): bool {
  return hasSlot(changedSlots, slotOf(a)) || hasSlot(changedSlots, slotOf(b));
}

/** Tests whether pairs wait from previous frames. */
export function hasWaiting(): bool {
  return waitingPairCount > 0;
}

export function beginQueue(withBudget: bool): void {
  isBudgeted = withBudget;
  queuedCount = 0;
  newlyQueuedCount = 0;
  clearRecords(newlyQueued);
  queueCount = 0;
  remainingCount = 0;
  cursor = 0;
}

/** Queues two objects that may collide; `a` has the lower id. */
export function enqueue(a: Proxy, b: Proxy): void {
  // If neither object has changed, the pair is known or already waits.
  if (!isPairChanged(a.id, b.id) || !mayMeet(a, b)) return;
  postpone(a.id, b.id);
}

/** Returns how many pairs have been queued in this frame so far. */
export function countNewlyQueued(): u32 {
  return newlyQueuedCount;
}

/** Queues two objects by their ids; `a` is the lower one. Throws OUT_OF_MEMORY. */
export function postpone(a: u32, b: u32): void {
  const queued = changetype<QueuedPair>(appendRecord<QueuedPair>(newlyQueued, newlyQueuedCount));
  newlyQueuedCount++;
  queued.a = a;
  queued.b = b;
  queued.since = frameIndex;
}

// Remaining phases until the queue is in order.
const SORTING: u32 = 0;
const MERGING: u32 = 1;
const AGEING: u32 = 2;
let phase: u32 = 0;
/** Progress of merging the new and the waiting pairs. */
let newlyQueuedDone: u32 = 0;
let waitingDone: u32 = 0;
/** The frame in which the oldest waiting pair was queued, if any pair waits. */
let oldestFrame: u32 = 0;
/** Whether all pairs are examined that waited when the beginnings of motions advanced last, before this frame. */
export let mayStartsAdvance: bool = false;
let advanceFrame: u32 = 0;
/** The most frames that a pair of the queue has waited. */
let maxAge: u32 = 0;

/** Ends the queueing of this frame; `orderQueue` must follow until it is done. Throws OUT_OF_MEMORY. */
export function closeQueue(): void {
  if (!isBudgeted) {
    queuedCount = newlyQueuedCount;
    return;
  }
  phase = SORTING;
  newlyQueuedDone = 0;
  waitingDone = 0;
  maxAge = waitingPairCount == 0 ? 0 : frameIndex - oldestFrame;
  const maxBytes = <u64>(newlyQueuedCount + waitingPairCount) * QUEUED_BYTES;
  sorted = reserve(sorted, 0, maxBytes);
  queueByAge = reserve(queueByAge, 0, maxBytes);
  queue = reserve(queue, 0, maxBytes);
  beginSort();
}

/** Sorts the pairs into the order in which they are examined, until the slice ends. Returns whether that is done. */
export function orderQueue(sliceEnd: f64): bool {
  if (!isBudgeted) return true;
  if (phase == SORTING) {
    if (newlyQueuedCount != 0 && !sortByIds(newlyQueued, queueByAge, sorted, newlyQueuedCount, QUEUED_BYTES, sliceEnd))
      return false;
    phase = MERGING;
  }
  if (phase == MERGING) {
    if (!mergeQueue(sliceEnd)) return false;
    phase = AGEING;
    beginSort();
  }
  if (!orderByAge(sliceEnd)) return false;
  queuedCount = remainingCount = queueCount;
  return true;
}

/**
 * Returns the i-th pair in the order of examination: by age, then ids with a budget; as they were found without one.
 */
export function queuedByAge(i: u32): QueuedPair {
  return isBudgeted ? queuedIn(queueByAge, i) : changetype<QueuedPair>(recordIn<QueuedPair>(newlyQueued, i));
}

/** Returns whether a pair of the frame's queue has its answer. */
export function isAnswered(queued: QueuedPair): bool {
  return isBudgeted && queuedIn(queue, queued.queueIndex).queueIndex >= REFRESHED;
}

/** Records that a pair was examined. */
export function markExamined(queued: QueuedPair): void {
  if (isBudgeted) markDone(queued.queueIndex, 0);
}

/**
 * Records that the pair at an index of the queue was examined. If that was in the state of an older frame, it stays in the queue
 * as if it was queued in the next one, `staleSince`, else 0.
 */
export function markDone(queueIndex: i32, staleSince: u32): void {
  const queued = queuedIn(queue, queueIndex);
  queued.queueIndex = staleSince != 0 ? REFRESHED : EXAMINED;
  if (staleSince != 0) queued.since = staleSince;
  else remainingCount--;
}

/** Returns the index of a pair in the queue of this frame, or -1. */
export function queueIndexOf(a: u32, b: u32): i32 {
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
 * Merges the waiting and the new pairs into the queue. A waiting pair stays if neither object changed, or if it was
 * found again. Returns whether that is done.
 */
function mergeQueue(sliceEnd: f64): bool {
  for (let stepCount: u32 = 1; newlyQueuedDone < newlyQueuedCount || waitingDone < waitingPairCount; stepCount++) {
    if (stepCount % RECORDS_PER_READING == 0 && now() >= sliceEnd) return false;
    const newIds = newlyQueuedDone < newlyQueuedCount ? idsIn(sorted, newlyQueuedDone) : u64.MAX_VALUE;
    const waitingIds = waitingDone < waitingPairCount ? idsIn(waitingQueue, waitingDone) : u64.MAX_VALUE;
    const waitingPair = queuedIn(waitingQueue, waitingDone);
    const queued = queuedIn(queue, queueCount);
    if (waitingIds <= newIds) waitingDone++;
    if (waitingIds < newIds) {
      if (isPairChanged(waitingPair.a, waitingPair.b)) continue;
      copyQueued(queued, waitingPair);
    } else {
      copyQueued(queued, queuedIn(sorted, newlyQueuedDone++));
      if (waitingIds == newIds) queued.since = waitingPair.since;
    }
    queued.queueIndex = queueCount;
    const ordered = queuedIn(queueByAge, queueCount++);
    copyQueued(ordered, queued);
    ordered.since += maxAge - frameIndex; // so that it starts at 0
  }
  return true;
}

/** Sorts the queue by the frames in which its pairs were first queued. Returns whether that is done. */
function orderByAge(sliceEnd: f64): bool {
  const bits = 32 - clz(maxAge);
  if (!sortByBits(queueByAge, sorted, queueCount, QUEUED_BYTES, offsetof<QueuedPair>('since'), bits, sliceEnd)) return false;
  if (passesFor(bits) & 1) {
    const last = queueByAge;
    queueByAge = sorted;
    sorted = last;
  }
  return true;
}

/** The states of a pair; `queueStateOf` must be called in ascending order of ids. */
export const NOT_QUEUED: u32 = 0;
export const DONE: u32 = 1;
export const WAITING: u32 = 2;
/** An older frame's contact was found now, and a new one is waited for. */
export const RENEWED: u32 = 3;

export function queueStateOf(ids: u64): u32 {
  while (cursor < queueCount && idsIn(queue, cursor) < ids) cursor++;
  if (cursor == queueCount || idsIn(queue, cursor) != ids) return NOT_QUEUED;
  const queueIndex = queuedIn(queue, cursor).queueIndex;
  return queueIndex == EXAMINED ? DONE : queueIndex == REFRESHED ? RENEWED : WAITING;
}

// Waiting pairs are moved to the front of the queue, which is no longer examined.
let gatherDone: u32 = 0;
let gatheredCount: u32 = 0;
let maxGatheredAge: u32 = 0;

/** Begins to gather the rest of the queue; `gatherWaiting` must follow until it is done. Throws OUT_OF_MEMORY. */
export function beginGathering(): void {
  gatherDone = 0;
  gatheredCount = 0;
  maxGatheredAge = 0;
  clearSlots(waitingSlots);
  reserveSet(waitingSlots, slotCount);
}

/** Gathers the rest of the queue until the slice ends. Returns whether that is done. */
export function gatherWaiting(sliceEnd: f64): bool {
  while (gatherDone < queueCount) {
    for (const end = min(queueCount, gatherDone + RECORDS_PER_READING); gatherDone < end; gatherDone++) {
      const queued = queuedIn(queue, gatherDone);
      if (queued.queueIndex == EXAMINED) continue;
      maxGatheredAge = max(maxGatheredAge, frameIndex - queued.since);
      copyQueued(queuedIn(queue, gatheredCount++), queued);
      if (!isAnyReaching) continue;
      addSlot(waitingSlots, slotOf(queued.a));
      addSlot(waitingSlots, slotOf(queued.b));
    }
    if (gatherDone < queueCount && now() >= sliceEnd) return false;
  }
  return true;
}

/** Lets the gathered pairs wait for the next frame. */
export function commitWaiting(): void {
  const last = waitingQueue;
  waitingQueue = queue;
  queue = last;
  waitingPairCount = gatheredCount;
  oldestFrame = frameIndex - maxGatheredAge;
  queueCount = 0;
  frameIndex++;
  mayStartsAdvance = oldestFrame >= advanceFrame;
  if (mayStartsAdvance) advanceFrame = frameIndex;
}
