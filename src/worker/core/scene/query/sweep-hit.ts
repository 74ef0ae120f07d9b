// The result of a sweep through the scene: the first meeting so far, or the deepest of those at the start.

import {
  HIT_DEPTH, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TIME, HIT_TRIANGLE,
} from '../../../../shared/layout';
import { newHit } from '../../hits';
import {
  contactTime as meetTime, contactDepth, contactNormalX, contactNormalY, contactNormalZ, contactTriangle, contactX, contactY,
  contactZ,
} from '../../sweep/meeting';
import { PairSweep } from '../../sweep/pair-sweep';

/** The time of the best meeting so far; if all are wanted, the end of the part of the path that matters. */
export let bestTime: f64 = 0;
/** The object of the best meeting, 0 for none. */
export let bestId: u32 = 0;
export let bestTriangle: i32 = -1;
export let bestDepth: f64 = 0;
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

export function clearBest(): void {
  bestTime = 1;
  bestId = 0;
  bestTriangle = -1;
  bestDepth = 0;
}

/**
 * Records the current meeting (sweep/meeting.ts) if it is the first, the deepest at the start or, if equal, that of the lower id.
 */
export function updateBest(id: u32): void {
  if (bestId != 0) {
    if (meetTime > bestTime) return;
    if (meetTime == bestTime && (contactDepth < bestDepth || (contactDepth == bestDepth && id > bestId))) return;
  }
  setBest(id);
}

/** Writes the current meeting as a separate hit. Later meetings matter as well. */
export function addMeeting(id: u32): void {
  setBest(id);
  writeBest(newHit());
  bestTime = 1;
}

function setBest(id: u32): void {
  bestTime = meetTime;
  bestId = id;
  bestTriangle = contactTriangle;
  bestDepth = contactDepth;
  normalX = contactNormalX; normalY = contactNormalY; normalZ = contactNormalZ;
  pointX = contactX; pointY = contactY; pointZ = contactZ;
}

/** Writes the meeting of an object as a hit. */
export function writeHit(hit: usize, pair: PairSweep): void {
  bestId = pair.id;
  bestTriangle = pair.triangle;
  bestTime = pair.time;
  bestDepth = pair.depth;
  pointX = pair.x; pointY = pair.y; pointZ = pair.z;
  normalX = pair.normalX; normalY = pair.normalY; normalZ = pair.normalZ;
  writeBest(hit);
}

/** Sets the result for a path on which nothing is hit. */
export function setNoHit(): void {
  bestId = 0xffffffff;
  bestTime = Infinity;
  pointX = pointY = pointZ = 0;
  normalX = normalY = normalZ = 0;
}

/** Writes the best meeting as a hit (HIT_*). */
export function writeBest(hit: usize): void {
  store<u32>(hit, bestId, HIT_OBJECT);
  store<i32>(hit, bestTriangle, HIT_TRIANGLE);
  store<f64>(hit, bestTime, HIT_TIME);
  store<f64>(hit, bestDepth, HIT_DEPTH);
  store<f64>(hit, pointX, HIT_POINT);
  store<f64>(hit, pointY, HIT_POINT + 8);
  store<f64>(hit, pointZ, HIT_POINT + 16);
  store<f64>(hit, normalX, HIT_NORMAL);
  store<f64>(hit, normalY, HIT_NORMAL + 8);
  store<f64>(hit, normalZ, HIT_NORMAL + 16);
}
