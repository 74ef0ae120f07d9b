import type { CoreExports } from './core-exports.js';

/** The core's linear memory, as JavaScript reads and writes it. Views are of now: growing detaches them. */
export class CoreMemory {
  readonly #exports: CoreExports;
  #view: DataView;

  constructor(exports: CoreExports) {
    this.#exports = exports;
    this.#view = new DataView(exports.memory.buffer);
  }

  get buffer(): ArrayBuffer {
    return this.#exports.memory.buffer as ArrayBuffer;
  }

  /** Of the whole memory. */
  get view(): DataView {
    if (this.#view.buffer !== this.buffer) this.#view = new DataView(this.buffer);
    return this.#view;
  }

  bytes(address: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer, address, length);
  }

  /** A copy. */
  uint32s(address: number, count: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.buffer, address, count).slice();
  }

  allocate(bytes: number): number {
    return this.#exports.allocate(BigInt(bytes)) >>> 0;
  }

  /** Runs `work` on a temporary allocation. */
  with<T>(bytes: number, work: (address: number) => T): T {
    const address = this.allocate(Math.max(bytes, 1));
    try {
      return work(address);
    } finally {
      this.#exports.release(address);
    }
  }

  setFloats(at: number, values: ArrayLike<number>, count: number): void {
    const { view } = this;
    for (let i = 0; i < count; i++) view.setFloat64(at + i * 8, values[i] as number, true);
  }

  /** The upper three rows of a column-major matrix, column by column. */
  setAffine(at: number, matrix: ArrayLike<number>): void {
    const { view } = this;
    for (let column = 0; column < 4; column++) {
      for (let row = 0; row < 3; row++) {
        view.setFloat64(at + (column * 3 + row) * 8, matrix[column * 4 + row] as number, true);
      }
    }
  }
}
