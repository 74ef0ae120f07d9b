// The chunks in which baked meshes are copied, so that the worker looks at the first ones while the others are copied.
import { bytesWithoutBoxes } from '../../shared/baked-boxes.js';
import { type BakedSource, CHUNK_BYTES, takeChunks } from '../../shared/baked-source.js';
import { MESH_BYTES } from '../../shared/layout.js';

/**
 * Chunks that are of no use any more are kept for the next mesh: up to so many bytes, for so many milliseconds. What takes
 * longest in a copy is that memory is new: 71 MB take 40 to 60 ms in it, and 8 to 12 in chunks that were used before.
 */
const SPARE_BYTES = 1 << 27;
const SPARE_MS = 5_000;

/** Tells whether a baked mesh is copied in chunks: it has more than one, and nothing follows the mesh itself. */
export function isInChunks(baked: ArrayBuffer): boolean {
  const { byteLength } = baked;
  if (byteLength <= CHUNK_BYTES || bytesWithoutBoxes(baked) !== byteLength) return false;
  return new DataView(baked).getUint32(MESH_BYTES, true) === byteLength;
}

export class ChunkPool {
  /** Whether the worker has memory at once with this thread. */
  isShared = false;
  readonly #spare: ArrayBufferLike[] = [];
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Answers chunks for so many bytes, which are not written yet. */
  take(bytes: number): BakedSource {
    return takeChunks(bytes, this.#spare, this.isShared);
  }

  /**
   * Answers what a builder is to bake some `bytes` bytes into: spare chunks. Undefined where it is to hand over a buffer of its own,
   * as nothing is shared or they are few.
   */
  lend(bytes: number): ArrayBufferLike[] | undefined {
    return this.isShared && bytes > CHUNK_BYTES ? this.#spare.splice(0, bytes / CHUNK_BYTES + 1) : undefined;
  }

  /** Takes chunks that nobody reads any more. */
  give({ buffers }: Pick<BakedSource, 'buffers'>): void {
    if (this.#isClosed) return;
    for (const buffer of buffers) {
      const isOurs = buffer.byteLength > 0 && buffer instanceof ArrayBuffer !== this.isShared;
      if (isOurs && this.#spare.length < SPARE_BYTES / CHUNK_BYTES) this.#spare.push(buffer);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#drop(), SPARE_MS);
    this.#timer.unref?.(); // in Node it is no reason to stay
  }

  /** Lets go of all, and takes none as long as it is closed: while meshes are copied for another worker, none is written over. */
  close(isClosed = true): void {
    this.#isClosed = isClosed;
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#spare.length = 0;
  }
}
