import type { CoreExports } from './exports.js';

/**
 * The core's linear memory, as JavaScript reads and writes it. Views are valid only until the memory grows, which detaches them.
 */
export class CoreMemory {
  readonly #exports: CoreExports;
  #view: DataView;
  #words: Uint32Array;
  #floats: Float64Array;

  constructor(exports: CoreExports) {
    this.#exports = exports;
    const { buffer } = exports.memory;
    this.#view = new DataView(buffer);
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float64Array(buffer);
  }

  get buffer(): ArrayBuffer {
    return this.#exports.memory.buffer as ArrayBuffer;
  }

  /** Returns a view of the whole memory, made anew if the memory has grown. */
  get view(): DataView {
    if (this.#words.length === 0) this.#renew();
    return this.#view;
  }

  /**
   * Returns the whole memory as words. Writing a description this way takes half the time that it takes through the DataView.
   * Views of a grown memory have length 0: checking that is many times faster than getting the memory's buffer.
   */
  get words(): Uint32Array {
    if (this.#words.length === 0) this.#renew();
    return this.#words;
  }

  get floats(): Float64Array {
    if (this.#words.length === 0) this.#renew();
    return this.#floats;
  }

  #renew(): void {
    const { buffer } = this;
    this.#view = new DataView(buffer);
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float64Array(buffer);
  }

  bytes(address: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer, address, length);
  }

  /** Copies `count` words from an address. */
  copyWords(address: number, count: number): Uint32Array<ArrayBuffer> {
    return this.words.slice(address / 4, address / 4 + count);
  }

  allocate(bytes: number): number {
    return this.#exports.allocate(BigInt(bytes)) >>> 0;
  }

  release(address: number): void {
    this.#exports.release(address);
  }

  /** Runs `work` on a temporary allocation. */
  with<T>(bytes: number, work: (address: number) => T): T {
    const address = this.allocate(Math.max(bytes, 1));
    try {
      return work(address);
    } finally {
      this.release(address);
    }
  }

  /** Writes `count` numbers to `at`, which must be a multiple of 8. */
  setFloats(at: number, values: ArrayLike<number>, count: number): void {
    const { floats } = this;
    for (let i = 0; i < count; i++) floats[at / 8 + i] = values[i];
  }

  /**
   * Writes the upper three rows of a column-major matrix, whose numbers begin at `from`, column by column to `at`, which must be
   * a multiple of 8.
   */
  setAffine(at: number, matrix: ArrayLike<number>, from = 0): void {
    const { floats } = this;
    for (let column = 0; column < 4; column++) {
      for (let row = 0; row < 3; row++) floats[at / 8 + column * 3 + row] = matrix[from + column * 4 + row];
    }
  }
}
