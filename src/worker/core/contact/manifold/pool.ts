// What was found of the pairs: this frame's in one pool while the last frame's is there as well, in another.

import { BONE_PAIR_BYTES, CONTACT_POINT_BYTES, CROSSING_BYTES } from '../../../../shared/layout';
import { reserve } from '../../memory';
import {
  bonePairCount, bonePairs, crossingCount, crossings, placePoints, pointCount, points, unplacePoints,
} from './contact';

/** Head of a record; its points follow, then its crossings, then its pairs of bones. */
@unmanaged
export class Kept {
  points: u32;
  crossings: u32;
  bonePairs: u32;
}

const HEAD: usize = offsetof<Kept>();
/**
 * Most contacts have no more points. A contact's points are found right where they are kept, behind the last record, as
 * long as they are no more than these.
 */
const MOST_POINTS: u32 = 4;
const ROOM: usize = HEAD + <usize>MOST_POINTS * CONTACT_POINT_BYTES;
/** The record of a pair for which nothing is kept. */
export const NOTHING: u32 = 0xffffffff;

let pool: usize = 0;
let next: usize = 0;
let nextUsed: usize = 0;
/** How many points, crossings and pairs of bones all records of the pool have that is being made. */
export let keptPoints: u32 = 0;
export let keptCrossings: u32 = 0;
export let keptBonePairs: u32 = 0;

/** Begins the pool of a frame. Throws OUT_OF_MEMORY. */
export function beginPool(): void {
  nextUsed = 0;
  keptPoints = 0;
  keptCrossings = 0;
  keptBonePairs = 0;
  unplacePoints();
  next = reserve(next, 0, ROOM);
  placePoints(next + HEAD, MOST_POINTS);
}

/** Keeps the contact that was found; answers its record. Throws OUT_OF_MEMORY. */
export function keepContact(): u32 {
  return keepContactOf(points, pointCount, crossings, crossingCount, bonePairs, bonePairCount);
}

/** Keeps a contact that lies elsewhere, as `keepContact`. */
export function keepContactOf(
  points: usize, pointCount: u32, crossings: usize, crossingCount: u32, bonePairs: usize, bonePairCount: u32,
): u32 {
  if ((pointCount | crossingCount | bonePairCount) == 0) return NOTHING;
  const isThere = points == next + nextUsed + HEAD;
  const record = append(pointCount, crossingCount, bonePairCount);
  const kept = keptIn(next, record);
  if (!isThere) memory.copy(pointsOf(kept), points, <usize>pointCount * CONTACT_POINT_BYTES);
  if (crossingCount != 0) memory.copy(crossingsOf(kept), crossings, <usize>crossingCount * CROSSING_BYTES);
  if (bonePairCount != 0) memory.copy(bonePairsOf(kept), bonePairs, <usize>bonePairCount * BONE_PAIR_BYTES);
  placePoints(next + nextUsed + HEAD, MOST_POINTS);
  return record;
}

/** Copies a record of the last frame to the new pool. Answers the new record. Throws OUT_OF_MEMORY. */
export function carryContact(record: u32): u32 {
  if (record == NOTHING) return NOTHING;
  const old = keptAt(record);
  const at = append(old.points, old.crossings, old.bonePairs);
  memory.copy(next + at, changetype<usize>(old), bytesOf(old.points, old.crossings, old.bonePairs));
  return at;
}

/** Makes the new pool the one that `keptAt` reads. */
export function takePool(): void {
  const last = pool;
  pool = next;
  next = last;
  unplacePoints();
}

// @ts-ignore: decorator
@inline
export function keptAt(record: u32): Kept {
  return keptIn(pool, record);
}

// @ts-ignore: decorator
@inline
function keptIn(list: usize, record: u32): Kept {
  return changetype<Kept>(list + record);
}

// @ts-ignore: decorator
@inline
export function pointsOf(kept: Kept): usize {
  return changetype<usize>(kept) + HEAD;
}

// @ts-ignore: decorator
@inline
export function crossingsOf(kept: Kept): usize {
  return pointsOf(kept) + <usize>kept.points * CONTACT_POINT_BYTES;
}

// @ts-ignore: decorator
@inline
export function bonePairsOf(kept: Kept): usize {
  return crossingsOf(kept) + <usize>kept.crossings * CROSSING_BYTES;
}

function bytesOf(points: u32, crossings: u32, bonePairs: u32): usize {
  return (
    HEAD + <usize>points * CONTACT_POINT_BYTES + <usize>crossings * CROSSING_BYTES +
    <usize>bonePairs * BONE_PAIR_BYTES
  );
}

/**
 * Adds a record and reserves room behind it for the next contact's points. Answers the record. Points that were found
 * in its room stay there. Throws OUT_OF_MEMORY.
 */
function append(points: u32, crossings: u32, bonePairs: u32): u32 {
  const at = nextUsed;
  const end = at + bytesOf(points, crossings, bonePairs);
  next = reserve(next, at + ROOM, <u64>end + ROOM);
  nextUsed = end;
  keptPoints += points;
  keptCrossings += crossings;
  keptBonePairs += bonePairs;
  const kept = keptIn(next, <u32>at);
  kept.points = points;
  kept.crossings = crossings;
  kept.bonePairs = bonePairs;
  return <u32>at;
}
