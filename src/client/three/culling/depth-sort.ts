/** Bits of a key that one pass of the sort examines: as many counters as fit into the L1 cache. */
const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
const MASK = BUCKETS - 1;

/**
 * Sorts indices by their depths, ascending or descending; equal depths keep their order. A radix sort of all 64 bits (Knuth, "The
 * Art of Computer Programming", volume 3, 5.2.5), used where the WebAssembly filter, which sorts faster, is not there.
 */
export class DepthSort {
  #keys = new Float64Array(0);
  #order = new Uint32Array(0);
  #next = new Uint32Array(0);
  readonly #starts = new Uint32Array(BUCKETS);

  /** Returns the indices of the first `count` depths, in their order. */
  sort(depths: Float64Array, count: number, isDescending: boolean): Uint32Array {
    if (this.#order.length < count) {
      this.#keys = new Float64Array(count);
      this.#order = new Uint32Array(count);
      this.#next = new Uint32Array(count);
    }
    const words = new Uint32Array(this.#keys.buffer);
    for (let i = 0; i < count; i++) {
      this.#keys[i] = (isDescending ? -depths[i] : depths[i]) + 0; // turns -0 into 0
      // An unsigned integer that sorts like the float.
      const isNegative = words[2 * i + 1] >>> 31 === 1;
      words[2 * i] ^= isNegative ? 0xffffffff : 0;
      words[2 * i + 1] ^= isNegative ? 0xffffffff : 0x80000000;
      this.#order[i] = i;
    }
    for (let word = 0; word < 2; word++) {
      for (let shift = 0; shift < 32; shift += DIGIT_BITS) this.#pass(words, word, shift, count);
    }
    return this.#order;
  }

  #pass(words: Uint32Array, word: number, shift: number, count: number): void {
    const [order, next] = [this.#order, this.#next];
    const starts = this.#starts.fill(0);
    for (let i = 0; i < count; i++) starts[(words[2 * i + word] >>> shift) & MASK]++;
    let sum = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const bucketSize = starts[bucket];
      starts[bucket] = sum;
      sum += bucketSize;
    }
    for (let n = 0; n < count; n++) next[starts[(words[2 * order[n] + word] >>> shift) & MASK]++] = order[n];
    [this.#order, this.#next] = [next, order];
  }
}
