import { isSameMatrix } from '../../transforms/affine.js';
import { BlockMatrices } from './block-matrices.js';

/** The matrices of instances as sent last: 16 numbers each in one array, relative to one parent. */
export class SentMatrices {
  readonly blocks = new BlockMatrices();
  readonly parent = new Float64Array(16);
  matrices: Float32Array = new Float32Array(0);
  #source: unknown = null;
  #version = -1;

  /** Returns whether this array is what was sent last, at that version, from that texture or attribute. */
  areThose(source: unknown, version: number, array: ArrayBufferView): boolean {
    return source === this.#source && version === this.#version && array.buffer === this.matrices.buffer;
  }

  /** Returns whether the parent had this matrix. */
  areBelow(parent: ArrayLike<number>): boolean {
    return isSameMatrix(this.parent, parent);
  }

  note(source: unknown, version: number, matrices: Float32Array, parent: ArrayLike<number>): void {
    this.#source = source;
    this.#version = version;
    this.matrices = matrices;
    this.parent.set(parent);
  }

  /** Makes all matrices be sent again. */
  forget(): void {
    this.#version = -1;
  }
}
