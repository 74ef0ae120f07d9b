// The output buffer while it is written (layout.ts, OUT_*): a header, then one part after the other.

import { OUT_HEADER_BYTES } from '../../../../shared/layout';
import { reserve } from '../../memory';

export let out: usize = 0;
export let outUsed: usize = 0;

/**
 * Makes room for the header and for parts of this many bytes in total, each padded to a multiple of 16, and for the overrun of
 * the last write. Throws OUT_OF_MEMORY.
 */
export function reserveOut(bytes: u64, parts: u32): void {
  out = reserve(out, 0, OUT_HEADER_BYTES + bytes + 16 * <u64>(parts + 1));
}

/** Makes room for this many more parts after those already written. Throws OUT_OF_MEMORY. */
export function reserveMore(bytes: u64, parts: u32): void {
  out = reserve(out, outUsed, outUsed + bytes + 16 * <u64>(parts + 1));
}

export function beginOut(): void {
  outUsed = 0;
  append(OUT_HEADER_BYTES);
  memory.fill(out, 0, OUT_HEADER_BYTES);
}

/** Adds a part of `bytes` bytes, 16-aligned. Returns its offset. */
export function append(bytes: usize): u32 {
  const offset = outUsed;
  outUsed = (offset + bytes + 15) & ~15;
  return <u32>offset;
}

/** How many ids are written per iteration. */
const IDS_PER_ITERATION: usize = 4;

/**
 * Writes the ids of the slots of a bitmap, in ascending order; returns where they end. Up to 12 bytes beyond the end are
 * overwritten: parts are written one after the other. The CPU cannot predict how many bits a 64-bit word has: with one branch per
 * four bits, all lists of a view that sees 9,000 of 100,000 objects take 0.040 ms, with one per bit 0.055.
 */
export function writeIds(bitmap: usize, words: u32, ids: usize, to: usize): usize {
  for (let w: u32 = 0, from = ids; w < words; w += 2, from += 256) {
    let bits = load<u64>(bitmap + (<usize>w << 2));
    const end = to + (<usize>popcnt(bits) << 2);
    for (; to < end; to += 4 * IDS_PER_ITERATION) {
      for (let i: usize = 0; i < IDS_PER_ITERATION; i++) {
        store<u32>(to + 4 * i, load<u32>(from + ((<usize>ctz(bits) & 63) << 2)));
        bits &= bits - 1;
      }
    }
    to = end;
  }
  return to;
}
