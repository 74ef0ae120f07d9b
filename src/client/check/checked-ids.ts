/** Ids that were found to be alive. */
interface CheckedArray {
  readonly ids: Uint32Array;
  stamp: number;
}

/**
 * Arrays of ids that nobody writes any more. A check of such an array holds until an object is removed or moved in
 * another way: passing over 10,000 ids in every frame would cost more than copying their matrices.
 */
export class CheckedIds {
  readonly #checkedArrays = new WeakMap<Uint32Array, CheckedArray>();

  /**
   * Returns the ids that were noted for an array; undefined if they were noted with another stamp, which is a number that
   * grows with every change that matters.
   */
  find(array: Uint32Array, stamp: number): Uint32Array | undefined {
    const checked = this.#checkedArrays.get(array);
    return checked?.stamp === stamp ? checked.ids : undefined;
  }

  /** Notes the checked ids, and returns them: the array of the first time, which others refer to. */
  note(array: Uint32Array, ids: Uint32Array, stamp: number): Uint32Array {
    const checked = this.#checkedArrays.get(array);
    if (!checked) this.#checkedArrays.set(array, { ids, stamp });
    else checked.stamp = stamp;
    return checked?.ids ?? ids;
  }
}
