// Finds which objects are in contact, and which pairs have begun and ended since the frame before. When few objects
// changed, only their pairs are found anew and merged with the rest.

import { NOTHING, beginPool, carryContact, takePool } from '../../contact/manifold/pool';
import { reserve } from '../../memory';
import { TOO_MANY_REFUSED, UNFINISHED, beginAll, beginTouched, considerOn, isAll, isTruncated } from './broad-phase';
import { clearFound, foundCount, sortFound } from './found-pairs';
import { proxyOf } from '../frame-snapshot';
import { idAt, liveCount, slotCount } from '../objects';
import { PAIR_BYTES, Pair, copyPair, keyIn, pairIn } from './pair-list';
import { endChanges, unpaired } from '../scene';
import { addSlot } from '../slot-set';
import { beginLooking, lookOn } from './narrow-phase-slices';
import {
  LEFT, NOT_QUEUED, beginQueue, closeQueue, fateOf, hasWaiting, isTouched, leftCount, takeWaiting,
} from './contact-queue';

/** The pairs of this frame, sorted. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** The pairs of the frame before that have ended, sorted. */
export let ended: usize = 0;
export let endedCount: u32 = 0;
/** How many pairs wait for a later frame, besides those that keep their last answer. */
export let waitingCount: u32 = 0;

let found: usize = 0; // what was found, sorted, where it is merged
let next: usize = 0; // the pairs that are made, while `pairs` are those of the frame before
let nextCount: u32 = 0;
let nextIsMade: bool = false;
let staleCount: u32 = 0;
/**
 * Whether `pairs` are another core's: objects that have gone since then were never here, and no slot of theirs is
 * touched.
 */
let isForeign: bool = false;
/** Whether there is anything to find in this frame; with a queue that outlives it. */
let isFinding: bool = false;
let isQueueing: bool = false;
let isBroadPhaseDone: bool = false;

/**
 * Begins to find this frame's pairs, all of them or those for which there is time. Until `takePairs`, the pairs of the
 * frame before are there as well. Throws OUT_OF_MEMORY.
 */
export function beginPairs(withBudget: bool): void {
  endedCount = 0;
  nextIsMade = false;
  isFinding = unpaired.count != 0 || hasWaiting() || isForeign;
  if (!isFinding) {
    for (let i: u32 = 0; i < pairCount; i++) pairIn(pairs, i).begun = 0;
    return;
  }
  isQueueing = withBudget || hasWaiting();
  isBroadPhaseDone = false;
  // What was left out in the frame before may be any pair.
  if (isTruncated) touchAll();
  begin(unpaired.count * 4 > liveCount);
}

function begin(all: bool): void {
  clearFound();
  beginPool();
  beginQueue(isQueueing);
  if (all) beginAll(isQueueing);
  else beginTouched(isQueueing);
}

function touchAll(): void {
  for (let slot: u32 = 0; slot < slotCount; slot++) if (idAt(slot) != 0) addSlot(unpaired, slot);
}

/** Continues the broad phase until the slice ends. Answers whether it is done. Throws OUT_OF_MEMORY. */
export function findCandidates(sliceEnd: f64): bool {
  if (!isFinding || isBroadPhaseDone) return true;
  let state = considerOn(sliceEnd);
  if (state == TOO_MANY_REFUSED) {
    begin(true);
    state = considerOn(sliceEnd);
  }
  if (state == UNFINISHED) return false;
  closeQueue();
  beginLooking();
  isBroadPhaseDone = true;
  return true;
}

/** Looks for contacts until the slice ends. Answers whether the frame's pairs are found. Throws OUT_OF_MEMORY. */
export function findPairs(sliceEnd: f64, budgetEnd: f64): bool {
  if (!isFinding) return true;
  if (!lookOn(sliceEnd, budgetEnd)) return false;
  if (isAll && !isQueueing) takeFound();
  else mergeFound();
  compare();
  nextIsMade = true;
  return true;
}

/** Answers how many pairs there will be. */
export function countPairs(): u32 {
  return nextIsMade ? nextCount : pairCount;
}

/**
 * Makes what was found the pairs of the frame. This is a step of its own, as running out of memory before it must lose
 * nothing.
 */
export function takePairs(): void {
  endChanges();
  if (!nextIsMade) return;
  isForeign = false;
  const last = pairs;
  pairs = next;
  pairCount = nextCount;
  next = last;
  waitingCount = leftCount - staleCount;
  takePool();
  takeWaiting();
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
    pair.contact = NOTHING;
    pair.time = 1;
  }
}

/** Makes the next pairs of all that was found. Throws OUT_OF_MEMORY. */
function takeFound(): void {
  next = reserve(next, 0, max<u64>(<u64>foundCount * PAIR_BYTES, 64));
  sortFound(next);
  nextCount = foundCount;
  staleCount = 0;
}

/** Makes the next pairs of what was found and of what is kept, in order. Throws OUT_OF_MEMORY. */
function mergeFound(): void {
  const count = pairCount;
  found = reserve(found, 0, max<u64>(<u64>foundCount * PAIR_BYTES, 64));
  sortFound(found);
  next = reserve(next, 0, max<u64>(<u64>(foundCount + count) * PAIR_BYTES, 64));
  nextCount = 0;
  staleCount = 0;
  let i: u32 = 0;
  let j: u32 = 0;
  while (true) {
    let fate: u32 = NOT_QUEUED;
    for (; j < count; j++) {
      fate = fateOf(keyIn(pairs, j));
      if (isKept(pairIn(pairs, j), fate)) break;
    }
    if (i >= foundCount && j >= count) break;
    const isFound = j >= count || (i < foundCount && keyIn(found, i) < keyIn(pairs, j));
    const source = isFound ? found + i++ * <u32>PAIR_BYTES : pairs + j++ * <u32>PAIR_BYTES;
    const pair = pairIn(next, nextCount++);
    copyPair(changetype<usize>(pair), source);
    if (!isFound) carry(pair, fate == LEFT);
    else if (pair.stale) staleCount++;
  }
}

/** Tests whether a pair of the frame before keeps its answer. Slots whose object has gone are touched too. */
// @ts-ignore: decorator
@inline
function isKept(pair: Pair, fate: u32): bool {
  return fate == LEFT || (fate == NOT_QUEUED && !isForeign && !isTouched(pair.a, pair.b));
}

function carry(pair: Pair, isLeft: bool): void {
  pair.contact = carryContact(pair.contact);
  pair.stale = 0;
  if (!isLeft) return;
  pair.stale = 1;
  staleCount++;
  pair.groupA = proxyOf(pair.a).group;
  pair.groupB = proxyOf(pair.b).group;
}

/** Finds which of `next` have begun, and which of `pairs` have ended. */
function compare(): void {
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < nextCount || j < pairCount) {
    const now: u64 = i < nextCount ? keyIn(next, i) : u64.MAX_VALUE;
    const then: u64 = j < pairCount ? keyIn(pairs, j) : u64.MAX_VALUE;
    if (now <= then) {
      pairIn(next, i).begun = now == then ? 0 : 1;
      i++;
      if (now == then) j++;
    } else {
      ended = reserve(ended, endedCount * <u32>PAIR_BYTES, <u64>(endedCount + 1) * PAIR_BYTES);
      copyPair(ended + endedCount++ * <u32>PAIR_BYTES, pairs + j * <u32>PAIR_BYTES);
      j++;
    }
  }
}
