import { CollisionError } from '../shared/errors.js';
import type { BusyMessage, WorkerApi } from '../shared/protocol.js';
import type { MeshId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { Steps } from './binding/steps.js';
import { hasRoom } from './failures.js';
import type { MeshTable } from './mesh-table.js';
import { Queue } from './queue.js';
import { afterMessages, type Gate, NO_TURNS, SLICE_MS, Slices, type Turns } from './slices.js';

/**
 * Milliseconds of long work before queries are answered. This is the longest that a pick waits, except for pairs that have no
 * checkpoint for longer.
 */
export const FRAME_SLICE_MS = 4;
/** Milliseconds of long work after which the main thread is notified that the worker is still busy. */
const BUSY_EVERY_MS = 100;

/**
 * Calls that change nothing that a frame or a contact reads, or that themselves wait before they change it. They are therefore
 * answered while a frame or a contact is under way.
 */
const HARMLESS: ReadonlySet<unknown> = new Set<keyof WorkerApi>([
  'raycast',
  'raycastAll',
  'raycastMany',
  'pickSnap',
  'isClear',
  'pickScreen',
  'pickScreenAll',
  'pickRegion',
  'frustum',
  'sees',
  'overlap',
  'containing',
  'closestPoint',
  'sweep',
  'sweepAll',
  'sweepMany',
  'place',
  'inspect',
  'section',
  'contact',
  'distance',
  'loadMesh',
  'loadChunks',
  'loadMeshes',
  'bakeMesh',
  'meshBoxes',
  'checkBoxes',
  'replaceTree',
]);

/**
 * Owns the work that is under way between two time slices: a frame, a slow question about two objects, work that reads meshes,
 * and derivations. It decides which messages may pass meanwhile and which wait until the work ends.
 */
export class LongWork {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  readonly #turns: Turns;
  readonly #tell: (type: BusyMessage['type']) => void;
  #isInFrame = false;
  #isInPair = false;
  /** Whether commands are between two slices; every later message waits behind them. */
  #isInCommands = false;
  /** Number of tasks under way that read meshes in slices, not counting frames and contacts. */
  #readers = 0;
  /** Slow contacts and distances that arrived meanwhile. */
  readonly #pairs = new Queue<() => void>();
  /** When the main thread was last notified that long work is under way. */
  #saidBusyAt = 0;
  /** Whether slices that derive the data that contacts have asked for are under way. */
  #isDeriving = false;

  constructor(core: Core, meshes: MeshTable, turns: Turns, tell: (type: BusyMessage['type']) => void) {
    this.#core = core;
    this.#meshes = meshes;
    this.#turns = turns;
    this.#tell = tell;
  }

  /** Whether a slow question about two objects is between two of its slices. */
  get isInPair(): boolean {
    return this.#isInPair;
  }

  /** Number of the call that began last. Work done for the call uses it to learn that nobody waits for the call any more. */
  get call(): number {
    return this.#turns.call;
  }

  /** Returns whether a call whose work is between two slices has been dropped, so that nobody waits for it any more. */
  isDropped(call: number): boolean {
    return this.#turns.dropped?.has(call) === true;
  }

  /** Aborts the work of a call that nobody waits for any more. */
  check(call: number): void {
    if (this.isDropped(call)) throw new CollisionError('ABORTED', 'nobody waits for it any more');
  }

  /** Returns whether a frame is between two slices. */
  get isInFrame(): boolean {
    return this.#isInFrame;
  }

  /** Whether a frame, a slow question about two objects, or commands are between two slices. */
  get isHeld(): boolean {
    return this.#isBusy || this.#isInCommands;
  }

  get #isBusy(): boolean {
    return this.#isInFrame || this.#isInPair;
  }

  beginFrame(): void {
    this.#isInFrame = true;
    this.#hold();
  }

  /** Marks that no frame is under way. `release` must follow. */
  endFrame(): void {
    this.#isInFrame = false;
  }

  beginPair(): void {
    this.#isInPair = true;
    this.#hold();
  }

  endPair(): void {
    this.#isInPair = false;
    this.release();
  }

  /**
   * Runs commands. Sliced work that began before them continues between their slices. All later messages wait until the commands
   * are done, since they must see the result. Without message senders, nobody waits for a slice.
   */
  command(steps: Steps<void>): void {
    const end = performance.now() + (this.#turns === NO_TURNS ? Infinity : FRAME_SLICE_MS);
    while (!this.#isInCommands || this.mayGoAhead()) {
      if (steps.next().done) {
        const wasHeld = this.#isInCommands;
        this.#isInCommands = false;
        if (wasHeld) this.release();
        return;
      }
      if (performance.now() >= end) break;
    }
    if (!this.#isInCommands) this.#turns.hold(this.#gate);
    this.#isInCommands = true;
    this.takeTurns(() => this.command(steps));
  }

  /** Queues a question about two objects until no work is under way that it would disturb. */
  waitForPair(begin: () => void): void {
    this.#pairs.add(begin);
  }

  /**
   * Notifies the main thread that work continues, if the last notification was long ago: otherwise it would consider the worker
   * lost.
   */
  sayBusy(): void {
    const now = performance.now();
    if (now - this.#saidBusyAt <= BUSY_EVERY_MS) return;
    this.#saidBusyAt = now;
    this.#tell(this.#isBusy ? 'busy' : 'alive');
  }

  /** Lets only messages pass that do not disturb long work, until `release`, and notifies the main thread. */
  #hold(): void {
    this.#keep();
    this.#turns.hold(this.#gate);
    this.#saidBusyAt = 0;
    this.sayBusy();
  }

  /** Resumes what waited for the end of long work, a slice at a time. Between two slices, all messages are answered again. */
  release(): void {
    const end = performance.now() + FRAME_SLICE_MS;
    while (!this.isHeld && this.#pairs.length > 0 && performance.now() < end) this.#pairs.take()!();
    if (this.isHeld) return;
    if (this.#pairs.length > 0) this.takeTurns(() => this.release());
    this.#releaseKept();
    this.#turns.release();
    this.deriveWanted();
  }

  /**
   * What may overtake the long work that is under way. Objects and meshes may change, because a frame keeps copies of what it
   * reads of them, and a contact already has copies. A frame may begin while a contact is under way. If there is no memory for
   * these copies, the message waits.
   */
  readonly #gate: Gate = {
    mayPass: (message) => {
      if (this.#isInCommands) return message.type === 'abort' || message.type === 'chunk';
      switch (message.type) {
        case 'frame':
          return !this.#isInFrame;
        case 'ahead':
        case 'commands':
          return this.mayGoAhead();
        default:
          return message.type === 'abort' || message.type === 'chunk';
      }
    },
    mayCall: (name, first) => {
      if (this.#isInCommands) return false;
      if (HARMLESS.has(name)) return true;
      if (name !== 'updateMesh') return false;
      const mesh = first as MeshId;
      // A mesh that is changed in slices waits of its own accord, at the end.
      if (this.#meshes.isLong(mesh)) return true;
      return this.mayGoAhead() && hasRoom(() => this.#meshes.prepareUpdate(mesh));
    },
  };

  /** Returns whether objects and meshes may change now. */
  mayGoAhead(): boolean {
    let mayGo = false;
    return (
      hasRoom(() => {
        mayGo = this.#core.goAhead();
      }) && mayGo
    );
  }

  /**
   * Does work that reads meshes, in slices between which messages are served. Meshes stay at their addresses meanwhile. Work for
   * a call ends with the slice in which the call is dropped.
   */
  async inSlices<T>(work: (slices: Slices) => Promise<T>, call = 0): Promise<T> {
    this.#readers++;
    this.#keep();
    const pause = async () => {
      await this.pause();
      this.check(call);
    };
    try {
      return await work(new Slices(pause, FRAME_SLICE_MS));
    } finally {
      this.#readers--;
      this.#releaseKept();
    }
  }

  #keep(): void {
    this.#meshes.keep();
    this.#turns.dropped ??= new Set();
  }

  #releaseKept(): void {
    if (this.isHeld || this.#readers > 0 || this.#pairs.length > 0) return;
    this.#meshes.release();
    this.#turns.dropped = undefined;
  }

  /**
   * Derives the data that contacts have asked for, in slices between messages. A frame that is under way does not see the change.
   */
  async deriveWanted(): Promise<void> {
    if (!this.#core.isDerivationWanted || this.#isDeriving) return;
    this.#isDeriving = true;
    do await this.pause();
    while (!this.isHeld && this.#core.derive(SLICE_MS));
    this.#isDeriving = false;
  }

  pause(): Promise<void> {
    return new Promise((resume) => this.takeTurns(resume));
  }

  /** Serves the waiting messages, then calls `resume`. */
  takeTurns(resume: () => void): void {
    this.sayBusy();
    this.#turns.pause();
    afterMessages(resume);
  }
}
