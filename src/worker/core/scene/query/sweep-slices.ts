// Answers `sweep` and `sweepAll` in slices: a sweep of or against meshes may take long, depending on their size. Objects near the
// way are copied, and those that are meshes, or all if the shape is a mesh, are left to the interruptible module, one after the
// other. So the scene may change meanwhile; only the meshes must stay unchanged.

import { MOTION_BYTES, MOTION_ROTATION, MOTION_TOLERANCE, OBJECT_MATRIX } from '../../../../shared/layout';
import { clearHits, hitCount, newHit } from '../../hits';
import { now } from '../../host';
import { release } from '../../memory';
import { dropList, shareList } from '../../shared-lists';
import { PLACED_SHAPE_BYTES } from '../../shape/placed-shape';
import { wayX, wayY, wayZ } from '../../sweep/motion';
import { PairSweep, SweptShape, shapeOfSwept } from '../../sweep/pair-sweep';
import { beginSweptPair, resumePair } from '../pairs/interruptible';
import { giveUpLeft } from '../pairs/narrow-phase-slices';
import { giveUpContact } from '../pairs/pair-query';
import { KeptSweep, pairOf, takeCandidates } from './sweep-candidates';
import { findCandidates, writeWay } from './sweep';
import { shape } from './sweep-descent';
import { writeHit } from './sweep-hit';

/** Returned for a suspended sweep: it must be resumed. */
const LEFT: i32 = -1;

let keptCount: u32 = 0;
let isLeft: bool = false;

/** Returns whether a sweep was suspended, or waits with its copies. */
export function isSweepOpen(): bool {
  return isLeft || keptCount != 0;
}

/**
 * Copies the inputs of a sweep (as `sweep` takes them), and returns the address of the copies: `beginKeptSweep` must follow. The
 * meshes must stay unchanged until the sweep has ended. Throws OUT_OF_MEMORY.
 */
export function keepSweep(description: usize, motion: usize, filter: usize, all: bool): usize {
  findCandidates(description, motion, filter, all);
  const kept = takeCandidates(), at = changetype<usize>(kept);
  kept.wantsAll = <u32>all;
  const swept = changetype<SweptShape>(at + offsetof<KeptSweep>());
  swept.wayX = wayX; swept.wayY = wayY; swept.wayZ = wayZ;
  memory.copy(changetype<usize>(swept) + offsetof<SweptShape>('turnX'), motion + MOTION_ROTATION, 32);
  memory.copy(changetype<usize>(swept) + offsetof<SweptShape>('pivotX'), description + OBJECT_MATRIX + 72, 24);
  swept.tolerance = load<f64>(motion, MOTION_TOLERANCE);
  memory.copy(changetype<usize>(shapeOfSwept(swept)), changetype<usize>(shape), PLACED_SHAPE_BYTES);
  for (let i: u32 = 0; i < kept.count; i++) shareList(<usize>pairOf(at, i).list);
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
let room: usize = 0;
let next: u32 = 0;
let best: f64 = 1;

// @ts-ignore: decorator
@inline
function sweptShape(): SweptShape {
  return changetype<SweptShape>(room + offsetof<KeptSweep>());
}

// @ts-ignore: decorator
@inline
function pairAt(i: u32): PairSweep {
  return pairOf(room, i);
}

/**
 * Sweeps the copied shape until a time by the clock of `now`, and frees the copies at the end. Returns the number of hits
 * (hits.ts), which is at most one, the best, unless all are wanted; or LEFT: then `resumeSweep` must follow, before the narrow
 * phase of any frame and any query about two objects. Throws OUT_OF_MEMORY.
 */
export function beginKeptSweep(at: usize, until: f64): i32 {
  dropSweep();
  room = at;
  keptCount--;
  giveUpLeft();
  next = 0;
  best = 1;
  for (let i: u32 = 0; i < changetype<KeptSweep>(at).count; i++) if (pairAt(i).isMet) best = min(best, pairAt(i).time);
  return goOn(until);
}

/** Resumes the suspended sweep; returns the same as `beginKeptSweep`. */
export function resumeSweep(until: f64): i32 {
  if (isInPair) {
    isInPair = false; // in case it throws
    const outcome = resumePair(until);
    if (outcome == 0) {
      isInPair = true;
      return LEFT;
    }
    take(outcome);
  }
  return goOn(until);
}

/** Whether the sweep against an object was suspended. */
let isInPair: bool = false;

function goOn(until: f64): i32 {
  const kept = changetype<KeptSweep>(room);
  isLeft = true;
  let isFirst = true;
  for (; next < kept.count; next++) {
    const pair = pairAt(next);
    if (pair.isMet || (!kept.wantsAll && pair.from > best)) continue;
    // At least one, however late it is.
    if (!isFirst && now() >= until) return LEFT;
    isFirst = false;
    pair.limit = kept.wantsAll ? 1 : best;
    const outcome = beginSweptPair(changetype<usize>(sweptShape()), changetype<usize>(pair), until);
    if (outcome == 0) {
      isInPair = true;
      return LEFT;
    }
    take(outcome);
    next--; // `take` has already advanced
  }
  return conclude();
}

/** Takes the result for the next object, and advances to the one after it. */
function take(outcome: usize): void {
  const pair = pairAt(next++);
  memory.copy(changetype<usize>(pair), outcome, offsetof<PairSweep>());
  if (pair.isMet) best = min(best, pair.time);
}

/** Writes the hits: all, or the best one. */
function conclude(): i32 {
  const kept = changetype<KeptSweep>(room);
  clearHits();
  let first: u32 = kept.count;
  for (let i: u32 = 0; i < kept.count; i++) {
    if (!pairAt(i).isMet) continue;
    if (kept.wantsAll) writeHit(newHit(), pairAt(i));
    else if (first == kept.count || isBetter(pairAt(i), pairAt(first))) first = i;
  }
  if (first < kept.count) writeHit(newHit(), pairAt(first));
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
  if (room != 0) {
    const kept = changetype<KeptSweep>(room);
    for (let i: u32 = 0; i < kept.count; i++) dropList(<usize>pairAt(i).list);
    release(room);
    room = 0;
  }
  isLeft = isInPair = false;
}
