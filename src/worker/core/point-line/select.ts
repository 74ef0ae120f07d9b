// Selection in place, by partitions about a pivot that a sample places near the rank that is asked for (Floyd and Rivest,
// "Expected Time Bounds for Selection", 1975). A partition has no branches that depend on keys (Lomuto's scheme: every record
// is exchanged, the border moves or does not), which takes half of the time of Hoare's.

/** A point and its number. */
@unmanaged
export class PointRecord {
  place: v128;
}

/** The start of a line and its number, and its end. */
@unmanaged
export class LineRecord {
  start: v128;
  end: v128;
}

/** Answers the key of a record: a coordinate, of a line the sum of both ends'. `axis` is its offset. */
// @ts-ignore: decorator
@inline
function keyAt<T>(record: usize, axis: usize): f32 {
  const key = load<f32>(record + axis);
  return offsetof<T>() == offsetof<LineRecord>() ? key + load<f32>(record + axis, 16) : key;
}

/** Ranges of no more records are sorted by counting, of each, how many come before it. */
const SMALL: u32 = 32;
/** The samples of small, middling and large ranges. */
const FEW: u32 = 15;
const SOME: u32 = 63;
const MANY: u32 = 255;

const sample: usize = memory.data(<i32>MANY * 4, 16);
const keys: usize = memory.data(<i32>SMALL * 4, 16);
const copies: usize = memory.data(<i32>SMALL * 32, 16);

/**
 * Orders records from `start` up to `end` so that record k has the key that it had if all were sorted, none before it has
 * a greater one and none behind it a less one. `axis` is the offset of a coordinate.
 */
export function select<T>(records: usize, start: u32, end: u32, k: u32, axis: usize): void {
  let left = start, right = end;
  while (right - left > SMALL) {
    const pivot = pivotFor<T>(records, left, right, k, axis);
    const border = partition<T>(records, left, right, pivot, axis);
    if (k < border) right = border;
    else if (border > left) left = border;
    else {
      // No key is less than the pivot's: those that are equal go to the front.
      left = partition<T>(records, left, right, next(pivot), axis);
      if (k < left) return;
    }
  }
  sort<T>(records, left, right, axis);
}

/** Answers the least float32 that is greater. */
function next(value: f32): f32 {
  if (value == 0) return reinterpret<f32>(1);
  const bits = reinterpret<i32>(value);
  return reinterpret<f32>(value > 0 ? bits + 1 : bits - 1);
}

/** Answers the key of a record near rank k. */
function pivotFor<T>(records: usize, left: u32, right: u32, k: u32, axis: usize): f32 {
  const n = right - left;
  const size = n > 32768 ? MANY : n > 1024 ? SOME : FEW;
  const step = <usize>(n / size) * offsetof<T>();
  let from = records + <usize>left * offsetof<T>();
  for (let i: u32 = 0; i < size; i++, from += step) {
    const value = keyAt<T>(from, axis);
    let to = sample + (<usize>i << 2);
    while (to > sample && load<f32>(to - 4) > value) {
      store<f32>(to, load<f32>(to - 4));
      to -= 4;
    }
    store<f32>(to, value);
  }
  return load<f32>(sample + (<usize>(<u64>(k - left) * size / n) << 2));
}

/** Moves the records with keys below the pivot to the front. Answers where the others begin. */
function partition<T>(records: usize, left: u32, right: u32, pivot: f32, axis: usize): u32 {
  let border = records + <usize>left * offsetof<T>();
  for (let at = border, end = records + <usize>right * offsetof<T>(); at < end; at += offsetof<T>()) {
    const below = keyAt<T>(at, axis) < pivot;
    const first = v128.load(at), second = v128.load(at, offsetof<T>() - 16);
    v128.store(at, v128.load(border));
    if (offsetof<T>() > 16) v128.store(at, v128.load(border, 16), 16);
    v128.store(border, first);
    if (offsetof<T>() > 16) v128.store(border, second, 16);
    border += <usize>below * offsetof<T>();
  }
  return <u32>((border - records) / offsetof<T>());
}

/** Sorts a few records, by counting. */
function sort<T>(records: usize, left: u32, right: u32, axis: usize): void {
  const count: usize = right - left;
  const first = records + <usize>left * offsetof<T>();
  memory.copy(copies, first, count * offsetof<T>());
  for (let i: usize = 0; i < count; i++) store<f32>(keys + (i << 2), keyAt<T>(copies + i * offsetof<T>(), axis));
  for (let i = count; i < <usize>SMALL; i++) store<f32>(keys + (i << 2), Infinity);
  for (let i: usize = 0; i < count; i++) {
    const value = v128.load32_splat(keys + (i << 2));
    // Of equal ones, those come before that were before.
    let before = i32x4.splat(0), numbers = i32x4(0, 1, 2, 3);
    const own = i32x4.splat(<i32>i);
    for (let at: usize = 0; at < count << 2; at += 16) {
      const four = v128.load(keys + at);
      const isBefore = v128.or(f32x4.lt(four, value), v128.and(f32x4.eq(four, value), i32x4.lt_s(numbers, own)));
      before = i32x4.sub(before, isBefore);
      numbers = i32x4.add(numbers, i32x4.splat(4));
    }
    const rank = i32x4.extract_lane(before, 0) + i32x4.extract_lane(before, 1) + i32x4.extract_lane(before, 2) +
      i32x4.extract_lane(before, 3);
    const from = copies + i * offsetof<T>(), to = first + <usize>rank * offsetof<T>();
    v128.store(to, v128.load(from));
    if (offsetof<T>() > 16) v128.store(to, v128.load(from, 16), 16);
  }
}
