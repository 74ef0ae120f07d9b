/** Bits of a key that one pass of the sort looks at: as many counters as the processor's nearest memory has room for. */
const BITS = 11;
const BUCKETS = 1 << BITS;
const MASK = BUCKETS - 1;
/** Steps that depths are rounded to: two passes. */
const STEPS = 1 << (2 * BITS);
/** By how many places each is moved after that, on an average, where depths are too crowded for it. */
const CROWDED = 4;

/**
 * Sorts numbers by the depths that belong to them, ascending or descending; those of equal depth stay in order. A radix sort in
 * two passes by depths that are rounded to equal steps, and then by insertion what falls into one step (Knuth, "The Art of
 * Computer Programming", volume 3, 5.2.5 and 5.2.1): what is drawn is spread over its depths. Where it is crowded in a few
 * of them, a radix sort in three passes of the depths as float32 comes before the insertion.
 */
export class DepthSort {
  #keys = new Uint32Array(0);
  #swapKeys = new Uint32Array(0);
  #order = new Uint32Array(0);
  #swapOrder = new Uint32Array(0);
  #sorted = new Float64Array(0);
  readonly #low = new Uint32Array(BUCKETS);
  readonly #high = new Uint32Array(BUCKETS);
  readonly #float = new Float32Array(1);
  readonly #bits = new Uint32Array(this.#float.buffer);

  /** Answers the places of the depths, the first `count` of them, in their order. */
  sort(depths: Float64Array, count: number, isDescending: boolean): Uint32Array {
    if (this.#keys.length < count) {
      const length = Math.ceil(1.5 * count);
      this.#keys = new Uint32Array(length);
      this.#swapKeys = new Uint32Array(length);
      this.#order = new Uint32Array(length);
      this.#swapOrder = new Uint32Array(length);
      this.#sorted = new Float64Array(length);
    }
    if (this.#sortBySteps(depths, count, isDescending) && this.#insert(depths, count, isDescending, CROWDED * count)) {
      return this.#order;
    }
    this.#sortByFloats(depths, count, isDescending);
    this.#insert(depths, count, isDescending, Number.POSITIVE_INFINITY);
    return this.#order;
  }

  /** Sorts by depths in equal steps; answers false where there are none. */
  #sortBySteps(depths: Float64Array, count: number, isDescending: boolean): boolean {
    const least = leastOf(depths, count, 1);
    const most = -leastOf(depths, count, -1);
    const scale = ((isDescending ? -1 : 1) * (STEPS - 1)) / (most - least);
    if (!(Math.abs(scale) > 0 && Math.abs(scale) < Infinity)) return false;
    const low = this.#low;
    const high = this.#high;
    low.fill(0);
    high.fill(0);
    countSteps(depths, count, isDescending ? most : least, scale, this.#keys, low, high);
    addUp(low);
    addUp(high);
    distributeLow(this.#keys, count, low, this.#swapOrder);
    distributeHigh(this.#keys, count, high, this.#swapOrder, this.#order);
    return true;
  }

  #sortByFloats(depths: Float64Array, count: number, isDescending: boolean): void {
    const float = this.#float;
    const bits = this.#bits;
    const keys = this.#keys;
    for (let i = 0; i < count; i++) {
      float[0] = (isDescending ? -depths[i] : depths[i]) + 0; // -0 is 0
      // As a number without a sign that is in the order of the float.
      keys[i] = bits[0] ^ (bits[0] >>> 31 === 1 ? 0xffffffff : 0x80000000);
      this.#order[i] = i;
    }
    for (let shift = 0; shift < 32; shift += BITS) this.#pass(count, shift);
  }

  #pass(count: number, shift: number): void {
    const [keys, order, nextKeys, nextOrder] = [this.#keys, this.#order, this.#swapKeys, this.#swapOrder];
    const starts = this.#low.fill(0);
    for (let i = 0; i < count; i++) starts[(keys[i] >>> shift) & MASK]++;
    addUp(starts);
    for (let i = 0; i < count; i++) {
      const to = starts[(keys[i] >>> shift) & MASK]++;
      nextKeys[to] = keys[i];
      nextOrder[to] = order[i];
    }
    [this.#keys, this.#order, this.#swapKeys, this.#swapOrder] = [nextKeys, nextOrder, keys, order];
  }

  /** Puts right what keys cannot tell apart, within so many moves. Those of equal depth are in order already. */
  #insert(depths: Float64Array, count: number, isDescending: boolean, moves: number): boolean {
    let left = moves;
    const order = this.#order;
    const sorted = this.#sorted;
    for (let i = 0; i < count; i++) sorted[i] = depths[order[i]];
    for (let i = 1; i < count; i++) {
      const depth = sorted[i];
      if (!isBehind(sorted[i - 1], depth, isDescending)) continue;
      const place = order[i];
      let at = i - 1;
      while (at >= 0 && isBehind(sorted[at], depth, isDescending)) {
        order[at + 1] = order[at];
        sorted[at + 1] = sorted[at];
        at--;
      }
      order[at + 1] = place;
      sorted[at + 1] = depth;
      left -= i - at;
      if (left < 0) return false;
    }
    return true;
  }
}

function isBehind(a: number, b: number, isDescending: boolean): boolean {
  return isDescending ? a < b : a > b;
}

// Each loop has a function to itself: in one, V8 makes code of them that takes four times as long.

function leastOf(depths: Float64Array, count: number, sign: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const depth = sign * depths[i];
    if (depth < least) least = depth;
  }
  return least;
}

/** Rounds depths to steps, and counts how many have the same low bits, and the same high bits. */
function countSteps(
  depths: Float64Array,
  count: number,
  from: number,
  scale: number,
  keys: Uint32Array,
  low: Uint32Array,
  high: Uint32Array,
): void {
  for (let i = 0; i < count; i++) {
    const key = ((depths[i] - from) * scale) | 0;
    keys[i] = key;
    low[key & MASK]++;
    high[(key >>> BITS) & MASK]++;
  }
}

/** Makes of the numbers of each bucket where it begins. */
function addUp(counts: Uint32Array): void {
  let sum = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const own = counts[bucket];
    counts[bucket] = sum;
    sum += own;
  }
}

function distributeLow(keys: Uint32Array, count: number, starts: Uint32Array, order: Uint32Array): void {
  for (let i = 0; i < count; i++) order[starts[keys[i] & MASK]++] = i;
}

function distributeHigh(
  keys: Uint32Array,
  count: number,
  starts: Uint32Array,
  order: Uint32Array,
  next: Uint32Array,
): void {
  for (let n = 0; n < count; n++) {
    const i = order[n];
    next[starts[(keys[i] >>> BITS) & MASK]++] = i;
  }
}
