import { CHUNK } from './filter-question.js';
import type { FrustumFilter } from './packed-filter.js';

let filter: FrustumFilter | null = null;
let isBegun = false;

/** Answers the filter, which is there a few milliseconds after this was called first; null until then, or where there is no SIMD. */
export function frustumFilter(): FrustumFilter | null {
  if (!isBegun) void startFilter();
  return filter;
}

/**
 * Loads what only pages with culling need, and starts it, from another module than its own where one is given, packed by gzip.
 * Where that cannot be, instances are looked at without it.
 */
export async function startFilter(packed?: Uint8Array<ArrayBuffer>): Promise<void> {
  isBegun = true;
  try {
    const { FrustumFilter } = await import('./packed-filter.js');
    filter = await FrustumFilter.start(packed);
  } catch {
    // As it was.
  }
}

/** Numbers of a matrix. */
const MATRIX = 16;

/** The views of arrays, for as long as these are there. */
const known = new WeakMap<Float32Array, Float32Array[]>();

/**
 * Answers the matrices of at least the first `count` instances of an array, as views of as many as are asked about at once. They
 * are kept for the array, as thousands take 0.2 to 0.5 µs and 0.1 KB each: all cameras that see a mesh share them, as do pictures
 * of a mesh whose arrays take turns.
 */
export function chunksOf(array: Float32Array, count: number): readonly Float32Array[] {
  let views = known.get(array);
  if (views === undefined) {
    views = [];
    known.set(array, views);
  }
  const step = CHUNK * MATRIX;
  while (CHUNK * views.length < count) {
    views.push(array.subarray(step * views.length, step * (views.length + 1)));
  }
  return views;
}
