// What the next worker is sent when one is lost: where every object is by the update() calls so far. Single transforms
// are written to the table at once, after the same checks as in the worker. Those of blocks are not, since multiplying
// thousands of matrices in every frame would cost more than the frame: a block is kept as it was given, and multiplied
// when another one takes over its objects, or for the next worker.
//
// A borrowed block is not kept at all but read from its owner's array, so that a million instances take no memory here.
// The next worker gets what the owner has written by then, whether or not it was sent. Where that is not a valid matrix,
// the object is where it was added, and its owner must hide it. A block with a continuous object is kept like any other,
// since its owner does not know where the object was in the last answered frame.
import { NO_OBJECT, slotOf } from '../../shared/ids.js';
import { areEqual, grown } from '../../shared/typed-arrays.js';
import type { ObjectId } from '../../shared/types.js';
import { isInvertibleAt } from '../check/affine.js';
import { MAX_SURE_POSITION, MIN_SURE_RATIO, tryMultiplyAffine } from './affine.js';
import type { StagedTransforms } from './single-writer.js';
import {
  AFFINE_NUMBERS,
  CLAIMED,
  EXPLICIT,
  offsetInPage,
  PAGE_SHIFT,
  STAGED,
  type TransformTable,
} from './transform-table.js';

type Floats = Float32Array | Float64Array;

/** Transforms of a caller that never writes `ids`, and stages them again whenever it has written `matrices`. */
export interface BorrowedBlock {
  readonly ids: Uint32Array;
  readonly matrices: Floats;
}

/** Takes the transforms for the next worker: an empty frame builder. */
export interface StagedBlocks extends StagedTransforms {
  setBlock(ids: Uint32Array, matrices: Floats, parent: ArrayLike<number>): void;
}

/** The transforms parent · matrix of many objects. */
interface Placement {
  matrices: Floats;
  readonly parent: Float64Array;
}

function emptyPlacement(): Placement {
  return { matrices: new Float32Array(0), parent: new Float64Array(16) };
}

interface KeptBlock {
  /** Its index among the kept blocks. */
  readonly index: number;
  /** A copy, unless they belong to an owner that never writes them. */
  ids: Uint32Array;
  isBorrowed: boolean;
  /** The number of its objects whose newest transform is in this block. */
  own: number;
  newest: Placement;
  /**
   * The previous placement, which the worker still has for transforms of the newest that it refused; none for a borrowed
   * block, whose newest is read at the end.
   */
  before: Placement | undefined;
  /** The numbers of the frames that carry `newest` and `before`. */
  frame: number;
  beforeFrame: number;
  /** Whether the worker has answered that frame and refused nothing. */
  isAccepted: boolean;
}

/** Replaces a kept block's index: the transform is in the table. */
const IN_TABLE = 0;

/**
 * The transforms that update() was called with. The newest of an object is in the table, or in one kept block. An
 * object leaves a block when its transform is set elsewhere: its matrices in the copies are then made invalid.
 */
export class ReplayLog {
  readonly #table: TransformTable;
  /** Whether there may be a next worker. */
  readonly #isKeeping: boolean;
  /** The kept blocks by index, from 1 on. */
  readonly #blocks: (KeptBlock | undefined)[] = [undefined];
  readonly #freeIndices: number[] = [];
  /** The index of the kept block that has the transform of each slot's object, and the object's index in that block. */
  #blockOf = new Uint32Array(0);
  #indexInBlock = new Uint32Array(0);
  /** The number of the last frame that was answered. */
  #answeredFrame = 0;
  /** Whether any object of a borrowed block is continuous, by its ids, for a `version` of `starts`. */
  readonly #continuousChecks = new WeakMap<Uint32Array, { version: number; isAny: boolean }>();

  constructor(table: TransformTable, isKeeping: boolean) {
    this.#table = table;
    this.#isKeeping = isKeeping;
  }

