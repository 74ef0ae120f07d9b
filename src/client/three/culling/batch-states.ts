import type { BatchedMesh } from 'three';
import { grown } from '../../../shared/typed-arrays.js';
import { REPORTS_ALL_CHANGES } from '../track/batch-changes.js';
import { BatchContents } from '../track/batch-contents.js';

/**
 * Sentinel in `_visibilityChanged`. It is truthy for three. It is overwritten once something has changed (with true) or another
 * list was written (with false): as long as it is there, the instances are unchanged.
 */
const UNCHANGED = 2 as unknown as boolean;

const statesByBatch = new WeakMap<BatchedMesh, BatchStates>();

/** The states of a BatchedMesh's instances, in an array: three's own are objects, which take several times as long to read. */
export class BatchStates {
  /** The geometry of each instance; a number below 0 for instances that are not drawn. */
  kinds = new Int32Array(0);
  count = 0;
  /** How many instances of each geometry are drawn. */
  readonly copies: number[] = [];
  readonly contents: BatchContents;
  /** three's flag that the draw list must be written anew even where three neither culls nor sorts. */
  readonly #internals: { _visibilityChanged: boolean };

  /** The array that the states were read from: `copy` makes three use another one without any notice. */
  #read: readonly unknown[] | null = null;

  private constructor(batch: BatchedMesh) {
    this.contents = new BatchContents(batch);
    this.#internals = batch as unknown as { _visibilityChanged: boolean };
  }

  /** Returns the states of a BatchedMesh, which all views share. */
  static of(batch: BatchedMesh): BatchStates {
    let states = statesByBatch.get(batch);
    if (states === undefined) {
      states = new BatchStates(batch);
      statesByBatch.set(batch, states);
    }
    return states;
  }

  /** Reads the states that may have changed, before a list is written. */
  read(): void {
    const { contents } = this;
    const { count, instances } = contents;
    const isUnchanged =
      REPORTS_ALL_CHANGES && this.#internals._visibilityChanged === UNCHANGED && instances === this.#read;
    if (isUnchanged && count === this.count) return;
    this.#read = instances;
    if (this.kinds.length < count) this.kinds = grown(this.kinds, count);
    this.count = count;
    const { copies, kinds } = this;
    copies.length = 0;
    for (let i = 0; i < count; i++) {
      const state = contents.stateOf(i);
      kinds[i] = state;
      if (state >= 0) copies[state] = (copies[state] ?? 0) + 1;
    }
  }

  /** Makes the next `read` read everything again, and three write another list. */
  leave(): void {
    this.#internals._visibilityChanged = true;
  }

  /** Notes that a list was written that is not three's own: whoever draws next writes another. */
  written(): void {
    this.#internals._visibilityChanged = UNCHANGED;
  }
}
