// Stores the contacts of pairs: those of this frame in one pool, while those of the last frame remain in another.

import { BONE_PAIR_BYTES, CONTACT_POINT_BYTES, CROSSING_BYTES } from '../../../../shared/layout';
import { allocate, release } from '../../memory';
import {
  bonePairCount, bonePairs, crossingCount, crossings, setPointBuffer, pointCount, points, resetPointBuffer,
} from './contact';

/** Header of a record, followed by its points, its crossings and its pairs of bones. */
@unmanaged
export class ContactRecord {
  points: u32;
  crossings: u32;
  bonePairs: u32;
}

const HEADER_BYTES: usize = offsetof<ContactRecord>();
/**
 * Most contacts have no more points than this. Up to this many, the points are written directly to where they are
 * stored, behind the last record.
 */
const MAX_DIRECT_POINTS: u32 = 4;
const RESERVED_BYTES: usize = HEADER_BYTES + <usize>MAX_DIRECT_POINTS * CONTACT_POINT_BYTES;
/** The record of a pair for which nothing is stored. */
export const NO_CONTACT: u32 = 0xffffffff;

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

const SEGMENT_HEADER_BYTES: usize = 16;
/** Each segment has twice the bytes of the previous one, up to a limit. */
const MIN_SEGMENT_BYTES: usize = 1 << 12;
const MAX_SEGMENT_BYTES: usize = 1 << 20;

@unmanaged
class Pool {
  first: usize;
  /**
   * List of segments that hold one record each, which is too large for the others; they are released when the pool is
   * reused.
   */
  large: usize;
}

let lastPool = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
let nextPool = changetype<Pool>(memory.data(<i32>offsetof<Pool>(), 16));
/**
 * In the pool that is being built: the segment of the next record, the record's address, and the last address it may
 * have.
 */
let segment = changetype<Segment>(0);
let nextRecord: usize = 0;
let nextRecordLimit: usize = 0;
/** Total numbers of points, crossings and pairs of bones in all records of the pool that is being built. */
export let totalPointCount: u32 = 0;
export let totalCrossingCount: u32 = 0;
export let totalBonePairCount: u32 = 0;

/** Begins the pool of a new frame. Throws OUT_OF_MEMORY. */
export function beginPool(): void {
  totalPointCount = 0;
  totalCrossingCount = 0;
  totalBonePairCount = 0;
  resetPointBuffer();
  while (nextPool.large != 0) {
    const large = nextPool.large;
    nextPool.large = changetype<Segment>(large).next;
    release(large);
  }
  if (nextPool.first == 0) nextPool.first = newSegment(MIN_SEGMENT_BYTES);
  useSegment(changetype<Segment>(nextPool.first));
  setPointBuffer(nextRecord + HEADER_BYTES, MAX_DIRECT_POINTS);
}

/** Allocates a segment of `bytes` bytes. Throws OUT_OF_MEMORY. */
function newSegment(bytes: usize): usize {
  const newAddress = allocate(bytes);
  changetype<Segment>(newAddress).next = 0;
  changetype<Segment>(newAddress).end = newAddress + bytes;
  return newAddress;
}

/** Directs the next records to a segment. */
function useSegment(segmentToUse: Segment): void {
  segment = segmentToUse;
  nextRecord = changetype<usize>(segmentToUse) + SEGMENT_HEADER_BYTES;
  nextRecordLimit = segmentToUse.end - RESERVED_BYTES;
}

/**
 * Allocates a record of `bytes` bytes, behind which there is still room for the next contact's points. Returns its
 * address. Throws OUT_OF_MEMORY.
 */
function allocateRecord(bytes: usize): usize {
  if (nextRecord + bytes > nextRecordLimit) {
    if (segment.next == 0) {
      const size = segment.end - changetype<usize>(segment);
      segment.next = newSegment(min<usize>(2 * size, MAX_SEGMENT_BYTES));
    }
    const following = changetype<Segment>(segment.next);
    if (segment.next + SEGMENT_HEADER_BYTES + bytes > following.end - RESERVED_BYTES) {
      const large = newSegment(SEGMENT_HEADER_BYTES + bytes);
      changetype<Segment>(large).next = nextPool.large;
      nextPool.large = large;
      return large + SEGMENT_HEADER_BYTES;
    }
    useSegment(following);
  }
  const at = nextRecord;
  nextRecord += bytes;
  return at;
}

