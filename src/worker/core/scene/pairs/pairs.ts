// Which objects touch. When few objects changed, only their pairs are found anew and merged with the rest.

import { NOTHING, beginPool, carryContact, takePool } from '../../contact/manifold/pool';
import { reserve } from '../../memory';
import { considerAll, considerTouched } from './broad-phase';
import { clearFound, foundCount, sortFound } from './found-pairs';
import { itemAt, liveCount, slotOf } from '../objects';
import { PAIR_BYTES, Pair, copyPair, keyIn, pairIn } from './pair-list';
import { unpaired } from '../scene';
import { clearSlots } from '../slot-set';
import {
  LEFT, NOT_QUEUED, beginQueue, fateOf, hasWaiting, isTouched, leftCount, lookUntil, takeWaiting,
} from './contact-queue';

/** This frame's pairs, sorted. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** Pairs of the frame before that are no more, sorted. */
export let ended: usize = 0;
export let endedCount: u32 = 0;
/** How many wait for a later frame, besides those that keep their last answer. */
export let waitingCount: u32 = 0;

let found: usize = 0; // what was found, sorted, where it is merged
let next: usize = 0; // the pairs that are made, while `pairs` are those of the frame before
let nextCount: u32 = 0;
let nextIsMade: bool = false;
let staleCount: u32 = 0;
/** Whether `pairs` are another core's: what has gone since then was never here, and no slot of it is touched. */
let isForeign: bool = false;

/**
 * Finds this frame's pairs, those for which there is time until `deadline` (Infinity: all); until `takePairs`, those of
 * the frame before are there as well.
 */
export function findPairs(deadline: f64): void {
  endedCount = 0;
  nextIsMade = false;
  if (unpaired.count == 0 && !hasWaiting() && !isForeign) {
    for (let i: u32 = 0; i < pairCount; i++) pairIn(pairs, i).begun = 0;
    return;
  }
  clearFound();
  beginPool();
  beginQueue();
  const queueing = deadline != Infinity || hasWaiting();
  const all = unpaired.count * 4 > liveCount;
  if (all) considerAll(queueing);
  else considerTouched(queueing);
  if (queueing) lookUntil(deadline);
  if (all && !queueing) takeFound();
  else mergeFound();
  compare();
  nextIsMade = true;
}

/** How many pairs there will be. */
export function countPairs(): u32 {
  return nextIsMade ? nextCount : pairCount;
}

/** What was found becomes `pairs`. Apart from finding it, as running out of memory in between must lose nothing. */
export function takePairs(): void {
  if (!nextIsMade) return;
  isForeign = false;
  const last = pairs;
  pairs = next;
  pairCount = nextCount;
  next = last;
  waitingCount = leftCount - staleCount;
  takePool();
  takeWaiting();
  clearSlots(unpaired);
}

/** The pairs of a frame that another core made, sorted: `count` ids of a and of b, and their groups. */
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
  }
}

/** next = found, in order. */
function takeFound(): void {
  next = reserve(next, 0, max<u64>(<u64>foundCount * PAIR_BYTES, 64));
  sortFound(next);
  nextCount = foundCount;
  staleCount = 0;
}

/** next = found and what is kept of the pairs, in order. */
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
  }
}

/** Whether a pair of the frame before keeps its answer. Slots whose object has gone are touched too. */
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
  pair.groupA = itemAt(slotOf(pair.a)).group;
  pair.groupB = itemAt(slotOf(pair.b)).group;
}

/** Which of `next` have begun, and which of `pairs` have ended. */
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
