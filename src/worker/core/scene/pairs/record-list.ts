// A list of records that grows without being copied: where a million pairs were found, the copies of their lists took 43 ms in
// one piece, and those of their contacts 206.

import { allocate, reserve } from '../../memory';

/** How many records a segment has. */
export const SEGMENT_RECORDS: u32 = 1 << 13;
const SEGMENT_BITS: u32 = 13;

/** The addresses of segments, the first of which is as long as it has to be. Must begin as zeros. */
@unmanaged
export class RecordList {
  segments: usize;
  segmentCount: u32;
}

/** Answers where the i-th record is. */
// @ts-ignore: decorator
@inline
export function recordIn<T>(list: RecordList, i: u32): usize {
  const segment = load<u32>(list.segments + (<usize>(i >> SEGMENT_BITS) << 2));
  return <usize>segment + <usize>(i & (SEGMENT_RECORDS - 1)) * offsetof<T>();
}

/** Answers where the segment begins whose first record is the i-th, as far as there is one. */
export function firstOf(list: RecordList, i: u32): usize {
  const segment = i >> SEGMENT_BITS;
  return segment < list.segmentCount ? <usize>load<u32>(list.segments + (<usize>segment << 2)) : 0;
}

/** Makes room for a record behind the first `count` ones, and answers where. Throws OUT_OF_MEMORY. */
// @ts-ignore: decorator
@inline
export function roomBehind<T>(list: RecordList, count: u32): usize {
  // The first segment is grown by need; of the others only the beginning may be missing.
  if (count < SEGMENT_RECORDS || (count & (SEGMENT_RECORDS - 1)) == 0) makeRoom(list, count, offsetof<T>());
  return recordIn<T>(list, count);
}

function makeRoom(list: RecordList, count: u32, recordBytes: usize): void {
  const place = count >> SEGMENT_BITS;
  if (place >= list.segmentCount) {
    list.segments = reserve(list.segments, <usize>place << 2, <u64>(place + 1) << 2);
    store<u32>(list.segments + (<usize>place << 2), place == 0 ? 0 : <u32>allocate(<u64>SEGMENT_RECORDS * recordBytes));
    list.segmentCount = place + 1;
  }
  if (place != 0) return;
  const first = <usize>load<u32>(list.segments);
  store<u32>(list.segments, <u32>reserve(first, <usize>count * recordBytes, <u64>(count + 1) * recordBytes));
}
