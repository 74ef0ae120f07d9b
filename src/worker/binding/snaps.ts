import * as layout from '../../shared/layout.js';
import type { Filter, SnapRequest } from '../../shared/protocol.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { QueryMemory } from './query-memory.js';
import type { Steps } from './steps.js';

/** Milliseconds after which a step rests. */
const STEP_MS = 1;

/** The core's queries for a snapping pick. All of them are made within `runQueries`. */
export class CoreSnaps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queryMemory: QueryMemory;
  /** Address of a workspace (scratch memory of a pick) that no pick uses now; 0 if none. */
  #spareWorkspace = 0;

  constructor(exports: CoreExports, memory: CoreMemory, queryMemory: QueryMemory) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queryMemory = queryMemory;
  }

  /** Returns the core's memory, which is a different buffer after it has grown. */
  readonly getMemory = (): ArrayBuffer => this.#memory.buffer;

  /** Throws OUT_OF_MEMORY. */
  allocate(bytes: number): number {
    return this.#memory.allocate(bytes);
  }

  release(address: number): void {
    this.#memory.release(address);
  }

  /**
   * Runs work that queries the core, in steps, between which others may change objects and query the core. The work itself may
   * yield more often. `begin` gets the address of a workspace (core/scene/snap/snap-pick.ts), which belongs to the work until
   * it ends.
   */
  *runQueries<T>(filter: Filter, begin: (workspace: number) => Steps<T>): Steps<T> {
    const wasm = this.#exports;
    const workspace = this.#spareWorkspace || wasm.openSnap() >>> 0;
    this.#spareWorkspace = 0;
    const work = begin(workspace);
    try {
      for (let isFirst = true; ; isFirst = false) {
        const step = this.#queryMemory.with(filter, (address) => {
          wasm.beginSnap(address);
          if (!isFirst) wasm.resumeSnap(workspace);
          const deadline = performance.now() + STEP_MS;
          let step = work.next();
          while (!step.done && performance.now() < deadline) step = work.next();
          return step;
        });
        if (step.done) return step.value;
        yield;
      }
    } finally {
      if (this.#spareWorkspace === 0 && wasm.isSnapSmall(workspace)) this.#spareWorkspace = workspace;
      else wasm.closeSnap(workspace);
    }
  }

  /** Begins a pick without objects. */
  begin(workspace: number, drawing: SnapRequest['drawing']): void {
    this.#memory.setFloats(workspace + layout.SNAP_PICK_DRAWING, drawing, layout.SNAP_DRAWING_NUMBERS);
    this.#exports.beginSnapRoom(workspace);
  }

  /**
   * Lists the objects that may be drawn in the square about the cursor, except those that lie entirely where the linear function
   * `front` of the world is negative. `hitObject`: the object that the pick has hit, which is tested first as an occluder of a
   * point; or 0.
   */
  list(workspace: number, hitObject: ObjectId, front: readonly number[] | null = null): Uint32Array {
    const at = front ? this.#queryMemory.query : 0;
    if (front) this.#memory.setFloats(at, front, 4);
    const count = this.#exports.listSnap(workspace, at, hitObject) >>> 0;
    return this.#memory.copyWords(this.#exports.foundIds() >>> 0, count);
  }

  /**
   * Adds an object to a pick, as it is now; returns the address of its record, SNAP_*, or 0 if the object is gone. Throws
   * OUT_OF_MEMORY.
   */
  add(workspace: number, object: ObjectId): number {
    return this.#exports.addSnapTarget(workspace, object) >>> 0;
  }

  /** Begins to search for the best candidate of some kinds, SNAP_*. */
  beginKinds(workspace: number, kinds: number, depth: number): void {
    this.#exports.beginSnapKinds(workspace, kinds, depth);
  }

  /**
   * Continues the search and returns its state: SNAP_NONE …; `isHidden` answers the question that it has asked. Throws
   * OUT_OF_MEMORY.
   */
  step(workspace: number, depth: number, asksBoxes: boolean, asksPoints: boolean, isHidden: boolean): number {
    return this.#exports.stepSnap(workspace, depth, asksBoxes, asksPoints, isHidden);
  }

  word(address: number): number {
    return this.#memory.words[address / 4];
  }

  setWord(address: number, value: number): void {
    this.#memory.words[address / 4] = value;
  }

  float(address: number): number {
    return this.#memory.floats[address / 8];
  }

  vector(address: number): Vec3 {
    const { floats } = this.#memory;
    const at = address / 8;
    return [floats[at], floats[at + 1], floats[at + 2]];
  }

  /** Returns a view of float64 numbers, valid until the memory grows. */
  floats(address: number, count: number): Float64Array {
    return new Float64Array(this.#memory.buffer, address, count);
  }

  boneOf(object: ObjectId, triangle: number, [u, v, w]: Vec3): number {
    return triangle < 0 ? -1 : this.#exports.boneOfHit(object, triangle, u, v, w);
  }
}
