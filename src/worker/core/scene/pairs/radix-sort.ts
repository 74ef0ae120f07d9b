// Stable sorts of records that are a whole number of vectors long: by radix, up to 11 bits at a time, and by counting
// (Knuth 1973, vol. 3, 5.2 and 5.2.5).

import { GENERATION_BITS } from '../../../../shared/layout';
import { reserve } from '../../memory';

/** Bits of a digit at most, and the bytes of its counts, u32 each. */
const MOST_BITS: u32 = 11;
const COUNT_BYTES: i32 = 4 << MOST_BITS;
const counts: usize = memory.data(COUNT_BYTES, 16);

/**
 * Sorts by the ids of a pair that each record T begins with, as b, then a: over the slots' 21 bits of both, as ids sort
 * like their slots do. `spare` has room for as many records; the list is where it was in the end.
 */
export function sortByIds<T>(list: usize, spare: usize, count: u32): void {
  if (count < 2) return;
  radixPass<T>(list, spare, count, 0, 11, 11);
  radixPass<T>(spare, list, count, 0, 22, 10);
  radixPass<T>(list, spare, count, 0, 43, 11);
  radixPass<T>(spare, list, count, 0, 54, 10);
}

/** Sorts by `bits` bits from bit `shift` on of the u64 at `offset` in each record. */
export function radixPass<T>(from: usize, to: usize, count: u32, offset: usize, shift: u64, bits: u32): void {
  const mask: u32 = (1 << bits) - 1;
  memory.fill(counts, 0, COUNT_BYTES);
  const end = from + <usize>count * offsetof<T>();
  for (let source = from; source < end; source += offsetof<T>()) {
    const at = counts + (<usize>(<u32>(load<u64>(source + offset) >> shift) & mask) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let sum: u32 = 0;
  for (let digit: u32 = 0; digit <= mask; digit++) {
    const at = counts + (<usize>digit << 2);
    const n = load<u32>(at);
    store<u32>(at, sum);
    sum += n;
  }
  for (let source = from; source < end; source += offsetof<T>()) {
    const at = counts + (<usize>(<u32>(load<u64>(source + offset) >> shift) & mask) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    const target = to + <usize>place * offsetof<T>();
    for (let k: usize = 0; k < offsetof<T>(); k += 16) v128.store(target + k, v128.load(source + k));
  }
}

// How many records each slot has as b, then where they begin; as a; and the records by b.
let ofB: usize = 0;
let ofA: usize = 0;
let byB: usize = 0;

/**
 * Sorts by ids into another list. All slots are below `slots`: each is a digit, and records move once. 6,700 pairs of
 * 10,000 objects take 0.4 of the time that they take by radix. Throws OUT_OF_MEMORY.
 */
export function sortBySlots<T>(from: usize, to: usize, count: u32, slots: u32): void {
  const bytes = <usize>slots << 2;
  ofB = reserve(ofB, 0, bytes);
  ofA = reserve(ofA, 0, bytes);
  byB = reserve(byB, 0, <u64>count << 2);
  memory.fill(ofB, 0, bytes);
  memory.fill(ofA, 0, bytes);
  const end = from + <usize>count * offsetof<T>();
  for (let source = from; source < end; source += offsetof<T>()) {
    const b = ofB + slotBytes(load<u32>(source)), a = ofA + slotBytes(load<u32>(source, 4));
    store<u32>(b, load<u32>(b) + 4);
    store<u32>(a, load<u32>(a) + <u32>offsetof<T>());
  }
  let nextB = <u32>byB, nextA = <u32>to;
  for (let at: usize = 0; at < bytes; at += 4) {
    const b = load<u32>(ofB + at), a = load<u32>(ofA + at);
    store<u32>(ofB + at, nextB);
    store<u32>(ofA + at, nextA);
    nextB += b;
    nextA += a;
  }
  for (let source = from; source < end; source += offsetof<T>()) {
    const b = ofB + slotBytes(load<u32>(source));
    const place = load<u32>(b);
    store<u32>(b, place + 4);
    store<u32>(place, <u32>source);
  }
  for (let at = byB, last = byB + (<usize>count << 2); at < last; at += 4) {
    const source = <usize>load<u32>(at);
    const a = ofA + slotBytes(load<u32>(source, 4));
    const target = <usize>load<u32>(a);
    store<u32>(a, <u32>(target + offsetof<T>()));
    for (let k: usize = 0; k < offsetof<T>(); k += 16) v128.store(target + k, v128.load(source + k));
  }
}

/** Answers the offset of an id's slot in a list of four bytes for each slot. */
// @ts-ignore: decorator
@inline
function slotBytes(id: u32): usize {
  return <usize>(id >> GENERATION_BITS) << 2;
}
