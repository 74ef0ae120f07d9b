// All hits of one ray: HIT_* records (layout.ts), one after the other in the order in which they are found.

import { HIT_BONE, HIT_BYTES } from '../../shared/layout';
import { reserve } from './memory';

let records: usize = 0;
export let hitCount: u32 = 0;

export function clearHits(): void {
  hitCount = 0;
}

/** Takes the last records away, so that there are `count`. */
export function dropHits(count: u32): void {
  hitCount = count;
}

/**
 * Adds a record and answers its address; the caller must fill in all but HIT_BONE. Records move when there is no room for it. Throws
 * OUT_OF_MEMORY.
 */
export function newHit(): usize {
  const used = <usize>hitCount * HIT_BYTES;
  records = reserve(records, used, <u64>used + HIT_BYTES);
  hitCount++;
  store<i32>(records + used, -1, HIT_BONE);
  return records + used;
}

export function hitAt(i: u32): usize {
  return records + <usize>i * HIT_BYTES;
}
