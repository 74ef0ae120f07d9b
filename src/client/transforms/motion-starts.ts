// Where continuous objects were in the last answered frame, if update() has moved them since: when a worker is lost, the next
// one begins their motions there, so that a motion that was lost with the worker is not lost. At most one frame is in the
// worker and one waits, so there are two lists: the transforms before the first frame, and those before the second.
import { slotOf } from '../../shared/ids.js';
import { grown } from '../../shared/typed-arrays.js';
import type { ObjectId } from '../../shared/types.js';
import { AFFINE_NUMBERS } from './affine.js';

const MIN_CAPACITY = 16;

/** Transforms of objects, each recorded once. */
class TransformList {
  ids = new Uint32Array(MIN_CAPACITY);
  matrices = new Float64Array(MIN_CAPACITY * AFFINE_NUMBERS);
  count = 0;
  /** The index of a slot's entry is valid while the slot has the list's stamp. */
  #stamps = new Uint32Array(0);
  #entries = new Uint32Array(0);
  #stamp = 1;

  has(slot: number): boolean {
    return this.#stamps[slot] === this.#stamp;
  }

  note(id: ObjectId, source: Float64Array, at: number): void {
    const slot = slotOf(id);
    const entry = this.count++;
    if (entry === this.ids.length) {
      this.ids = grown(this.ids, 2 * entry);
      this.matrices = grown(this.matrices, this.ids.length * AFFINE_NUMBERS);
    }
    this.ids[entry] = id;
    const to = entry * AFFINE_NUMBERS;
    for (let k = 0; k < AFFINE_NUMBERS; k++) this.matrices[to + k] = source[at + k];
    if (slot >= this.#stamps.length) {
      this.#stamps = grown(this.#stamps, slot + 1);
      this.#entries = grown(this.#entries, this.#stamps.length);
    }
    this.#stamps[slot] = this.#stamp;
    this.#entries[slot] = entry;
  }

  /** Notes that an object has no motion, since it is new or was put where it is: by a matrix that the worker refuses. */
  exclude(id: ObjectId): void {
    const slot = slotOf(id);
    if (!this.has(slot)) this.note(id, this.matrices, 0);
    const entry = this.#entries[slot];
    this.ids[entry] = id; // another object may have had the slot
    this.matrices[entry * AFFINE_NUMBERS] = Number.NaN;
  }

  clear(): void {
    this.count = 0;
    this.#stamp++;
  }
}

export class MotionStarts {
  /** Whether each slot's object is continuous. */
  #isContinuous = new Uint8Array(0);
  #count = 0;
  /** Changes whenever an object becomes continuous, or ceases to be. */
  version = 0;
  /** The transforms before the frame that is answered next, and before the frame after it. */
  #firstList = new TransformList();
  #secondList = new TransformList();
  /** Whether a frame is in the worker, so that transforms set now belong to the next one. */
  #isFirstSent = false;

  /** Whether any object is continuous: otherwise there is nothing to note. */
  get isAny(): boolean {
    return this.#count > 0;
  }

  isContinuous(slot: number): boolean {
    return this.#isContinuous[slot] === 1;
  }

  /** Sets whether an object is continuous. An object that becomes continuous has no motion in its first frame. */
  set(id: ObjectId, isContinuous: boolean): void {
    const slot = slotOf(id);
    if (this.isContinuous(slot) === isContinuous) return;
    if (slot >= this.#isContinuous.length) this.#isContinuous = grown(this.#isContinuous, slot + 1);
    this.#isContinuous[slot] = isContinuous ? 1 : 0;
    this.#count += isContinuous ? 1 : -1;
    this.version++;
    this.exclude(id);
  }

  /** Notes that an object was put where it is. */
  exclude(id: ObjectId): void {
    if (this.#count === 0) return;
    this.#firstList.exclude(id);
    if (this.#isFirstSent) this.#secondList.exclude(id);
  }

  /** Notes where a continuous object is, before an update() moves it. */
  note(id: ObjectId, source: Float64Array, at: number): void {
    const list = this.#isFirstSent ? this.#secondList : this.#firstList;
    if (!list.has(slotOf(id))) list.note(id, source, at);
  }

  /** Notes that a frame is in the worker. */
  send(): void {
    this.#isFirstSent = true;
  }

  /** Notes that the worker has answered the frame that it had. */
  answer(): void {
    const answeredList = this.#firstList;
    answeredList.clear();
    this.#firstList = this.#secondList;
    this.#secondList = answeredList;
    this.#isFirstSent = false;
  }

  /** Notes that the worker is lost: the transforms of both frames are sent again, and answered at once. */
  interrupt(): void {
    const { ids, matrices, count } = this.#secondList;
    this.#isFirstSent = false;
    for (let i = 0; i < count; i++) this.note(ids[i], matrices, i * AFFINE_NUMBERS);
    this.#secondList.clear();
  }

  /** Visits the objects whose motions may begin elsewhere than where they are, or which have none: their matrices are NaN. */
  forEach(visit: (id: ObjectId, matrices: Float64Array, at: number) => void): void {
    const { ids, matrices, count } = this.#firstList;
    for (let i = 0; i < count; i++) {
      if (this.isContinuous(slotOf(ids[i]))) visit(ids[i], matrices, i * AFFINE_NUMBERS);
    }
  }

  clear(): void {
    this.#isContinuous = new Uint8Array(0);
    this.#count = 0;
    this.version++;
    this.#firstList = new TransformList();
    this.#secondList = new TransformList();
    this.#isFirstSent = false;
  }
}
