// In-place selection, by partitions about a pivot that a sample places near the requested rank (Floyd and Rivest, "Expected
// Time Bounds for Selection", 1975). A partition has no branches that depend on keys (Lomuto's scheme: every record is
// swapped, the border moves or does not), which takes half the time of Hoare's.

/** A point and its index. */
@unmanaged
export class PointRecord {
  position: v128;
}

/** The start of a line and its index, and its end. */
@unmanaged
export class LineRecord {
  start: v128;
  end: v128;
}

/** Returns the key of a record: a coordinate; for a line, the sum of both ends' coordinates. `axis` is its offset. */
// @ts-ignore: decorator
@inline
function keyAt<T>(record: usize, axis: usize): f32 {
  const key = load<f32>(record + axis);
  return offsetof<T>() == offsetof<LineRecord>() ? key + load<f32>(record + axis, 16) : key;
}

/** Ranges of at most this many records are sorted by counting, for each record, how many come before it. */
const MAX_COUNTING_SORT: u32 = 32;
/** Sample sizes for small, medium and large ranges. */
const SMALL_SAMPLE: u32 = 15;
const MEDIUM_SAMPLE: u32 = 63;
const LARGE_SAMPLE: u32 = 255;

const sample: usize = memory.data(<i32>LARGE_SAMPLE * 4, 16);
const keys: usize = memory.data(<i32>(LARGE_SAMPLE + 1) * 4, 16);
const ranks: usize = memory.data(<i32>(LARGE_SAMPLE + 1) * 4, 16);
const copies: usize = memory.data(<i32>MAX_COUNTING_SORT * 32, 16);

/**
 * Partially sorts the records from `start` to `end`: record k gets the key that it would have if all were sorted, no record
 * before it has a greater key, and none after it a smaller one. `axis` is the offset of a coordinate.
 */
export function select<T>(records: usize, start: u32, end: u32, k: u32, axis: usize): void {
  let left = start, right = end;
  while (right - left > MAX_COUNTING_SORT) {
    const pivot = pivotFor<T>(records, left, right, k, axis);
    const border = partition<T>(records, left, right, pivot, axis);
    if (k < border) right = border;
    else if (border > left) left = border;
    else {
      // No key is less than the pivot's: the equal ones go to the front.
      left = partition<T>(records, left, right, next(pivot), axis);
      if (k < left) return;
    }
  }
  sort<T>(records, left, right, axis);
}

/** Returns the next greater float32. */
function next(value: f32): f32 {
  if (value == 0) return reinterpret<f32>(1);
  const bits = reinterpret<i32>(value);
  return reinterpret<f32>(value > 0 ? bits + 1 : bits - 1);
}

/** Returns the key of a record near rank k. */
function pivotFor<T>(records: usize, left: u32, right: u32, k: u32, axis: usize): f32 {
  const n = right - left;
  const size = n > 32768 ? LARGE_SAMPLE : n > 1024 ? MEDIUM_SAMPLE : SMALL_SAMPLE;
  const step = <usize>(n / size) * offsetof<T>();
  let from = records + <usize>left * offsetof<T>();
  for (let i: u32 = 0; i < size; i++, from += step) store<f32>(keys + (<usize>i << 2), keyAt<T>(from, axis));
  rank(size);
  for (let i: usize = 0; i < size; i++) {
    store<f32>(sample + (<usize>load<u32>(ranks + (i << 2)) << 2), load<f32>(keys + (i << 2)));
  }
  return load<f32>(sample + (<usize>(<u64>(k - left) * size / n) << 2));
}

