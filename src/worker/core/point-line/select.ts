// Selection in place, by partitions about a pivot that a sample places near the rank that is asked for (Floyd and Rivest,
// "Expected Time Bounds for Selection", 1975). Records are 16 bytes, of which one float32 is the key. A partition has no
// branches that depend on keys (Lomuto's scheme: every record is exchanged, the border moves or does not): a quarter of the
// time that exchanging what is on the wrong side takes.

/** The bytes of a record: a vector. */
export const RECORD_BYTES: usize = 16;

/** Ranges of no more records are sorted by counting, of each, how many come before it. */
const SMALL: u32 = 32;
/** The samples of small, middling and large ranges. */
const FEW: u32 = 15;
const SOME: u32 = 63;
const MANY: u32 = 255;

const sample: usize = memory.data(<i32>MANY * 4, 16);
const keys: usize = memory.data(<i32>SMALL * 4, 16);
const copies: usize = memory.data(<i32>SMALL * 16, 16);

/**
 * Orders records from `start` up to `end` so that record k has the key that it had if all were sorted, none before it has
 * a greater one and none behind it a less one. `key` is the offset of the float32 in a record.
 */
export function select(records: usize, start: u32, end: u32, k: u32, key: usize): void {
  let left = start, right = end;
  while (right - left > SMALL) {
    const pivot = pivotFor(records, left, right, k, key);
    const border = partition(records, left, right, pivot, key);
    if (k < border) right = border;
    else if (border > left) left = border;
    else {
      // No key is less than the pivot's: those that are equal go to the front.
      left = partition(records, left, right, next(pivot), key);
      if (k < left) return;
    }
  }
  sort(records, left, right, key);
}

/** Answers the least float32 that is greater. */
function next(value: f32): f32 {
  if (value == 0) return reinterpret<f32>(1);
  const bits = reinterpret<i32>(value);
  return reinterpret<f32>(value > 0 ? bits + 1 : bits - 1);
}

/** Answers the key of a record near rank k. */
function pivotFor(records: usize, left: u32, right: u32, k: u32, key: usize): f32 {
  const n = right - left;
  const size = n > 32768 ? MANY : n > 1024 ? SOME : FEW;
  const step = (<usize>(n / size)) << 4;
  let from = records + (<usize>left << 4) + key;
  for (let i: u32 = 0; i < size; i++, from += step) {
    const value = load<f32>(from);
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
function partition(records: usize, left: u32, right: u32, pivot: f32, key: usize): u32 {
  let border = records + (<usize>left << 4);
  for (let at = border, end = records + (<usize>right << 4); at < end; at += RECORD_BYTES) {
    const below = load<f32>(at + key) < pivot;
    const record = v128.load(at);
    v128.store(at, v128.load(border));
    v128.store(border, record);
    border += <usize>below << 4;
  }
  return <u32>((border - records) >> 4);
}

/** Sorts a few records. */
function sort(records: usize, left: u32, right: u32, key: usize): void {
  const count: usize = right - left;
  const first = records + (<usize>left << 4);
  memory.copy(copies, first, count << 4);
  for (let i: usize = 0; i < count; i++) store<f32>(keys + (i << 2), load<f32>(copies + (i << 4) + key));
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
    v128.store(first + (<usize>rank << 4), v128.load(copies + (i << 4)));
  }
}
