import type { Object3D } from 'three';
import { Turns } from '../turns.js';

/** The children of an object that has more of them are checked in turn: all of 50,000 at once took 2 to 3 ms. */
export const MAX_CHILDREN_AT_ONCE = 2048;

/** Counts the rounds of all objects: each round has a number of its own. */
let roundCount = 0;

/** Visits the children of one object in turn, and compares them with those that it had. */
export class ChildRound {
  readonly #turns = new Turns();
  readonly #knownChildren: Object3D[];
  /** To be noted by each node that is seen among the children. */
  number = ++roundCount;
  /** Children whose index in the list is taken by another object, found in this round. */
  readonly #displaced: Object3D[] = [];

  /** `knownChildren` is the previous list of children; it is updated in place. */
  constructor(knownChildren: Object3D[]) {
    this.#knownChildren = knownChildren;
  }

  /**
   * Visits the children whose turn it is: if another object had a child's index before, `visit` gets the child, and
   * `onDisplaced` the other object. At the end of a round, `onRoundEnd` gets all objects that have lost their index: some of
   * them may be removed. It returns those that were not seen since, which stay for the next round: the removal of an earlier
   * child may have moved such a child to an index that was already passed, and it may be removed from there before the next
   * round reaches it.
   */
  take(
    children: readonly Object3D[],
    visit: (child: Object3D) => void,
    onDisplaced: (child: Object3D) => void,
    onRoundEnd: (displaced: readonly Object3D[]) => Object3D[],
  ): void {
    const knownChildren = this.#knownChildren;
    const displaced = this.#displaced;
    const { length } = children;
    this.#turns.take(length, (first, last) => {
      for (let i = first; i < last; i++) {
        const child = children[i];
        const previous = knownChildren[i]; // undefined beyond the end, which matches no node
        if (child === previous) continue;
        onDisplaced(previous);
        displaced.push(previous);
        knownChildren[i] = child;
        visit(child);
      }
      if (last < length) return;
      for (const object of knownChildren.splice(length)) {
        onDisplaced(object);
        displaced.push(object);
      }
      for (const object of onRoundEnd(displaced.splice(0))) displaced.push(object);
      this.number = ++roundCount;
    });
  }
}
