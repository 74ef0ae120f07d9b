// The poses of objects: what was set since the last update(), what update() has said, what of that is in the worker, and
// what the worker has taken. Frames are written from what update() has said, so a frame that waits brings the newest. The
// next worker gets what the last one has taken, and that: it may refuse it, as the last one may have.
//
// Bones are copied once when they are set, into memory that goes from pose to pose. Objects that are set with one array
// which still holds the same numbers share the copy, and travel with one block.
import {
  BINDS_BYTES,
  BINDS_INVERSE,
  POSE_BINDS,
  POSE_BONE_COUNT,
  POSE_BONES,
  POSE_BYTES,
  POSE_ID,
  POSE_MORPHS,
  POSE_TARGET_COUNT,
} from '../../shared/layout.js';
import type { ObjectId } from '../../shared/types.js';
import { IDENTITY } from '../transforms/affine.js';

interface Bones {
  numbers: Float32Array;
  /** Poses that have it. */
  users: number;
  /** The frame that it was written for last, and where it is in that. */
  frame: number;
  at: number;
}

export interface PoseState {
  id: ObjectId;
  bones: Bones | undefined;
  /** Both matrices of the binding, one after the other: UNBOUND itself, or an array of its own. */
  binds: Float64Array;
  /** Empty where no targets move it. */
  morphs: Float32Array;
}

/** What the table has of an object. */
export interface PoseEntry {
  readonly id: ObjectId;
  /** What update() has said; undefined until it has said something. */
  kept: PoseState | undefined;
  /** What the frame in the worker brings. */
  sent: PoseState | undefined;
  /** What a worker has taken last. */
  taken: PoseState | undefined;
  /** Where the next one is written. */
  next: PoseState;
  isStaged: boolean;
}

/** A pose that was checked. */
export interface CheckedPose {
  bones: Float32Array | undefined;
  /** It is UNBOUND itself, or others of which only what they are now matters. */
  binds: Float64Array;
  morphs: ArrayLike<number>;
}

/** Both matrices of a binding that was not given. Nobody writes it. */
export const UNBOUND = Float64Array.of(...IDENTITY, ...IDENTITY);

const NO_NUMBERS = new Float32Array(0);

export class PoseTable {
  readonly #entries = new Map<ObjectId, PoseEntry>();
  /** Those that were set since the last update(). */
  readonly #staged: PoseEntry[] = [];
  /** States that no entry has. */
  readonly #spare: PoseState[] = [];
  /** Bones that no pose has, by their length. */
  readonly #free = new Map<number, Bones[]>();
  /** The array that was set last, and the copy of it. */
  #lastGiven: Float32Array | undefined;
  #lastBones: Bones | undefined;
  #frames = 0;

  /** Stages a pose for the next update(). */
  set(id: ObjectId, { bones, binds, morphs }: CheckedPose): void {
    let entry = this.#entries.get(id);
    if (!entry) {
      entry = { id, kept: undefined, sent: undefined, taken: undefined, next: this.#newState(id), isStaged: false };
      this.#entries.set(id, entry);
    }
    const { next } = entry;
    next.bones = this.#copyOf(bones, next.bones);
    if (binds === UNBOUND) next.binds = UNBOUND;
    else {
      if (next.binds === UNBOUND) next.binds = new Float64Array(UNBOUND.length);
      next.binds.set(binds);
    }
    if (next.morphs.length !== morphs.length) {
      next.morphs = morphs.length === 0 ? NO_NUMBERS : new Float32Array(morphs.length);
    }
    if (morphs.length > 0) next.morphs.set(morphs);
    if (entry.isStaged) return;
    entry.isStaged = true;
    this.#staged.push(entry);
  }

  delete(id: ObjectId): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    const { kept, sent, taken, next } = entry;
    entry.kept = entry.sent = entry.taken = undefined;
    entry.isStaged = false;
    for (const state of new Set([kept, sent, taken, next])) this.#retire(entry, state);
  }

  /** Makes what was set what update() has said, and adds it to `posed`. */
  commit(posed: Set<PoseEntry>): void {
    for (const entry of this.#staged) {
      if (!entry.isStaged) continue; // it was removed
      const { kept } = entry;
      entry.kept = entry.next;
      entry.next = this.#newState(entry.id);
      entry.isStaged = false;
      this.#retire(entry, kept);
      posed.add(entry);
    }
    this.#staged.length = 0;
    this.#lastGiven = undefined;
    this.#lastBones = undefined;
  }

