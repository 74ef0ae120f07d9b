import { NO_OBJECT, slotOf } from '../shared/ids.js';
import * as layout from '../shared/layout.js';
import type { ObjectId } from '../shared/types.js';
import type { LentBlock, Staging } from './frame/frame-builder.js';
import { PLACE_NUMBERS as NUMBERS, type Places } from './places.js';
import { IDENTITY, isAffine, isInvertibleAt, multiplyAffine } from './transforms/affine.js';

/** A frame in as it was sent. */
interface Sent {
  bytes: Uint8Array<ArrayBuffer>;
  used: number;
  /** Of each block where it is from, if that is lent: of such a one there is the header alone. */
  lent: (LentBlock | undefined)[];
  /** Whether the worker has taken all of it; until it says so, it may have refused what cannot be inverted. */
  isTaken: boolean;
}

/**
 * Where the worker has every object, for the next worker when that one is lost. What a frame says of objects that are
 * told about one by one, or in blocks, is copied before its buffer is handed over, and is looked into only where the frame
 * after the next does not speak of the very same objects: as long as the same ones move, keeping up costs a copy and a
 * comparison of ids. What is lent is not even copied, but read where it is when it is looked into: it may be newer then, as
 * its owner is about to say.
 */
export class Placements {
  readonly #places: Places;
  /** Whether there may be a next worker. */
  readonly #isKeeping: boolean;
  /** The frame that was sent last, and the one before it. */
  #last = nothingSent();
  #before = nothingSent();

  constructor(places: Places, isKeeping: boolean) {
    this.#places = places;
    this.#isKeeping = isKeeping;
  }

