import { CollisionError } from '../shared/errors.js';
import type { BusyMessage, WorkerApi } from '../shared/protocol.js';
import type { MeshId } from '../shared/types.js';
import type { Core } from './binding/core.js';
import type { Steps } from './binding/steps.js';
import { hasMemoryFor } from './failures.js';
import type { MeshTable } from './mesh-table.js';
import { Queue } from './queue.js';
import { afterMessages, type Gate, type MessageFlow, NO_MESSAGES, SLICE_MS, Slices } from './slices.js';

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
const CONCURRENT_CALLS: ReadonlySet<unknown> = new Set<keyof WorkerApi>([
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
  readonly #messageFlow: MessageFlow;
  readonly #notify: (type: BusyMessage['type']) => void;
  #isInFrame = false;
  #isInPair = false;
  /** Whether commands are between two slices; every later message waits behind them. */
  #isInCommands = false;
  /** Number of tasks under way that read meshes in slices, not counting frames and contacts. */
  #readers = 0;
  /** Slow contacts and distances that arrived meanwhile. */
  readonly #waitingPairs = new Queue<() => void>();
  /** When the main thread was last notified that long work is under way. */
  #notifiedBusyAt = 0;
  /** Whether slices that derive the data that contacts have asked for are under way. */
  #isDeriving = false;

  constructor(core: Core, meshes: MeshTable, messageFlow: MessageFlow, notify: (type: BusyMessage['type']) => void) {
    this.#core = core;
    this.#meshes = meshes;
    this.#messageFlow = messageFlow;
    this.#notify = notify;
  }

  /** Whether a slow question about two objects is between two of its slices. */
  get isInPair(): boolean {
    return this.#isInPair;
  }

  /** Number of the call that began last. Work done for the call uses it to learn that nobody waits for the call any more. */
  get call(): number {
    return this.#messageFlow.call;
  }

  /** Returns whether a call whose work is between two slices has been dropped, so that nobody waits for it any more. */
  isDropped(call: number): boolean {
    return this.#messageFlow.dropped?.has(call) === true;
  }

  /** Aborts the work of a call that nobody waits for any more. */
  throwIfDropped(call: number): void {
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
  runCommands(steps: Steps<void>): void {
    const deadline = performance.now() + (this.#messageFlow === NO_MESSAGES ? Infinity : FRAME_SLICE_MS);
    while (!this.#isInCommands || this.mayChangeScene()) {
      if (steps.next().done) {
        const wasHeld = this.#isInCommands;
        this.#isInCommands = false;
        if (wasHeld) this.release();
        return;
      }
      if (performance.now() >= deadline) break;
    }
    if (!this.#isInCommands) this.#messageFlow.hold(this.#gate);
    this.#isInCommands = true;
    this.resumeAfterMessages(() => this.runCommands(steps));
  }

  /** Queues a question about two objects until no work is under way that it would disturb. */
  waitForPair(begin: () => void): void {
    this.#waitingPairs.add(begin);
  }

  /**
   * Notifies the main thread that work continues, if the last notification was long ago: otherwise it would consider the worker
   * lost.
   */
  notifyBusy(): void {
    const now = performance.now();
    if (now - this.#notifiedBusyAt <= BUSY_EVERY_MS) return;
    this.#notifiedBusyAt = now;
    this.#notify(this.#isBusy ? 'busy' : 'alive');
  }

  /** Lets only messages pass that do not disturb long work, until `release`, and notifies the main thread. */
  #hold(): void {
    this.#keepMeshes();
    this.#messageFlow.hold(this.#gate);
    this.#notifiedBusyAt = 0;
    this.notifyBusy();
  }

  /** Resumes what waited for the end of long work, a slice at a time. Between two slices, all messages are answered again. */
  release(): void {
    const deadline = performance.now() + FRAME_SLICE_MS;
    while (!this.isHeld && this.#waitingPairs.length > 0 && performance.now() < deadline) this.#waitingPairs.take()!();
    if (this.isHeld) return;
    if (this.#waitingPairs.length > 0) this.resumeAfterMessages(() => this.release());
    this.#releaseMeshes();
    this.#messageFlow.release();
    this.derivePending();
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
          return this.mayChangeScene();
        default:
          return message.type === 'abort' || message.type === 'chunk';
      }
    },
    mayCall: (name, firstArgument) => {
      if (this.#isInCommands) return false;
      if (CONCURRENT_CALLS.has(name)) return true;
      if (name !== 'updateMesh') return false;
      const mesh = firstArgument as MeshId;
      // A mesh that is changed in slices waits of its own accord, at the end.
      if (this.#meshes.isLarge(mesh)) return true;
      return this.mayChangeScene() && hasMemoryFor(() => this.#meshes.prepareUpdate(mesh));
    },
  };

  /** Returns whether objects and meshes may change now. */
  mayChangeScene(): boolean {
    let isAllowed = false;
    return (
      hasMemoryFor(() => {
        isAllowed = this.#core.goAhead();
      }) && isAllowed
    );
  }

  /**
   * Does work that reads meshes, in slices between which messages are served. Meshes stay at their addresses meanwhile. Work for
   * a call ends with the slice in which the call is dropped; if it waits for `previous` work, it does not begin then.
   */
  async inSlices<T>(work: (slices: Slices) => Promise<T>, call = 0, previous?: Promise<unknown>): Promise<T> {
    this.#readers++;
    this.#keepMeshes();
    const pause = async () => {
      await this.pause();
      this.throwIfDropped(call);
    };
    try {
      if (previous) {
        await previous;
        this.throwIfDropped(call);
        this.#keepMeshes(); // as they are at its turn
      }
      return await work(new Slices(pause, FRAME_SLICE_MS));
    } finally {
      this.#readers--;
      this.#releaseMeshes();
    }
  }

  #keepMeshes(): void {
    this.#meshes.keep();
    this.#messageFlow.dropped ??= new Set();
  }

  #releaseMeshes(): void {
    if (this.isHeld || this.#readers > 0 || this.#waitingPairs.length > 0) return;
    this.#meshes.release();
    this.#messageFlow.dropped = undefined;
  }

  /**
   * Derives the data that contacts have asked for, in slices between messages. A frame that is under way does not see the change.
   */
  async derivePending(): Promise<void> {
    if (!this.#core.isDerivationPending || this.#isDeriving) return;
    this.#isDeriving = true;
    do await this.pause();
    while (!this.isHeld && this.#core.derive(SLICE_MS));
    this.#isDeriving = false;
  }

  pause(): Promise<void> {
    return new Promise((resume) => this.resumeAfterMessages(resume));
  }

  /** Serves the waiting messages, then calls `resume`. */
  resumeAfterMessages(resume: () => void): void {
    this.notifyBusy();
    this.#messageFlow.pause();
    afterMessages(resume);
  }
}
