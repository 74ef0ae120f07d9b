// Stable sorts of records of one or two vectors: radix sort, up to 11 bits at a time, and counting sort (Knuth 1973, vol. 3,
// 5.2 and 5.2.5). They run in slices: a million pairs take 100 ms. Only one sort may be in progress at a time, and its input
// must not change meanwhile.

import { GENERATION_BITS } from '../../../../shared/layout';
import { now } from '../../host';
import { reserve } from '../../memory';
import { RECORDS_PER_READING, RecordList, segmentStart } from './record-list';

/** The most bits of a digit, and the bytes of its counts, u32 each. */
const MAX_DIGIT_BITS: u32 = 11;
const COUNT_BYTES: i32 = 4 << MAX_DIGIT_BITS;
const counts: usize = memory.data(COUNT_BYTES, 16);

// Progress of the sort: its step, and the next record of that step.
let step: u32 = 0;
let nextIndex: u32 = 0;

/** Begins a sort; one of the sorting functions must follow until it is done. */
export function beginSort(): void {
  step = 0;
  nextIndex = 0;
}

/** Returns the record at which a step reads the clock next. */
// @ts-ignore: decorator
@inline
function chunkEnd(count: u32): u32 {
  return min(count, nextIndex + RECORDS_PER_READING);
}

/** Ends a step if all of its records were visited. Returns whether there is time for more. */
function advanceStep(count: u32, sliceEnd: f64): bool {
  if (nextIndex < count) return now() < sliceEnd;
  nextIndex = 0;
  step++;
  return true;
}

/**
 * Sorts by the ids of a pair that each record begins with, as b, then a: by the 21 slot bits of both, since ids sort like
 * their slots. The records of a list end up in `to` and pass through `spare`. Returns whether the sort is done.
 */
export function sortByIds(
  from: RecordList, spare: usize, to: usize, count: u32, recordBytes: usize, sliceEnd: f64,
): bool {
  while (step < 8) {
    const pass = step >> 1, isOdd = pass & 1;
    isSourceList = pass == 0;
    source = isSourceList ? changetype<usize>(from) : isOdd ? spare : to;
    target = isOdd ? to : spare;
    keyOffset = 0;
    if (!continuePass(count, recordBytes, 11 + 11 * isOdd + ((pass >> 1) << 5), 11 - isOdd, sliceEnd)) return false;
  }
  return true;
}

