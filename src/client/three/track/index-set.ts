import { grown } from '../../../shared/typed-arrays.js';

/** A set of small integers: one bit for each, up to the largest that was ever in it. */
export class IndexSet {
  size = 0;
  #words = new Uint32Array(1);

  has(index: number): boolean {
    // A word beyond the end reads as undefined, which has no bits.
    return ((this.#words[index >>> 5] >>> (index & 31)) & 1) !== 0;
  }

  add(index: number): void {
    if (this.has(index)) return;
    if (index >>> 5 >= this.#words.length) this.#words = grown(this.#words, (index >>> 5) + 1);
    this.#words[index >>> 5] |= 1 << (index & 31);
    this.size++;
  }

  delete(index: number): void {
    if (!this.has(index)) return;
    this.#words[index >>> 5] &= ~(1 << (index & 31));
    this.size--;
  }

  /** Deletes all members from `first` on. */
  deleteFrom(first: number): void {
    this.forEach(first, Number.POSITIVE_INFINITY, (index) => this.delete(index));
  }

  /** Calls `visit` with the members in [first, end), ascending. It may delete the member that it is called with. */
  forEach(first: number, end: number, visit: (index: number) => void): void {
    if (this.size === 0) return;
    const words = this.#words;
    for (let n = first >>> 5; n < words.length && 32 * n < end; n++) {
      for (let word = words[n]; word !== 0; word &= word - 1) {
        const index = 32 * n + 31 - Math.clz32(word & -word);
        if (index >= first && index < end) visit(index);
      }
    }
  }
}