  /** An object begins there, whatever was sent before; without a matrix it is at the origin. */
  set(id: ObjectId, matrix: ArrayLike<number> | undefined): void {
    if (this.#places.ids[slotOf(id)] === id) this.#foldAll();
    this.#places.set(id, matrix ?? IDENTITY);
  }

  /**
   * Takes note of a frame that is about to be sent, and of those of its single transforms that are `told`: the others are
   * in `Places` already. The frame before it has been answered.
   */
  keep(input: ArrayBuffer, { told, lent }: Pick<Staging, 'told' | 'lent'>): void {
    if (!this.#isKeeping) return;
    // Of what the worker may refuse in the last one, the one before it has the newest.
    if (!this.#last.isTaken || !isAboutTheSame(this.#before, this.#last)) this.#fold(this.#before);
    const older = this.#before;
    this.#before = this.#last;
    this.#last = older;
    const words = new Uint32Array(input);
    const used = words[layout.IN_BYTES / 4];
    const count = Math.min(told, words[layout.IN_TRANSFORM_COUNT / 4]);
    if (older.bytes.length < used) older.bytes = new Uint8Array(input.byteLength);
    const copy = (from: number, to: number): void => {
      older.bytes.set(new Uint8Array(input, from, to - from), from);
    };
    copy(0, words[layout.IN_IDS / 4] + 4 * count);
    copy(words[layout.IN_MATRICES / 4], words[layout.IN_MATRICES / 4] + layout.MATRIX_BYTES * count);
    let block = words[layout.IN_BLOCKS / 4];
    for (let n = 0; n < words[layout.IN_BLOCK_COUNT / 4]; n++) {
      const end = words[(block + layout.BLOCK_NEXT) / 4];
      copy(block, lent[n] === undefined ? end : block + layout.BLOCK_HEADER_BYTES);
      block = end;
    }
    const kept = new Uint32Array(older.bytes.buffer);
    kept[layout.IN_TRANSFORM_COUNT / 4] = count;
    kept[layout.IN_VIEW_COUNT / 4] = 0; // the views that are left then are told of by themselves
    older.used = used;
    older.lent.length = 0;
    older.lent.push(...lent);
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
    const { ids, matrices } = this.#places;
    const matrix = new Float64Array(16);
    matrix[15] = 1;
    for (let slot = 0; slot < ids.length; slot++) {
      const id = ids[slot];
      if (id === 0) continue;
      for (let k = 0; k < NUMBERS; k++) matrix[k + Math.floor(k / 3)] = matrices[NUMBERS * slot + k];
      staging.setSingle(id, matrix);
    }
  }

  /** A copy of the last frame that was sent, of which the answer may not have come; undefined where there is none. */
  get newest(): ArrayBuffer | undefined {
    const { bytes, used, lent } = this.#last;
    if (used === 0) return undefined;
    const copy = bytes.slice(0, used).buffer;
    const u32 = new Uint32Array(copy);
    let header = u32[layout.IN_BLOCKS / 4] / 4;
    for (let n = 0; n < u32[layout.IN_BLOCK_COUNT / 4]; n++) {
      const block = lent[n];
      if (block !== undefined) {
        const { ids, matrices } = block;
        if (isThere(block)) {
          u32.set(ids, u32[header + layout.BLOCK_IDS / 4] / 4);
          const target = matrices.BYTES_PER_ELEMENT === 8 ? new Float64Array(copy) : new Float32Array(copy);
          target.set(matrices, u32[header + layout.BLOCK_MATRICES / 4] / matrices.BYTES_PER_ELEMENT);
        } else {
          u32[header + layout.BLOCK_COUNT / 4] = 0;
        }
      }
      header = u32[header + layout.BLOCK_NEXT / 4] / 4;
    }
    return copy;
  }

  clear(): void {
    this.#places.clear();
    this.#last = nothingSent();
    this.#before = nothingSent();
  }

  #foldAll(): void {
    this.#fold(this.#before);
    this.#before.used = 0;
    this.#fold(this.#last);
    this.#last.used = 0;
  }

  /** Takes over what a frame says of the objects that are there, as the worker does, in the same order. */
  #fold({ bytes, used, lent, isTaken }: Sent): void {
    if (used === 0) return;
    const product = new Float64Array(NUMBERS);
    const { ids: known, matrices: places, newest } = this.#places;
    const u32 = new Uint32Array(bytes.buffer);
    const f64 = new Float64Array(bytes.buffer);
    const f32 = new Float32Array(bytes.buffer);
    let block = u32[layout.IN_BLOCKS / 4];
    for (let n = 0; n < u32[layout.IN_BLOCK_COUNT / 4]; n++) {
      const header = block / 4;
      const source = lent[n];
      const isWide = u32[header + layout.BLOCK_FLOAT_BYTES / 4] === 8;
      const matrices = source?.matrices ?? (isWide ? f64 : f32);
      const ids = source?.ids ?? u32;
      const firstMatrix = source ? 0 : u32[header + layout.BLOCK_MATRICES / 4] / (isWide ? 8 : 4);
      const firstId = source ? 0 : u32[header + layout.BLOCK_IDS / 4] / 4;
      const parent = f64.subarray((block + layout.BLOCK_PARENT) / 8, (block + layout.BLOCK_PARENT) / 8 + 16);
      const count = source && !isThere(source) ? 0 : u32[header + layout.BLOCK_COUNT / 4];
      for (let i = 0; i < count; i++) {
        const id = ids[firstId + i];
        const at = firstMatrix + 16 * i;
        if (known[slotOf(id)] !== id || (source && !isAffine(matrices, at))) continue;
        multiplyAffine(product, 0, parent, matrices, at);
        // What is lent may be newer than what was taken.
        const isGood = (isTaken && !source) || isInvertibleAt(product, 0, 3);
        if (isGood) places.set(product, NUMBERS * slotOf(id));
      }
      block = u32[header + layout.BLOCK_NEXT / 4];
    }
    const ids = u32[layout.IN_IDS / 4] / 4;
    const matrices = u32[layout.IN_MATRICES / 4] / 8;
    for (let i = 0; i < u32[layout.IN_TRANSFORM_COUNT / 4]; i++) {
      const id = u32[ids + i];
      if (id === NO_OBJECT || known[slotOf(id)] !== id || newest[slotOf(id)] === id) continue;
      const from = matrices + NUMBERS * i;
      if (!isTaken && !isInvertibleAt(f64, from, 3)) continue;
      const to = NUMBERS * slotOf(id);
      for (let k = 0; k < NUMBERS; k++) places[to + k] = f64[from + k];
    }
  }
}

function nothingSent(): Sent {
  return { bytes: new Uint8Array(0), used: 0, lent: [], isTaken: false };
}

/** Not in a buffer that its owner has handed on since. */
function isThere({ ids, matrices }: LentBlock): boolean {
  return matrices.length === 16 * ids.length;
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
    const lent = a.lent[n]?.ids;
    if (lent !== b.lent[n]?.ids) return false;
    if (lent === undefined && !areSame(first, from, second, to, count)) return false;
    i = first[i + layout.BLOCK_NEXT / 4] / 4;
    j = second[j + layout.BLOCK_NEXT / 4] / 4;
  }
  return true;
}

function areSame(a: Uint32Array, i: number, b: Uint32Array, j: number, count: number): boolean {
  for (let k = 0; k < count; k++) if (a[i + k] !== b[j + k]) return false;
  return true;
}
