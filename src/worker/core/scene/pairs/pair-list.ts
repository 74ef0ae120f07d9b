// Pairs in an array, ordered by their objects.

@unmanaged
export class Pair {
  b: u32; // first, so that the two read as one u64 sort by a, then b
  a: u32;
  contained: u32;
  begun: u32;
  groupA: u32;
  groupB: u32;
  /** Its record in the pool of contacts. */
  contact: u32;
  stale: u32;
}

export const PAIR_BYTES: usize = 32;

// @ts-ignore: decorator
@inline
export function pairIn(list: usize, i: u32): Pair {
  return changetype<Pair>(list + i * <u32>PAIR_BYTES);
}

// @ts-ignore: decorator
@inline
export function keyIn(list: usize, i: u32): u64 {
  return load<u64>(list + i * <u32>PAIR_BYTES);
}

// @ts-ignore: decorator
@inline
export function copyPair(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
}
