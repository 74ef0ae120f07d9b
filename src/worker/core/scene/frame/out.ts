// The buffer out while it is written (layout.ts, OUT_*): a header, then one part after the other.

import { OUT_HEADER_BYTES } from '../../../../shared/layout';
import { reserve } from '../../memory';

export let out: usize = 0;
export let outUsed: usize = 0;

/**
 * Makes room for the header and for parts of so many bytes, each of which ends at a multiple of 16. Throws
 * OUT_OF_MEMORY.
 */
export function reserveOut(bytes: u64, parts: u32): void {
  out = reserve(out, 0, OUT_HEADER_BYTES + bytes + 16 * <u64>parts);
}

export function beginOut(): void {
  outUsed = 0;
  append(OUT_HEADER_BYTES);
  memory.fill(out, 0, OUT_HEADER_BYTES);
}

/** Adds a part of `bytes` bytes, 16-aligned. Answers its offset. */
export function append(bytes: usize): u32 {
  const offset = outUsed;
  outUsed = (offset + bytes + 15) & ~15;
  return <u32>offset;
}

/** Writes the ids of the slots that a bitmap holds, in their order; answers where they end. */
export function writeIds(bitmap: usize, words: u32, ids: usize, to: usize): usize {
  for (let w: u32 = 0; w < words; w++) {
    let bits = load<u32>(bitmap + (<usize>w << 2));
    while (bits != 0) {
      store<u32>(to, load<u32>(ids + (<usize>((w << 5) + ctz(bits)) << 2)));
      to += 4;
      bits &= bits - 1;
    }
  }
  return to;
}
