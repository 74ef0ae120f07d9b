import type { SceneContact, SceneFrame } from 'collision-worker/three';
import type { Filter } from './filters.js';
import { labelOf } from './labels.js';

/** Two objects that touch, by name, and the filters that match them. */
export interface TouchingPair {
  readonly a: string;
  readonly b: string;
  readonly filters: readonly string[];
}

export interface Change {
  readonly kind: 'began' | 'ended';
  readonly pair: TouchingPair;
}

/** Tracks the pairs that touch, and reports which begin and end. */
export class Touching {
  readonly #pairs = new Map<string, TouchingPair>();

  get pairs(): TouchingPair[] {
    return [...this.#pairs.values()];
  }

  /** Takes a frame with the contacts that each filter found in it; returns the changes. */
  follow(frame: SceneFrame, contactsByFilter: ReadonlyMap<Filter, readonly SceneContact[]>): Change[] {
    const changes: Change[] = [];
    frame.forEachEnded((a, b) => {
      const key = keyOf(labelOf(a), labelOf(b));
      changes.push({ kind: 'ended', pair: this.#pairs.get(key)! });
      this.#pairs.delete(key);
    });
    const { begun } = frame.result.contacts;
    frame.forEachContact((first, second, index) => {
      if (begun[index] === 0) return;
      const [a, b] = [labelOf(first), labelOf(second)];
      const filters = [...contactsByFilter].flatMap(([{ name }, contacts]) =>
        contacts.some((each) => each.index === index) ? name : [],
      );
      const pair = { a, b, filters };
      this.#pairs.set(keyOf(a, b), pair);
      changes.push({ kind: 'began', pair });
    });
    return changes;
  }
}

function keyOf(a: string, b: string): string {
  return `${a} – ${b}`;
}
