import type { BatchedMesh } from 'three';
import { grown } from '../../../shared/typed-arrays.js';
import { SAYS_ALL } from '../track/batch-changes.js';

interface Instance {
  readonly visible: boolean;
  readonly active: boolean;
  readonly geometryIndex: number;
}

/** What three keeps of instances in a BatchedMesh. */
interface Insides {
  /** three has these from r170 on. */
  readonly _instanceInfo?: readonly Instance[];
  /** three had these from r166 to r169. */
  readonly _drawInfo?: readonly Instance[];
  /** three had these up to r165, where each geometry is its only instance. */
  readonly _visibility?: readonly boolean[];
  readonly _active?: readonly boolean[];
  /** Whether the list is to be written anew where three neither culls nor sorts. */
  _visibilityChanged: boolean;
}

/**
 * Stands in `_visibilityChanged`. It is as good as true to three, and others stand there once something has changed (true), or
 * another list was written (false): while it stands there, the instances are as they were.
 */
const UNCHANGED = 2 as unknown as boolean;

const known = new WeakMap<BatchedMesh, BatchStates>();

/** What the instances of a BatchedMesh are, in an array: three's own are objects, which take several times as long to read. */
export class BatchStates {
  /** The geometry of each; -1 for those that are not drawn. */
  kinds = new Int32Array(0);
  count = 0;
  /** How many are drawn of each geometry. */
  readonly copies: number[] = [];
  readonly #insides: Insides;

  private constructor(batch: BatchedMesh) {
    this.#insides = batch as unknown as Insides;
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

  /** Tells whether three keeps them in a way that is known here. */
  get canRead(): boolean {
    const { _instanceInfo, _drawInfo, _active } = this.#insides;
    return Array.isArray(_instanceInfo ?? _drawInfo ?? _active);
  }

  /** Reads what may have changed, before a list is written. */
  read(): void {
    const { _instanceInfo, _drawInfo, _visibility, _active, _visibilityChanged } = this.#insides;
    const instances = _instanceInfo ?? _drawInfo;
    const { length } = (instances ?? _active)!;
    if (SAYS_ALL && _visibilityChanged === UNCHANGED && length === this.count) return;
    if (this.kinds.length < length) this.kinds = grown(this.kinds, length);
    this.count = length;
    const { copies, kinds } = this;
    copies.length = 0;
    for (let i = 0; i < length; i++) {
      let kind = i;
      let isDrawn = false;
      if (instances === undefined) isDrawn = _visibility![i] && _active![i] !== false;
      else {
        const { visible, active, geometryIndex } = instances[i];
        kind = geometryIndex;
        isDrawn = visible && active;
      }
      kinds[i] = isDrawn ? kind : -1;
      if (isDrawn) copies[kind] = (copies[kind] ?? 0) + 1;
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
