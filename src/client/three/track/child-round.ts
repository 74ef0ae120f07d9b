import type { Object3D } from 'three';
import { Turns } from '../turns.js';

/** The children of an object that has more than these are gone through by turns: all of 50,000 at once took 2 to 3 ms. */
export const MOST_AT_ONCE = 2048;

/** Counts the rounds of all of them: each has a number of its own. */
let rounds = 0;

/** Goes through the children of one object by turns, and compares them with those that it had. */
export class ChildRound {
  readonly #turns = new Turns();
  readonly #noted: Object3D[];
  /** Who is among the children is to note this number. */
  number = ++rounds;
  /** Others are in their places in this round. */
  #lost: Object3D[] = [];

  /** `noted` is what it had, and is kept as the children are. */
  constructor(noted: Object3D[]) {
    this.#noted = noted;
  }

  /**
   * Calls `visit` with those whose turn it is and whose place another had; and where that ends a round, `end` with all that had
   * these places: some of them may be gone.
   */
  take(
    children: readonly Object3D[],
    visit: (child: Object3D) => void,
    end: (lost: readonly Object3D[]) => void,
  ): void {
    const noted = this.#noted;
    const { length } = children;
    this.#turns.take(length, (first, last) => {
      for (let i = first; i < last; i++) {
        const child = children[i];
        if (child === noted[i]) continue;
        this.#lost.push(noted[i]); // undefined behind the end, which nobody knows
        noted[i] = child;
        visit(child);
      }
      if (last < length) return;
      for (const object of noted.splice(length)) this.#lost.push(object);
      end(this.#lost);
      this.#lost = [];
      this.number = ++rounds;
    });
  }
}
