import { NO_OBJECT, slotOf } from '../shared/ids.js';
import * as layout from '../shared/layout.js';
import type { ObjectId } from '../shared/types.js';
import { IDENTITY, isInvertibleAt, multiplyAffine, writeAffine } from './affine.js';
import { grown } from './ids.js';
import type { Staging } from './staging.js';

/** A frame in as it was sent. */
interface Sent {
  bytes: Uint8Array<ArrayBuffer>;
  used: number;
  /** Whether the worker has taken all of it; until it says so, it may have refused what cannot be inverted. */
  isTaken: boolean;
}

const NUMBERS = 12; // of a transform

/**
 * Where the worker has every object, for the next worker when that one is lost. A frame's buffer is copied before it is
 * handed over, and is looked into only where the frame after the next does not speak of the very same objects: as long
 * as the same ones move, keeping up costs a copy and a comparison of ids.
 */
export class Placements {
  /** Per slot: the id of which the matrix is there, 0 for none; and the matrix. */
  #ids = new Uint32Array(0);
  #matrices = new Float64Array(0);
  /** The frame that was sent last, and the one before it. */
  #last = nothingSent();
  #before = nothingSent();

  /** An object begins there, whatever was sent before; without a matrix it is at the origin. */
  set(id: ObjectId, matrix: ArrayLike<number> | undefined): void {
    if (this.#isMentioned(id)) this.#foldAll();
    const slot = slotOf(id);
    this.#reserve(slot);
    this.#ids[slot] = id;
    writeAffine(this.#matrices, NUMBERS * slot, matrix ?? IDENTITY);
  }

  delete(id: ObjectId): void {
    if (this.#ids[slotOf(id)] === id) this.#ids[slotOf(id)] = 0;
  }

  /** Takes note of a frame that is about to be sent. The one before it has been answered. */
  keep(input: ArrayBuffer): void {
    if (!isAboutTheSame(this.#before, this.#last)) this.#fold(this.#before);
    const older = this.#before;
    this.#before = this.#last;
    this.#last = older;
    const used = new Uint32Array(input, 0, layout.IN_HEADER_BYTES / 4)[layout.IN_BYTES / 4];
    if (older.bytes.length < used) older.bytes = new Uint8Array(input.byteLength);
    older.bytes.set(new Uint8Array(input, 0, used));
    older.used = used;
    older.isTaken = false;
  }

  /** The worker has answered the last frame and refused nothing. */
  accept(): void {
    this.#last.isTaken = true;
  }

  /** Stages all of it, for the first frame of a new worker. What the last frame says comes on top: `newest`. */
  stage(staging: Staging): void {
    this.#fold(this.#before);
    this.#before.used = 0;
    const matrix = new Float64Array(16);
    matrix[15] = 1;
    for (let slot = 0; slot < this.#ids.length; slot++) {
      const id = this.#ids[slot];
      if (id === 0) continue;
      for (let k = 0; k < NUMBERS; k++) matrix[k + Math.floor(k / 3)] = this.#matrices[NUMBERS * slot + k];
      staging.setSingle(id, matrix);
    }
  }

  /** A copy of the last frame that was sent, of which the answer may not have come; undefined where there is none. */
  get newest(): ArrayBuffer | undefined {
    return this.#last.used === 0 ? undefined : this.#last.bytes.slice(0, this.#last.used).buffer;
  }

  #isMentioned(id: ObjectId): boolean {
    return this.#ids[slotOf(id)] === id;
  }

  #foldAll(): void {
    this.#fold(this.#before);
    this.#before.used = 0;
    this.#fold(this.#last);
    this.#last.used = 0;
  }

  /** Takes over what a frame says of the objects that are there, as the worker does, in the same order. */
  #fold({ bytes, used, isTaken }: Sent): void {
    if (used === 0) return;
    const product = new Float64Array(NUMBERS);
    const u32 = new Uint32Array(bytes.buffer);
    const f64 = new Float64Array(bytes.buffer);
    const f32 = new Float32Array(bytes.buffer);
    let block = u32[layout.IN_BLOCKS / 4];
    for (let n = u32[layout.IN_BLOCK_COUNT / 4]; n > 0; n--) {
      const header = block / 4;
      const count = u32[header + layout.BLOCK_COUNT / 4];
      const ids = u32[header + layout.BLOCK_IDS / 4] / 4;
      const isWide = u32[header + layout.BLOCK_FLOAT_BYTES / 4] === 8;
      const matrices = u32[header + layout.BLOCK_MATRICES / 4] / (isWide ? 8 : 4);
      const parent = f64.subarray((block + layout.BLOCK_PARENT) / 8, (block + layout.BLOCK_PARENT) / 8 + 16);
      for (let i = 0; i < count; i++) {
        const slot = slotOf(u32[ids + i]);
        if (this.#ids[slot] !== u32[ids + i]) continue;
        multiplyAffine(product, 0, parent, isWide ? f64 : f32, matrices + 16 * i);
        if (isTaken || isInvertibleAt(product, 0, 3)) this.#matrices.set(product, NUMBERS * slot);
      }
      block = u32[header + layout.BLOCK_NEXT / 4];
    }
    const ids = u32[layout.IN_IDS / 4] / 4;
    const matrices = u32[layout.IN_MATRICES / 4] / 8;
    for (let i = 0; i < u32[layout.IN_TRANSFORM_COUNT / 4]; i++) {
      const id = u32[ids + i];
      if (id === NO_OBJECT || this.#ids[slotOf(id)] !== id) continue;
      const from = matrices + NUMBERS * i;
      if (!isTaken && !isInvertibleAt(f64, from, 3)) continue;
      const to = NUMBERS * slotOf(id);
      for (let k = 0; k < NUMBERS; k++) this.#matrices[to + k] = f64[from + k];
    }
  }

  #reserve(slot: number): void {
    if (slot < this.#ids.length) return;
    this.#ids = grown(this.#ids, Math.max(64, slot + 1));
    const matrices = new Float64Array(NUMBERS * this.#ids.length);
    matrices.set(this.#matrices);
    this.#matrices = matrices;
  }
}

function nothingSent(): Sent {
  return { bytes: new Uint8Array(0), used: 0, isTaken: false };
}

/** Whether two frames move the same objects, in the same order and in the same way. */
function isAboutTheSame(a: Sent, b: Sent): boolean {
  if (a.used === 0) return true;
  if (b.used === 0) return false;
  const first = new Uint32Array(a.bytes.buffer);
  const second = new Uint32Array(b.bytes.buffer);
  const singles = first[layout.IN_TRANSFORM_COUNT / 4];
  const blocks = first[layout.IN_BLOCK_COUNT / 4];
  if (singles !== second[layout.IN_TRANSFORM_COUNT / 4] || blocks !== second[layout.IN_BLOCK_COUNT / 4]) return false;
  if (!areSame(first, first[layout.IN_IDS / 4] / 4, second, second[layout.IN_IDS / 4] / 4, singles)) return false;
  let i = first[layout.IN_BLOCKS / 4] / 4;
  let j = second[layout.IN_BLOCKS / 4] / 4;
  for (let n = 0; n < blocks; n++) {
    const count = first[i + layout.BLOCK_COUNT / 4];
    if (count !== second[j + layout.BLOCK_COUNT / 4]) return false;
    const [from, to] = [first[i + layout.BLOCK_IDS / 4] / 4, second[j + layout.BLOCK_IDS / 4] / 4];
    if (!areSame(first, from, second, to, count)) return false;
    i = first[i + layout.BLOCK_NEXT / 4] / 4;
    j = second[j + layout.BLOCK_NEXT / 4] / 4;
  }
  return true;
}

function areSame(a: Uint32Array, i: number, b: Uint32Array, j: number, count: number): boolean {
  for (let k = 0; k < count; k++) if (a[i + k] !== b[j + k]) return false;
  return true;
}
