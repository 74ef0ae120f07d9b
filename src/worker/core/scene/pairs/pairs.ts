// Finds which objects are in contact, and which pairs have begun and ended since the previous frame. When few objects changed,
// only their pairs are found again and merged with the rest.

import { NO_CONTACT, beginPool, carryOverContact, swapPools } from '../../contact/manifold/pool';
import { now } from '../../host';
import { reserve } from '../../memory';
import {
  TOO_MANY_REFUSED, UNFINISHED, beginAll, beginChanged, continueBroadPhase, isFindingAll, isTruncated,
} from './broad-phase';
import { beginSortFound, clearFound, foundCount, sortFound } from './found-pairs';
import { proxyOf } from '../frame-snapshot';
import { idAt, liveCount, slotCount } from '../objects';
import { PAIR_BYTES, Pair, copyPair, keyIn, pairIn } from './pair-list';
import { RECORDS_PER_READING, RecordList, clearRecords, appendRecord } from './record-list';
import { endChanges, changedSlots } from '../scene';
import { addSlot } from '../slot-set';
import { beginNarrowPhase, continueNarrowPhase } from './narrow-phase-slices';
import {
  WAITING, NOT_QUEUED, beginGathering, beginQueue, closeQueue, queueStateOf, gatherWaiting, hasWaiting, isPairChanged,
  remainingCount, orderQueue, commitWaiting,
} from './contact-queue';

/** The pairs of this frame, sorted. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** The pairs of the previous frame that have ended, sorted. */
export const ended = changetype<RecordList>(memory.data(<i32>offsetof<RecordList>(), 16));
export let endedCount: u32 = 0;
/** How many pairs wait for a later frame, not counting those that keep their last answer. */
export let waitingCount: u32 = 0;

let foundPairs: usize = 0; // the newly found pairs, sorted, when they are to be merged
let nextPairs: usize = 0; // the pairs being made, while `pairs` are still those of the previous frame
let nextCount: u32 = 0;
let isNextMade: bool = false;
let staleCount: u32 = 0;

// The phases of finding a frame's pairs, one after the other.
const ORDERING: u32 = 0; // sorts the queue
const NARROW_PHASE: u32 = 1;
const SORTING: u32 = 2;
const MERGING: u32 = 3;
const COMPARING: u32 = 4;
const GATHERING: u32 = 5; // collects the waiting pairs
let phase: u32 = 0;
/** Progress of a phase through the new pairs, and through those of the previous frame. */
let newDone: u32 = 0;
let oldDone: u32 = 0;
/**
 * Whether `pairs` were made by another core: objects that have been removed since were never in this core, so that no slot of
 * theirs is marked as changed.
 */
let isForeign: bool = false;
/** Whether there is anything to find in this frame; and whether the queue may outlive the frame. */
let isFinding: bool = false;
let isQueueing: bool = false;
let isBroadPhaseDone: bool = false;

/**
 * Begins to find this frame's pairs: all of them, or those for which there is time. Until `commitPairs`, the pairs of the
 * previous frame are kept as well. Throws OUT_OF_MEMORY.
 */
export function beginPairs(withBudget: bool): void {
  endedCount = 0;
  clearRecords(ended);
  isNextMade = false;
  isFinding = changedSlots.count != 0 || hasWaiting() || isForeign;
  if (!isFinding) return;
  isQueueing = withBudget || hasWaiting();
  isBroadPhaseDone = false;
  // The pairs that the previous frame left out may be any.
  if (isTruncated) markAllChanged();
  beginBroadPhase(changedSlots.count * 4 > liveCount);
}

function beginBroadPhase(isForAll: bool): void {
  clearFound();
  beginPool();
  beginQueue(isQueueing);
  if (isForAll) beginAll(isQueueing);
  else beginChanged(isQueueing);
}

function markAllChanged(): void {
  for (let slot: u32 = 0; slot < slotCount; slot++) if (idAt(slot) != 0) addSlot(changedSlots, slot);
}