  /** Places a new object; without a matrix it is at the origin. */
  add(id: ObjectId, matrix: ArrayLike<number> | undefined): void {
    this.#table.add(id, matrix);
    const { length } = this.#table.ids;
    if (this.#blockOf.length < length) this.#grow(length);
  }

  /** Sets whether an object is continuous. */
  setContinuous(id: ObjectId, isContinuous: boolean): void {
    if (!this.#isKeeping) return;
    const slot = slotOf(id);
    this.#table.starts.set(id, isContinuous);
    if (isContinuous) this.#table.pageOf(slot); // its transform is staged for the next worker, whatever it is
    const block = isContinuous ? this.#blocks[this.#blockOf[slot]] : undefined;
    if (block?.isBorrowed !== true || block.newest.matrices.length !== 16 * block.ids.length) return;
    block.newest.matrices = block.newest.matrices.slice();
    block.isBorrowed = false;
  }

  /** Makes room for this many slots. */
  reserve(slots: number): void {
    this.#table.reserve(slots);
    if (this.#blockOf.length < slots) this.#grow(slots);
  }

  #grow(slots: number): void {
    this.#blockOf = grown(this.#blockOf, slots);
    this.#indexInBlock = grown(this.#indexInBlock, slots);
  }

  /** Places an object by a command, which takes effect without an update(). */
  set(id: ObjectId, matrix: ArrayLike<number>): void {
    const slot = slotOf(id);
    this.#leaveBlock(slot);
    this.#table.starts.exclude(id);
    this.#table.write(slot, matrix);
    this.#table.setState(slot, STAGED); // over an older staged transform
  }

  delete(id: ObjectId): void {
    this.#leaveBlock(slotOf(id));
    this.#table.delete(id);
  }

  /**
   * Records the single transforms of an update(): their ids from `u32[firstId]` on, their numbers from `f64[first]` on.
   */
  keepSingles(u32: Uint32Array, firstId: number, f64: Float64Array, first: number, count: number): void {
    const table = this.#table;
    const { ids, starts, states } = table;
    const hasContinuous = this.#isKeeping && starts.isAny;
    const blockOf = this.#blockOf;
    for (let i = 0; i < count; i++) {
      const id = u32[firstId + i];
      if (id === NO_OBJECT) continue;
      const slot = slotOf(id);
      // The transform of a CLAIMED slot in the table is newer.
      if (ids[slot] !== id || states[slot] === CLAIMED) continue;
      const from = first + AFFINE_NUMBERS * i;
      // One by one: a loop takes twice as long.
      const ax = f64[from];
      const ay = f64[from + 1];
      const az = f64[from + 2];
      const bx = f64[from + 3];
      const by = f64[from + 4];
      const bz = f64[from + 5];
      const cx = f64[from + 6];
      const cy = f64[from + 7];
      const cz = f64[from + 8];
      const x = f64[from + 9];
      const y = f64[from + 10];
      const z = f64[from + 11];
      const squareSum = ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz + cx * cx + cy * cy + cz * cz;
      const volume = ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by);
      const isClearlyInvertible =
        volume * volume > MIN_SURE_RATIO * squareSum * squareSum * squareSum && Math.abs(x + y + z) < MAX_SURE_POSITION;
      // A transform that the worker will refuse does not replace the one that it has.
      if (!isClearlyInvertible && !isInvertibleAt(f64, from, 3)) continue;
      const isContinuous = hasContinuous && starts.isContinuous(slot);
      if (blockOf[slot] !== IN_TABLE) {
        if (isContinuous) this.#recordStart(this.#blocks[blockOf[slot]]!, slot);
        this.#leaveBlock(slot);
      }
      if (states[slot] === STAGED) states[slot] = EXPLICIT;
      const matrices = table.pageOf(slot);
      const to = offsetInPage(slot);
      if (isContinuous) starts.note(id, matrices, to);
      matrices[to] = ax;
      matrices[to + 1] = ay;
      matrices[to + 2] = az;
      matrices[to + 3] = bx;
      matrices[to + 4] = by;
      matrices[to + 5] = bz;
      matrices[to + 6] = cx;
      matrices[to + 7] = cy;
      matrices[to + 8] = cz;
      matrices[to + 9] = x;
      matrices[to + 10] = y;
      matrices[to + 11] = z;
    }
  }

  /**
   * Records a block of an update(), which belongs to the frame of that number; `matrices` are those of the frame.
   * `isBorrowed`: nobody writes `ids` any more.
   */
  keepBlock(ids: Uint32Array, matrices: Floats, parent: ArrayLike<number>, isBorrowed: boolean, frame: number): void {
    if (!this.#isKeeping) return;
    const block = this.#findBlock(ids, undefined) ?? this.#newBlock(isBorrowed ? ids : ids.slice(), false);
    if (block.own < ids.length) this.#claimObjects(block, ids);
    // Only the newest one of a frame that was not sent yet matters.
    if (block.frame !== frame) this.#beginPlacement(block);
    const { newest } = block;
    const isReusable =
      newest.matrices.length === matrices.length && newest.matrices.constructor === matrices.constructor;
    if (isReusable) newest.matrices.set(matrices);
    else newest.matrices = matrices.slice();
    newest.parent.set(parent);
    block.frame = frame;
    block.isAccepted = false;
  }

  /**
   * Records a borrowed block as it is lent; returns false if an object of it is continuous, so that `keepBlock` must copy it. The
   * parent's matrix is 16 numbers from `numbers[at]` on: a view of them for each 8,192 instances would be garbage.
   */
  keepBorrowed(borrowed: BorrowedBlock, numbers: ArrayLike<number>, at: number, frame: number): boolean {
    if (!this.#isKeeping) return true;
    const { ids, matrices } = borrowed;
    if (this.#hasContinuous(ids)) return false;
    const block = this.#findBlock(ids, borrowed) ?? this.#newBlock(ids, true);
    if (block.own < ids.length) this.#claimObjects(block, ids);
    const { newest } = block;
    newest.matrices = matrices;
    for (let k = 0; k < 16; k++) newest.parent[k] = numbers[at + k];
    block.frame = frame;
    block.isAccepted = false;
    return true;
  }

  /** Returns whether any object of a borrowed block is continuous. */
  #hasContinuous(ids: Uint32Array): boolean {
    const { starts } = this.#table;
    if (!starts.isAny) return false;
    const cached = this.#continuousChecks.get(ids);
    if (cached?.version === starts.version) return cached.isAny;
    const isAny = ids.some((id) => starts.isContinuous(slotOf(id)));
    this.#continuousChecks.set(ids, { version: starts.version, isAny });
    return isAny;
  }

  /** Notes that the worker has answered a frame. */
  answer(frame: number): void {
    this.#answeredFrame = frame;
    this.#table.starts.answer();
  }

  /** Notes that the worker has refused nothing of a frame. */
  accept(frame: number): void {
    for (const block of this.#blocks) if (block?.frame === frame) block.isAccepted = true;
  }

  /**
   * Notes that the worker is lost, after answering the frames up to this number: the motions of continuous objects begin where
   * they were then.
   */
  interrupt(answeredFrame: number): void {
    const { ids, starts } = this.#table;
    starts.interrupt();
    if (!starts.isAny) return;
    this.#answeredFrame = answeredFrame;
    for (let slot = 0; slot < ids.length; slot++) {
      const block = starts.isContinuous(slot) ? this.#blocks[this.#blockOf[slot]] : undefined;
      if (block && block.frame > answeredFrame) this.#recordStart(block, slot);
    }
  }

  /** Notes where an object of a block was in the last answered frame. */
  #recordStart(block: KeptBlock, slot: number): void {
    if (block.isBorrowed) return;
    const { ids, newest, before, frame, beforeFrame } = block;
    const { ids: idsBySlot, starts } = this.#table;
    const i = this.#indexInBlock[slot];
    const product = new Float64Array(AFFINE_NUMBERS);
    const placement = frame <= this.#answeredFrame ? newest : beforeFrame <= this.#answeredFrame ? before : undefined;
    const isKnown = placement?.matrices.length === 16 * ids.length;
    if (isKnown && tryMultiplyAffine(product, 0, placement.parent, placement.matrices, 16 * i)) {
      starts.note(idsBySlot[slot], product, 0);
    } else if (!placement) starts.note(idsBySlot[slot], this.#table.pageOf(slot), offsetInPage(slot));
  }

  /** Stages every object whose transform differs from that of a new object. */
  replay(staging: StagedBlocks): void {
    for (const block of this.#blocks) {
      if (block?.isBorrowed) this.#stageBorrowed(block, staging);
      else if (block) this.#fold(block);
    }
    const { ids, pages } = this.#table;
    for (let slot = 0; slot < ids.length; slot++) {
      const page = pages[slot >>> PAGE_SHIFT];
      if (!ids[slot] || !page) continue;
      if (this.#blocks[this.#blockOf[slot]]?.isBorrowed) continue;
      const to = staging.addSingle(ids[slot]);
      const from = offsetInPage(slot);
      for (let k = 0; k < AFFINE_NUMBERS; k++) staging.f64[to + k] = page[from + k];
    }
  }

  #stageBorrowed({ index, ids, own, newest }: KeptBlock, staging: StagedBlocks): void {
    const { matrices, parent } = newest;
    if (matrices.length !== 16 * ids.length) return; // its buffer was transferred since
    if (own === ids.length) {
      staging.setBlock(ids, matrices, parent);
      return;
    }
    const product = new Float64Array(AFFINE_NUMBERS);
    for (let i = 0; i < ids.length; i++) {
      if (this.#blockOf[slotOf(ids[i])] !== index || !tryMultiplyAffine(product, 0, parent, matrices, 16 * i)) continue;
      const to = staging.addSingle(ids[i]);
      staging.f64.set(product, to);
    }
  }

  clear(): void {
    this.#table.clear();
    this.#blocks.length = 1;
    this.#freeIndices.length = 0;
    this.#blockOf = new Uint32Array(0);
    this.#indexInBlock = new Uint32Array(0);
  }

  /** Finds the kept block of exactly these objects, by the first object that is in any block. */
  #findBlock(ids: Uint32Array, borrowed: BorrowedBlock | undefined): KeptBlock | undefined {
    let blockIndex = IN_TABLE;
    for (let i = 0; i < ids.length && blockIndex === IN_TABLE; i++) blockIndex = this.#blockOf[slotOf(ids[i])];
    const block = this.#blocks[blockIndex];
    if (!block || block.isBorrowed !== (borrowed !== undefined)) return undefined;
    if (borrowed) return block.ids === borrowed.ids ? block : undefined;
    return areEqual(block.ids, ids) ? block : undefined;
  }

  #newBlock(ids: Uint32Array, isBorrowed: boolean): KeptBlock {
    const blockIndex = this.#freeIndices.pop() ?? this.#blocks.length;
    const block: KeptBlock = {
      index: blockIndex,
      ids,
      isBorrowed,
      own: 0,
      newest: emptyPlacement(),
      before: undefined,
      frame: -1,
      beforeFrame: -1,
      isAccepted: true,
    };
    this.#blocks[blockIndex] = block;
    return block;
  }

  /** Moves all objects of a block from the table and other blocks into it. */
  #claimObjects(block: KeptBlock, ids: Uint32Array): void {
    const blockIndex = block.index;
    const { ids: idsBySlot } = this.#table;
    const blockOf = this.#blockOf;
    const indices = this.#indexInBlock;
    for (let i = 0; i < ids.length; i++) {
      const slot = slotOf(ids[i]);
      const otherIndex = blockOf[slot];
      if (otherIndex === blockIndex || idsBySlot[slot] !== ids[i]) continue;
      if (otherIndex !== IN_TABLE) {
        // If the worker refuses this block's transform, it keeps that of the other block. Not needed for a borrowed block.
        if (!block.isBorrowed) this.#foldOne(this.#blocks[otherIndex]!, slot);
        this.#leaveBlock(slot);
      }
      blockOf[slot] = blockIndex;
      indices[slot] = i;
      block.own++;
    }
    if (block.own === 0) this.#freeBlock(blockIndex); // all of its objects are gone
  }

  /** Makes the newest placement the previous one, and makes room for a new one. */
  #beginPlacement(block: KeptBlock): void {
    // If the newest may have been refused, the one before it is still needed: it goes to the table.
    if (!block.isAccepted && block.before) this.#foldPlacement(block, block.before);
    const { before } = block;
    block.before = block.frame < 0 ? undefined : block.newest;
    block.beforeFrame = block.frame;
    block.newest = before ?? emptyPlacement();
  }

  /** Notes that an object's transform is in the table. */
  #leaveBlock(slot: number): void {
    const blockIndex = this.#blockOf[slot];
    if (blockIndex === IN_TABLE) return;
    const block = this.#blocks[blockIndex]!;
    this.#blockOf[slot] = IN_TABLE;
    if (!block.isBorrowed) {
      const cornerAt = 16 * this.#indexInBlock[slot] + 15;
      block.newest.matrices[cornerAt] = 0;
      if (block.before) block.before.matrices[cornerAt] = 0;
    }
    if (--block.own === 0) this.#freeBlock(blockIndex);
  }

