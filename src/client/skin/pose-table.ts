// The poses of objects: what was set since the last update(), what update() has said, what of that is in the worker, and
// what the worker has taken. Frames are written from what update() has said, so a frame that waits brings the newest. The
// next worker gets what the last one has taken, and that: it may refuse it, as the last one may have.
//
// Bones are copied once when they are set, into memory that goes from pose to pose: an object that is posed in every frame
// has two places in turn. Bones of one length are neighbours in slabs, in the order in which they were first set, so that a
// frame copies many of them at once. Objects that are set with one array which still holds the same numbers share the copy,
// and travel with one block.
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
import { lengthOf } from '../check/binary.js';
import { IDENTITY } from '../transforms/affine.js';

interface Bones {
  /** They are so many numbers of the slab, from `first` on. A view of each would be two more lines of the caches. */
  readonly slab: Float32Array;
  readonly first: number;
  readonly length: number;
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
  /** What was set last, for the next update(). */
  next: PoseState | undefined;
  /** The next one is written there: what it was before. */
  spare: PoseState | undefined;
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
const NO_ENTRIES: ReadonlySet<PoseEntry> = new Set();
/** Numbers of a slab of more than one bones, at most: 256 KB. */
const MOST_IN_SLAB = 65_536;

export class PoseTable {
  readonly #entries = new Map<ObjectId, PoseEntry>();
  /** Those that were set since the last update(). */
  readonly #staged: PoseEntry[] = [];
  /** States that no entry has. */
  readonly #spare: PoseState[] = [];
  /** Bones that no pose has, by their length. */
  readonly #free = new Map<number, Bones[]>();
  /** How many bones of a length the next slab has. */
  readonly #slabs = new Map<number, number>();
  /** The array that was set last, and the copy of it. */
  #lastGiven: Float32Array | undefined;
  #lastBones: Bones | undefined;
  #frames = 0;

  /** Stages a pose for the next update(). */
  set(id: ObjectId, { bones, binds, morphs }: CheckedPose): void {
    let entry = this.#entries.get(id);
    if (!entry) {
      entry = { id, kept: undefined, sent: undefined, taken: undefined, next: undefined, spare: undefined };
      this.#entries.set(id, entry);
    }
    let { next } = entry;
    if (next === undefined) {
      // It is taken as late as this: what the last answer has made free is still in the caches.
      next = entry.next = entry.spare ?? this.#newState(id);
      entry.spare = undefined;
      this.#staged.push(entry);
    }
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
  }

  delete(id: ObjectId): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    const { kept, sent, taken, next, spare } = entry;
    entry.kept = entry.sent = entry.taken = entry.next = entry.spare = undefined;
    for (const state of new Set([kept, sent, taken, next, spare])) {
      if (state === undefined) continue;
      this.#unshare(state);
      this.#spare.push(state);
    }
  }