/** Continues the broad phase until the slice ends. Returns whether it is done. Throws OUT_OF_MEMORY. */
export function findCandidates(sliceEnd: f64): bool {
  if (!isFinding) return true;
  if (isBroadPhaseDone) return continueOrdering(sliceEnd);
  let state = continueBroadPhase(sliceEnd);
  if (state == TOO_MANY_REFUSED) {
    beginBroadPhase(true);
    state = continueBroadPhase(sliceEnd);
  }
  if (state == UNFINISHED) return false;
  closeQueue();
  phase = ORDERING;
  isBroadPhaseDone = true;
  return continueOrdering(sliceEnd);
}

function continueOrdering(sliceEnd: f64): bool {
  if (phase > ORDERING) return true;
  if (!orderQueue(sliceEnd)) return false;
  beginNarrowPhase();
  phase = NARROW_PHASE;
  return true;
}

/**
 * Examines candidates for contacts and makes them the next pairs, until the slice ends. Returns whether the frame's pairs are
 * found. Throws OUT_OF_MEMORY.
 */
export function findPairs(sliceEnd: f64, budgetEnd: f64): bool {
  if (!isFinding || isNextMade) return true;
  if (phase == NARROW_PHASE) {
    if (!continueNarrowPhase(sliceEnd, budgetEnd)) return false;
    beginNext();
    phase = SORTING;
  }
  if (phase == SORTING) {
    if (!sortFound(isMerging() ? foundPairs : nextPairs, sliceEnd)) return false;
    phase = MERGING;
  }
  if (phase == MERGING) {
    if (isMerging() && !mergeFound(sliceEnd)) return false;
    newDone = oldDone = 0;
    phase = COMPARING;
  }
  if (phase == COMPARING) {
    if (!compare(sliceEnd)) return false;
    beginGathering();
    phase = GATHERING;
  }
  isNextMade = gatherWaiting(sliceEnd);
  return isNextMade;
}

/** Returns the number of the new pairs; `newPairs` is their address. `commitPairs` makes them the frame's. */
export function countPairs(): u32 {
  return isNextMade ? nextCount : pairCount;
}

export function newPairs(): usize {
  return isNextMade ? nextPairs : pairs;
}

/** Returns whether the pairs are the same as in the previous frame, so that none has begun. */
export function arePairsUnchanged(): bool {
  return !isNextMade;
}

/** Returns how many pairs will wait for a later frame. */
export function countWaiting(): u32 {
  return isNextMade ? remainingCount - staleCount : waitingCount;
}

/** Makes the new pairs those of the frame. This is a separate step, so that running out of memory before it loses nothing. */
export function commitPairs(): void {
  endChanges();
  if (!isNextMade) return;
  isForeign = false;
  waitingCount = countWaiting();
  const previousPairs = pairs;
  pairs = nextPairs;
  pairCount = nextCount;
  nextPairs = previousPairs;
  isNextMade = false;
  swapPools();
  commitWaiting();
}

/**
 * Takes over the pairs of a frame that another core made, sorted: `count` ids of a and of b, and their groups. Throws
 * OUT_OF_MEMORY.
 */
export function setPairs(a: usize, b: usize, groupA: usize, groupB: usize, count: u32): void {
  pairs = reserve(pairs, 0, max<u64>(<u64>count * PAIR_BYTES, 64));
  pairCount = count;
  isForeign = true;
  for (let i: u32 = 0; i < count; i++) {
    const pair = pairIn(pairs, i);
    memory.fill(changetype<usize>(pair), 0, PAIR_BYTES);
    pair.a = load<u32>(a + (<usize>i << 2));
    pair.b = load<u32>(b + (<usize>i << 2));
    pair.groupA = load<u32>(groupA + (<usize>i << 2));
    pair.groupB = load<u32>(groupB + (<usize>i << 2));
    pair.contact = NO_CONTACT;
    pair.time = 1;
  }
}