  #freeBlock(blockIndex: number): void {
    this.#blocks[blockIndex] = undefined;
    this.#freeIndices.push(blockIndex);
  }

  /** Writes an object's transform from its block to the table. */
  #foldOne(block: KeptBlock, slot: number): void {
    const { ids, isAccepted, before, newest } = block;
    const i = this.#indexInBlock[slot];
    const product = new Float64Array(AFFINE_NUMBERS);
    for (const placement of [isAccepted ? undefined : before, newest]) {
      // The buffer of a borrowed array may have been transferred by its owner since.
      if (placement?.matrices.length !== 16 * ids.length) continue;
      const { matrices, parent } = placement;
      if (!tryMultiplyAffine(product, 0, parent, matrices, 16 * i)) continue;
      this.#table.pageOf(slot).set(product, offsetInPage(slot));
    }
  }

  /** Writes a block's transforms to the table. */
  #fold(block: KeptBlock): void {
    if (!block.isAccepted && block.before) this.#foldPlacement(block, block.before);
    this.#foldPlacement(block, block.newest);
  }

  /** Writes those of a block's transforms that the worker accepts to the table. */
  #foldPlacement({ index, ids }: KeptBlock, { matrices, parent }: Placement): void {
    const product = new Float64Array(AFFINE_NUMBERS);
    for (let i = 0; i < ids.length; i++) {
      const slot = slotOf(ids[i]);
      if (this.#blockOf[slot] !== index || !tryMultiplyAffine(product, 0, parent, matrices, 16 * i)) continue;
      this.#table.pageOf(slot).set(product, offsetInPage(slot));
    }
  }
}
