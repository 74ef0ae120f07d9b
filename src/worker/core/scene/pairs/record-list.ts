// A list of records that grows without copying: when a million pairs were found, the copies of their lists took 43 ms in one
// piece, and those of their contacts 206.

import { allocate, capacityOf, reserve } from '../../memory';

/** How many records a segment has. */
const SEGMENT_RECORDS: u32 = 1 << 13;
const SEGMENT_BITS: u32 = 13;

/** How many records are processed between two readings of the clock: about 0.1 ms, or 0.5 if caches miss. */
export const RECORDS_PER_READING: u32 = SEGMENT_RECORDS;

/** A list of segments, of which the first is only as long as it has to be. Must begin as zeros. */
@unmanaged
export class RecordList {
  segments: usize;
  segmentCount: u32;
  /** The address of the next record, and the end of the room for records there. */
  next: usize;
  end: usize;
}

/** Empties a list. */
// @ts-ignore: decorator
@inline
export function clearRecords(list: RecordList): void {
  list.next = list.end = 0;
}

/** Returns the address of the i-th record. */
// @ts-ignore: decorator
@inline
export function recordIn<T>(list: RecordList, i: u32): usize {
  const segment = load<u32>(list.segments + (<usize>(i >> SEGMENT_BITS) << 2));
  return <usize>segment + <usize>(i & (SEGMENT_RECORDS - 1)) * offsetof<T>();
}

/** Returns the address of the segment whose first record is the i-th, or 0. */
export function segmentStart(list: RecordList, i: u32): usize {
  const segment = i >> SEGMENT_BITS;
  return segment < list.segmentCount ? <usize>load<u32>(list.segments + (<usize>segment << 2)) : 0;
}

/**
 * Makes room for a record after the first `count` ones, which must be all that were added. Returns its address. Throws
 * OUT_OF_MEMORY.
 */
// @ts-ignore: decorator
@inline
export function appendRecord<T>(list: RecordList, count: u32): usize {
  if (list.next == list.end) growList(list, count, offsetof<T>());
  const at = list.next;
  list.next = at + offsetof<T>();
  return at;
}

function growList(list: RecordList, count: u32, recordBytes: usize): void {
  const segmentIndex = count >> SEGMENT_BITS;
  if (segmentIndex >= list.segmentCount) {
    list.segments = reserve(list.segments, <usize>segmentIndex << 2, <u64>(segmentIndex + 1) << 2);
    store<u32>(list.segments + (<usize>segmentIndex << 2),
      segmentIndex == 0 ? 0 : <u32>allocate(<u64>SEGMENT_RECORDS * recordBytes));
    list.segmentCount = segmentIndex + 1;
  }
  const entry = list.segments + (<usize>segmentIndex << 2), used = <usize>(count & (SEGMENT_RECORDS - 1)) * recordBytes;
  if (segmentIndex == 0) store<u32>(entry, <u32>reserve(<usize>load<u32>(entry), used, used + recordBytes));
  const segment = <usize>load<u32>(entry);
  list.next = segment + used;
  list.end = segment + min<usize>(capacityOf(segment) / recordBytes, SEGMENT_RECORDS) * recordBytes;
}