/** Stores the contact that was just computed and returns its record. Throws OUT_OF_MEMORY. */
export function storeContact(): u32 {
  return storeContactData(points, pointCount, crossings, crossingCount, bonePairs, bonePairCount);
}

/** Stores a contact whose data lies elsewhere, like `storeContact`. */
export function storeContactData(
  points: usize, pointCount: u32, crossings: usize, crossingCount: u32, bonePairs: usize, bonePairCount: u32,
): u32 {
  if ((pointCount | crossingCount | bonePairCount) == 0) return NO_CONTACT;
  const record = appendRecord(pointCount, crossingCount, bonePairCount);
  const contactRecord = contactRecordAt(record);
  if (points != pointsOf(contactRecord)) memory.copy(pointsOf(contactRecord), points, <usize>pointCount * CONTACT_POINT_BYTES);
  if (crossingCount != 0) memory.copy(crossingsOf(contactRecord), crossings, <usize>crossingCount * CROSSING_BYTES);
  if (bonePairCount != 0) memory.copy(bonePairsOf(contactRecord), bonePairs, <usize>bonePairCount * BONE_PAIR_BYTES);
  setPointBuffer(nextRecord + HEADER_BYTES, MAX_DIRECT_POINTS);
  return record;
}

/** Copies a record of the last frame to the new pool. Returns the new record. Throws OUT_OF_MEMORY. */
export function carryOverContact(record: u32): u32 {
  if (record == NO_CONTACT) return NO_CONTACT;
  const oldRecord = contactRecordAt(record);
  const at = appendRecord(oldRecord.points, oldRecord.crossings, oldRecord.bonePairs);
  memory.copy(at, changetype<usize>(oldRecord), recordBytes(oldRecord.points, oldRecord.crossings, oldRecord.bonePairs));
  return at;
}

/** Swaps the pools: the new one becomes that of the last frame, and the next one is built in the other. */
export function swapPools(): void {
  const last = lastPool;
  lastPool = nextPool;
  nextPool = last;
  resetPointBuffer();
}

// @ts-ignore: decorator
@inline
export function contactRecordAt(record: u32): ContactRecord {
  return changetype<ContactRecord>(<usize>record);
}

// @ts-ignore: decorator
@inline
export function pointsOf(contactRecord: ContactRecord): usize {
  return changetype<usize>(contactRecord) + HEADER_BYTES;
}

// @ts-ignore: decorator
@inline
export function crossingsOf(contactRecord: ContactRecord): usize {
  return pointsOf(contactRecord) + <usize>contactRecord.points * CONTACT_POINT_BYTES;
}

// @ts-ignore: decorator
@inline
export function bonePairsOf(contactRecord: ContactRecord): usize {
  return crossingsOf(contactRecord) + <usize>contactRecord.crossings * CROSSING_BYTES;
}

function recordBytes(points: u32, crossings: u32, bonePairs: u32): usize {
  return (
    HEADER_BYTES + <usize>points * CONTACT_POINT_BYTES + <usize>crossings * CROSSING_BYTES +
    <usize>bonePairs * BONE_PAIR_BYTES
  );
}

/** Adds a record and sets its counts. Returns its address. Throws OUT_OF_MEMORY. */
function appendRecord(points: u32, crossings: u32, bonePairs: u32): u32 {
  const at = allocateRecord(recordBytes(points, crossings, bonePairs));
  totalPointCount += points;
  totalCrossingCount += crossings;
  totalBonePairCount += bonePairs;
  const contactRecord = changetype<ContactRecord>(at);
  contactRecord.points = points;
  contactRecord.crossings = crossings;
  contactRecord.bonePairs = bonePairs;
  return <u32>at;
}