  /** Makes what was set what update() has said, and adds the objects to `posed`, of which none is there twice. */
  commit(posed: PoseEntry[]): void {
    const staged = this.#staged;
    const isEmpty = posed.length === 0;
    const known = isEmpty ? NO_ENTRIES : new Set(posed);
    for (let i = 0; i < staged.length; i++) {
      const entry = staged[i];
      const { kept, next } = entry;
      if (next === undefined) continue; // it was removed
      entry.kept = next;
      entry.next = undefined;
      this.#retire(entry, kept);
      if (isEmpty || !known.has(entry)) posed.push(entry);
    }
    staged.length = 0;
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
    this.#slabs.clear();
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
      bytes += 4 * bones.length;
    }
    return bytes;
  }

  /** Writes poses into the buffer of a frame, from a byte at a multiple of 16 on: the bones, then what else they have. */
  write(states: readonly PoseState[], u32: Uint32Array, f32: Float32Array, f64: Float64Array, at: number): void {
    let end = this.#writeBones(states, f32, at + states.length * POSE_BYTES);
    let unbound = 0;
    for (let i = 0; i < states.length; i++) {
      const { id, bones, binds, morphs } = states[i];
      const word = at / 4;
      u32[word + POSE_ID / 4] = id;
      u32[word + POSE_BONE_COUNT / 4] = bones ? bones.length / 16 : 0;
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

  /** Writes each bones once, those that are neighbours in a slab in one copy. Answers where they end. */
  #writeBones(states: readonly PoseState[], f32: Float32Array, start: number): number {
    const frame = ++this.#frames;
    let end = start;
    let slab: Float32Array = NO_NUMBERS;
    let [first, next] = [0, 0];
    for (let i = 0; i < states.length; i++) {
      const { bones } = states[i];
      if (bones === undefined || bones.frame === frame) continue;
      if (bones.slab !== slab || bones.first !== next) {
        copyRun(slab, first, next, f32, end);
        ({ slab, first } = bones);
        next = first;
      }
      bones.frame = frame;
      bones.at = end;
      next += bones.length;
      end += 4 * bones.length; // whole matrices: a multiple of 16
    }
    copyRun(slab, first, next, f32, end);
    return end;
  }

  #newState(id: ObjectId): PoseState {
    const state = this.#spare.pop();
    if (state === undefined) {
      return { id, bones: undefined, binds: UNBOUND, morphs: NO_NUMBERS };
    }
    state.id = id;
    return state;
  }

  /** Keeps a state for another pose, of the same object first, if the entry does not have it any more. */
  #retire(entry: PoseEntry, state: PoseState | undefined): void {
    if (!state || state === entry.kept || state === entry.sent || state === entry.taken) return;
    this.#unshare(state);
    if (entry.spare === undefined) entry.spare = state;
    else this.#spare.push(state);
  }

  /** Lets go of bones that other poses have, too. Its own stay with a state: the next pose mostly has as many. */
  #unshare(state: PoseState): void {
    if (!state.bones || state.bones.users <= 1) return;
    state.bones.users--;
    state.bones = undefined;
  }

  /** Answers a copy of bones for a pose that had others: the last one, if that is of the same array and of the same numbers. */
  #copyOf(given: Float32Array | undefined, old: Bones | undefined): Bones | undefined {
    const last = this.#lastBones;
    if (given !== undefined && given === this.#lastGiven && last && last !== old && areEqual(last, given)) {
      last.users++;
      this.#release(old);
      return last;
    }
    const length = given === undefined ? 0 : lengthOf(given); // whatever it says itself: it is copied among others
    const isOwn = old?.users === 1 && old.length === length;
    if (!isOwn) this.#release(old);
    if (given === undefined) return undefined;
    const bones = isOwn ? old : this.#takeBones(length);
    bones.slab.set(given, bones.first);
    bones.users = 1;
    this.#lastGiven = given;
    this.#lastBones = bones;
    return bones;
  }

  /** Answers bones of a length that no pose has, from a new slab where there are none: each has twice as many as the one before. */
  #takeBones(length: number): Bones {
    let free = this.#free.get(length);
    if (free === undefined) {
      free = [];
      this.#free.set(length, free);
    }
    const known = free.pop();
    if (known !== undefined) return known;
    const count = this.#slabs.get(length) ?? 1;
    this.#slabs.set(length, Math.max(1, Math.min(2 * count, Math.floor(MOST_IN_SLAB / length))));
    const slab = new Float32Array(count * length);
    // The first is taken first.
    for (let first = (count - 1) * length; first >= 0; first -= length) {
      free.push({ slab, first, length, users: 0, frame: 0, at: 0 });
    }
    return free.pop()!;
  }

  #release(bones: Bones | undefined): void {
    if (!bones || --bones.users > 0) return;
    if (bones === this.#lastBones) this.#lastGiven = this.#lastBones = undefined;
    this.#free.get(bones.length)!.push(bones);
  }
}

/** Copies a part of a slab to a frame, to end at that byte. */
function copyRun(slab: Float32Array, first: number, next: number, f32: Float32Array, end: number): void {
  if (next > first) f32.set(slab.subarray(first, next), end / 4 - (next - first));
}

function areEqual({ slab, first, length }: Bones, given: Float32Array): boolean {
  if (lengthOf(given) !== length) return false;
  for (let i = 0; i < length; i++) if (slab[first + i] !== given[i]) return false;
  return true;
}

function align16(bytes: number): number {
  return (bytes + 15) & ~15;
}

/** Where the second matrix is among the numbers of both. */
export const BIND_INVERSE_NUMBER = BINDS_INVERSE / 8;
