import { isAffine } from '../check/affine.js';
import { checkTypedArray } from '../check/binary.js';
import { CheckedIds } from '../check/checked-ids.js';
import { checkInteger, checkLengths, MatrixReader, reading } from '../check/validate.js';
import type { FramePump } from '../frame/frame-pump.js';
import type { BorrowedBlock } from '../transforms/replay-log.js';
import { SingleWriter } from '../transforms/single-writer.js';
import type { TransformTable } from '../transforms/transform-table.js';
import type { ObjectStore } from './object-store.js';

const MATRIX_KINDS = ['Float32Array', 'Float64Array'] as const;

/** Checks the transforms that callers set, one by one or in blocks, and stages them for the next frame. */
export class ObjectTransforms {
  readonly #table: TransformTable;
  readonly #objects: ObjectStore;
  readonly #pump: FramePump;
  readonly #singles: SingleWriter;
  readonly #parent = new MatrixReader();
  readonly #checkedIds = new CheckedIds();

  constructor(table: TransformTable, objects: ObjectStore, pump: FramePump) {
    this.#table = table;
    this.#objects = objects;
    this.#pump = pump;
    this.#singles = new SingleWriter(table);
  }

  /** Stages one transform; see `CollisionService.setTransform`. */
  set(id: number, matrix: ArrayLike<number>): void {
    this.#singles.set(id, matrix, this.#pump.staging);
  }

  /** Stages transforms from index `first` to before `end`; see `CollisionService.moveObjects`. */
  moveObjects(ids: Uint32Array, matrices: readonly ArrayLike<number>[], first: number, end: number): void {
    const targets = checkTypedArray<Uint32Array>('setTransform', 'ids', ids, ['Uint32Array']);
    checkInteger('setTransform', 'first', first, 0, targets.length);
    checkInteger('setTransform', 'end', end, first, targets.length);
    for (let i = first; i < end; i++) {
      i = this.#pump.bulk.move(targets, matrices, i, end);
      if (i === end) return;
      this.#setOrReject(targets[i], matrices, i);
    }
  }

  /** Stages one of many. A method of its own, since a closure in the loop would allocate a context for each iteration. */
  #setOrReject(id: number, matrices: readonly ArrayLike<number>[], i: number): void {
    const matrix = reading('setTransform', 'matrices', () => matrices[i]);
    this.#singles.setOrReject(id, matrix, this.#pump.staging);
  }

  /** Returns whether an object's transform was last set to this; see `CollisionService.isPlacedAs`. */
  isPlacedAs(id: number, matrix: ArrayLike<number>): boolean {
    return reading('isPlacedAs', 'matrix', () => this.#table.has(id) && this.#table.isPlacedAs(id, matrix));
  }

  /** Stages a copy of a block; see `CollisionService.setTransforms`. */
  setBlock(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number> | undefined): void {
    const place = parent === undefined ? undefined : this.#parent.readAffine('setTransforms', 'parent', parent);
    const targets = checkTypedArray<Uint32Array>('setTransforms', 'ids', ids, ['Uint32Array']);
    const numbers = checkTypedArray<typeof matrices>('setTransforms', 'matrices', matrices, MATRIX_KINDS);
    checkLengths('setTransforms', targets, numbers);
    this.#beginBlock(targets);
    this.#pump.staging.setBlock(targets, numbers, place);
  }

  /** Stages a borrowed block; see `CollisionService.moveInstances`. */
  moveInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    const place = this.#parent.read('setTransforms', 'parent', parent);
    if (!isAffine(place, 0)) place.fill(Number.NaN); // the worker lists all of them as rejected
    const block = this.#borrow(ids, matrices);
    this.#pump.staging.setBlock(block.ids, block.matrices, place, block);
  }

  /** Places a borrowed block before any later query; see `CollisionService.placeInstances`. */
  placeInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    const place = this.#parent.readAffine('setTransforms', 'parent', parent);
    this.#pump.place(this.#borrow(ids, matrices), place);
  }

  /** Checks a block of an adapter. It becomes the last that sets the transforms of its objects. */
  #borrow(ids: Uint32Array, matrices: Float32Array | Float64Array): BorrowedBlock {
    const numbers = checkTypedArray<typeof matrices>('setTransforms', 'matrices', matrices, MATRIX_KINDS);
    const { leftBlocks } = this.#table;
    const targets = this.#checkedIds.find(ids, leftBlocks) ?? this.#checkIds(ids, leftBlocks);
    checkLengths('setTransforms', targets, numbers);
    return { ids: targets, matrices: numbers };
  }

  /** Checks ids that have no valid entry in the cache. */
  #checkIds(ids: Uint32Array, stamp: number): Uint32Array {
    const targets = this.#beginBlock(checkTypedArray('setTransforms', 'ids', ids, ['Uint32Array']));
    return this.#checkedIds.note(ids, targets, stamp);
  }

  /** Checks the objects of a block. The block becomes the last that sets their transforms. */
  #beginBlock(ids: Uint32Array): Uint32Array {
    this.#objects.checkAll('setTransforms', 'ids', ids);
    this.#table.setBlock(ids);
    return ids;
  }
}
