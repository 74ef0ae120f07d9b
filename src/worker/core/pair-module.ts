// Entry of the second module: the narrow phase of one pair, which can be suspended and resumed (checkpoint.ts). Its static data
// are below the core's in the same memory.

import { beginWork, setDeadline } from './checkpoint';
import {
  bonePairCount, bonePairs, crossingCount, crossings, pointCount, points,
} from './contact/manifold/contact';
import { copyVectors } from './math/lanes';
import { Item, ITEM_COPY_BYTES, copyItem, copiedItem } from './shape/item';
import { PROXY_BYTES, Proxy } from './shape/proxy';
import { PAIR_REACH_BYTES, PairReach } from './shape/reach';
import { PAIR_SWEEP_BYTES, PairSweep, SWEPT_SHAPE_BYTES, SweptShape, runPairSweep } from './sweep/pair-sweep';
import { collide } from './scene/pairs/narrow-phase';
import { collideInReach, contactTime } from './scene/pairs/reach-contact';
import { Outcome } from './scene/pairs/outcome';
import { PairDistance, measurePair } from './scene/pairs/pair-distance';

export { setDeadline };

// Copies of the pair as it was at the beginning: objects continue to move while it waits.
const proxyA = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));
const proxyB = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));
const storedItemA: usize = memory.data(<i32>ITEM_COPY_BYTES, 16);
const storedItemB: usize = memory.data(<i32>ITEM_COPY_BYTES, 16);
const outcome = changetype<Outcome>(memory.data(<i32>offsetof<Outcome>(), 16));
const pairDistance = changetype<PairDistance>(memory.data(<i32>offsetof<PairDistance>(), 16));
const sweptShape = changetype<SweptShape>(memory.data(<i32>SWEPT_SHAPE_BYTES, 16));
const pairSweep = changetype<PairSweep>(memory.data(<i32>PAIR_SWEEP_BYTES, 16));
/** The work that `run` does; for a distance, its limit. */
const CONTACT: u32 = 0;
const DISTANCE: u32 = 1;
const SWEEP: u32 = 2;
let task: u32 = CONTACT;
let maxDistance: f64 = 0;

/** The call stack of a suspended pair: its current end and its limit, then the bytes. Some 3 KB are in use. */
const STACK_BYTES: i32 = 1 << 16;
const stack: usize = memory.data(STACK_BYTES, 16);

/** Returns the address of the call stack. */
export function stackStart(): usize {
  return stack;
}

/** Empties the call stack, and sets the time at which the new pair may be suspended. */
function resetStack(deadline: f64): void {
  store<u32>(stack, <u32>stack + 8);
  store<u32>(stack, <u32>stack + STACK_BYTES, 4);
  setDeadline(deadline);
}

/** Returns where static data end: the core's begin after them. */
export function staticEnd(): usize {
  return __heap_base;
}

/** How far the pair reaches beyond its shapes, if `hasReach`. */
const pairReach = changetype<PairReach>(memory.data(<i32>PAIR_REACH_BYTES, 16));
let hasReach: bool = false;

/** Sets the pair that `run` tests; `a` has the lower id; `reach` is the address of a PairReach, or 0. */
export function begin(a: usize, itemA: usize, b: usize, itemB: usize, reach: usize, deadline: f64): void {
  resetStack(deadline);
  task = CONTACT;
  hasReach = reach != 0;
  if (hasReach) copyVectors(changetype<usize>(pairReach), reach, PAIR_REACH_BYTES);
  copyVectors(changetype<usize>(proxyA), a, PROXY_BYTES);
  copyVectors(changetype<usize>(proxyB), b, PROXY_BYTES);
  storeItems(itemA, itemB);
}

/** Sets two objects whose distance `run` measures, up to a limit. */
export function beginDistance(itemA: usize, itemB: usize, distanceLimit: f64, deadline: f64): void {
  resetStack(deadline);
  task = DISTANCE;
  maxDistance = distanceLimit;
  storeItems(itemA, itemB);
}

/** Sets a shape that `run` sweeps against an object. */
export function beginSweep(shape: usize, pair: usize, deadline: f64): void {
  resetStack(deadline);
  task = SWEEP;
  memory.copy(changetype<usize>(sweptShape), shape, SWEPT_SHAPE_BYTES);
  memory.copy(changetype<usize>(pairSweep), pair, PAIR_SWEEP_BYTES);
}

function storeItems(itemA: usize, itemB: usize): void {
  copyItem(storedItemA, changetype<Item>(itemA));
  copyItem(storedItemB, changetype<Item>(itemB));
}

/**
 * Tests the pair. Returns the address of the Outcome, of the PairDistance for a distance, of the PairSweep for a sweep; the
 * value is meaningless if the pair was suspended. Throws OUT_OF_MEMORY.
 */
export function run(): usize {
  beginWork();
  if (task == SWEEP) {
    runPairSweep(sweptShape, pairSweep);
    return changetype<usize>(pairSweep);
  }
  if (task == DISTANCE) {
    measurePair(pairDistance, copiedItem(storedItemA), copiedItem(storedItemB), maxDistance);
    return changetype<usize>(pairDistance);
  }
  outcome.time = 1;
  if (hasReach) {
    outcome.contained = collideInReach(proxyA, proxyB, copiedItem(storedItemA), copiedItem(storedItemB), pairReach);
    outcome.time = <f32>contactTime;
  } else outcome.contained = collide(proxyA, proxyB, copiedItem(storedItemA), copiedItem(storedItemB));
  outcome.points = points;
  outcome.pointCount = pointCount;
  outcome.crossings = crossings;
  outcome.crossingCount = crossingCount;
  outcome.bonePairs = bonePairs;
  outcome.bonePairCount = bonePairCount;
  return changetype<usize>(outcome);
}
