import type { FrameResult } from 'collision-worker';
import { pairKeys, replay } from '../oracle/events.js';
import { faultOfPairs } from './contact-truth.js';
import { areSeen } from './truth.js';
import type { World } from './world.js';

/** Reconstructs the pairs and the visible objects from the frames' events alone, and checks the frames by them. */
export class FrameLog {
  #last = 0;
  #pairs = new Set<string>();
  readonly #seen = new Map<string, Set<number>>();

  /** Returns true, or a description of what is wrong with a frame; `rejected` are the ids that it should reject. */
  check(result: FrameResult, worlds: readonly World[], rejected: readonly number[]): true | string {
    if (result.frame === this.#last) return true; // of an update() that was joined
    if (result.frame < this.#last) return `it comes after frame ${this.#last}`;
    this.#last = result.frame;
    const copy = result.copy();
    const fault = this.#faultOfEvents(result) || (textOf(copy) === textOf(result) ? '' : 'its copy differs');
    if (fault) return fault;
    if ([...result.rejected].join() !== rejected.join())
      return `rejected ${[...result.rejected]}, expected ${rejected}`;
    const faults = worlds.map((world) => faultIn(world, copy));
    return faults.includes('') || [...new Set(faults)].join('; or ');
  }

  #faultOfEvents({ contacts, views }: FrameResult): string {
    try {
      this.#pairs = replay(this.#pairs, contacts);
    } catch (error) {
      return String(error);
    }
    const pairs = pairKeys(contacts.a, contacts.b);
    if (!isSame(this.#pairs, pairs)) return `events lead to pairs ${[...this.#pairs]} instead of ${pairs}`;
    for (const [name, { ids, entered, left }] of views) {
      const seen = this.#seen.get(name) ?? new Set();
      this.#seen.set(name, seen);
      for (const id of left) if (!seen.delete(id)) return `${id} left ${name}, but had not entered`;
      for (const id of entered) {
        if (seen.has(id)) return `${id} entered ${name} twice`;
        seen.add(id);
      }
      if (!isSame(seen, ids)) return `events lead ${name} to ids ${[...seen]} instead of ${ids}`;
    }
    return '';
  }
}

function faultIn(world: World, { views, contacts }: FrameResult): string {
  const names = [...views.keys()].sort().join();
  const expected = [...world.windows.keys()].sort().join();
  if (names !== expected) return `views ${names}, expected ${expected}`;
  for (const [name, window] of world.windows) {
    const seen = views.get(name)!;
    if (!areSeen(world, window, {}, seen)) {
      return `view ${name} sees ${seen.ids}, ${seen.inside} of them inside, and not ${seen.occluded}`;
    }
  }
  return faultOfPairs(world, contacts, contacts.waiting);
}

function textOf({ contacts, visible, rejected }: FrameResult): string {
  return JSON.stringify([[...contacts], visible, rejected]);
}

function isSame<T>(a: ReadonlySet<T>, b: ArrayLike<T> & Iterable<T>): boolean {
  return a.size === b.length && Array.from(b).every((each) => a.has(each));
}
