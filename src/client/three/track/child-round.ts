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
  readonly #lost: Object3D[] = [];

  /** `noted` is what it had, and is kept as the children are. */
  constructor(noted: Object3D[]) {
    this.#noted = noted;
  }

  /**
   * Calls `visit` with those whose turn it is and whose place another had, and `lose` with that one before; and where that ends a
   * round, `end` with all that had these places: some of them may be gone. It answers those that nobody has seen since: another
   * one that went before such a one may have moved it to where nobody looked any more, and it may go from there before the next
   * round comes to it.
   */
  take(
    children: readonly Object3D[],
    visit: (child: Object3D) => void,
    lose: (child: Object3D) => void,
    end: (lost: readonly Object3D[]) => Object3D[],
  ): void {
    const noted = this.#noted;
    const lost = this.#lost;
    const { length } = children;
    this.#turns.take(length, (first, last) => {
      for (let i = first; i < last; i++) {
        const child = children[i];
        const before = noted[i]; // undefined behind the end, which nobody knows
        if (child === before) continue;
        lose(before);
        lost.push(before);
        noted[i] = child;
        visit(child);
      }
      if (last < length) return;
      for (const object of noted.splice(length)) {
        lose(object);
        lost.push(object);
      }
      for (const object of end(lost.splice(0))) lost.push(object);
      this.number = ++rounds;
    });
  }
}
