import { CollisionError } from '../../shared/errors.js';
import * as layout from '../../shared/layout.js';

/** Reads words of a frame's answer, and arrays that words point to. */
export class OutBuffer {
  readonly #data: DataView<ArrayBuffer>;

  constructor(buffer: ArrayBuffer) {
    this.#data = new DataView(buffer);
  }

  get isDetached(): boolean {
    return this.#data.buffer.byteLength === 0;
  }

  /** Checks that the buffer is not detached. Throws DISPOSED if it is. */
  check(): void {
    this.#attachedData();
  }

  word(at: number): number {
    return this.#attachedData().getUint32(at, true);
  }

  double(at: number): number {
    return this.#attachedData().getFloat64(at, true);
  }

  u8(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#data.buffer, this.word(at), length);
  }

  u32(at: number, length: number): Uint32Array {
    return new Uint32Array(this.#data.buffer, this.word(at), length);
  }

  f32(at: number, length: number): Float32Array {
    return new Float32Array(this.#data.buffer, this.word(at), length);
  }

  i32(at: number, length: number): Int32Array {
    return new Int32Array(this.#data.buffer, this.word(at), length);
  }

  copy(): ArrayBuffer {
    return this.#data.buffer.slice(0, this.word(layout.OUT_BYTES));
  }

  #attachedData(): DataView<ArrayBuffer> {
    if (!this.isDetached) return this.#data;
    throw new CollisionError(
      'DISPOSED',
      'FrameResult: its buffer was recycled when the next update() resolved; expected copy() before that',
    );
  }
}
