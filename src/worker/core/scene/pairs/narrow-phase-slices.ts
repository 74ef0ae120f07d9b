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
import { itemOf, snapshotObject, proxyOf } from '../frame-snapshot';
import {
  frameIndex, isAnswered, isBudgeted, isPairChanged, markDone, markExamined, queueIndexOf, queuedByAge, queuedCount,
} from './contact-queue';
import { addOutcome } from './found-pairs';
import { beginPair, resumePair } from './interruptible';
import { NO_CONTACT } from './narrow-phase';
import { Outcome } from './outcome';
import { isHeavy, testPairWith } from './pair-test';
import { pairReach } from './reaching-pairs';

/**
 * How many pairs with a mesh are examined between two readings of the clock if no budget requires a reading after each:
 * 0.3 ms each at most.
 */
const PAIRS_PER_READING: u32 = 8;
/** How many pairs without a mesh are examined between two readings of the clock. */
const LIGHT_PAIRS_PER_READING: u32 = 16;

// The suspended pair, 0 for none.
let suspendedA: u32 = 0;
let suspendedB: u32 = 0;
let suspendedMeshA: u32 = 0;
let suspendedMeshB: u32 = 0;
/** The frame in which it was begun. */
let suspendedIn: u32 = 0;
/** Whether the objects of that pair have moved since it was begun. */
let isSuspendedStale: bool = false;
/** The key of the pair that must not be suspended when the budget ends, 0 for none. */
let mustFinishKey: u64 = 0;

/** Progress in the queue. */
let doneCount: u32 = 0;
let effort: u32 = 0;
/** How often a pair was suspended, in total; for tests. */
export let interruptions: u32 = 0;

export function beginNarrowPhase(): void {
  doneCount = 0;
  effort = 0;
  if (suspendedA == 0) return;
  // Every answer must be of this frame if there is no budget.
  if (!isBudgeted || queueIndexOf(suspendedA, suspendedB) < 0) suspendedA = 0;
  else if (isPairChanged(suspendedA, suspendedB)) isSuspendedStale = true;
}

/** Copies the objects of all pairs that are still to be examined, for the snapshot. Throws OUT_OF_MEMORY. */
export function snapshotQueued(): void {
  for (let i = doneCount; i < queuedCount; i++) {
    const queued = queuedByAge(i);
    snapshotObject(queued.a);
    snapshotObject(queued.b);
  }
}

/** Gives up the suspended pair if it has a mesh that changes: its findings no longer hold. */
export function forgetMesh(mesh: Mesh): void {
  const address = <u32>changetype<usize>(mesh);
  if (suspendedMeshA == address || suspendedMeshB == address) dropSuspended();
}

/** Returns whether a pair is suspended and may be resumed. */
export function isPairSuspended(): bool {
  return suspendedA != 0;
}

/** Gives up the suspended pair: the next frame starts it again, and does not suspend it when its budget ends. */
export function dropSuspended(): void {
  if (suspendedA == 0) return;
  mustFinishKey = keyOf(suspendedA, suspendedB);
  suspendedA = 0;
}

/**
 * Examines queued pairs until the slice ends, and at least one. Returns true when the work of this frame is over
 * because all pairs were examined or the budget is used up. Throws OUT_OF_MEMORY.
 */
export function continueNarrowPhase(sliceEnd: f64, budgetEnd: f64): bool {
  if (suspendedA != 0) {
    if (!resumeSuspended(sliceEnd, budgetEnd)) return countInterruption(suspendedA, suspendedB, sliceEnd, budgetEnd);
    if (now() >= budgetEnd) return true;
  }
  while (doneCount < queuedCount) {
    const queued = queuedByAge(doneCount);
    if (isAnswered(queued)) {
      doneCount++;
      continue;
    }
    const a = proxyOf(queued.a), b = proxyOf(queued.b);
    if (isHeavy(a, b)) {
      if (!beginHeavyPair(a, b, sliceEnd, budgetEnd)) return countInterruption(queued.a, queued.b, sliceEnd, budgetEnd);
      effort += isBudgeted ? LIGHT_PAIRS_PER_READING : LIGHT_PAIRS_PER_READING / PAIRS_PER_READING;
    } else {
      testPairWith(a, itemOf(queued.a), b, itemOf(queued.b));
      effort++;
    }
    markExamined(queued);
    doneCount++;
    if (effort < LIGHT_PAIRS_PER_READING) continue;
    effort = 0;
    const time = now();
    if (time >= budgetEnd) return true;
    if (time >= sliceEnd) return doneCount == queuedCount;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function keyOf(a: u32, b: u32): u64 {
  return (<u64>a << 32) | b;
}

/** Returns the time from which on a pair may be suspended. */
function deadlineOf(a: u32, b: u32, sliceEnd: f64, budgetEnd: f64): f64 {
  return mustFinishKey == keyOf(a, b) ? sliceEnd : min(sliceEnd, budgetEnd);
}

/** Counts an interruption; returns whether the pair was suspended because the budget is used up. */
function countInterruption(a: u32, b: u32, sliceEnd: f64, budgetEnd: f64): bool {
  interruptions++;
  return budgetEnd <= sliceEnd && mustFinishKey != keyOf(a, b);
}

function beginHeavyPair(a: Proxy, b: Proxy, sliceEnd: f64, budgetEnd: f64): bool {
  const itemA = itemOf(a.id), itemB = itemOf(b.id);
  const outcome = beginPair(a, itemA, b, itemB, pairReach(a, b), deadlineOf(a.id, b.id, sliceEnd, budgetEnd));
  if (outcome == 0) {
    suspendedA = a.id;
    suspendedB = b.id;
    suspendedMeshA = meshAtRest(itemA);
    suspendedMeshB = meshAtRest(itemB);
    suspendedIn = frameIndex;
    isSuspendedStale = false;
    return false;
  }
  addResult(a, b, outcome, false);
  return true;
}

/** Returns an object's mesh, for a posed one the mesh at rest; 0 for other shapes. */
function meshAtRest(item: Item): u32 {
  return item.mesh == 0 ? 0 : <u32>changetype<usize>(baseOf(changetype<Mesh>(item.mesh)));
}

/** Resumes the suspended pair. Returns whether it is done. */
function resumeSuspended(sliceEnd: f64, budgetEnd: f64): bool {
  const a = suspendedA, b = suspendedB;
  // If this throws, the pair must not be resumed.
  suspendedA = 0;
  const outcome = resumePair(deadlineOf(a, b, sliceEnd, budgetEnd));
  if (outcome == 0) {
    suspendedA = a;
    return false;
  }
  addResult(proxyOf(a), proxyOf(b), outcome, isSuspendedStale);
  if (!isBudgeted) doneCount++; // it was the next in the queue
  else markDone(queueIndexOf(a, b), isSuspendedStale ? suspendedIn + 1 : 0);
  return true;
}

function addResult(a: Proxy, b: Proxy, address: usize, isStale: bool): void {
  if (mustFinishKey == keyOf(a.id, b.id)) mustFinishKey = 0;
  const outcome = changetype<Outcome>(address);
  if (outcome.contained != NO_CONTACT) addOutcome(a, b, outcome, isStale);
}
