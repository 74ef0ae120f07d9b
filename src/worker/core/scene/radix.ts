// Radix sort of records of a whole number of vectors, stable, up to 11 bits at a time.

const counts: usize = memory.data(2048 * 4, 16);

/**
 * By the ids of a pair that each record T begins with, as b, then a: over the slots' 21 bits of both, as ids sort like
 * their slots do. `spare` has room for as many records; the list is where it was in the end.
 */
export function sortByIds<T>(list: usize, spare: usize, count: u32): void {
  if (count < 2) return;
  radixPass<T>(list, spare, count, 0, 11, 11);
  radixPass<T>(spare, list, count, 0, 22, 10);
  radixPass<T>(list, spare, count, 0, 43, 11);
  radixPass<T>(spare, list, count, 0, 54, 10);
}

/** By `bits` bits from bit `shift` on of the u64 at `offset` in each record. */
export function radixPass<T>(from: usize, to: usize, count: u32, offset: usize, shift: u64, bits: u32): void {
  const mask: u32 = (1 << bits) - 1;
  memory.fill(counts, 0, 2048 * 4);
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
