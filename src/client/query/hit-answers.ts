// Reads the hits of answers.
import { nextTask } from '../../shared/next-task.js';
import {
  HIT_FIELDS,
  type PackedHit,
  type PackedHits,
  SWEEP_HIT_FIELDS,
  unpackHit,
  unpackSweepHit,
} from '../../shared/packed.js';
import type { Hit, SweepHit } from '../../shared/types.js';

/** Hits that are unpacked in one task, in a millisecond or two. */
const HITS_AT_ONCE = 4096;

type Unpack<H> = (fields: PackedHit, at?: number, extras?: ArrayLike<unknown>) => H;

export const readHit = readOne<Hit>(unpackHit);
export const readHits = readAll<Hit>(HIT_FIELDS, unpackHit);
export const readSweepHit = readOne<SweepHit>(unpackSweepHit);
export const readSweepHits = readAll<SweepHit>(SWEEP_HIT_FIELDS, unpackSweepHit);

function readOne<H>(unpack: Unpack<H>) {
  return async (answer: Promise<PackedHit | null>): Promise<H | null> => {
    const packed = await answer;
    return packed && unpack(packed);
  };
}

/** Unpacks hits of `size` fields, thousands in each task. */
function readAll<H>(size: number, unpack: Unpack<H>) {
  return async (answer: Promise<PackedHits>): Promise<H[]> => {
    const [fields, extras] = await answer;
    const hits: H[] = [];
    for (let at = 0; at < fields.length; at += size) {
      if (hits.length % HITS_AT_ONCE === HITS_AT_ONCE - 1) await nextTask();
      hits.push(unpack(fields, at, extras));
    }
    return hits;
  };
}
