// The narrow phase of a frame, in slices. Pairs with a mesh are examined by the interruptible module (pair-module.ts),
// one at a time, until the slice or the frame's budget is over; then that one pair is suspended as it is. Queries are
// answered between slices. When the budget ends, the frame is answered and the pair continues in the next frame, with
// its objects in the state in which it was begun: so it is finished eventually even if they move in every frame, and
// its result is then `stale`. A pair is given up if one of its meshes was changed or if a contact was requested that
// takes long (pair-query.ts); it is not suspended a second time.
//
// Alternatives: each algorithm as a state machine of its own (every loop of contact/ turned inside out, and all of its
// scratch memory twice, because queries use it too), or stopping at the budget and starting over (a pair that takes
// longer than a budget is never finished). The cost of this solution: a second module of 60 KB gzipped, and a call
// through JavaScript for each pair with a mesh.
//
// Measured in CPU time, the full dragon (871,414 triangles) against one other: half inside a large box 158 ms, with at
// most 1.6 ms between two checkpoints; against a box half its size 100 and 1.0 ms; against itself, moved by a fifth of
// its size, 31 and 4.9 ms, by a thousandth 172 and 2.5 ms.

import { now } from '../../host';
import { Mesh } from '../../mesh/tree/layout';
import { Item } from '../../shape/item';
import { Proxy } from '../../shape/proxy';
import { baseOf } from '../../skin/pose';
import { itemOf, keepObject, proxyOf } from '../frame-snapshot';
import {
  isAnswered, isBudgeted, isTouched, markDone, markLooked, placeInQueue, queuedByAge, queuedCount,
} from './contact-queue';
import { addOutcome } from './found-pairs';
import { beginPair, resumePair } from './interruptible';
import { NO_CONTACT } from './narrow-phase';
import { Outcome } from './outcome';
import { isHeavy, lookWith } from './pair-test';
import { pairReach } from './reaching-pairs';

/**
 * How many pairs with a mesh are examined between two readings of the clock if no budget requires a reading after each:
 * 0.3 ms each at most.
 */
const PAIRS_PER_READING: u32 = 8;
/** How many pairs without a mesh are examined between two readings of the clock. */
const LIGHT_PAIRS_PER_READING: u32 = 16;

// The suspended pair, 0 for none.
let leftA: u32 = 0;
let leftB: u32 = 0;
let leftMeshA: u32 = 0;
let leftMeshB: u32 = 0;
/** Whether the objects of that pair have moved since it was begun. */
let isOld: bool = false;
/** The key of the pair that must not be suspended when the budget ends, 0 for none. */
let mustFinish: u64 = 0;

/** Progress in the queue. */
let done: u32 = 0;
let effort: u32 = 0;
/** How often a pair was suspended, in total; for tests. */
export let interruptions: u32 = 0;

export function beginLooking(): void {
  done = 0;
  effort = 0;
  if (leftA == 0) return;
  // Every answer must be of this frame if there is no budget.
  if (!isBudgeted || placeInQueue(leftA, leftB) < 0) leftA = 0;
  else if (isTouched(leftA, leftB)) isOld = true;
}

/** Copies the objects of all pairs that are still to be examined, for the snapshot. Throws OUT_OF_MEMORY. */
export function keepQueued(): void {
  for (let i = done; i < queuedCount; i++) {
    const queued = queuedByAge(i);
    keepObject(queued.a);
    keepObject(queued.b);
  }
}

/** Gives up the suspended pair if it has a mesh that changes: its findings no longer hold. */
export function forgetMesh(mesh: Mesh): void {
  const address = <u32>changetype<usize>(mesh);
  if (leftMeshA == address || leftMeshB == address) giveUpLeft();
}

/** Returns whether a pair is suspended and may be resumed. */
export function isPairLeft(): bool {
  return leftA != 0;
}

/** Gives up the suspended pair: the next frame starts it again, and does not suspend it when its budget ends. */
export function giveUpLeft(): void {
  if (leftA == 0) return;
  mustFinish = keyOf(leftA, leftB);
  leftA = 0;
}

