import { slotOf } from '../../shared/ids.js';
import type { ObjectId } from '../../shared/types.js';
import { isAffine } from '../check/affine.js';
import { argumentError, MatrixReader } from '../check/validate.js';
import { isSameAffine, writeAffine } from './affine.js';
import { CLAIMED, EXPLICIT, offsetInPage, STAGED, type TransformTable } from './transform-table.js';

const INVALID_MATRIX = new Float64Array(16).fill(Number.NaN);

/** Takes transforms one by one until update(): the frame builder. */
export interface StagedTransforms {
  readonly f64: Float64Array;
  /** Returns the index in `f64` where the caller is to write the twelve numbers. */
  addSingle(id: ObjectId): number;
}

/** Writes the transforms of `setTransform`: a transform that the object already has is not staged. */
export class SingleWriter {
  readonly #table: TransformTable;
  readonly #reader = new MatrixReader();

  constructor(table: TransformTable) {
    this.#table = table;
  }

  /** Stages a transform. Throws INVALID_ARGUMENT if it is not affine, and UNKNOWN_ID. */
  set(id: ObjectId, matrix: ArrayLike<number>, staging: StagedTransforms): void {
    this.#stage(id, this.#reader.readAffine('setTransform', 'matrix', matrix), staging);
  }

  /** Stages a transform; for a matrix that is not affine, or cannot be read, one that the worker lists as rejected. */
  setOrReject(id: ObjectId, matrix: ArrayLike<number>, staging: StagedTransforms): void {
    let m: Float64Array = INVALID_MATRIX;
    try {
      const numbers = this.#reader.read('setTransform', 'matrix', matrix);
      if (isAffine(numbers, 0)) m = numbers;
    } catch {}
    this.#stage(id, m, staging);
  }

  #stage(id: ObjectId, m: Float64Array, staging: StagedTransforms): void {
    const table = this.#table;
    if (!table.has(id)) throw argumentError('UNKNOWN_ID', 'setTransform', 'id', id, 'the id of a live object');
    const slot = slotOf(id);
    const state = table.states[slot];
    const isNewest = (state === EXPLICIT || state === CLAIMED) && !table.carried.has(id);
    if (isNewest && isSameAffine(table.pageOf(slot), offsetInPage(slot), m)) return;
    const at = staging.addSingle(id);
    writeAffine(staging.f64, at, m);
    table.setState(slot, STAGED);
  }
}
