import * as layout from '../../shared/layout.js';
import type { Filter, ViewRecord } from '../../shared/protocol.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import type { Steps } from './steps.js';

/** The milliseconds after which a step rests. */
const STEP_MS = 1;
const PLANE_BYTES = 32;

/** What a snapping pick asks a core. All is asked within `during`. */
export class CoreSnaps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;
  /** The address of a room that no pick has now; 0 for none. */
  #spare = 0;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  /** Answers the core's memory, which is another one after it has grown. */
  readonly memoryOf = (): ArrayBuffer => this.#memory.buffer;

  /** Throws OUT_OF_MEMORY. */
  allocate(bytes: number): number {
    return this.#memory.allocate(bytes);
  }

  release(address: number): void {
    this.#memory.release(address);
  }

  /**
   * Does what asks the core, in steps, between which others may change objects and ask the core. The work itself may rest more
   * often. It gets a room, which is its own until it ends.
   */
  *during<T>(filter: Filter, begin: (room: SnapRoom) => Steps<T>): Steps<T> {
    const wasm = this.#exports;
    const at = this.#spare || wasm.openSnap() >>> 0;
    this.#spare = 0;
    const work = begin(new SnapRoom(wasm, this.#memory, at));
    try {
      for (let isFirst = true; ; isFirst = false) {
        const step = this.#question.with(filter, (address) => {
          wasm.beginSnap(address);
          if (!isFirst) wasm.resumeSnap(at);
          const until = performance.now() + STEP_MS;
          let step = work.next();
          while (!step.done && performance.now() < until) step = work.next();
          return step;
        });
        if (step.done) return step.value;
        yield;
      }
    } finally {
      if (this.#spare === 0 && wasm.isSnapSmall(at)) this.#spare = at;
      else wasm.closeSnap(at);
    }
  }

  /**
   * Lists the objects that may be drawn in a rectangle of the view, low xy and high xy in clip space over w, and not wholly where a
   * function of the world is negative. `struck`: what the pick has hit, which is the first to be asked whether it hides a point; or 0.
   */
  list(
    view: ViewRecord,
    [lowX, lowY, highX, highY]: readonly number[],
    struck: ObjectId,
    front: readonly number[] | null = null,
  ): Uint32Array {
    return this.#memory.with(view.byteLength + PLANE_BYTES, (plane) => {
      const record = plane + PLANE_BYTES;
      this.#memory.words.set(view, record / 4);
      if (front) this.#memory.setFloats(plane, front, 4);
      const { listSnap, foundIds } = this.#exports;
      const count = listSnap(record, lowX, lowY, highX, highY, front ? plane : 0, struck) >>> 0;
      return this.#memory.uint32s(foundIds() >>> 0, count);
    });
  }

  boneOf(object: ObjectId, triangle: number, [u, v, w]: Vec3): number {
    return triangle < 0 ? -1 : this.#exports.boneOfHit(object, triangle, u, v, w);
  }
}

/** What one snapping pick keeps in the core: core/scene/snap/room.ts. */
export class SnapRoom {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #at: number;

  constructor(exports: CoreExports, memory: CoreMemory, at: number) {
    this.#exports = exports;
    this.#memory = memory;
    this.#at = at;
  }

