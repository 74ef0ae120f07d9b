// Packs the hits of an answer.
import { HIT_FIELDS, type HitExtras, type PackedHits } from '../shared/packed.js';
import type { Steps } from './binding/steps.js';

/** Hits that are packed in a step. */
const HITS_PER_STEP = 1024;
/** More hits than this travel in a buffer, which is transferred. */
const FEW_HITS = 16;

/**
 * Packs hits, in steps. What the fields of hits cannot hold, which is the names of boxes, is listed once for all hits: the
 * list stays short.
 */
export function* packAll<H extends object>(
  hits: readonly H[],
  size: number,
  pack: (hit: H, frame: number) => ArrayLike<number>,
  frame: number,
): Steps<PackedHits> {
  const fields: number[] | Float64Array = hits.length > FEW_HITS ? new Float64Array(size * hits.length) : [];
  const extras: HitExtras[] = [];
  const indexOfBox = new Map<string | undefined, number>();
  for (const [i, hit] of hits.entries()) {
    if (i % HITS_PER_STEP === HITS_PER_STEP - 1) yield;
    const packed = pack(hit, frame);
    for (let k = 0; k < size; k++) fields[size * i + k] = packed[k] ?? Number.NaN;
    if (packed.length <= size) continue;
    const hitExtras = packed[HIT_FIELDS] as unknown as HitExtras;
    let index = indexOfBox.get(hitExtras.box);
    if (index === undefined) {
      index = extras.push(hitExtras) - 1;
      indexOfBox.set(hitExtras.box, index);
    }
    fields[size * i + size - 1] = index;
  }
  return [fields, extras];
}