/** Returns how many passes it takes to sort numbers below 2^`bits`. */
export function passesFor(bits: u32): u32 {
  return (bits + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
}

/**
 * Sorts by the lowest `bits` bits of the u64 at `offset` in each record. The records are in `list` after an even number of
 * passes, else in `spare`. Returns whether the sort is done.
 */
export function sortByBits(
  list: usize, spare: usize, count: u32, recordBytes: usize, offset: usize, bits: u32, sliceEnd: f64,
): bool {
  isSourceList = false;
  keyOffset = offset;
  while (step < passesFor(bits) << 1) {
    const shift = (step >> 1) * MAX_DIGIT_BITS, isOdd = (step >> 1) & 1;
    source = isOdd ? spare : list;
    target = isOdd ? list : spare;
    if (!continuePass(count, recordBytes, shift, min(MAX_DIGIT_BITS, bits - shift), sliceEnd)) return false;
  }
  return true;
}

// Where a pass reads and writes: from a RecordList or an address; and the offset of the key in a record.
let isSourceList: bool = false;
let source: usize = 0;
let target: usize = 0;
let keyOffset: usize = 0;

/** Returns the address of the next record of a pass. */
// @ts-ignore: decorator
@inline
function nextRecord(recordBytes: usize): usize {
  if (!isSourceList) return source + <usize>nextIndex * recordBytes;
  return segmentStart(changetype<RecordList>(source), nextIndex);
}

/** Continues a pass: counts the digits, then moves the records. Returns whether the slice has time for more. */
function continuePass(count: u32, recordBytes: usize, shift: u64, bits: u32, sliceEnd: f64): bool {
  const mask: u32 = (1 << bits) - 1;
  const end = chunkEnd(count), to = target;
  let from = nextRecord(recordBytes);
  if ((step & 1) == 0) {
    if (nextIndex == 0) memory.fill(counts, 0, COUNT_BYTES);
    for (; nextIndex < end; nextIndex++, from += recordBytes) {
      const at = counts + (<usize>(<u32>(load<u64>(from + keyOffset) >> shift) & mask) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    if (nextIndex == count) sumCounts(mask);
  } else {
    for (; nextIndex < end; nextIndex++, from += recordBytes) {
      const at = counts + (<usize>(<u32>(load<u64>(from + keyOffset) >> shift) & mask) << 2);
      const index = load<u32>(at);
      store<u32>(at, index + 1);
      copyRecord(to + <usize>index * recordBytes, from, recordBytes);
    }
  }
  return advanceStep(count, sliceEnd);
}

// @ts-ignore: decorator
@inline
function copyRecord(to: usize, from: usize, bytes: usize): void {
  v128.store(to, v128.load(from));
  if (bytes > 16) v128.store(to, v128.load(from, 16), 16);
}

/** Turns the counts of digits into the indices of their first records (prefix sum). */
function sumCounts(mask: u32): void {
  let sum: u32 = 0;
  for (let digit: u32 = 0; digit <= mask; digit++) {
    const at = counts + (<usize>digit << 2);
    const n = load<u32>(at);
    store<u32>(at, sum);
    sum += n;
  }
}

// How many records each slot has as b, later where they begin; the same as a; and the records ordered by b.
let countsB: usize = 0;
let countsA: usize = 0;
let recordsByB: usize = 0;

/**
 * Sorts the records of a list by ids into another place. All slots are below `slotCount`, which must stay the same until the
 * sort is done: each slot is one digit, and records move once. 6,700 pairs of 10,000 objects take 0.4 of the time of the
 * radix sort. Returns whether the sort is done. Throws OUT_OF_MEMORY.
 */
export function sortBySlots(
  from: RecordList, to: usize, count: u32, slotCount: u32, recordBytes: usize, sliceEnd: f64,
): bool {
  if (step == 0) {
    if (nextIndex == 0) clearSlotCounts(count, slotCount);
    do {
      const end = chunkEnd(count);
      for (let source = segmentStart(from, nextIndex); nextIndex < end; nextIndex++, source += recordBytes) {
        const b = countsB + slotBytes(load<u32>(source)), a = countsA + slotBytes(load<u32>(source, 4));
        store<u32>(b, load<u32>(b) + 4);
        store<u32>(a, load<u32>(a) + <u32>recordBytes);
      }
      if (!advanceStep(count, sliceEnd)) return false;
    } while (step == 0);
    sumSlotCounts(to, slotCount);
  }
  while (step == 1) {
    const end = chunkEnd(count);
    for (let source = segmentStart(from, nextIndex); nextIndex < end; nextIndex++, source += recordBytes) {
      const b = countsB + slotBytes(load<u32>(source));
      const entry = load<u32>(b);
      store<u32>(b, entry + 4);
      store<u32>(entry, <u32>source);
    }
    if (!advanceStep(count, sliceEnd)) return false;
  }
  while (step == 2) {
    const end = chunkEnd(count);
    for (let at = recordsByB + (<usize>nextIndex << 2); nextIndex < end; nextIndex++, at += 4) {
      const source = <usize>load<u32>(at);
      const a = countsA + slotBytes(load<u32>(source, 4));
      const target = load<u32>(a);
      store<u32>(a, target + <u32>recordBytes);
      copyRecord(<usize>target, source, recordBytes);
    }
    if (!advanceStep(count, sliceEnd)) return false;
  }
  return true;
}

function clearSlotCounts(count: u32, slotCount: u32): void {
  const bytes = <usize>slotCount << 2;
  countsB = reserve(countsB, 0, bytes);
  countsA = reserve(countsA, 0, bytes);
  recordsByB = reserve(recordsByB, 0, <u64>count << 2);
  memory.fill(countsB, 0, bytes);
  memory.fill(countsA, 0, bytes);
}

function sumSlotCounts(to: usize, slotCount: u32): void {
  let nextB = <u32>recordsByB, nextA = <u32>to;
  for (let at: usize = 0, bytes = <usize>slotCount << 2; at < bytes; at += 4) {
    const b = load<u32>(countsB + at), a = load<u32>(countsA + at);
    store<u32>(countsB + at, nextB);
    store<u32>(countsA + at, nextA);
    nextB += b;
    nextA += a;
  }
}

/** Returns the offset of an id's slot in a list of four bytes per slot. */
// @ts-ignore: decorator
@inline
function slotBytes(id: u32): usize {
  return <usize>(id >> GENERATION_BITS) << 2;
}