  /** Begins a pick without objects. It is drawn by five functions of the world, four numbers each; `radius`: pixels. */
  begin(drawing: readonly ArrayLike<number>[], viewport: ArrayLike<number>, radius: number): void {
    const memory = this.#memory;
    const at = this.#at + layout.SNAP_ROOM_DRAWING;
    for (let i = 0; i < 5; i++) memory.setFloats(at + 32 * i, drawing[i], 4);
    memory.setFloats(this.#at + layout.SNAP_ROOM_VIEWPORT, viewport, 4);
    memory.floats[(this.#at + layout.SNAP_ROOM_RADIUS) / 8] = radius;
    this.#exports.beginSnapRoom(this.#at);
  }

  /** Adds an object, as it is now; answers what stands for it, or undefined where it is gone. Throws OUT_OF_MEMORY. */
  add(object: ObjectId): SnapTarget | undefined {
    if (this.#exports.addSnapTarget(this.#at, object) === 0) return undefined;
    return this.target(this.#word(layout.SNAP_ROOM_TARGET_COUNT) - 1);
  }

  /** Takes the object away again that was added last. */
  drop(): void {
    this.#memory.words[(this.#at + layout.SNAP_ROOM_TARGET_COUNT) / 4]--;
  }

  target(i: number): SnapTarget {
    return new SnapTarget(this.#memory, this.#at, i);
  }

  /** Begins to look for the best of some kinds, SNAP_*. */
  beginKinds(kinds: number, depth: number): void {
    this.#exports.beginSnapKinds(this.#at, kinds, depth);
  }

  /** Looks on, and answers what that comes to: SNAP_NONE …; `isHidden` answers what it has asked. Throws OUT_OF_MEMORY. */
  step(depth: number, asksBoxes: boolean, asksPoints: boolean, isHidden: boolean): number {
    return this.#exports.stepSnap(this.#at, depth, asksBoxes, asksPoints, isHidden);
  }

  // What was found, or is asked about.

  get point(): Vec3 {
    const { floats } = this.#memory;
    const at = (this.#at + layout.SNAP_ROOM_POINT) / 8;
    return [floats[at], floats[at + 1], floats[at + 2]];
  }

  get place(): Float64Array {
    return new Float64Array(this.#memory.buffer, this.#at + layout.SNAP_ROOM_PLACE, 2);
  }

  get rect(): Float64Array {
    return new Float64Array(this.#memory.buffer, this.#at + layout.SNAP_ROOM_RECT, 4);
  }

  get box(): Float32Array {
    return new Float32Array(this.#memory.buffer, this.#word(layout.SNAP_ROOM_BOX), 6);
  }

  get pixels(): number {
    return this.#memory.floats[(this.#at + layout.SNAP_ROOM_PIXELS) / 8];
  }

  get found(): SnapTarget {
    return this.target(this.#word(layout.SNAP_ROOM_OF));
  }

  get kind(): number {
    return this.#word(layout.SNAP_ROOM_KIND);
  }

  get index(): number {
    return this.#word(layout.SNAP_ROOM_INDEX);
  }

  get slot(): number {
    return this.#word(layout.SNAP_ROOM_SLOT);
  }

  /** How many candidates were found to be hidden, each by a ray. */
  get hiddenCount(): number {
    return this.#word(layout.SNAP_ROOM_HIDDEN_COUNT);
  }

  #word(offset: number): number {
    return this.#memory.words[(this.#at + offset) / 4];
  }
}

/** What stands for an object in a snapping pick, read when somebody asks for it. */
export class SnapTarget {
  readonly #memory: CoreMemory;
  readonly #room: number;
  readonly #i: number;

  constructor(memory: CoreMemory, room: number, i: number) {
    this.#memory = memory;
    this.#room = room;
    this.#i = i;
  }

  get object(): ObjectId {
    return this.#word(layout.SNAP_OBJECT);
  }

  /** SHAPE_*. */
  get shape(): number {
    return this.#word(layout.SNAP_SHAPE) & 0xffff;
  }

  /** Twelve numbers: the columns of the map from the shape's own space to the world. */
  get place(): Float64Array {
    return new Float64Array(this.#memory.buffer, this.#at, 12);
  }

  /** The address of its mesh, in its pose. */
  get mesh(): number {
    return this.#word(layout.SNAP_MESH);
  }

  /** The address of that at rest. */
  get base(): number {
    return this.#word(layout.SNAP_BASE);
  }

  /** The address of what it has to snap to. */
  get features(): number {
    return this.#word(layout.SNAP_FEATURES);
  }

  /** Whether vertices are elsewhere than where the features were found. */
  get isMoved(): boolean {
    return this.#word(layout.SNAP_MOVED) === 1;
  }

  /** Says what it has to snap to. */
  setFeatures(address: number, isMoved: boolean): void {
    const { words } = this.#memory;
    words[(this.#at + layout.SNAP_FEATURES) / 4] = address;
    words[(this.#at + layout.SNAP_MOVED) / 4] = isMoved ? 1 : 0;
  }

  /** Objects lie elsewhere when there is no room for one more. */
  get #at(): number {
    const first = this.#memory.words[(this.#room + layout.SNAP_ROOM_TARGETS) / 4];
    return first + this.#i * layout.SNAP_TARGET_BYTES;
  }

  #word(offset: number): number {
    return this.#memory.words[(this.#at + offset) / 4];
  }
}
