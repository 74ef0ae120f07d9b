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

type Numbers = Float32Array | Int32Array;

/** What is known of many instances as views of as many as are asked about at once, which are made anew where that is another array. */
export class Chunks<T extends Numbers> {
  readonly #size: number;
  #array: T | null = null;
  #views: T[] = [];

  /** So many numbers are of each. */
  constructor(size: number) {
    this.#size = CHUNK * size;
  }

  /** Answers those of the first `count` instances at least. */
  of(array: T, count: number): readonly T[] {
    if (array !== this.#array) {
      this.#array = array;
      this.#views = [];
    }
    const size = this.#size;
    const views = this.#views;
    while (CHUNK * views.length < count) {
      views.push(array.subarray(size * views.length, size * (views.length + 1)) as T);
    }
    return views;
  }
}
