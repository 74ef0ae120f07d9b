import { NO_OBJECT, slotOf } from '../../shared/ids.js';
import { MAX_OBJECTS, VIEW_BYTES, VIEW_SLOT } from '../../shared/layout.js';
import { grown } from '../../shared/typed-arrays.js';
import { isAffine } from '../check/affine.js';
import { type PoseEntry, PoseTable } from '../skin/pose-table.js';
import { IDENTITY, multiplyAffine, writeAffine } from '../transforms/affine.js';
import type { BulkWriter } from '../transforms/bulk-writer.js';
import type { BorrowedBlock, ReplayLog } from '../transforms/replay-log.js';
import type { StagedTransforms } from '../transforms/single-writer.js';
import {
  AFFINE_NUMBERS,
  CLAIMED,
  offsetInPage,
  PAGE_SLOTS,
  type TransformTable,
} from '../transforms/transform-table.js';
import { FrameBuffer, type FramePart } from './frame-buffer.js';
import { StagedMoves } from './staged-moves.js';

const VIEW_WORDS = VIEW_BYTES / 4;

/** Shorter runs of objects are copied one by one, since a run allocates views. */
const MIN_RUN_LENGTH = 32;

/**
 * The contents of the next frame. Writing an object again replaces what is staged for it, so that a frame never grows
 * beyond one transform per slot, however often and in whatever way objects are written:
 *  - the worker applies blocks before singles: a single wins, and staging a block drops the singles of its objects;
 *  - no two blocks share an object: a block with the same ids as a staged one replaces it, one that overlaps others in
 *    any other way is staged as singles.
 */
export class FrameBuilder implements StagedTransforms {
  readonly #frame: FrameBuffer;
  readonly #poses: PoseTable;
  /** The objects whose poses the frame brings: the poses that the table has when the frame is sealed. */
  readonly #poseEntries: PoseEntry[] = [];
  /** True if the frame is for a worker that has no poses yet. */
  #hasAllPoses = false;

  // The index of a slot's single is valid if the owner of that single is the slot: a sparse set (Briggs and Torczon, An
  // Efficient Representation for Sparse Sets, 1993), which needs no clearing.
  #singleOfSlot = new Uint32Array(0);
  #ownerOfSingle = new Uint32Array(0);
  /** The runs that are still written in the buffer from the previous frame, three numbers each: first slot, count, first single. */
  readonly #previousRuns: number[] = [];
  /** The number of runs of this frame. */
  #runCount = 0;

  // A slot's mark minus #firstMark is the index of its block, if there are that many blocks. Smaller marks are of earlier
  // frames, greater ones of blocks of the previous frame, which this frame may bring again.
  #markOfSlot = new Uint32Array(0);
  #firstMark = 1;
  /** The borrowed block that each block is a copy of, if any. */
  #borrowed: (BorrowedBlock | undefined)[] = [];
  /** The ids of marked blocks, if borrowed: of this frame, then of the previous frame. */
  #markedIds: (Uint32Array | undefined)[] = [];

  /** The moves of characters. */
  readonly moves = new StagedMoves();
  #viewCount = 0;
  #viewWords = new Uint32Array(0);

  /** `mayShare` returns whether the worker may share the frame's memory; if not, the buffer is transferred. */
  constructor(poses = new PoseTable(), mayShare?: () => boolean) {
    this.#poses = poses;
    this.#frame = new FrameBuffer(mayShare);
  }

  /** The number of frame buffers that were allocated so far. */
  get allocations(): number {
    return this.#frame.allocations;
  }

  /** Whether nothing is staged. */
  get isEmpty(): boolean {
    const { singles, blocks } = this.#frame;
    return (
      singles + blocks.length + this.#viewCount + this.moves.count + this.#poseEntries.length === 0 &&
      !this.#hasAllPoses
    );
  }

