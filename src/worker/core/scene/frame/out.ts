// The buffer out while it is written (layout.ts, OUT_*): a header, then one part after the other.

import { OUT_HEADER_BYTES } from '../../../../shared/layout';
import { reserve } from '../../memory';

export let out: usize = 0;
export let outUsed: usize = 0;

/** Room for parts of so many bytes, each of which ends at a multiple of 16. Throws OUT_OF_MEMORY. */
export function reserveOut(bytes: u64, parts: u32): void {
  out = reserve(out, 0, OUT_HEADER_BYTES + bytes + 16 * <u64>parts);
}

export function beginOut(): void {
  outUsed = 0;
  append(OUT_HEADER_BYTES);
  memory.fill(out, 0, OUT_HEADER_BYTES);
}

/** `bytes` more, 16-aligned; answers their offset. */
export function append(bytes: usize): u32 {
  const offset = outUsed;
  outUsed = (offset + bytes + 15) & ~15;
  return <u32>offset;
}
