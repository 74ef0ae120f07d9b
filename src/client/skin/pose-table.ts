// The poses of objects: those set since the last update(), those committed by update(), those of them in the worker, and those
// that the worker has accepted. Frames are written from the committed ones, so a waiting frame brings the newest. The
// next worker gets those that the last one has accepted, and the committed ones: it may refuse these, as the last one may have.
//
// Bones are copied once when they are set, into memory that is reused from pose to pose: an object that is posed in every frame
// has two copies in turn. Bones of one length are neighbours in slabs, in the order in which they were first set, so that a
// frame copies many of them at once. Objects that are set with the same array, unchanged in between, share the copy,
// and one block in the frame.
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
  /** They are `length` numbers of the slab, from `first` on. A view of each would be two more cache lines. */
  readonly slab: Float32Array;
  readonly first: number;
  readonly length: number;
  /** The number of poses that have them. */
  users: number;
  /** The frame that they were written for last, and their offset in it. */
  frame: number;
  at: number;
}

export interface PoseState {
  id: ObjectId;
  bones: Bones | undefined;
  /** Both bind matrices, one after the other: UNBOUND itself, or an array of its own. */
  binds: Float64Array;
  /** Empty if no morph targets move it. */
  morphs: Float32Array;
}

/** The table's poses of an object. */
export interface PoseEntry {
  readonly id: ObjectId;
  /** The pose committed by update(); undefined before the first. */
  kept: PoseState | undefined;
  /** The pose in the frame that is in the worker. */
  sent: PoseState | undefined;
  /** The last pose that a worker has accepted. */
  taken: PoseState | undefined;
  /** The pose set last, for the next update(). */
  next: PoseState | undefined;
  /** A former state, which is reused for the next pose. */
  spare: PoseState | undefined;
}

/** A checked pose. */
export interface CheckedPose {
  bones: Float32Array | undefined;
  /** UNBOUND itself, or a scratch array whose current numbers are valid. */
  binds: Float64Array;
  morphs: ArrayLike<number>;
}

/** Both bind matrices if none were given. Nobody writes them. */
export const UNBOUND = Float64Array.of(...IDENTITY, ...IDENTITY);

const NO_NUMBERS = new Float32Array(0);
const NO_ENTRIES: ReadonlySet<PoseEntry> = new Set();
/** The most numbers of a slab, unless a single set of bones is longer: 256 KB. */
const MAX_SLAB_NUMBERS = 65_536;

export class PoseTable {
  readonly #entries = new Map<ObjectId, PoseEntry>();
  /** Entries that were set since the last update(). */
  readonly #staged: PoseEntry[] = [];
  /** States that no entry uses. */
  readonly #spareStates: PoseState[] = [];
  /** Bones that no pose uses, by their length. */
  readonly #freeBones = new Map<number, Bones[]>();
  /** How many sets of bones of a length the next slab has. */
  readonly #nextSlabCounts = new Map<number, number>();
  /** The array that was set last, and its copy. */
  #lastArray: Float32Array | undefined;
  #lastBones: Bones | undefined;
  #frameCount = 0;

  /** Stages a pose for the next update(). */
  set(id: ObjectId, { bones, binds, morphs }: CheckedPose): void {
    let entry = this.#entries.get(id);
    if (!entry) {
      entry = { id, kept: undefined, sent: undefined, taken: undefined, next: undefined, spare: undefined };
      this.#entries.set(id, entry);
    }
    let { next } = entry;
    if (next === undefined) {
      // Taken as late as this: the state that the last answer has freed is still in the caches.
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
      this.#spareStates.push(state);
    }
  }

  /** Commits the staged poses, and adds their entries to `poseEntries`, which has no duplicates. */
  commit(poseEntries: PoseEntry[]): void {
    const staged = this.#staged;
    const isEmpty = poseEntries.length === 0;
    const knownEntries = isEmpty ? NO_ENTRIES : new Set(poseEntries);
    for (let i = 0; i < staged.length; i++) {
      const entry = staged[i];
      const { kept, next } = entry;
      if (next === undefined) continue; // the object was removed
      entry.kept = next;
      entry.next = undefined;
      this.#retire(entry, kept);
      if (isEmpty || !knownEntries.has(entry)) poseEntries.push(entry);
    }
    staged.length = 0;
    this.#lastArray = undefined;
    this.#lastBones = undefined;
  }

