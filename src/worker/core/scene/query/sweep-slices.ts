// Returns `sweep` and `sweepAll` in slices: what a mesh meets, or what meets one, may take as long as these are large. Objects
// near the way are copied, and those that are meshes, or all where the shape is one, are left to the interruptible module, one
// after the other. So the scene may go on meanwhile; only the meshes must stay as they are.

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

/** Returned for a sweep that was left: it must be resumed. */
const LEFT: i32 = -1;

let keptCount: u32 = 0;
let isLeft: bool = false;

/** Returns whether a sweep was left in the midst of its work, or waits as it was copied. */
export function isSweepOpen(): bool {
  return isLeft || keptCount != 0;
}

/**
 * Copies what a sweep is about (as `sweep` takes it), and returns where: `beginKeptSweep` must follow. The meshes must stay as
 * they are until it has ended. Throws OUT_OF_MEMORY.
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

/** Copies likewise what a shape would meet first on a way (`sweepMany`). Throws OUT_OF_MEMORY. */
export function keepWay(description: usize, way: usize, tolerance: f64, filter: usize): usize {
  writeWay(description, way, tolerance, motionOfWay);
  return keepSweep(description, motionOfWay, filter, false);
}

// The sweep that is under way.
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
 * Sweeps as it was copied, until a time by the clock of `now`, and frees the copies. Returns how many hits there are (hits.ts),
 * of which none is better than the first unless all are wanted; or LEFT: then `resumeSweep` must follow, before the narrow phase of
 * any frame and any question of two objects. Throws OUT_OF_MEMORY.
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

/** Goes on with the sweep that was left; returns the same as `beginKeptSweep`. */
export function resumeSweep(until: f64): i32 {
  if (isInPair) {
    isInPair = false; // where it fails
    const outcome = resumePair(until);
    if (outcome == 0) {
      isInPair = true;
      return LEFT;
    }
    take(outcome);
  }
  return goOn(until);
}

/** Whether an object was left in the midst of its work. */
let isInPair: bool = false;

function goOn(until: f64): i32 {
  const kept = changetype<KeptSweep>(room);
  isLeft = true;
  let isFirst = true;
  for (; next < kept.count; next++) {
    const pair = pairAt(next);
    if (pair.isMet || (!kept.wantsAll && pair.from > best)) continue;
    // One at least, however late it is.
    if (!isFirst && now() >= until) return LEFT;
    isFirst = false;
    pair.limit = kept.wantsAll ? 1 : best;
    const outcome = beginSweptPair(changetype<usize>(sweptShape()), changetype<usize>(pair), until);
    if (outcome == 0) {
      isInPair = true;
      return LEFT;
    }
    take(outcome);
    next--; // `take` has gone on
  }
  return conclude();
}

/** Takes what was found of the next object, and goes on to the one behind it. */
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

/** The sooner is better, at the start the deeper, and of equals the one with the lower id. */
function isBetter(a: PairSweep, b: PairSweep): bool {
  if (a.time != b.time) return a.time < b.time;
  return a.depth != b.depth ? a.depth > b.depth : a.id < b.id;
}

/** Gives up the question that was left in the midst of its work: a sweep, or one of two objects. */
export function giveUpQuestion(): void {
  dropSweep();
  giveUpContact();
}

/** Forgets the sweep that is under way. */
function dropSweep(): void {
  if (room != 0) {
    const kept = changetype<KeptSweep>(room);
    for (let i: u32 = 0; i < kept.count; i++) dropList(<usize>pairAt(i).list);
    release(room);
    room = 0;
  }
  isLeft = isInPair = false;
}
