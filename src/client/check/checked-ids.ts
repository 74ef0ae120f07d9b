/** Ids that were found to be alive. */
interface Noted {
  readonly ids: Uint32Array;
  stamp: number;
}

/**
 * Arrays of ids that nobody writes any more. What was found out about one of them holds until an object is removed or
 * moved in another way: passes over 10,000 ids in every frame would cost more than the copy of their matrices.
 */
export class CheckedIds {
  readonly #noted = new WeakMap<Uint32Array, Noted>();

  /**
   * Answers the ids as they were found to be when that was noted last; undefined where the stamp is not that of then: a
   * number that grows with all that matters.
   */
  find(given: Uint32Array, stamp: number): Uint32Array | undefined {
    const noted = this.#noted.get(given);
    return noted?.stamp === stamp ? noted.ids : undefined;
  }

  /** Notes what was found, and answers it: the array of the first time, which others know. */
  note(given: Uint32Array, ids: Uint32Array, stamp: number): Uint32Array {
    const noted = this.#noted.get(given);
    if (noted === undefined) this.#noted.set(given, { ids, stamp });
    else noted.stamp = stamp;
    return noted?.ids ?? ids;
  }
}
