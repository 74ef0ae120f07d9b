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
 * The milliseconds of long work before queries are answered: what a pick waits for at most, beside pairs that have no
 * checkpoint for so long.
 */
export const FRAME_SLICE_MS = 4;
/** Milliseconds of long work after which the main thread is told that it is still worked on. */
const BUSY_EVERY_MS = 100;

/**
 * Calls that change nothing that a frame or a contact reads, or wait by themselves before they do, and so are answered
 * while one is under way.
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
 * Owns what is under way between two slices of work: a frame, a question about two objects that takes long, work that
 * reads meshes, and derivations. It says which messages may pass meanwhile, and what waits for the end.
 */
export class LongWork {
  readonly #core: Core;
  readonly #meshes: MeshTable;
  readonly #turns: Turns;
  readonly #tell: (type: BusyMessage['type']) => void;
  #isInFrame = false;
  #isInPair = false;
  /** Whether commands are between two slices, behind which every message waits. */
  #isInCommands = false;
  /** How much work is under way that reads meshes in slices, beside frames and contacts. */
  #readers = 0;
  /** Contacts and distances that take long and came meanwhile. */
  readonly #pairs = new Queue<() => void>();
  /** When the main thread was told last that long work is under way. */
  #saidBusyAt = 0;
  /** Whether slices are under way that derive what contacts have asked for. */
  #isDeriving = false;

  constructor(core: Core, meshes: MeshTable, turns: Turns, tell: (type: BusyMessage['type']) => void) {
    this.#core = core;
    this.#meshes = meshes;
    this.#turns = turns;
    this.#tell = tell;
  }

  /** Whether a question about two objects that takes long is between two of its slices. */
  get isInPair(): boolean {
    return this.#isInPair;
  }

  /** The number of the call that was begun last, by which work that is done for it hears that nobody waits for it any more. */
  get call(): number {
    return this.#turns.call;
  }

  /** Returns whether nobody waits for a call any more whose work is between two slices. */
  isDropped(call: number): boolean {
    return this.#turns.dropped?.has(call) === true;
  }

  /** Ends the work of a call that nobody waits for any more. */
  check(call: number): void {
    if (this.isDropped(call)) throw new CollisionError('ABORTED', 'nobody waits for it any more');
  }

  /** Returns whether a frame is between two slices. */
  get isInFrame(): boolean {
    return this.#isInFrame;
  }

  /** Whether a frame, such a question or commands are. */
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

  /** Notes that no frame is under way. `release` must follow. */
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
   * Runs commands. What came before them and is done in slices goes on between theirs; all that comes behind them waits until they are
   * done, as it is to see them. Where nobody sends messages, nobody waits for a slice.
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

  /** Lets a question about two objects wait until nothing is under way that it would disturb. */
  waitForPair(begin: () => void): void {
    this.#pairs.add(begin);
  }

  /** Tells the main thread that work goes on, if it was told long ago: else it would think that the worker is lost. */
  sayBusy(): void {
    const now = performance.now();
    if (now - this.#saidBusyAt <= BUSY_EVERY_MS) return;
    this.#saidBusyAt = now;
    this.#tell(this.#isBusy ? 'busy' : 'alive');
  }

  /** Lets only what does not disturb long work be done until `release`, and tells the main thread. */
  #hold(): void {
    this.#keep();
    this.#turns.hold(this.#gate);
    this.#saidBusyAt = 0;
    this.sayBusy();
  }

  /** Goes on with what waits for long work that has ended, a slice at a time. Between two, everything is answered again. */
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
   * What may go before the long work that is under way: objects and meshes may change, as a frame keeps what it reads of
   * them, and a contact has. A frame may begin while a contact is under way. Where there is no memory for what has to be
   * kept, what comes waits.
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
      // What is changed in slices waits by itself, when it is done.
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
   * Does work that reads meshes, in slices between which messages are served. Meshes stay at their addresses meanwhile. Where it is
   * done for a call, it ends with the slice in which that is dropped.
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
   * Derives what contacts have asked for, in slices between messages; a frame that is under way sees no change of it.
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

  /** Serves the messages that wait before it calls `resume`. */
  takeTurns(resume: () => void): void {
    this.sayBusy();
    this.#turns.pause();
    afterMessages(resume);
  }
}
