// The narrow phase of a frame, in slices. Pairs with a mesh are looked at by the interruptible module
// (pair-module.ts), one at a time, until the slice or the frame's budget is over; then that one pair is left as it is.
// Between slices queries are answered. When the budget ends, the frame is answered and the pair goes on in the next
// one, as what its objects were when it was begun: so it is finished in the end though they move in every frame, and
// what it finds then is `stale`. A pair that is given up, as a mesh of it was changed or a contact was asked for that
// takes long (pair-query.ts), is not left a second time.
//
// Alternatives: each algorithm as a state machine of its own (every loop of contact/ turned inside out, and all of its
// scratch twice, as queries use it too), or an end by budget and a new beginning (never done with a pair that takes
// longer than a budget). What is paid for this one: a second module of 60 KB gzipped, and a call through JavaScript
// for each pair with a mesh.
//
// Measured in time of the processor, the full dragon (871,414 triangles) against one other: half inside a large box
// 158 ms, with at most 1.6 ms between two checkpoints; against a box half its size 100
// and 1.0 ms; against itself, moved by a fifth of its size, 31 and 4.9 ms, by a thousandth 172 and 2.5 ms.

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
 * How many pairs with a mesh are looked at between two readings of the clock where no budget asks for one after each:
 * 0.3 ms each at most.
 */
const PAIRS_PER_READING: u32 = 8;
/** How many pairs without a mesh take about as long as a reading of the clock is worth. */
const LIGHT_PAIRS_PER_READING: u32 = 16;

// The pair that was left, 0 for none.
let leftA: u32 = 0;
let leftB: u32 = 0;
let leftMeshA: u32 = 0;
let leftMeshB: u32 = 0;
/** Whether the objects of that pair have moved since it was begun. */
let isOld: bool = false;
/** The key of the pair that is not left when the budget ends, 0 for none. */
let mustFinish: u64 = 0;

/** How far the queue was looked at. */
let done: u32 = 0;
let effort: u32 = 0;
/** How often a pair was left, since the beginning; for tests. */
export let interruptions: u32 = 0;

export function beginLooking(): void {
  done = 0;
  effort = 0;
  if (leftA == 0) return;
  // Without a budget every answer is this frame's.
  if (!isBudgeted || placeInQueue(leftA, leftB) < 0) leftA = 0;
  else if (isTouched(leftA, leftB)) isOld = true;
}

/** Copies the objects of all pairs that are still to be looked at, for the snapshot. Throws OUT_OF_MEMORY. */
export function keepQueued(): void {
  for (let i = done; i < queuedCount; i++) {
    const queued = queuedByAge(i);
    keepObject(queued.a);
    keepObject(queued.b);
  }
}

/** Gives up the pair that was left, if it is one of a mesh that changes: what was found of it is no longer true. */
export function forgetMesh(mesh: Mesh): void {
  const address = <u32>changetype<usize>(mesh);
  if (leftMeshA == address || leftMeshB == address) giveUpLeft();
}

/** Tells whether a pair was left, and may be gone on with. */
export function isPairLeft(): bool {
  return leftA != 0;
}

/** Gives up the pair that was left: the next frame begins it anew, and does not leave it when its budget ends. */
export function giveUpLeft(): void {
  if (leftA == 0) return;
  mustFinish = keyOf(leftA, leftB);
  leftA = 0;
}

/**
 * Looks at queued pairs until the slice ends, and at one at least. Answers true when this is all for this frame, as all
 * were looked at or the budget is used up. Throws OUT_OF_MEMORY.
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

/** Answers from when on a pair may be left. */
function untilOf(a: u32, b: u32, sliceEnd: f64, budgetEnd: f64): f64 {
  return mustFinish == keyOf(a, b) ? sliceEnd : min(sliceEnd, budgetEnd);
}

/** Counts an interruption; tells whether the pair was left because the budget is used up. */
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

/** Answers an object's mesh, of a posed one the mesh at rest; 0 for other shapes. */
function meshAtRest(item: Item): u32 {
  return item.mesh == 0 ? 0 : <u32>changetype<usize>(baseOf(changetype<Mesh>(item.mesh)));
}

/** Resumes the pair that was left. Answers whether it is done. */
function goOn(sliceEnd: f64, budgetEnd: f64): bool {
  const a = leftA, b = leftB;
  // What fails has not to be gone on with.
  leftA = 0;
  const outcome = resumePair(untilOf(a, b, sliceEnd, budgetEnd));
  if (outcome == 0) {
    leftA = a;
    return false;
  }
  take(proxyOf(a), proxyOf(b), outcome, isOld);
  if (!isBudgeted) done++; // it is the next
  else markDone(placeInQueue(a, b), isOld);
  return true;
}

function take(a: Proxy, b: Proxy, address: usize, isStale: bool): void {
  if (mustFinish == keyOf(a.id, b.id)) mustFinish = 0;
  const outcome = changetype<Outcome>(address);
  if (outcome.contained != NO_CONTACT) addOutcome(a, b, outcome, isStale);
}
