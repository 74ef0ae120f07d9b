import { isSameMatrix } from '../../transforms/affine.js';
import { BlockMatrices } from './block-matrices.js';

/** The matrices of instances as they were sent last: 16 numbers of each in one array, below one parent. */
export class SentMatrices {
  readonly blocks = new BlockMatrices();
  readonly parent = new Float64Array(16);
  matrices: Float32Array = new Float32Array(0);
  #source: unknown = null;
  #version = -1;

  /** Tells whether it was this array that was sent, of that version, from a texture or an attribute. */
  areThose(source: unknown, version: number, array: ArrayBufferView): boolean {
    return source === this.#source && version === this.#version && array.buffer === this.matrices.buffer;
  }

  /** Tells whether the parent was there. */
  areBelow(parent: ArrayLike<number>): boolean {
    return isSameMatrix(this.parent, parent);
  }

  note(source: unknown, version: number, matrices: Float32Array, parent: ArrayLike<number>): void {
    this.#source = source;
    this.#version = version;
    this.matrices = matrices;
    this.parent.set(parent);
  }

  /** Has all of them sent again. */
  forget(): void {
    this.#version = -1;
  }
}
