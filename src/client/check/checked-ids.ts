/** Ids that were found to be alive. */
interface Noted {
  readonly ids: Uint32Array;
  stamp: number;
}

/**
 * Arrays of ids that nobody writes any more. A check of such an array holds until an object is removed or moved in
 * another way: passing over 10,000 ids in every frame would cost more than copying their matrices.
 */
export class CheckedIds {
  readonly #noted = new WeakMap<Uint32Array, Noted>();

  /**
   * Returns the ids that were noted for an array; undefined if they were noted with another stamp, which is a number that
   * grows with every change that matters.
   */
  find(given: Uint32Array, stamp: number): Uint32Array | undefined {
    const noted = this.#noted.get(given);
    return noted?.stamp === stamp ? noted.ids : undefined;
  }

  /** Notes the checked ids, and returns them: the array of the first time, which others refer to. */
  note(given: Uint32Array, ids: Uint32Array, stamp: number): Uint32Array {
    const noted = this.#noted.get(given);
    if (noted === undefined) this.#noted.set(given, { ids, stamp });
    else noted.stamp = stamp;
    return noted?.ids ?? ids;
  }
}