  /** Lists the entries of all objects whose pose update() has committed. */
  *said(): Iterable<PoseEntry> {
    for (const entry of this.#entries.values()) if (entry.kept) yield entry;
  }

  clear(): void {
    this.#entries.clear();
    this.#staged.length = 0;
    this.#spareStates.length = 0;
    this.#freeBones.clear();
    this.#nextSlabCounts.clear();
    this.#lastArray = undefined;
    this.#lastBones = undefined;
  }

  /** Notes that the committed poses of these objects are in the worker. */
  send(poseEntries: Iterable<PoseEntry>): void {
    for (const entry of poseEntries) {
      const { sent } = entry;
      entry.sent = entry.kept;
      this.#retire(entry, sent);
    }
  }

  /** Notes that the worker has answered: it has accepted the poses that it was sent, except for the rejected ones. */
  take(poseEntries: Iterable<PoseEntry>, rejected: Uint32Array): void {
    const rejectedIds = new Set(rejected);
    for (const entry of poseEntries) {
      const { sent, taken } = entry;
      entry.sent = undefined;
      if (sent && !rejectedIds.has(entry.id)) {
        entry.taken = sent;
        this.#retire(entry, taken);
      } else this.#retire(entry, sent);
    }
  }

  /**
   * Lists the poses of these objects one after the other; with `hasAllPoses`, also the last accepted pose of each, for a
   * worker that has none.
   */
  statesOf(poseEntries: Iterable<PoseEntry>, hasAllPoses: boolean): PoseState[] {
    const states: PoseState[] = [];
    for (const { kept, taken } of poseEntries) {
      if (hasAllPoses && taken && taken !== kept) states.push(taken);
      if (kept) states.push(kept);
    }
    return states;
  }

  /** Returns how many bytes poses take in a frame. */
  measure(states: readonly PoseState[]): number {
    const frame = ++this.#frameCount;
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

  /** Writes poses into the buffer of a frame, from a byte offset on that is a multiple of 16: the bones, then the rest. */
  write(states: readonly PoseState[], u32: Uint32Array, f32: Float32Array, f64: Float64Array, at: number): void {
    let end = this.#writeBones(states, f32, at + states.length * POSE_BYTES);
    let unboundAt = 0;
    for (let i = 0; i < states.length; i++) {
      const { id, bones, binds, morphs } = states[i];
      const word = at / 4;
      u32[word + POSE_ID / 4] = id;
      u32[word + POSE_BONE_COUNT / 4] = bones ? bones.length / 16 : 0;
      u32[word + POSE_BONES / 4] = bones ? bones.at : 0;
      u32[word + POSE_TARGET_COUNT / 4] = morphs.length;
      const isWritten = binds === UNBOUND && unboundAt > 0;
      u32[word + POSE_BINDS / 4] = isWritten ? unboundAt : end;
      if (!isWritten) {
        if (binds === UNBOUND) unboundAt = end;
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

  /** Writes each set of bones once, neighbours in a slab in one copy. Returns the offset of their end. */
  #writeBones(states: readonly PoseState[], f32: Float32Array, start: number): number {
    const frame = ++this.#frameCount;
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
    const state = this.#spareStates.pop();
    if (state === undefined) {
      return { id, bones: undefined, binds: UNBOUND, morphs: NO_NUMBERS };
    }
    state.id = id;
    return state;
  }

  /** Keeps a state for another pose, preferably of the same object, if the entry does not use it any more. */
  #retire(entry: PoseEntry, state: PoseState | undefined): void {
    if (!state || state === entry.kept || state === entry.sent || state === entry.taken) return;
    this.#unshare(state);
    if (entry.spare === undefined) entry.spare = state;
    else this.#spareStates.push(state);
  }

  /** Releases bones that other poses share. Unshared bones stay with a state: the next pose mostly has as many. */
  #unshare(state: PoseState): void {
    if (!state.bones || state.bones.users <= 1) return;
    state.bones.users--;
    state.bones = undefined;
  }

  /** Returns a copy of bones for a pose that had `old`: the last copy, if it is of the same array and of the same numbers. */
  #copyOf(array: Float32Array | undefined, old: Bones | undefined): Bones | undefined {
    const lastBones = this.#lastBones;
    if (
      array !== undefined &&
      array === this.#lastArray &&
      lastBones &&
      lastBones !== old &&
      areEqual(lastBones, array)
    ) {
      lastBones.users++;
      this.#release(old);
      return lastBones;
    }
    const length = array === undefined ? 0 : lengthOf(array); // whatever its own property says: it is copied among others
    const isReusable = old?.users === 1 && old.length === length;
    if (!isReusable) this.#release(old);
    if (array === undefined) return undefined;
    const bones = isReusable ? old : this.#acquireBones(length);
    bones.slab.set(array, bones.first);
    bones.users = 1;
    this.#lastArray = array;
    this.#lastBones = bones;
    return bones;
  }

  /** Returns unused bones of a length, from a new slab if there are none: each slab has twice as many as the one before. */
  #acquireBones(length: number): Bones {
    let free = this.#freeBones.get(length);
    if (free === undefined) {
      free = [];
      this.#freeBones.set(length, free);
    }
    const reused = free.pop();
    if (reused !== undefined) return reused;
    const count = this.#nextSlabCounts.get(length) ?? 1;
    this.#nextSlabCounts.set(length, Math.max(1, Math.min(2 * count, Math.floor(MAX_SLAB_NUMBERS / length))));
    const slab = new Float32Array(count * length);
    // So that the first is taken first.
    for (let first = (count - 1) * length; first >= 0; first -= length) {
      free.push({ slab, first, length, users: 0, frame: 0, at: 0 });
    }
    return free.pop()!;
  }

  #release(bones: Bones | undefined): void {
    if (!bones || --bones.users > 0) return;
    if (bones === this.#lastBones) this.#lastArray = this.#lastBones = undefined;
    this.#freeBones.get(bones.length)!.push(bones);
  }
}

/** Copies a part of a slab into a frame, ending at that byte. */
function copyRun(slab: Float32Array, first: number, next: number, f32: Float32Array, end: number): void {
  if (next > first) f32.set(slab.subarray(first, next), end / 4 - (next - first));
}

function areEqual({ slab, first, length }: Bones, array: Float32Array): boolean {
  if (lengthOf(array) !== length) return false;
  for (let i = 0; i < length; i++) if (slab[first + i] !== array[i]) return false;
  return true;
}

function align16(bytes: number): number {
  return (bytes + 15) & ~15;
}

/** The index of the second matrix among the numbers of both. */
export const BIND_INVERSE_INDEX = BINDS_INVERSE / 8;
