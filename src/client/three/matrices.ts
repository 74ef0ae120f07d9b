import { writeAffine } from '../affine.js';

const LENGTH = 12; // the bottom row of an affine matrix says nothing

/**
 * World matrices as they were sent last. All in one array: a frame goes through it from end to end, and 10,000
 * arrays of their own would cost more in cache misses than everything else.
 */
export class SentMatrices {
  #values = new Float64Array(64 * LENGTH);
  #used = 0;
  readonly #free: number[] = [];

  /** A place for a matrix. */
  allocate(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if ((this.#used + 1) * LENGTH > this.#values.length) {
      const grown = new Float64Array(2 * this.#values.length);
      grown.set(this.#values);
      this.#values = grown;
    }
    return this.#used++;
  }

  release(place: number): void {
    this.#free.push(place);
  }

  /** Whether the matrix at `place` is `m`, 16 elements. */
  has(place: number, m: readonly number[]): boolean {
    const v = this.#values;
    const at = place * LENGTH;
    // The translation first: it changes most often.
    return (
      v[at + 9] === m[12] &&
      v[at + 10] === m[13] &&
      v[at + 11] === m[14] &&
      v[at] === m[0] &&
      v[at + 1] === m[1] &&
      v[at + 2] === m[2] &&
      v[at + 3] === m[4] &&
      v[at + 4] === m[5] &&
      v[at + 5] === m[6] &&
      v[at + 6] === m[8] &&
      v[at + 7] === m[9] &&
      v[at + 8] === m[10]
    );
  }

  set(place: number, m: readonly number[]): void {
    writeAffine(this.#values, place * LENGTH, m);
  }
}
