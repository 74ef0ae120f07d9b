import { CHUNK } from './filter-question.js';
import type { FrustumFilter } from './packed-filter.js';

let filter: FrustumFilter | null = null;
let isStarted = false;

/** Returns the filter, which is ready a few milliseconds after the first call; null until then, or where there is no SIMD. */
export function frustumFilter(): FrustumFilter | null {
  if (!isStarted) void startFilter();
  return filter;
}

/**
 * Loads the code that only pages with culling need, and starts the filter. `packed` is a module, packed by gzip, that replaces
 * its own. If that fails, instances are tested without the filter.
 */
export async function startFilter(packed?: Uint8Array<ArrayBuffer>): Promise<void> {
  isStarted = true;
  try {
    const { FrustumFilter } = await import('./packed-filter.js');
    filter = await FrustumFilter.start(packed);
  } catch {
    // Stays without the filter.
  }
}

/** Numbers per matrix. */
const MATRIX_LENGTH = 16;

/** The views of each array, kept as long as the array. */
const chunksByArray = new WeakMap<Float32Array, Float32Array[]>();

/**
 * Returns the matrices of at least the first `count` instances of an array, as one view per chunk. The views are kept with the
 * array, since thousands of them take 0.2 to 0.5 µs and 0.1 KB each: all cameras that see a mesh share them, and so do pictures
 * of a mesh whose arrays alternate.
 */
export function chunksOf(array: Float32Array, count: number): readonly Float32Array[] {
  let views = chunksByArray.get(array);
  if (views === undefined) {
    views = [];
    chunksByArray.set(array, views);
  }
  const step = CHUNK * MATRIX_LENGTH;
  while (CHUNK * views.length < count) {
    views.push(array.subarray(step * views.length, step * (views.length + 1)));
  }
  return views;
}