/** Returns whether newly found pairs are merged with kept ones. */
function isMerging(): bool {
  return !isFindingAll || isQueueing;
}

/** Makes room for the next pairs and begins to sort the newly found ones. Throws OUT_OF_MEMORY. */
function beginNext(): void {
  nextCount = isMerging() ? 0 : foundCount;
  const maxCount = isMerging() ? <u64>foundCount + pairCount : foundCount;
  if (isMerging()) foundPairs = reserve(foundPairs, 0, max<u64>(<u64>foundCount * PAIR_BYTES, 64));
  nextPairs = reserve(nextPairs, 0, max<u64>(maxCount * PAIR_BYTES, 64));
  beginSortFound();
  newDone = oldDone = 0;
  staleCount = 0;
}

/** Records the progress of a phase. Returns whether the slice is over. */
function isSliceOver(i: u32, j: u32, sliceEnd: f64): bool {
  newDone = i;
  oldDone = j;
  return now() >= sliceEnd;
}

/** Merges newly found and kept pairs, in order, into the next pairs. Returns whether that is done. Throws OUT_OF_MEMORY. */
function mergeFound(sliceEnd: f64): bool {
  let i = newDone, j = oldDone;
  const count = pairCount;
  for (let stepCount: u32 = 1; i < foundCount || j < count; stepCount++) {
    if (stepCount % RECORDS_PER_READING == 0 && isSliceOver(i, j, sliceEnd)) return false;
    let queueState: u32 = NOT_QUEUED;
    if (j < count) {
      queueState = queueStateOf(keyIn(pairs, j));
      if (!isKept(pairIn(pairs, j), queueState)) {
        j++;
        continue;
      }
    }
    const isNew = j >= count || (i < foundCount && keyIn(foundPairs, i) < keyIn(pairs, j));
    const source = isNew ? foundPairs + i++ * <u32>PAIR_BYTES : pairs + j++ * <u32>PAIR_BYTES;
    const pair = pairIn(nextPairs, nextCount++);
    copyPair(changetype<usize>(pair), source);
    if (!isNew) carry(pair, queueState == WAITING);
    else if (pair.stale) staleCount++;
  }
  return true;
}

/** Returns whether a pair of the previous frame keeps its answer. Slots of removed objects count as changed, too. */
// @ts-ignore: decorator
@inline
function isKept(pair: Pair, queueState: u32): bool {
  return queueState == WAITING || (queueState == NOT_QUEUED && !isForeign && !isPairChanged(pair.a, pair.b));
}

function carry(pair: Pair, isWaiting: bool): void {
  pair.contact = carryOverContact(pair.contact);
  pair.stale = 0;
  if (!isWaiting) return;
  pair.stale = 1;
  staleCount++;
  pair.groupA = proxyOf(pair.a).group;
  pair.groupB = proxyOf(pair.b).group;
}

/** Finds which of `nextPairs` have begun and which of `pairs` have ended. Returns whether that is done. Throws OUT_OF_MEMORY. */
function compare(sliceEnd: f64): bool {
  let i = newDone, j = oldDone;
  for (let stepCount: u32 = 1; i < nextCount || j < pairCount; stepCount++) {
    if (stepCount % RECORDS_PER_READING == 0 && isSliceOver(i, j, sliceEnd)) return false;
    const nextKey: u64 = i < nextCount ? keyIn(nextPairs, i) : u64.MAX_VALUE;
    const previousKey: u64 = j < pairCount ? keyIn(pairs, j) : u64.MAX_VALUE;
    if (nextKey <= previousKey) {
      pairIn(nextPairs, i).begun = nextKey == previousKey ? 0 : 1;
      i++;
      if (nextKey == previousKey) j++;
    } else {
      copyPair(appendRecord<Pair>(ended, endedCount), pairs + j * <u32>PAIR_BYTES);
      endedCount++;
      j++;
    }
  }
  return true;
}
