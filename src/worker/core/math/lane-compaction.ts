import { VECTOR_BYTES, WORD_BYTES } from '../sizes';
/** Number of subsets of four lanes. */
const SUBSET_COUNT: i32 = 16;

/** Swizzle bytes that move the lanes of a subset to the front, in order, for each subset. */
const swizzles: usize = memory.data(SUBSET_COUNT * VECTOR_BYTES, 16);
/** The first bytes of the lanes of a subset, for each subset. */
const byteSwizzles: usize = memory.data(SUBSET_COUNT * WORD_BYTES, 16);

for (let lanes: usize = 0; lanes < <usize>SUBSET_COUNT; lanes++) {
  let to = swizzles + (lanes << 4);
  let toByte = byteSwizzles + (lanes << 2);
  for (let lane: u32 = 0; lane < 4; lane++) {
    if (!(lanes & (1 << lane))) continue;
    store<u32>(to, 0x03020100 + lane * 0x04040404);
    to += 4;
    store<u8>(toByte++, <u8>(4 * lane));
  }
}

/** Returns the indices for a swizzle that moves the lanes whose bits are set to the front; the rest is undefined. */
// @ts-ignore: decorator
@inline
export function laneCompaction(lanes: u32): v128 {
  return v128.load(swizzles + (<usize>lanes << 4));
}

/** Returns the indices for a swizzle that moves the first byte of each lane whose bit is set to the front. */
// @ts-ignore: decorator
@inline
export function laneCompactionBytes(lanes: u32): v128 {
  return v128.load32_zero(byteSwizzles + (<usize>lanes << 2));
}
