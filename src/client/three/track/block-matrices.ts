/**
 * The matrices of instances, block by block: views into the array that three has them in. They are recreated only if the array
 * or the blocks change, because fifty thousand instances would leave 2.7 KB of views as garbage in every frame.
 */
export class BlockMatrices {
  #array: Float32Array | null = null;
  #blocks: readonly Uint32Array[] = [];
  #views: readonly Float32Array[] = [];

  /** Returns the matrices of each block; `array` has 16 numbers per instance. */
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
