// Stores the contacts of pairs: those of this frame in one pool, while those of the last frame remain in another.

import { BONE_PAIR_BYTES, CONTACT_POINT_BYTES, CROSSING_BYTES } from '../../../../shared/layout';
import { allocate, release } from '../../memory';
import {
  bonePairCount, bonePairs, crossingCount, crossings, placePoints, pointCount, points, unplacePoints,
} from './contact';

/** Header of a record, followed by its points, its crossings and its pairs of bones. */
@unmanaged
export class Kept {
  points: u32;
  crossings: u32;
  bonePairs: u32;
}

const HEAD: usize = offsetof<Kept>();
/**
 * Most contacts have no more points than this. Up to this many, the points are written directly to where they are
 * stored, behind the last record.
 */
const MOST_POINTS: u32 = 4;
const ROOM: usize = HEAD + <usize>MOST_POINTS * CONTACT_POINT_BYTES;
/** The record of a pair for which nothing is stored. */
export const NOTHING: u32 = 0xffffffff;

/**
 * Header of a segment, followed by records. Segments never move: a pool that grows as one buffer spent 206 ms on copies
 * when a million pairs had contacts.
 */
@unmanaged
class Segment {
  /** The next segment of the pool, 0 if none. */
  next: usize;
  /** Address of the segment's end. */
  end: usize;
}

const SEGMENT_HEAD: usize = 16;
/** Each segment has twice the bytes of the previous one, up to a limit. */
const FIRST_BYTES: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 20;

@unmanaged
class Pool {
  first: usize;
  /**
   * List of segments that hold one record each, which is too large for the others; they are released when the pool is
   * reused.
   */
  large: usize;
}

let pool = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
let next = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
/**
 * In the pool that is being built: the segment of the next record, the record's address, and the last address it may
 * have.
 */
let segment = changetype<Segment>(0);
let nextAt: usize = 0;
let nextEnd: usize = 0;
/** Total numbers of points, crossings and pairs of bones in all records of the pool that is being built. */
export let keptPoints: u32 = 0;
export let keptCrossings: u32 = 0;
export let keptBonePairs: u32 = 0;

/** Begins the pool of a new frame. Throws OUT_OF_MEMORY. */
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

/** Allocates a segment of `bytes` bytes. Throws OUT_OF_MEMORY. */
function newSegment(bytes: usize): usize {
  const made = allocate(bytes);
  changetype<Segment>(made).next = 0;
  changetype<Segment>(made).end = made + bytes;
  return made;
}

/** Directs the next records to a segment. */
function fill(by: Segment): void {
  segment = by;
  nextAt = changetype<usize>(by) + SEGMENT_HEAD;
  nextEnd = by.end - ROOM;
}

/**
 * Allocates a record of `bytes` bytes, behind which there is still room for the next contact's points. Returns its
 * address. Throws OUT_OF_MEMORY.
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

/** Stores the contact that was just computed and returns its record. Throws OUT_OF_MEMORY. */
export function keepContact(): u32 {
  return keepContactOf(points, pointCount, crossings, crossingCount, bonePairs, bonePairCount);
}

/** Stores a contact whose data lies elsewhere, like `keepContact`. */
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

/** Copies a record of the last frame to the new pool. Returns the new record. Throws OUT_OF_MEMORY. */
export function carryContact(record: u32): u32 {
  if (record == NOTHING) return NOTHING;
  const old = keptAt(record);
  const at = append(old.points, old.crossings, old.bonePairs);
  memory.copy(at, changetype<usize>(old), bytesOf(old.points, old.crossings, old.bonePairs));
  return at;
}

/** Swaps the pools: the new one becomes that of the last frame, and the next one is built in the other. */
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

/** Adds a record and sets its counts. Returns its address. Throws OUT_OF_MEMORY. */
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
