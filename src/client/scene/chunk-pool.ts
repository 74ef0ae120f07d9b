// The chunks in which baked meshes are copied, so that the worker checks the first ones while the others are copied.
import { bytesWithoutBoxes } from '../../shared/baked-boxes.js';
import { acquireChunks, type BakedSource, CHUNK_BYTES } from '../../shared/baked-source.js';
import { MESH_BYTES } from '../../shared/layout.js';

/**
 * Unused chunks are kept for the next mesh: up to this many bytes, for this many milliseconds. Most of the time of a copy
 * goes to new memory: 71 MB take 40 to 60 ms in new memory, and 8 to 12 in chunks that were used before.
 */
const MAX_SPARE_BYTES = 1 << 27;
const SPARE_MS = 5_000;

/** Returns whether a baked mesh is copied in chunks: if it has more than one, and nothing follows the mesh itself. */
export function isInChunks(baked: ArrayBuffer): boolean {
  const { byteLength } = baked;
  if (byteLength <= CHUNK_BYTES || bytesWithoutBoxes(baked) !== byteLength) return false;
  return new DataView(baked).getUint32(MESH_BYTES, true) === byteLength;
}

export class ChunkPool {
  /** Whether the worker may share memory with this thread. */
  isShared = false;
  readonly #spareChunks: ArrayBufferLike[] = [];
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns chunks for this many bytes, which are not written yet. */
  take(bytes: number): BakedSource {
    return acquireChunks(bytes, this.#spareChunks, this.isShared);
  }

  /**
   * Returns spare chunks for a builder to bake about `bytes` bytes into. Undefined if it must hand over a buffer of its own,
   * because memory cannot be shared or the mesh is small.
   */
  lend(bytes: number): ArrayBufferLike[] | undefined {
    return this.isShared && bytes > CHUNK_BYTES ? this.#spareChunks.splice(0, bytes / CHUNK_BYTES + 1) : undefined;
  }

  /** Takes back chunks that nobody reads any more. */
  give({ buffers }: Pick<BakedSource, 'buffers'>): void {
    if (this.#isClosed) return;
    for (const buffer of buffers) {
      const isReusable = buffer.byteLength > 0 && buffer instanceof ArrayBuffer !== this.isShared;
      if (isReusable && this.#spareChunks.length < MAX_SPARE_BYTES / CHUNK_BYTES) this.#spareChunks.push(buffer);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#releaseSpare(), SPARE_MS);
    this.#timer.unref?.(); // in Node, it must not keep the process alive
  }

  /** Releases all chunks, and takes none while it is closed: while meshes are copied for another worker, none is overwritten. */
  close(isClosed = true): void {
    this.#isClosed = isClosed;
    this.#releaseSpare();
  }

  #releaseSpare(): void {
    clearTimeout(this.#timer);
    this.#spareChunks.length = 0;
  }
}
