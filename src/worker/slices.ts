import type { ToWorker } from '../shared/protocol.js';
import type { Steps } from './binding/steps.js';
import { Queue } from './queue.js';

/** Milliseconds of work before messages are served: half a frame at 60 Hz. */
export const SLICE_MS = 8;

/** How sliced work and the messages that arrive meanwhile take turns. */
export interface MessageFlow {
  /** Called before messages are served between two slices of work. */
  pause(): void;
  /**
   * Serves the messages that the gate lets pass from now on, because long work is under way. From the first message that may not
   * pass, all messages wait until `release`.
   */
  hold(gate: Gate): void;
  release(): void;
  /** Number of the call that began last. */
  readonly call: number;
  /** While it is set, calls that are dropped after they began are added to it. */
  dropped: Set<number> | undefined;
}

/** The message flow of a worker to which nobody sends messages. */
export const NO_MESSAGES: MessageFlow = { pause() {}, hold() {}, release() {}, call: 0, dropped: undefined };

/** Decides which messages pass while long work is under way. */
export interface Gate {
  mayPass(message: ToWorker): boolean;
  /** The same for a call; `firstArgument` is its first argument. */
  mayCall(name: string, firstArgument: unknown): boolean;
}

/** Callbacks that continue work, and callbacks that take in messages: each waits for at most one callback of the other kind. */
const queues = [new Queue<() => void>(), new Queue<() => void>()];
const WORK = 0;
export const INTAKE = 1;
let lastKind = WORK;
let isScheduled = false;
let post: () => void;

/**
 * Calls one callback, alternating between both kinds: if all continued at once, a pick would wait for a slice of every task under
 * way.
 */
function resumeNext(): void {
  lastKind ^= INTAKE;
  isScheduled = false;
  const resume = queues[lastKind].take() ?? queues[lastKind ^ INTAKE].take();
  resume!();
  scheduleNext();
}

function scheduleNext(): void {
  if (isScheduled || !queues.some(({ length }) => length > 0)) return;
  isScheduled = true;
  post();
}

if (typeof setImmediate === 'function') {
  post = () => setImmediate(resumeNext);
} else {
  // Browsers throttle nested timers to 4 ms, but not messages that a thread sends to itself.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resumeNext;
  post = () => port2.postMessage(null);
}

/** Calls `resume` after the messages that wait now were served, alternating with callbacks of the other kind. */
export function afterMessages(resume: () => void, kind = WORK): void {
  queues[kind].add(resume);
  scheduleNext();
}

/** Work in slices: knows when a slice is over, lets messages be served between slices, and counts the time of the work alone. */
export class Slices {
  readonly #sliceMs: number;
  readonly #pause: () => Promise<void>;
  #ms = 0;
  #start = performance.now();

  /** `pause` serves the messages that arrived meanwhile. */
  constructor(pause: () => Promise<void>, sliceMs = SLICE_MS) {
    this.#pause = pause;
    this.#sliceMs = sliceMs;
  }

  /** When this slice ends, on the clock of `performance.now()`. */
  get end(): number {
    return this.#start + this.#sliceMs;
  }

  /** Milliseconds of all slices, without the pauses between them. */
  get ms(): number {
    return this.#ms + performance.now() - this.#start;
  }

  get isOver(): boolean {
    return performance.now() >= this.end;
  }

  /** Ends this slice, and begins the next one after a pause. */
  async next(): Promise<void> {
    this.#ms = this.ms;
    await this.#pause();
    this.#start = performance.now();
  }

  /**
   * Waits for work that takes turns by its own means and resolves to the milliseconds it took; the next slice begins afterwards.
   */
  async waitFor(work: Promise<number>): Promise<void> {
    this.#ms = this.ms;
    this.#ms += await work;
    await this.#pause();
    this.#start = performance.now();
  }

  /**
   * Runs work that may rest after each of its steps. If a pause throws, because nobody waits for the work any more, the work is
   * ended.
   */
  async run<T>(work: Steps<T>): Promise<T> {
    try {
      let step = work.next();
      for (; !step.done; step = work.next()) if (this.isOver) await this.next();
      return step.value;
    } finally {
      work.return(undefined as T);
    }
  }
}