/** Moves the records with keys below the pivot to the front. Returns where the rest begins. */
function partition<T>(records: usize, left: u32, right: u32, pivot: f32, axis: usize): u32 {
  let border = records + <usize>left * offsetof<T>();
  for (let at = border, end = records + <usize>right * offsetof<T>(); at < end; at += offsetof<T>()) {
    const isBelow = keyAt<T>(at, axis) < pivot;
    const first = v128.load(at), second = v128.load(at, offsetof<T>() - 16);
    v128.store(at, v128.load(border));
    if (offsetof<T>() > 16) v128.store(at, v128.load(border, 16), 16);
    v128.store(border, first);
    if (offsetof<T>() > 16) v128.store(border, second, 16);
    border += <usize>isBelow * offsetof<T>();
  }
  return <u32>((border - records) / offsetof<T>());
}

/** Sorts a few records, by counting. */
function sort<T>(records: usize, left: u32, right: u32, axis: usize): void {
  const count: usize = right - left;
  const first = records + <usize>left * offsetof<T>();
  memory.copy(copies, first, count * offsetof<T>());
  for (let i: usize = 0; i < count; i++) store<f32>(keys + (i << 2), keyAt<T>(copies + i * offsetof<T>(), axis));
  rank(<u32>count);
  for (let i: usize = 0; i < count; i++) {
    const from = copies + i * offsetof<T>(), to = first + <usize>load<u32>(ranks + (i << 2)) * offsetof<T>();
    v128.store(to, v128.load(from));
    if (offsetof<T>() > 16) v128.store(to, v128.load(from, 16), 16);
  }
}

/**
 * Counts for each of `count` keys how many come before it; equal keys keep their order. It compares four keys at a time
 * against one, so that no horizontal sum is needed at the end: splitting a million lines takes 0.8 of the time, 115 ms of
 * processor time and not 145. Records of only the midpoint, with the ends gathered where blocks are written, took 1.3 times as
 * long.
 */
function rank(count: u32): void {
  const end: usize = <usize>((count + 3) & ~3) << 2;
  for (let at = <usize>count << 2; at < end; at += 4) store<f32>(keys + at, Infinity);
  for (let at: usize = 0; at < end; at += 16) {
    const keys4 = v128.load(keys + at);
    let counts = i32x4.splat(0);
    for (let other: usize = 0; other < at; other += 16) {
      counts = i32x4.sub(counts, f32x4.le(v128.load32_splat(keys + other), keys4));
      counts = i32x4.sub(counts, f32x4.le(v128.load32_splat(keys + other, 4), keys4));
      counts = i32x4.sub(counts, f32x4.le(v128.load32_splat(keys + other, 8), keys4));
      counts = i32x4.sub(counts, f32x4.le(v128.load32_splat(keys + other, 12), keys4));
    }
    counts = i32x4.sub(counts, lanesAfter(keys + at, keys4, i32x4(0, -1, -1, -1)));
    counts = i32x4.sub(counts, lanesAfter(keys + at + 4, keys4, i32x4(0, 0, -1, -1)));
    counts = i32x4.sub(counts, lanesAfter(keys + at + 8, keys4, i32x4(0, 0, 0, -1)));
    counts = i32x4.sub(counts, f32x4.lt(v128.load32_splat(keys + at, 12), keys4));
    for (let other = at + 16; other < end; other += 16) {
      counts = i32x4.sub(counts, f32x4.lt(v128.load32_splat(keys + other), keys4));
      counts = i32x4.sub(counts, f32x4.lt(v128.load32_splat(keys + other, 4), keys4));
      counts = i32x4.sub(counts, f32x4.lt(v128.load32_splat(keys + other, 8), keys4));
      counts = i32x4.sub(counts, f32x4.lt(v128.load32_splat(keys + other, 12), keys4));
    }
    v128.store(ranks + at, counts);
  }
}

/** Tells for four keys whether another key is less, or is equal in the lanes of `tieMask`. */
// @ts-ignore: decorator
@inline
function lanesAfter(key: usize, keys4: v128, tieMask: v128): v128 {
  const key4 = v128.load32_splat(key);
  return v128.or(f32x4.lt(key4, keys4), v128.and(f32x4.eq(key4, keys4), tieMask));
}
