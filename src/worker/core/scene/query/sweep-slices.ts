// Answers `sweep` and `sweepAll` in slices: a sweep of or against meshes may take long, depending on their size. Objects near the
// path are copied, and those that are meshes, or all if the shape is a mesh, are left to the interruptible module, one after the
// other. So the scene may change meanwhile; only the meshes must stay unchanged.

import { MOTION_BYTES, MOTION_ROTATION, MOTION_TOLERANCE, OBJECT_MATRIX } from '../../../../shared/layout';
import { clearHits, hitCount, newHit } from '../../hits';
import { now } from '../../host';
import { release } from '../../memory';
import { dropList, shareList } from '../../shared-lists';
import { PLACED_SHAPE_BYTES } from '../../shape/placed-shape';
import { translationX, translationY, translationZ } from '../../sweep/motion';
import { PairSweep, SweptShape, shapeOfSwept } from '../../sweep/pair-sweep';
import { beginSweptPair, resumePair } from '../pairs/interruptible';
import { dropSuspended } from '../pairs/narrow-phase-slices';
import { giveUpContact } from '../pairs/pair-query';
import { KeptSweep, pairOf, detachCandidates } from './sweep-candidates';
import { findCandidates, writeWay } from './sweep';
import { shape } from './sweep-descent';
import { writeHit } from './sweep-hit';

/** Returned for a suspended sweep: it must be resumed. */
const SUSPENDED: i32 = -1;

let keptCount: u32 = 0;
let isSuspended: bool = false;

/** Returns whether a sweep was suspended, or waits with its copies. */
export function isSweepOpen(): bool {
  return isSuspended || keptCount != 0;
}

/**
 * Copies the inputs of a sweep (as `sweep` takes them), and returns the address of the copies: `beginKeptSweep` must follow. The
 * meshes must stay unchanged until the sweep has ended. Throws OUT_OF_MEMORY.
 */
export function keepSweep(description: usize, motion: usize, filter: usize, findAll: bool): usize {
  findCandidates(description, motion, filter, findAll);
  const sweep = detachCandidates(), at = changetype<usize>(sweep);
  sweep.wantsAll = <u32>findAll;
  const swept = changetype<SweptShape>(at + offsetof<KeptSweep>());
  swept.translationX = translationX; swept.translationY = translationY; swept.translationZ = translationZ;
  memory.copy(changetype<usize>(swept) + offsetof<SweptShape>('turnX'), motion + MOTION_ROTATION, 32);
  memory.copy(changetype<usize>(swept) + offsetof<SweptShape>('pivotX'), description + OBJECT_MATRIX + 72, 24);
  swept.tolerance = load<f64>(motion, MOTION_TOLERANCE);
  memory.copy(changetype<usize>(shapeOfSwept(swept)), changetype<usize>(shape), PLACED_SHAPE_BYTES);
  for (let i: u32 = 0; i < sweep.count; i++) shareList(<usize>pairOf(at, i).faceSides);
  keptCount++;
  return at;
}

const motionOfWay: usize = memory.data(MOTION_BYTES, 16);

/** Does the same for what a shape meets first on a way (`sweepMany`). Throws OUT_OF_MEMORY. */
export function keepWay(description: usize, way: usize, tolerance: f64, filter: usize): usize {
  writeWay(description, way, tolerance, motionOfWay);
  return keepSweep(description, motionOfWay, filter, false);
}

// The current sweep.
let sweepAddress: usize = 0;
let nextPair: u32 = 0;
let bestTime: f64 = 1;

// @ts-ignore: decorator
@inline
function sweptShape(): SweptShape {
  return changetype<SweptShape>(sweepAddress + offsetof<KeptSweep>());
}

// @ts-ignore: decorator
@inline
function pairAt(i: u32): PairSweep {
  return pairOf(sweepAddress, i);
}

