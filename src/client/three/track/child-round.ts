import { Turns } from '../turns.js';
import type { SceneNode } from './scene-node.js';

/** The children of an object that has more than these are gone through by turns: all of 50,000 at once took 2 to 3 ms. */
export const MOST_AT_ONCE = 2048;

/** Counts the rounds of all of them: each has a number of its own. */
let rounds = 0;

/** Goes through the children of one object by turns, and counts those nodes below it that were seen among them. */
export class ChildRound {
  readonly #turns = new Turns();
  #number = ++rounds;
  #seen = 0;

  /** Notes that a node is among the children. */
  see(node: SceneNode): void {
    if (node.seenIn === this.#number) return;
    node.seenIn = this.#number;
    this.#seen++;
  }

  /** Notes that a node is not below the object any more. */
  leave(node: SceneNode): void {
    if (node.seenIn === this.#number) this.#seen--;
  }

  /**
   * Calls `visit` with the numbers of those of so many children whose turn it is, the first and the end. Where that ends a
   * round, in which less nodes were seen than the `parent` has, it calls `miss` with each of the others.
   */
  take(
    parent: SceneNode,
    length: number,
    visit: (first: number, end: number) => void,
    miss: (node: SceneNode) => void,
  ) {
    this.#turns.take(length, (first, end) => {
      visit(first, end);
      if (end === length) this.#end(parent, miss);
    });
  }

  #end(parent: SceneNode, miss: (node: SceneNode) => void): void {
    const number = this.#number;
    const isAll = this.#seen === parent.count;
    this.#number = ++rounds;
    this.#seen = 0;
    if (isAll) return;
    for (let child = parent.first; child !== null; ) {
      const { next } = child;
      if (child.seenIn !== number) miss(child);
      child = next;
    }
  }
}