/**
 * Examines queued pairs until the slice ends, and at least one. Returns true when the work of this frame is over
 * because all pairs were examined or the budget is used up. Throws OUT_OF_MEMORY.
 */
export function lookOn(sliceEnd: f64, budgetEnd: f64): bool {
  if (leftA != 0) {
    if (!goOn(sliceEnd, budgetEnd)) return isOver(leftA, leftB, sliceEnd, budgetEnd);
    if (now() >= budgetEnd) return true;
  }
  while (done < queuedCount) {
    const queued = queuedByAge(done);
    if (isAnswered(queued)) {
      done++;
      continue;
    }
    const a = proxyOf(queued.a), b = proxyOf(queued.b);
    if (isHeavy(a, b)) {
      if (!begin(a, b, sliceEnd, budgetEnd)) return isOver(queued.a, queued.b, sliceEnd, budgetEnd);
      effort += isBudgeted ? LIGHT_PAIRS_PER_READING : LIGHT_PAIRS_PER_READING / PAIRS_PER_READING;
    } else {
      lookWith(a, itemOf(queued.a), b, itemOf(queued.b));
      effort++;
    }
    markLooked(queued);
    done++;
    if (effort < LIGHT_PAIRS_PER_READING) continue;
    effort = 0;
    const time = now();
    if (time >= budgetEnd) return true;
    if (time >= sliceEnd) return done == queuedCount;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function keyOf(a: u32, b: u32): u64 {
  return (<u64>a << 32) | b;
}

/** Returns the time from which on a pair may be suspended. */
function untilOf(a: u32, b: u32, sliceEnd: f64, budgetEnd: f64): f64 {
  return mustFinish == keyOf(a, b) ? sliceEnd : min(sliceEnd, budgetEnd);
}

/** Counts an interruption; returns whether the pair was suspended because the budget is used up. */
function isOver(a: u32, b: u32, sliceEnd: f64, budgetEnd: f64): bool {
  interruptions++;
  return budgetEnd <= sliceEnd && mustFinish != keyOf(a, b);
}

function begin(a: Proxy, b: Proxy, sliceEnd: f64, budgetEnd: f64): bool {
  const itemA = itemOf(a.id), itemB = itemOf(b.id);
  const outcome = beginPair(a, itemA, b, itemB, pairReach(a, b), untilOf(a.id, b.id, sliceEnd, budgetEnd));
  if (outcome == 0) {
    leftA = a.id;
    leftB = b.id;
    leftMeshA = meshAtRest(itemA);
    leftMeshB = meshAtRest(itemB);
    isOld = false;
    return false;
  }
  take(a, b, outcome, false);
  return true;
}

/** Returns an object's mesh, for a posed one the mesh at rest; 0 for other shapes. */
function meshAtRest(item: Item): u32 {
  return item.mesh == 0 ? 0 : <u32>changetype<usize>(baseOf(changetype<Mesh>(item.mesh)));
}

/** Resumes the suspended pair. Returns whether it is done. */
function goOn(sliceEnd: f64, budgetEnd: f64): bool {
  const a = leftA, b = leftB;
  // If this throws, the pair must not be resumed.
  leftA = 0;
  const outcome = resumePair(untilOf(a, b, sliceEnd, budgetEnd));
  if (outcome == 0) {
    leftA = a;
    return false;
  }
  take(proxyOf(a), proxyOf(b), outcome, isOld);
  if (!isBudgeted) done++; // it was the next in the queue
  else markDone(placeInQueue(a, b), isOld);
  return true;
}

function take(a: Proxy, b: Proxy, address: usize, isStale: bool): void {
  if (mustFinish == keyOf(a.id, b.id)) mustFinish = 0;
  const outcome = changetype<Outcome>(address);
  if (outcome.contained != NO_CONTACT) addOutcome(a, b, outcome, isStale);
}
