import type { BatchedMesh } from 'three';
import { grown } from '../../../shared/typed-arrays.js';
import { SAYS_ALL } from '../track/batch-changes.js';
import { BatchContents } from '../track/batch-contents.js';

/**
 * Stands in `_visibilityChanged`. It is as good as true to three, and others stand there once something has changed (true), or
 * another list was written (false): while it stands there, the instances are as they were.
 */
const UNCHANGED = 2 as unknown as boolean;

const known = new WeakMap<BatchedMesh, BatchStates>();

/** What the instances of a BatchedMesh are, in an array: three's own are objects, which take several times as long to read. */
export class BatchStates {
  /** The geometry of each; a number below 0 for those that are not drawn. */
  kinds = new Int32Array(0);
  count = 0;
  /** How many are drawn of each geometry. */
  readonly copies: number[] = [];
  readonly contents: BatchContents;
  /** Whether the list is to be written anew where three neither culls nor sorts. */
  readonly #insides: { _visibilityChanged: boolean };

  private constructor(batch: BatchedMesh) {
    this.contents = new BatchContents(batch);
    this.#insides = batch as unknown as { _visibilityChanged: boolean };
  }

  /** Answers those of a BatchedMesh, which all views share. */
  static of(batch: BatchedMesh): BatchStates {
    let states = known.get(batch);
    if (states === undefined) {
      states = new BatchStates(batch);
      known.set(batch, states);
    }
    return states;
  }

  /** Reads what may have changed, before a list is written. */
  read(): void {
    const { contents } = this;
    const { count } = contents;
    if (SAYS_ALL && this.#insides._visibilityChanged === UNCHANGED && count === this.count) return;
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

  /** Has all be read again, and three write another list. */
  leave(): void {
    this.#insides._visibilityChanged = true;
  }

  /** Notes that a list is written, which is not three's own: whoever draws next writes another. */
  written(): void {
    this.#insides._visibilityChanged = UNCHANGED;
  }
}
