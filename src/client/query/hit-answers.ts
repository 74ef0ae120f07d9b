// Reads the hits of answers.
import { nextTask } from '../../shared/next-task.js';
import { HIT_FIELDS, type PackedHits, SWEEP_HIT_FIELDS, unpackHit, unpackSweepHit } from '../../shared/packed.js';
import type { Hit, SweepHit } from '../../shared/types.js';

/** Hits that are unpacked in one task, in a millisecond or two. */
const HITS_AT_ONCE = 4096;

export async function readHit(answer: Promise<PackedHits | null>): Promise<Hit | null> {
  const packed = await answer;
  return packed && unpackHit(packed);
}

export function readHits(answer: Promise<PackedHits>): Promise<Hit[]> {
  return unpackAll(answer, HIT_FIELDS, unpackHit);
}

export async function readSweepHit(answer: Promise<PackedHits | null>): Promise<SweepHit | null> {
  const packed = await answer;
  return packed && unpackSweepHit(packed);
}

export function readSweepHits(answer: Promise<PackedHits>): Promise<SweepHit[]> {
  return unpackAll(answer, SWEEP_HIT_FIELDS, unpackSweepHit);
}

/** Unpacks hits of `size` fields, thousands in each task. */
async function unpackAll<H>(
  answer: Promise<PackedHits>,
  size: number,
  unpack: (packed: PackedHits, at: number) => H,
): Promise<H[]> {
  const packed = await answer;
  const hits: H[] = [];
  for (let at = 0; at < packed.length; at += size) {
    if (hits.length % HITS_AT_ONCE === HITS_AT_ONCE - 1) await nextTask();
    hits.push(unpack(packed, at));
  }
  return hits;
}
