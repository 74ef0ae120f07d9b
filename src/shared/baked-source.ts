/** The size of a chunk of a baked mesh. The unwritten rest of the last one usually takes no memory: nothing has touched it. */
export const CHUNK_BYTES = 1 << 21;

/** The bytes of a baked mesh: in one buffer, or in chunks of CHUNK_BYTES, which may arrive one after the other. */
export class BakedSource {
  readonly bytes: number;
  readonly buffers: ArrayBufferLike[];
  /** The size of each buffer but the last one. */
  readonly #bufferBytes: number;

  constructor(bytes: number, buffers: ArrayBufferLike[], bufferBytes = CHUNK_BYTES) {
    this.bytes = bytes;
    this.buffers = buffers;
    this.#bufferBytes = bufferBytes;
  }

  /** How many of the bytes have arrived. */
  get available(): number {
    return Math.min(this.bytes, this.buffers.length * this.#bufferBytes);
  }

  /** Returns a view of the bytes from `at` on: at most `maxLength`, and no more than one buffer holds. */
  view(at: number, maxLength: number): Uint8Array {
    const i = Math.floor(at / this.#bufferBytes);
    const offset = at - i * this.#bufferBytes;
    return new Uint8Array(
      this.buffers[i],
      offset,
      Math.min(maxLength, this.#bufferBytes - offset, this.available - at),
    );
  }
}

/** Takes chunks for this many bytes, which are not written yet, from spare ones, and allocates those that are missing. */
export function acquireChunks(bytes: number, spareChunks: ArrayBufferLike[], isShared: boolean): BakedSource {
  const buffers: ArrayBufferLike[] = [];
  while (buffers.length * CHUNK_BYTES < bytes) {
    buffers.push(spareChunks.pop() ?? (isShared ? new SharedArrayBuffer(CHUNK_BYTES) : new ArrayBuffer(CHUNK_BYTES)));
  }
  return new BakedSource(bytes, buffers);
}
