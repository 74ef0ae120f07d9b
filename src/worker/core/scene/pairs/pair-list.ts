// The record of a pair in contact, and lists of such records, sorted by their objects.

@unmanaged
export class Pair {
  b: u32; // first, so that both ids read as one u64 sort by a, then b
  a: u32;
  contained: u8;
  begun: u8;
  stale: u8;
  pad: u8;
  /** When the two met in their motions, from 0 to 1; 1 if they are in contact at the end. */
  time: f32;
  groupA: u32;
  groupB: u32;
  /** The pair's record in the pool of contacts. */
  contact: u32;
  /** How many points it has, so that the answer is written without waiting for the record. */
  points: u32;
}

export const PAIR_BYTES: usize = offsetof<Pair>();

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
