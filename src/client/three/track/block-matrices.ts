/**
 * The matrices of instances, block by block: views into the array that three has them in. They are made anew only where that is
 * another array or the blocks are others, as fifty thousand instances would leave 2.7 KB of views behind in every frame.
 */
export class BlockMatrices {
  #array: Float32Array | null = null;
  #blocks: readonly Uint32Array[] = [];
  #views: readonly Float32Array[] = [];

  /** Answers the matrices of each block; `array` has 16 numbers for each instance. */
  of(array: Float32Array, blocks: readonly Uint32Array[]): readonly Float32Array[] {
    if (array === this.#array && blocks === this.#blocks) return this.#views;
    this.#array = array;
    this.#blocks = blocks;
    let start = 0;
    this.#views = blocks.map(({ length }) => {
      const view = array.subarray(start, start + 16 * length);
      start += 16 * length;
      return view;
    });
    return this.#views;
  }
}