/**
 * Sweeps the copied shape until a time by the clock of `now`, and frees the copies at the end. Returns the number of hits
 * (hits.ts), which is at most one, the best, unless all are wanted; or SUSPENDED: then `resumeSweep` must follow, before the
 * narrow phase of any frame and any query about two objects. Throws OUT_OF_MEMORY.
 */
export function beginKeptSweep(at: usize, deadline: f64): i32 {
  dropSweep();
  sweepAddress = at;
  keptCount--;
  dropSuspended();
  nextPair = 0;
  bestTime = 1;
  for (let i: u32 = 0; i < changetype<KeptSweep>(at).count; i++)
    if (pairAt(i).hasContact) bestTime = min(bestTime, pairAt(i).time);
  return continueSweep(deadline);
}

/** Resumes the suspended sweep; returns the same as `beginKeptSweep`. */
export function resumeSweep(deadline: f64): i32 {
  if (isPairSuspended) {
    isPairSuspended = false; // in case it throws
    const outcome = resumePair(deadline);
    if (outcome == 0) {
      isPairSuspended = true;
      return SUSPENDED;
    }
    storeOutcome(outcome);
  }
  return continueSweep(deadline);
}

/** Whether the sweep against an object was suspended. */
let isPairSuspended: bool = false;

function continueSweep(deadline: f64): i32 {
  const sweep = changetype<KeptSweep>(sweepAddress);
  isSuspended = true;
  let isFirst = true;
  for (; nextPair < sweep.count; nextPair++) {
    const pair = pairAt(nextPair);
    if (pair.hasContact || (!sweep.wantsAll && pair.from > bestTime)) continue;
    // At least one, however late it is.
    if (!isFirst && now() >= deadline) return SUSPENDED;
    isFirst = false;
    pair.limit = sweep.wantsAll ? 1 : bestTime;
    const outcome = beginSweptPair(changetype<usize>(sweptShape()), changetype<usize>(pair), deadline);
    if (outcome == 0) {
      isPairSuspended = true;
      return SUSPENDED;
    }
    storeOutcome(outcome);
    nextPair--; // `storeOutcome` has already advanced
  }
  return writeHits();
}

/** Takes the result for the next object, and advances to the one after it. */
function storeOutcome(outcome: usize): void {
  const pair = pairAt(nextPair++);
  memory.copy(changetype<usize>(pair), outcome, offsetof<PairSweep>());
  if (pair.hasContact) bestTime = min(bestTime, pair.time);
}

/** Writes the hits: all, or the best one. */
function writeHits(): i32 {
  const sweep = changetype<KeptSweep>(sweepAddress);
  clearHits();
  let bestPair: u32 = sweep.count;
  for (let i: u32 = 0; i < sweep.count; i++) {
    if (!pairAt(i).hasContact) continue;
    if (sweep.wantsAll) writeHit(newHit(), pairAt(i));
    else if (bestPair == sweep.count || isBetter(pairAt(i), pairAt(bestPair))) bestPair = i;
  }
  if (bestPair < sweep.count) writeHit(newHit(), pairAt(bestPair));
  dropSweep();
  return <i32>hitCount;
}

/** The earlier hit is better, at the start the deeper one, and if equal the one of the lower id. */
function isBetter(a: PairSweep, b: PairSweep): bool {
  if (a.time != b.time) return a.time < b.time;
  return a.depth != b.depth ? a.depth > b.depth : a.id < b.id;
}

/** Gives up the suspended query: a sweep, or one about two objects. */
export function giveUpQuestion(): void {
  dropSweep();
  giveUpContact();
}

/** Discards the current sweep. */
function dropSweep(): void {
  if (sweepAddress != 0) {
    const sweep = changetype<KeptSweep>(sweepAddress);
    for (let i: u32 = 0; i < sweep.count; i++) dropList(<usize>pairAt(i).faceSides);
    release(sweepAddress);
    sweepAddress = 0;
  }
  isSuspended = isPairSuspended = false;
}
