import type { BatchedMesh } from 'three';
import { grown } from '../../../shared/typed-arrays.js';
import { SAYS_ALL } from '../track/batch-changes.js';
import { BatchContents } from '../track/batch-contents.js';

/**
 * Sentinel in `_visibilityChanged`. It is truthy for three. It is overwritten once something has changed (with true) or another
 * list was written (with false): as long as it is there, the instances are unchanged.
 */
const UNCHANGED = 2 as unknown as boolean;

const known = new WeakMap<BatchedMesh, BatchStates>();

/** The states of a BatchedMesh's instances, in an array: three's own are objects, which take several times as long to read. */
export class BatchStates {
  /** The geometry of each instance; a number below 0 for instances that are not drawn. */
  kinds = new Int32Array(0);
  count = 0;
  /** How many instances of each geometry are drawn. */
  readonly copies: number[] = [];
  readonly contents: BatchContents;
  /** three's flag that the draw list must be written anew even where three neither culls nor sorts. */
  readonly #insides: { _visibilityChanged: boolean };

  /** The array that the states were read from: `copy` makes three use another one without any notice. */
  #read: readonly unknown[] | null = null;

  private constructor(batch: BatchedMesh) {
    this.contents = new BatchContents(batch);
    this.#insides = batch as unknown as { _visibilityChanged: boolean };
  }

  /** Returns the states of a BatchedMesh, which all views share. */
  static of(batch: BatchedMesh): BatchStates {
    let states = known.get(batch);
    if (states === undefined) {
      states = new BatchStates(batch);
      known.set(batch, states);
    }
    return states;
  }

  /** Reads the states that may have changed, before a list is written. */
  read(): void {
    const { contents } = this;
    const { count, instances } = contents;
    const isUnchanged = SAYS_ALL && this.#insides._visibilityChanged === UNCHANGED && instances === this.#read;
    if (isUnchanged && count === this.count) return;
    this.#read = instances;
    if (this.kinds.length < count) this.kinds = grown(this.kinds, count);
    this.count = count;
    const { copies, kinds } = this;
    copies.length = 0;
    for (let i = 0; i < count; i++) {
      const kind = contents.stateOf(i);
      kinds[i] = kind;
      if (kind >= 0) copies[kind] = (copies[kind] ?? 0) + 1;
    }
  }

  /** Makes the next `read` read everything again, and three write another list. */
  leave(): void {
    this.#insides._visibilityChanged = true;
  }

  /** Notes that a list was written that is not three's own: whoever draws next writes another. */
  written(): void {
    this.#insides._visibilityChanged = UNCHANGED;
  }
}
