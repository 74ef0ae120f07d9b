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
   * Answers the ids as `check` has found them to be, which is called where the stamp is not that of the last time: a
   * number that grows with all that matters.
   */
  read(given: Uint32Array, stamp: number, check: () => Uint32Array): Uint32Array {
    const noted = this.#noted.get(given);
    if (noted?.stamp === stamp) return noted.ids;
    const ids = check();
    if (noted === undefined) this.#noted.set(given, { ids, stamp });
    else noted.stamp = stamp;
    return noted?.ids ?? ids;
  }
}
