// Where every object is, according to update(): the one owner of that on the main thread.
//
//   who sets it                  where it is until update()         and from then on
//   ───────────                  ──────────────────────────         ────────────────
//   addObject, setObject                                            the table
//   BulkWriter (an adapter)      the table, and a list of runs      the table
//   SingleWriter (setTransform)  the frame builder                  the table
//   setTransforms                the frame builder                  a copied or borrowed block of the ReplayLog
//
// The state of a slot says who set the transform last. It decides who may compare with the table, and who may write to it at once:
//
//   UNKNOWN ──addObject──▶ CLAIMED ──setTransform, setObject──▶ STAGED ──update()──▶ EXPLICIT
//                                                                 ▲                     │
//                                                                 └──── setTransform ───┘
//   any state ──setTransforms──▶ BLOCK ──setTransform, setObject──▶ STAGED
//   any state ──removeObject───▶ UNKNOWN
//
//   CLAIMED   The table has the newest transform. The bulk writer may write to it, since the update() follows at once.
//   STAGED    The frame builder has a newer one, or had one that the worker refuses. Nothing can be compared.
//   EXPLICIT  The table has the newest one. An equal transform need not be staged again, unless a character moves the object.
//   BLOCK     A block has the newest one, staged or kept. Nothing can be compared.
import { slotOf } from '../../shared/ids.js';
import { grown } from '../../shared/typed-arrays.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import { AFFINE_NUMBERS, IDENTITY, writeAffine } from './affine.js';
import { MotionStarts } from './motion-starts.js';

export { AFFINE_NUMBERS };

export const UNKNOWN = 0;
export const CLAIMED = 1;
export const STAGED = 2;
export const EXPLICIT = 3;
export const BLOCK = 4;
export type TransformState = typeof UNKNOWN | typeof CLAIMED | typeof STAGED | typeof EXPLICIT | typeof BLOCK;

const MIN_SLOTS = 64;
const IDENTITY_AFFINE = new Float64Array(AFFINE_NUMBERS);
writeAffine(IDENTITY_AFFINE, 0, IDENTITY);

/** A page has the matrices of 2^PAGE_SHIFT consecutive slots: 96 KB. */
export const PAGE_SHIFT = 10;
export const PAGE_SLOTS = 1 << PAGE_SHIFT;

/** Returns the index of a slot's matrix in its page. */
export function offsetInPage(slot: number): number {
  return AFFINE_NUMBERS * (slot & (PAGE_SLOTS - 1));
}

/**
 * The objects alive and their transforms, by slot. Matrices are in pages of many, since a frame goes through them from end
 * to end: 10,000 arrays of their own would cost more in cache misses than everything else. A page is not allocated until
 * one of its objects has another matrix than the identity: the transforms of blocks are kept elsewhere, and a million of
 * them would take 96 MB here. A table that grows does not copy its pages either.
 */
export class TransformTable {
  /** The id of the object in each slot, 0 for none. */
  ids = new Uint32Array(0);
  /** Who set the transform of each slot's object last. */
  states = new Uint8Array(0);
  /** The pages: the upper three rows of each slot's matrix, column by column; `undefined` if all are the identity. */
  readonly pages: (Float64Array | undefined)[] = [];
  /**
   * Counts the objects that left the state BLOCK: results that were cached for the ids of a block are valid while it is
   * unchanged.
   */
  leftBlocks = 0;
  /** Objects that a character moves or has moved: the worker may have them elsewhere. */
  readonly carried = new Set<ObjectId>();
  /** The starts of the motions of continuous objects that have moved since the last answer. */
  readonly starts = new MotionStarts();

  has(id: unknown): id is ObjectId {
    // An id is never 0, and a slot out of range reads as undefined.
    return typeof id === 'number' && id !== 0 && this.ids[slotOf(id)] === id;
  }

  /** Makes room for this many slots. */
  reserve(slots: number): void {
    if (slots <= this.ids.length) return;
    this.ids = grown(this.ids, slots);
    this.states = grown(this.states, this.ids.length);
  }

  /** Places a new object; without a matrix it is at the origin. */
  add(id: ObjectId, matrix: ArrayLike<number> | undefined): void {
    const slot = slotOf(id);
    if (slot >= this.ids.length) this.reserve(Math.max(MIN_SLOTS, slot + 1));
    this.ids[slot] = id;
    this.states[slot] = CLAIMED;
    if (matrix) this.write(slot, matrix);
    else if (this.pages[slot >>> PAGE_SHIFT]) this.write(slot, IDENTITY);
  }

  /** Writes an object's matrix. */
  write(slot: number, matrix: ArrayLike<number>): void {
    writeAffine(this.pageOf(slot), offsetInPage(slot), matrix);
  }

  /** Notes where a character has moved an object to; without effect if the object is gone. */
  shift(id: ObjectId, position: Vec3): void {
    if (this.has(id)) this.pageOf(slotOf(id)).set(position, offsetInPage(slotOf(id)) + 9);
  }

  /** Returns the page that has the matrix of a slot, which is made if there is none. */
  pageOf(slot: number): Float64Array {
    return this.pages[slot >>> PAGE_SHIFT] ?? this.#makePage(slot >>> PAGE_SHIFT);
  }

  /** Returns whether the table has the newest transform of an object, and it is equal to this one. */
  isPlacedAs(id: ObjectId, matrix: ArrayLike<number>): boolean {
    const slot = slotOf(id);
    const state = this.states[slot];
    if (this.ids[slot] !== id || (state !== CLAIMED && state !== EXPLICIT)) return false;
    const page = this.pages[slot >>> PAGE_SHIFT];
    const at = page === undefined ? 0 : offsetInPage(slot);
    const numbers = page ?? IDENTITY_AFFINE;
    for (let column = 0; column < 4; column++) {
      for (let row = 0; row < 3; row++) if (numbers[at + 3 * column + row] !== matrix[4 * column + row]) return false;
    }
    return true;
  }

  delete(id: ObjectId): void {
    const slot = slotOf(id);
    this.setState(slot, UNKNOWN);
    this.carried.delete(id);
    this.ids[slot] = 0;
    this.starts.set(id, false);
  }

  setState(slot: number, state: TransformState): void {
    const { states } = this;
    if (states[slot] === BLOCK && state !== BLOCK) this.leftBlocks++;
    states[slot] = state;
  }

  /** Notes that a block was the last to set the transforms of these objects, which are alive. */
  setBlock(ids: Uint32Array): void {
    const { states } = this;
    for (let i = 0; i < ids.length; i++) states[slotOf(ids[i])] = BLOCK;
  }

  clear(): void {
    this.ids = new Uint32Array(0);
    this.states = new Uint8Array(0);
    this.pages.length = 0;
    this.starts.clear();
  }

  #makePage(pageIndex: number): Float64Array {
    while (this.pages.length <= pageIndex) this.pages.push(undefined); // without holes
    const page = new Float64Array(AFFINE_NUMBERS * PAGE_SLOTS);
    for (let at = 0; at < page.length; at += AFFINE_NUMBERS) writeAffine(page, at, IDENTITY);
    this.pages[pageIndex] = page;
    return page;
  }
}
