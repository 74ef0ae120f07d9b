// What was found of the pairs: this frame's in one pool while the last frame's is there as well, in another.

import { BONE_PAIR_BYTES, CONTACT_POINT_BYTES, CROSSING_BYTES } from '../../../../shared/layout';
import { allocate, release } from '../../memory';
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

/**
 * The head of a segment; records follow. Segments stay where they are, as the copies of a pool that grows as a whole took 206 ms
 * where a million pairs had contacts.
 */
@unmanaged
class Segment {
  /** The next of the pool, 0 for none. */
  next: usize;
  /** Where the segment ends. */
  end: usize;
}

const SEGMENT_HEAD: usize = 16;
/** Each segment has twice the bytes of the one before, up to a bound. */
const FIRST_BYTES: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 20;

@unmanaged
class Pool {
  first: usize;
  /** Segments of a record each that is too large for the others; they are released when the pool is made anew. */
  large: usize;
}

let pool = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
let next = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
/** The segment of the next record in the pool that is being made, where that is, and where it must end. */
let segment = changetype<Segment>(0);
let nextAt: usize = 0;
let nextEnd: usize = 0;
/** How many points, crossings and pairs of bones all records of the pool have that is being made. */
export let keptPoints: u32 = 0;
export let keptCrossings: u32 = 0;
export let keptBonePairs: u32 = 0;

/** Begins the pool of a frame. Throws OUT_OF_MEMORY. */
export function beginPool(): void {
  keptPoints = 0;
  keptCrossings = 0;
  keptBonePairs = 0;
  unplacePoints();
  while (next.large != 0) {
    const large = next.large;
    next.large = changetype<Segment>(large).next;
    release(large);
  }
  if (next.first == 0) next.first = newSegment(FIRST_BYTES);
  fill(changetype<Segment>(next.first));
  placePoints(nextAt + HEAD, MOST_POINTS);
}

/** Makes a segment of so many bytes. Throws OUT_OF_MEMORY. */
function newSegment(bytes: usize): usize {
  const made = allocate(bytes);
  changetype<Segment>(made).next = 0;
  changetype<Segment>(made).end = made + bytes;
  return made;
}

/** Puts the next records into a segment. */
function fill(by: Segment): void {
  segment = by;
  nextAt = changetype<usize>(by) + SEGMENT_HEAD;
  nextEnd = by.end - ROOM;
}

/**
 * Makes room for a record of so many bytes, behind which there is room for the next contact's points. Answers where it is.
 * Throws OUT_OF_MEMORY.
 */
function roomFor(bytes: usize): usize {
  if (nextAt + bytes > nextEnd) {
    if (segment.next == 0) {
      const size = segment.end - changetype<usize>(segment);
      segment.next = newSegment(min<usize>(2 * size, MOST_BYTES));
    }
    const following = changetype<Segment>(segment.next);
    if (segment.next + SEGMENT_HEAD + bytes > following.end - ROOM) {
      const large = newSegment(SEGMENT_HEAD + bytes);
      changetype<Segment>(large).next = next.large;
      next.large = large;
      return large + SEGMENT_HEAD;
    }
    fill(following);
  }
  const at = nextAt;
  nextAt += bytes;
  return at;
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
  const record = append(pointCount, crossingCount, bonePairCount);
  const kept = keptAt(record);
  if (points != pointsOf(kept)) memory.copy(pointsOf(kept), points, <usize>pointCount * CONTACT_POINT_BYTES);
  if (crossingCount != 0) memory.copy(crossingsOf(kept), crossings, <usize>crossingCount * CROSSING_BYTES);
  if (bonePairCount != 0) memory.copy(bonePairsOf(kept), bonePairs, <usize>bonePairCount * BONE_PAIR_BYTES);
  placePoints(nextAt + HEAD, MOST_POINTS);
  return record;
}

/** Copies a record of the last frame to the new pool. Answers the new record. Throws OUT_OF_MEMORY. */
export function carryContact(record: u32): u32 {
  if (record == NOTHING) return NOTHING;
  const old = keptAt(record);
  const at = append(old.points, old.crossings, old.bonePairs);
  memory.copy(at, changetype<usize>(old), bytesOf(old.points, old.crossings, old.bonePairs));
  return at;
}

/** Makes the new pool that of the last frame: the next one is made in the other. */
export function takePool(): void {
  const last = pool;
  pool = next;
  next = last;
  unplacePoints();
}

// @ts-ignore: decorator
@inline
export function keptAt(record: u32): Kept {
  return changetype<Kept>(<usize>record);
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

/** Adds a record, which has its counts. Answers where it is. Throws OUT_OF_MEMORY. */
function append(points: u32, crossings: u32, bonePairs: u32): u32 {
  const at = roomFor(bytesOf(points, crossings, bonePairs));
  keptPoints += points;
  keptCrossings += crossings;
  keptBonePairs += bonePairs;
  const kept = changetype<Kept>(at);
  kept.points = points;
  kept.crossings = crossings;
  kept.bonePairs = bonePairs;
  return <u32>at;
}