  /** Stages a transform: 16 numbers, column-major. */
  setSingle(id: number, m: ArrayLike<number>): void {
    const at = this.addSingle(id);
    writeAffine(this.#frame.f64, at, m);
  }

  /** Returns the index in `f64` where the caller is to write the transform that it stages, twelve numbers. */
  addSingle(id: number): number {
    return this.#frame.matrixAt(this.#ensureSingle(id));
  }

  get f64(): Float64Array {
    return this.#frame.f64;
  }

  /** Stages the objects that a writer has moved in the table. */
  addMoved(writer: BulkWriter, table: TransformTable): void {
    const { states } = table;
    const hasNoSingles = this.#frame.singles === 0;
    writer.takeRuns((first, end, isAscending) => {
      for (let i = first; i < end; ) {
        // An object that was removed, or moved in another way since, is not the writer's any more.
        if (states[i] !== CLAIMED) {
          i++;
          continue;
        }
        const slot = i;
        while (i < end && states[i] === CLAIMED) i++;
        if (hasNoSingles && isAscending && i - slot >= MIN_RUN_LENGTH) {
          this.#addRun(table, slot, i - slot);
          continue;
        }
        for (let k = slot; k < i; k++) {
          const target = this.addSingle(table.ids[k]);
          const source = offsetInPage(k);
          const page = table.pageOf(k);
          const { f64 } = this;
          for (let n = 0; n < AFFINE_NUMBERS; n++) f64[target + n] = page[source + n];
        }
      }
    });
  }

  /** Stages the poses that were set since the last update(). */
  addPoses(): void {
    this.#poses.commit(this.#poseEntries);
  }

  /** Stages every pose that has been committed by update(). */
  addAllPoses(): void {
    this.#addPoseEntries(this.#poses.said());
    this.#hasAllPoses = true;
  }

  /** Adds the entries that the frame does not bring yet. */
  #addPoseEntries(entries: Iterable<PoseEntry>): void {
    const stagedEntries = new Set(this.#poseEntries);
    for (const entry of entries) if (!stagedEntries.has(entry)) this.#poseEntries.push(entry);
  }

  /** Records which of the frame's poses the worker has accepted. */
  takePoses(rejected: () => Uint32Array): void {
    if (this.#poseEntries.length > 0) this.#poses.take(this.#poseEntries, rejected());
  }

  /** Records everything staged in the log, for the frame of this number: singles last, as the worker applies them. */
  keepIn(log: ReplayLog, frameNumber: number): void {
    const frame = this.#frame;
    for (let i = 0; i < frame.blocks.length; i++) {
      const borrowed = this.#borrowed[i];
      if (borrowed && log.keepBorrowed(borrowed, frame.f64, frame.parentAt(i), frameNumber)) continue;
      const ids = borrowed?.ids ?? frame.blockIds(i);
      log.keepBlock(ids, frame.blockMatrices(i), frame.blockParent(i), borrowed !== undefined, frameNumber);
    }
    log.keepSingles(frame.u32, frame.idAt(0), frame.f64, frame.matrixAt(0), frame.singles);
  }

  /**
   * Stages the transforms of consecutive slots, none of which is staged yet. If the same run was in the previous frame, its singles
   * still have their indices: writing those of 10,000 again would be a sixth of the time of staging them, 0.02 ms of 0.13.
   */
  #addRun(table: TransformTable, slot: number, count: number): void {
    const end = slot + count;
    const first = this.#frame.addSingles(count);
    const { u32, f64 } = this.#frame;
    u32.set(table.ids.subarray(slot, end), this.#frame.idAt(first));
    for (let i = slot; i < end; ) {
      const next = Math.min(end, (i | (PAGE_SLOTS - 1)) + 1);
      const page = table.pageOf(i);
      const at = offsetInPage(i);
      // A page that is copied as a whole needs no view.
      const part = next - i === PAGE_SLOTS ? page : page.subarray(at, at + AFFINE_NUMBERS * (next - i));
      f64.set(part, this.#frame.matrixAt(first + i - slot));
      i = next;
    }
    const runIndex = this.#runCount++;
    const previousRuns = this.#previousRuns;
    if (
      previousRuns[3 * runIndex] === slot &&
      previousRuns[3 * runIndex + 1] === count &&
      previousRuns[3 * runIndex + 2] === first
    )
      return;
    previousRuns.length = 3 * runIndex; // the following runs may be overwritten
    previousRuns.push(slot, count, first);
    if (end > this.#singleOfSlot.length) this.#singleOfSlot = grown(this.#singleOfSlot, end);
    if (first + count > this.#ownerOfSingle.length) this.#ownerOfSingle = grown(this.#ownerOfSingle, first + count);
    const singles = this.#singleOfSlot;
    const owners = this.#ownerOfSingle;
    for (let i = 0; i < count; i++) {
      singles[slot + i] = first + i;
      owners[first + i] = slot + i;
    }
  }

  /**
   * Stages the transforms parent · matrix of many objects: 16 numbers each. `borrowed`: the same arrays, as their owner
   * has lent them.
   */
  setBlock(
    ids: Uint32Array,
    matrices: Float32Array | Float64Array,
    parent: ArrayLike<number> = IDENTITY,
    borrowed?: BorrowedBlock,
  ): void {
    if (ids.length === 0) return;
    const floatBytes = matrices.BYTES_PER_ELEMENT;
    let block = this.#findBlock(ids, floatBytes);
    if (block < 0) {
      if (!this.#markBlock(ids, borrowed?.ids)) {
        this.#setSingles(ids, matrices, parent);
        return;
      }
      block = this.#frame.addBlock(ids, floatBytes, borrowed?.ids);
    }
    this.#borrowed[block] = borrowed;
    this.#frame.writeBlock(block, matrices, parent);
    if (this.#frame.singles > 0) for (let i = 0; i < ids.length; i++) this.drop(ids[i]);
  }

  /** Stages a view's record, VIEW_BYTES long. */
  setView(record: Uint32Array): void {
    const at = this.#viewAt(record[VIEW_SLOT / 4]);
    if (at === this.#viewCount * VIEW_WORDS) {
      if (at === this.#viewWords.length) this.#viewWords = grown(this.#viewWords, at + VIEW_WORDS);
      this.#viewCount++;
    }
    this.#viewWords.set(record, at);
  }

  /** Drops the view that is staged for a slot. */
  dropView(slot: number): void {
    const at = this.#viewAt(slot);
    if (at === this.#viewCount * VIEW_WORDS) return;
    this.#viewCount--;
    const lastAt = this.#viewCount * VIEW_WORDS;
    this.#viewWords.copyWithin(at, lastAt, lastAt + VIEW_WORDS);
  }

  /** Drops the single transform that is staged for an object. */
  drop(id: number): void {
    const { u32, singles } = this.#frame;
    if (singles === 0) return;
    const slot = slotOf(id);
    const single = this.#singleOfSlot[slot];
    if (single < singles && this.#ownerOfSingle[single] === slot) u32[this.#frame.idAt(single)] = NO_OBJECT;
  }

  /** Stages the contents of `newer` over those of this builder. */
  join(newer: FrameBuilder): void {
    this.moves.join(newer.moves);
    const newerFrame = newer.#frame;
    for (let i = 0; i < newerFrame.blocks.length; i++) {
      this.setBlock(newerFrame.blockIds(i), newerFrame.blockMatrices(i), newerFrame.blockParent(i), newer.#borrowed[i]);
    }
    for (let i = 0; i < newerFrame.singles; i++) {
      const id = newerFrame.u32[newerFrame.idAt(i)];
      if (id === NO_OBJECT) continue;
      const source = newerFrame.matrixAt(i);
      const target = this.#frame.matrixAt(this.#ensureSingle(id));
      for (let k = 0; k < AFFINE_NUMBERS; k++) this.#frame.f64[target + k] = newerFrame.f64[source + k];
    }
    this.#addPoseEntries(newer.#poseEntries);
    for (let i = 0; i < newer.#viewCount; i++) {
      this.setView(newer.#viewWords.subarray(i * VIEW_WORDS, (i + 1) * VIEW_WORDS));
    }
  }

  /** Completes the frame. The buffer is to be transferred, unless it is shared; `restart` takes it back. */
  seal(frameNumber: number, epoch: number, contactBudget = 0): ArrayBuffer {
    const views = this.#viewWords.subarray(0, this.#viewCount * VIEW_WORDS);
    const buffer = this.#frame.seal(frameNumber, epoch, contactBudget, views, this.#framePoses(), this.moves);
    this.#poses.send(this.#poseEntries);
    return buffer;
  }

  #framePoses(): FramePart | undefined {
    if (this.#poseEntries.length === 0) return undefined;
    const states = this.#poses.statesOf(this.#poseEntries, this.#hasAllPoses);
    const write: FramePart['write'] = (u32, f32, f64, at) => this.#poses.write(states, u32, f32, f64, at);
    return { count: states.length, bytes: this.#poses.measure(states), write };
  }

  /** Copies the frame as it is, without its views, for a buffer that does not come back. Throws OUT_OF_MEMORY. */
  copy(frameNumber: number, epoch: number): ArrayBuffer {
    return this.#frame.copy(frameNumber, epoch, this.#framePoses());
  }

  /** Continues with the transforms of a frame that could not be run, in the buffer that came back; without its views. */
  reopen(buffer = this.#frame.u32.buffer): void {
    this.#frame.reopen(buffer);
    this.#viewCount = 0;
  }

  /** Empties the builder: after it was joined to another, or with the buffer that the worker returned. */
  restart(buffer = this.#frame.u32.buffer): void {
    this.#borrowed.length = 0;
    this.#poseEntries.length = 0;
    this.moves.clear();
    this.#frame.restart(buffer);
    this.#runCount = 0;
    this.#viewCount = 0;
  }

  /** Returns the index of the record of a slot's view, or the end. */
  #viewAt(slot: number): number {
    const end = this.#viewCount * VIEW_WORDS;
    let at = 0;
    while (at < end && this.#viewWords[at + VIEW_SLOT / 4] !== slot) at += VIEW_WORDS;
    return at;
  }

  /** Returns the index of the object's single, which is added if there is none. */
  #ensureSingle(id: number): number {
    const slot = slotOf(id);
    if (slot >= this.#singleOfSlot.length) this.#singleOfSlot = grown(this.#singleOfSlot, slot + 1);
    let single = this.#singleOfSlot[slot];
    if (!(single < this.#frame.singles && this.#ownerOfSingle[single] === slot)) {
      single = this.#frame.addSingle();
      this.#previousRuns.length = 0;
      if (single >= this.#ownerOfSingle.length) this.#ownerOfSingle = grown(this.#ownerOfSingle, single + 1);
      this.#singleOfSlot[slot] = single;
      this.#ownerOfSingle[single] = slot;
    }
    this.#frame.u32[this.#frame.idAt(single)] = id;
    return single;
  }

  /** Finds the block with exactly these ids and floats of this size; -1 if there is none. */
  #findBlock(ids: Uint32Array, floatBytes: number): number {
    const block = this.#markOfSlot[slotOf(ids[0])] - this.#firstMark;
    if (!(block >= 0 && block < this.#frame.blocks.length)) return -1;
    if (this.#frame.blockFloat(block) !== floatBytes) return -1;
    const stagedIds = this.#frame.blockIds(block);
    if (stagedIds.length !== ids.length) return -1;
    for (let i = 0; i < ids.length; i++) if (stagedIds[i] !== ids[i]) return -1;
    return block;
  }

  /** Marks the objects as those of the next block, like `#markSlots`, unless the marks of the previous frame are the same. */
  #markBlock(ids: Uint32Array, borrowed: Uint32Array | undefined): boolean {
    const block = this.#frame.blocks.length;
    if (borrowed && this.#markedIds[block] === borrowed) return true;
    if (block < this.#markedIds.length) {
      // Other blocks than in the previous frame: its marks are dropped, and those of this frame are made again.
      this.#clearMarks();
      for (let i = 0; i < block; i++) this.#markSlots(this.#frame.blockIds(i), this.#firstMark + i);
      this.#markedIds = this.#borrowed.slice(0, block).map((each) => each?.ids);
    }
    if (!this.#markSlots(ids, this.#firstMark + block)) return false;
    this.#markedIds[block] = borrowed;
    return true;
  }

  #clearMarks(): void {
    this.#firstMark += this.#markedIds.length;
    this.#markedIds.length = 0;
    if (this.#firstMark <= 0xffffffff - MAX_OBJECTS) return;
    this.#markOfSlot.fill(0);
    this.#firstMark = 1;
  }

  /** Marks the objects; returns false, and marks none, if one of them is in another block. */
  #markSlots(ids: Uint32Array, mark: number): boolean {
    const first = this.#firstMark;
    let marks = this.#markOfSlot;
    for (let i = 0; i < ids.length; i++) {
      const slot = slotOf(ids[i]);
      if (slot >= marks.length) marks = this.#markOfSlot = grown(marks, slot + 1);
      if (marks[slot] >= first && marks[slot] !== mark) {
        for (let k = 0; k < i; k++) marks[slotOf(ids[k])] = 0;
        return false;
      }
      marks[slot] = mark;
    }
    return true;
  }

  #setSingles(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    for (let i = 0; i < ids.length; i++) {
      const at = this.#frame.matrixAt(this.#ensureSingle(ids[i]));
      if (isAffine(matrices, 16 * i)) multiplyAffine(this.#frame.f64, at, parent, matrices, 16 * i);
      else this.#frame.f64.fill(Number.NaN, at, at + AFFINE_NUMBERS); // the worker lists it as rejected
    }
  }
}
