// The copies of baked meshes from which a new worker is filled when one is lost.
import { BakedSource } from '../../shared/baked-source.js';
import { nextTask } from '../../shared/next-task.js';
import type { ChunkPool } from './chunk-pool.js';

/**
 * Up to this many bytes, a copy is a buffer of ours. A Blob is in the memory of neither thread, but it is registered with the
 * whole browser: for 10,000 small meshes, making the Blobs takes 3 s, and everything else 2.
 */
export const MAX_BUFFER_COPY_BYTES = 65_536;

/** Bytes that are copied in one task: half a millisecond. */
const PART_BYTES = 1 << 20;
/** Milliseconds within which a part is copied, however busy the page is. */
const MAX_IDLE_WAIT_MS = 100;
/** Milliseconds between two parts in browsers without requestIdleCallback: an eighth of the time goes to copies. */
const PAUSE_MS = 4;
/** Milliseconds of a slice of work that somebody waits for. */
const SLICE_MS = 4;

/** The bytes of a baked mesh: in a buffer that the worker has loaded and handed back, in chunks, or outside of our memory. */
export type BakedCopy = Blob | ArrayBuffer | BakedSource;

/** The mesh that has a copy, until it is removed. */
interface Owner {
  copy: BakedCopy | undefined;
  isRemoved: boolean;
}

/**
 * Moves large copies out of the page's memory when it is idle, one after the other. Until then they are the very buffers that
 * the worker has loaded and handed back: making the Blobs of a mesh of 70 MB takes 40 ms, which would delay its first answers.
 */
export class BakedCopies {
  readonly #chunks: ChunkPool;
  readonly #waitingOwners: Owner[] = [];
  #isBusy = false;

  /** Takes the pool to which unused chunks are returned. */
  constructor(chunks: ChunkPool) {
    this.#chunks = chunks;
  }

  /** Takes the copy of an owner. */
  add(owner: Owner, baked: ArrayBuffer | BakedSource): void {
    this.#setCopy(owner, baked);
    // A Blob of Node's is in the memory of the process, too.
    if (lengthOf(baked) <= MAX_BUFFER_COPY_BYTES || typeof setImmediate === 'function') return;
    this.#waitingOwners.push(owner);
    if (!this.#isBusy) this.#moveWaiting();
  }

  /** Releases the copy of a removed owner. */
  drop(owner: Owner): void {
    this.#setCopy(owner, undefined);
  }

  /** Cancels the moves that have not begun. */
  clear(): void {
    this.#waitingOwners.length = 0;
  }

  /** Replaces an owner's copy. */
  #setCopy(owner: Owner, copy: BakedCopy | undefined): void {
    if (owner.copy instanceof BakedSource) this.#chunks.give(owner.copy);
    owner.copy = copy;
  }

  async #moveWaiting(): Promise<void> {
    this.#isBusy = true;
    for (let owner = this.#waitingOwners[0]; owner !== undefined; owner = this.#waitingOwners[0]) {
      await this.#moveToBlob(owner);
      if (this.#waitingOwners[0] === owner) this.#waitingOwners.shift();
    }
    this.#isBusy = false;
  }

  async #moveToBlob(owner: Owner): Promise<void> {
    const baked = owner.copy;
    if (!baked || baked instanceof Blob) return;
    const parts: Blob[] = [];
    for (let at = 0; at < lengthOf(baked); at += PART_BYTES) {
      await waitForIdle();
      // A newer copy has its own turn.
      if (this.#waitingOwners[0] !== owner || owner.isRemoved || owner.copy !== baked) return;
      const part = viewOf(baked, at);
      // Blobs do not accept shared memory.
      parts.push(new Blob([part.buffer instanceof ArrayBuffer ? (part as Uint8Array<ArrayBuffer>) : part.slice()]));
    }
    // A Blob of Blobs refers to them; nothing is copied again.
    this.#setCopy(owner, new Blob(parts));
  }
}

/** Returns the bytes of a copy, in a buffer that may be transferred. */
export async function bytesOf(copy: BakedCopy): Promise<ArrayBuffer> {
  if (copy instanceof Blob) return copy.arrayBuffer();
  const bytes = new Uint8Array(lengthOf(copy));
  let deadline = performance.now() + SLICE_MS;
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    if (performance.now() >= deadline) {
      await nextTask();
      deadline = performance.now() + SLICE_MS;
    }
    bytes.set(viewOf(copy, at), at);
  }
  return bytes.buffer;
}

function lengthOf(copy: ArrayBuffer | BakedSource): number {
  return copy instanceof BakedSource ? copy.bytes : copy.byteLength;
}

/** Returns a view of the next part of a copy: a chunk is a whole number of parts. */
function viewOf(copy: ArrayBuffer | BakedSource, at: number): Uint8Array {
  if (copy instanceof BakedSource) return copy.view(at, PART_BYTES);
  return new Uint8Array(copy, at, Math.min(PART_BYTES, copy.byteLength - at));
}

/** Waits until the page is idle. */
function waitForIdle(): Promise<unknown> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === 'function') requestIdleCallback(resolve, { timeout: MAX_IDLE_WAIT_MS });
    else setTimeout(resolve, PAUSE_MS);
  });
}