  /** Lists what there is of all objects of which update() has said a pose. */
  *said(): Iterable<PoseEntry> {
    for (const entry of this.#entries.values()) if (entry.kept) yield entry;
  }

  clear(): void {
    this.#entries.clear();
    this.#staged.length = 0;
    this.#spare.length = 0;
    this.#free.clear();
    this.#lastGiven = undefined;
    this.#lastBones = undefined;
  }

  /** Notes that what these objects have been given is in the worker. */
  send(posed: Iterable<PoseEntry>): void {
    for (const entry of posed) {
      const { sent } = entry;
      entry.sent = entry.kept;
      this.#retire(entry, sent);
    }
  }

  /** Notes that the worker has answered: it has taken what these objects were sent, but for the rejected ones. */
  take(posed: Iterable<PoseEntry>, rejected: Uint32Array): void {
    for (const entry of posed) {
      const { sent, taken } = entry;
      entry.sent = undefined;
      if (sent && !rejected.includes(entry.id)) {
        entry.taken = sent;
        this.#retire(entry, taken);
      } else this.#retire(entry, sent);
    }
  }

  /**
   * Lists the poses of these objects one after the other; `isWhole`: of each object what was taken of it before, too, as a
   * worker needs it that has none.
   */
  statesOf(posed: Iterable<PoseEntry>, isWhole: boolean): PoseState[] {
    const states: PoseState[] = [];
    for (const { kept, taken } of posed) {
      if (isWhole && taken && taken !== kept) states.push(taken);
      if (kept) states.push(kept);
    }
    return states;
  }

  /** Answers how many bytes poses take in a frame. */
  measure(states: readonly PoseState[]): number {
    const frame = ++this.#frames;
    let bytes = 0;
    let hasUnbound = false;
    for (const { bones, binds, morphs } of states) {
      bytes += POSE_BYTES + align16(4 * morphs.length);
      if (binds !== UNBOUND || !hasUnbound) bytes += BINDS_BYTES;
      if (binds === UNBOUND) hasUnbound = true;
      if (!bones || bones.frame === frame) continue;
      bones.frame = frame;
      bytes += align16(4 * bones.numbers.length);
    }
    return bytes;
  }

  /** Writes poses into the buffer of a frame, from a byte at a multiple of 16 on. */
  write(states: readonly PoseState[], u32: Uint32Array, f32: Float32Array, f64: Float64Array, at: number): void {
    const frame = ++this.#frames;
    let end = at + states.length * POSE_BYTES;
    let unbound = 0;
    for (const { id, bones, binds, morphs } of states) {
      if (bones && bones.frame !== frame) {
        bones.frame = frame;
        bones.at = end;
        f32.set(bones.numbers, end / 4);
        end += align16(4 * bones.numbers.length);
      }
      const word = at / 4;
      u32[word + POSE_ID / 4] = id;
      u32[word + POSE_BONE_COUNT / 4] = bones ? bones.numbers.length / 16 : 0;
      u32[word + POSE_BONES / 4] = bones ? bones.at : 0;
      u32[word + POSE_TARGET_COUNT / 4] = morphs.length;
      const isWritten = binds === UNBOUND && unbound > 0;
      u32[word + POSE_BINDS / 4] = isWritten ? unbound : end;
      if (!isWritten) {
        if (binds === UNBOUND) unbound = end;
        f64.set(binds, end / 8);
        end += BINDS_BYTES;
      }
      u32[word + POSE_MORPHS / 4] = end;
      if (morphs.length > 0) {
        f32.set(morphs, end / 4);
        end += align16(4 * morphs.length);
      }
      at += POSE_BYTES;
    }
  }

  #newState(id: ObjectId): PoseState {
    const state = this.#spare.pop();
    if (state === undefined) {
      return { id, bones: undefined, binds: UNBOUND, morphs: NO_NUMBERS };
    }
    state.id = id;
    return state;
  }

  /** Keeps a state for another pose if the entry does not have it any more. */
  #retire({ kept, sent, taken }: PoseEntry, state: PoseState | undefined): void {
    if (!state || state === kept || state === sent || state === taken) return;
    // Bones of its own stay with it: the next pose mostly has as many.
    if (state.bones && state.bones.users > 1) {
      state.bones.users--;
      state.bones = undefined;
    }
    this.#spare.push(state);
  }

  /** Answers a copy of bones for a pose that had others: the last one, if that is of the same array and of the same numbers. */
  #copyOf(given: Float32Array | undefined, old: Bones | undefined): Bones | undefined {
    const last = this.#lastBones;
    if (given !== undefined && given === this.#lastGiven && last && last !== old && areEqual(last.numbers, given)) {
      last.users++;
      this.#release(old);
      return last;
    }
    const isOwn = old?.users === 1 && old.numbers.length === given?.length;
    if (!isOwn) this.#release(old);
    if (given === undefined) return undefined;
    const bones = isOwn ? old : (this.#free.get(given.length)?.pop() ?? newBones(given.length));
    bones.numbers.set(given);
    bones.users = 1;
    this.#lastGiven = given;
    this.#lastBones = bones;
    return bones;
  }

  #release(bones: Bones | undefined): void {
    if (!bones || --bones.users > 0) return;
    if (bones === this.#lastBones) this.#lastGiven = this.#lastBones = undefined;
    const { length } = bones.numbers;
    const free = this.#free.get(length);
    if (free) free.push(bones);
    else this.#free.set(length, [bones]);
  }
}

function newBones(length: number): Bones {
  return { numbers: new Float32Array(length), users: 0, frame: 0, at: 0 };
}

function areEqual(a: Float32Array, b: Float32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function align16(bytes: number): number {
  return (bytes + 15) & ~15;
}

/** Where the second matrix is among the numbers of both. */
export const BIND_INVERSE_NUMBER = BINDS_INVERSE / 8;
