// All hits of one ray: HIT_* records (layout.ts), in the order in which they are found.

import { HIT_BONE, HIT_BYTES } from '../../shared/layout';
import { reserve } from './memory';

let records: usize = 0;
export let hitCount: u32 = 0;

export function clearHits(): void {
  hitCount = 0;
}

/** Drops the last records, so that `count` remain. */
export function dropHits(count: u32): void {
  hitCount = count;
}

/**
 * Appends a record and returns its address; the caller must fill in everything but HIT_BONE. Records move if there is no room.
 * Throws OUT_OF_MEMORY.
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
