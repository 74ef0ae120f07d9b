import { slotOf } from '../../../shared/ids.js';
import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { RepresentedObject, SceneObjects } from '../track/scene-objects.js';
import type { SceneView } from '../view/scene-views.js';

/** Numbers of instances, ascending. */
export interface SeenInstances {
  numbers: Uint32Array;
  count: number;
}

export const NO_INSTANCES: SeenInstances = { numbers: new Uint32Array(0), count: 0 };

/** Seen instances, with the number of the answer that they are from. */
export interface AnsweredInstances extends SeenInstances {
  answer: number;
}

/** Returns the list of an owner; adds one if there is none. */
export function listOf(lists: Map<RepresentedObject, AnsweredInstances>, owner: RepresentedObject): AnsweredInstances {
  let list = lists.get(owner);
  if (list === undefined) {
    list = { numbers: new Uint32Array(64), count: 0, answer: 0 };
    lists.set(owner, list);
  }
  return list;
}

export function appendNumber(list: SeenInstances, number: number): void {
  if (list.count === list.numbers.length) list.numbers = grown(list.numbers, 2 * list.count);
  list.numbers[list.count++] = number;
}

/** What one view sees by the newest answer. The answer is evaluated on demand: where everything moves, nobody asks. */
export class SeenObjects {
  /** The view as it was asked about. */
  view: SceneView;
  /** The number of the newest update that the answer takes into account. */
  update = 0;
  /** For each slot, the number of the answer that last saw the object in it. */
  #lastAnswers = new Uint32Array(64);
  #answer = 0;
  readonly #instances = new Map<RepresentedObject, AnsweredInstances>();
  #ids = new Uint32Array(64);
  #count = 0;
  /** The objects that the ids belong to; null once the answer is evaluated. */
  #objects: SceneObjects | null = null;

  constructor(view: SceneView) {
    this.view = view;
  }

  /** Takes over an answer. */
  set(view: SceneView, update: number, ids: Uint32Array, objects: SceneObjects): void {
    this.view = view;
    this.update = update;
    if (this.#ids.length < ids.length) this.#ids = new Uint32Array(2 * ids.length);
    this.#ids.set(ids);
    this.#count = ids.length;
    this.#objects = objects;
  }

  /** Evaluates the answer; objects that have been removed since are skipped. */
  #evaluate(objects: SceneObjects): void {
    this.#objects = null;
    const answer = ++this.#answer;
    const ids = this.#ids.subarray(0, this.#count);
    if (this.#lastAnswers.length < objects.slots) this.#lastAnswers = grown(this.#lastAnswers, objects.slots);
    const answers = this.#lastAnswers;
    const listsByOwner = this.#instances;
    let owner: RepresentedObject | null = null;
    let list: AnsweredInstances | null = null;
    objects.forEach(ids, (instanceOwner, index, slot) => {
      answers[slot] = answer;
      if (instanceOwner !== owner) {
        owner = instanceOwner;
        list = null;
        if (instanceOwner.isInstanced) {
          list = listOf(listsByOwner, instanceOwner);
          if (list.answer !== answer) list.count = 0; // from an earlier answer
          list.answer = answer;
        }
      }
      if (list !== null) appendNumber(list, index);
    });
    for (const [key, { answer: newest, numbers, count }] of listsByOwner) {
      if (newest !== answer) listsByOwner.delete(key);
      else if (!isAscending(numbers, count)) numbers.subarray(0, count).sort();
    }
  }

  has(id: ObjectId): boolean {
    if (this.#objects !== null) this.#evaluate(this.#objects);
    return this.#lastAnswers[slotOf(id)] === this.#answer;
  }

  /** Returns the numbers of an object's instances that the view sees. */
  instancesOf(owner: RepresentedObject): SeenInstances {
    if (this.#objects !== null) this.#evaluate(this.#objects);
    return this.#instances.get(owner) ?? NO_INSTANCES;
  }
}

function isAscending(numbers: Uint32Array, count: number): boolean {
  for (let i = 1; i < count; i++) if (numbers[i - 1] >= numbers[i]) return false;
  return true;
}
