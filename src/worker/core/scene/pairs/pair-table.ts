// A direct-mapped cache between frames: eight bytes for each of some pairs of objects, by a hash of their ids; a new
// pair replaces an old one. The caller provides the table: ENTRY_BYTES for each of 2^bits entries.

/** The ids of both objects, and the cached value. */
export const ENTRY_BYTES: i32 = 16;

/** Returns the cached value of a pair, else `defaultValue`. */
// @ts-ignore: decorator
@inline
export function getCached(table: usize, bits: u64, a: u32, b: u32, defaultValue: u64): u64 {
  const entry = entryOf(table, bits, idsOf(a, b));
  return load<u64>(entry) == idsOf(a, b) ? load<u64>(entry, 8) : defaultValue;
}

// @ts-ignore: decorator
@inline
export function setCached(table: usize, bits: u64, a: u32, b: u32, value: u64): void {
  const entry = entryOf(table, bits, idsOf(a, b));
  store<u64>(entry, idsOf(a, b));
  store<u64>(entry, value, 8);
}

// @ts-ignore: decorator
@inline
function idsOf(a: u32, b: u32): u64 {
  return (<u64>a << 32) | b;
}

/** Returns the address of a pair's entry, by multiplicative hashing (Knuth 1973, vol. 3, 6.4). */
// @ts-ignore: decorator
@inline
function entryOf(table: usize, bits: u64, ids: u64): usize {
  return table + (<usize>((ids * 0x9e3779b97f4a7c15) >> (64 - bits)) << 4);
}
