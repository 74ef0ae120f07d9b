import { isAffine } from '../check/affine.js';
import { checkTypedArray } from '../check/binary.js';
import { CheckedIds } from '../check/checked-ids.js';
import { checkInteger, checkLengths, guardRead, MatrixReader } from '../check/validate.js';
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
  readonly #singleWriter: SingleWriter;
  readonly #parentReader = new MatrixReader();
  readonly #checkedIds = new CheckedIds();

  constructor(table: TransformTable, objects: ObjectStore, pump: FramePump) {
    this.#table = table;
    this.#objects = objects;
    this.#pump = pump;
    this.#singleWriter = new SingleWriter(table);
  }

  /** Stages one transform; see `CollisionService.setTransform`. */
  set(id: number, matrix: ArrayLike<number>): void {
    this.#singleWriter.set(id, matrix, this.#pump.staging);
  }

  /** Stages transforms from index `first` to before `end`; see `CollisionService.moveObjects`. */
  moveObjects(ids: Uint32Array, matrices: readonly ArrayLike<number>[], first: number, end: number): void {
    const checkedIds = checkTypedArray<Uint32Array>('setTransform', 'ids', ids, ['Uint32Array']);
    checkInteger('setTransform', 'first', first, 0, checkedIds.length);
    checkInteger('setTransform', 'end', end, first, checkedIds.length);
    for (let i = first; i < end; i++) {
      i = this.#pump.bulk.move(checkedIds, matrices, i, end);
      if (i === end) return;
      this.#setOrReject(checkedIds[i], matrices, i);
    }
  }

  /** Stages one of many. A method of its own, since a closure in the loop would allocate a context for each iteration. */
  #setOrReject(id: number, matrices: readonly ArrayLike<number>[], i: number): void {
    const matrix = guardRead('setTransform', 'matrices', () => matrices[i]);
    this.#singleWriter.setOrReject(id, matrix, this.#pump.staging);
  }

  /** Returns whether an object's transform was last set to this; see `CollisionService.isPlacedAs`. */
  isPlacedAs(id: number, matrix: ArrayLike<number>): boolean {
    return guardRead('isPlacedAs', 'matrix', () => this.#table.has(id) && this.#table.isPlacedAs(id, matrix));
  }

  /** Stages a copy of a block; see `CollisionService.setTransforms`. */
  setBlock(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number> | undefined): void {
    const parentMatrix =
      parent === undefined ? undefined : this.#parentReader.readAffine('setTransforms', 'parent', parent);
    const checkedIds = checkTypedArray<Uint32Array>('setTransforms', 'ids', ids, ['Uint32Array']);
    const checkedMatrices = checkTypedArray<typeof matrices>('setTransforms', 'matrices', matrices, MATRIX_KINDS);
    checkLengths('setTransforms', checkedIds, checkedMatrices);
    this.#beginBlock(checkedIds);
    this.#pump.staging.setBlock(checkedIds, checkedMatrices, parentMatrix);
  }

  /** Stages a borrowed block; see `CollisionService.moveInstances`. */
  moveInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    const parentMatrix = this.#parentReader.read('setTransforms', 'parent', parent);
    if (!isAffine(parentMatrix, 0)) parentMatrix.fill(Number.NaN); // the worker lists all of them as rejected
    const block = this.#borrow(ids, matrices);
    this.#pump.staging.setBlock(block.ids, block.matrices, parentMatrix, block);
  }

  /** Places a borrowed block before any later query; see `CollisionService.placeInstances`. */
  placeInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    const parentMatrix = this.#parentReader.readAffine('setTransforms', 'parent', parent);
    this.#pump.place(this.#borrow(ids, matrices), parentMatrix);
  }

  /** Checks a block of an adapter. It becomes the last that sets the transforms of its objects. */
  #borrow(ids: Uint32Array, matrices: Float32Array | Float64Array): BorrowedBlock {
    const checkedMatrices = checkTypedArray<typeof matrices>('setTransforms', 'matrices', matrices, MATRIX_KINDS);
    const { leftBlocks } = this.#table;
    const checkedIds = this.#checkedIds.find(ids, leftBlocks) ?? this.#checkIds(ids, leftBlocks);
    checkLengths('setTransforms', checkedIds, checkedMatrices);
    return { ids: checkedIds, matrices: checkedMatrices };
  }

  /** Checks ids that have no valid entry in the cache. */
  #checkIds(ids: Uint32Array, stamp: number): Uint32Array {
    const checkedIds = this.#beginBlock(checkTypedArray('setTransforms', 'ids', ids, ['Uint32Array']));
    return this.#checkedIds.note(ids, checkedIds, stamp);
  }

  /** Checks the objects of a block. The block becomes the last that sets their transforms. */
  #beginBlock(ids: Uint32Array): Uint32Array {
    this.#objects.checkAll('setTransforms', 'ids', ids);
    this.#table.setBlock(ids);
    return ids;
  }
}
