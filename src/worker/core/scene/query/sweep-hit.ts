// The result of a sweep through the scene: the first meeting so far, or the deepest of those at the start.

import {
  HIT_DEPTH, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TIME, HIT_TRIANGLE,
} from '../../../../shared/layout';
import { newHit } from '../../hits';
import {
  best as meetTime, meetDepth, meetNormalX, meetNormalY, meetNormalZ, meetTriangle, meetX, meetY, meetZ,
} from '../../sweep/meeting';
import { PairSweep } from '../../sweep/pair-sweep';

/** The time of the best meeting so far; if all are wanted, the end of the part of the way that matters. */
export let best: f64 = 0;
/** The object of the best meeting, 0 for none. */
export let bestId: u32 = 0;
export let bestTriangle: i32 = -1;
export let bestDepth: f64 = 0;
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

export function clearBest(): void {
  best = 1;
  bestId = 0;
  bestTriangle = -1;
  bestDepth = 0;
}

/**
 * Takes the current meeting (sweep/meeting.ts) if it is the first, the deepest at the start or, if equal, that of the lower id.
 */
export function takeFirst(id: u32): void {
  if (bestId != 0) {
    if (meetTime > best) return;
    if (meetTime == best && (meetDepth < bestDepth || (meetDepth == bestDepth && id > bestId))) return;
  }
  set(id);
}

/** Writes the current meeting as a separate hit. Later meetings matter as well. */
export function addMeeting(id: u32): void {
  set(id);
  writeBest(newHit());
  best = 1;
}

function set(id: u32): void {
  best = meetTime;
  bestId = id;
  bestTriangle = meetTriangle;
  bestDepth = meetDepth;
  normalX = meetNormalX; normalY = meetNormalY; normalZ = meetNormalZ;
  pointX = meetX; pointY = meetY; pointZ = meetZ;
}

/** Writes the meeting of an object as a hit. */
export function writeHit(hit: usize, found: PairSweep): void {
  bestId = found.id;
  bestTriangle = found.triangle;
  best = found.time;
  bestDepth = found.depth;
  pointX = found.x; pointY = found.y; pointZ = found.z;
  normalX = found.normalX; normalY = found.normalY; normalZ = found.normalZ;
  writeBest(hit);
}

/** Sets the result for a way on which nothing is met. */
export function setNothing(): void {
  bestId = 0xffffffff;
  best = Infinity;
  pointX = pointY = pointZ = 0;
  normalX = normalY = normalZ = 0;
}

/** Writes the best meeting as a hit (HIT_*). */
export function writeBest(hit: usize): void {
  store<u32>(hit, bestId, HIT_OBJECT);
  store<i32>(hit, bestTriangle, HIT_TRIANGLE);
  store<f64>(hit, best, HIT_TIME);
  store<f64>(hit, bestDepth, HIT_DEPTH);
  store<f64>(hit, pointX, HIT_POINT);
  store<f64>(hit, pointY, HIT_POINT + 8);
  store<f64>(hit, pointZ, HIT_POINT + 16);
  store<f64>(hit, normalX, HIT_NORMAL);
  store<f64>(hit, normalY, HIT_NORMAL + 8);
  store<f64>(hit, normalZ, HIT_NORMAL + 16);
}
