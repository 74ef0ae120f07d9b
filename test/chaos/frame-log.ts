import type { FrameResult } from 'collision-worker';
import { pairKeys, replay } from '../oracle/events.js';
import { faultOfPairs } from './contact-truth.js';
import { areVisible } from './truth.js';
import type { World } from './world.js';

/** Reconstructs the pairs and the visible objects from the frames' events alone, and checks the frames by them. */
export class FrameLog {
  #lastFrame = 0;
  #pairs = new Set<string>();
  readonly #visibleByView = new Map<string, Set<number>>();

  /** Returns true, or a description of what is wrong with a frame; `rejected` are the ids that it should reject. */
  check(result: FrameResult, worlds: readonly World[], rejected: readonly number[]): true | string {
    if (result.frame === this.#lastFrame) return true; // of an update() that was joined
    if (result.frame < this.#lastFrame) return `it comes after frame ${this.#lastFrame}`;
    this.#lastFrame = result.frame;
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
      const visibleIds = this.#visibleByView.get(name) ?? new Set();
      this.#visibleByView.set(name, visibleIds);
      for (const id of left) if (!visibleIds.delete(id)) return `${id} left ${name}, but had not entered`;
      for (const id of entered) {
        if (visibleIds.has(id)) return `${id} entered ${name} twice`;
        visibleIds.add(id);
      }
      if (!isSame(visibleIds, ids)) return `events lead ${name} to ids ${[...visibleIds]} instead of ${ids}`;
    }
    return '';
  }
}

function faultIn(world: World, { views, contacts }: FrameResult): string {
  const names = [...views.keys()].sort().join();
  const expected = [...world.windows.keys()].sort().join();
  if (names !== expected) return `views ${names}, expected ${expected}`;
  for (const [name, window] of world.windows) {
    const visibleIds = views.get(name)!;
    if (!areVisible(world, window, {}, visibleIds)) {
      return `view ${name} sees ${visibleIds.ids}, ${visibleIds.inside} of them inside, and not ${visibleIds.occluded}`;
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
