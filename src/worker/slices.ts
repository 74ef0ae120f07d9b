import type { ToWorker } from '../shared/protocol.js';
import type { Steps } from './binding/steps.js';
import { Queue } from './queue.js';

/** Milliseconds of work before messages are served: half a frame at 60 Hz. */
export const SLICE_MS = 8;

/** How work in slices and the messages that come meanwhile take turns. */
export interface Turns {
  /** Is called before messages are served between two slices of work. */
  pause(): void;
  /**
   * Serves what the gate lets pass from now on, as long work is under way: up to the first other message, from which on
   * all wait until `release`.
   */
  hold(gate: Gate): void;
  release(): void;
  /** The number of the call that was begun last. */
  readonly call: number;
  /** While it is there, calls that had begun when they were dropped are added to it. */
  dropped: Set<number> | undefined;
}

/** Nobody sends messages. */
export const NO_TURNS: Turns = { pause() {}, hold() {}, release() {}, call: 0, dropped: undefined };

/** What is let pass while long work is under way. */
export interface Gate {
  mayPass(message: ToWorker): boolean;
  /** Tells the same of a call; `first` is its first argument. */
  mayCall(name: string, first: unknown): boolean;
}

/** Those that go on with work, and those that take in messages: each waits for one of the other kind at most. */
const queues = [new Queue<() => void>(), new Queue<() => void>()];
const WORK = 0;
export const INTAKE = 1;
let turn = WORK;
let isWoken = false;
let post: () => void;

/** Calls one, of both kinds by turns: where all went on at once, a pick would wait for a slice of each work that is under way. */
function resumeNext(): void {
  turn ^= INTAKE;
  isWoken = false;
  const resume = queues[turn].take() ?? queues[turn ^ INTAKE].take();
  resume!();
  wakeUp();
}

function wakeUp(): void {
  if (isWoken || !queues.some(({ length }) => length > 0)) return;
  isWoken = true;
  post();
}

if (typeof setImmediate === 'function') {
  post = () => setImmediate(resumeNext);
} else {
  // Timers are slowed down to 4 ms when they nest; messages to oneself are not.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resumeNext;
  post = () => port2.postMessage(null);
}

/** Calls `resume` after the messages that wait now were served, by turns with those of the other kind. */
export function afterMessages(resume: () => void, kind = WORK): void {
  queues[kind].add(resume);
  wakeUp();
}

/** Work in slices: tells when a slice is over, has messages served between two, and counts the time of the work alone. */
export class Slices {
  readonly #sliceMs: number;
  readonly #pause: () => Promise<void>;
  #ms = 0;
  #start = performance.now();

  /** `pause` serves the messages that came meanwhile. */
  constructor(pause: () => Promise<void>, sliceMs = SLICE_MS) {
    this.#pause = pause;
    this.#sliceMs = sliceMs;
  }

  /** When this slice is over, as `performance.now()` tells it. */
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

  /** Waits for work that takes turns by itself, and answers how many milliseconds it took; the next slice begins then. */
  async during(work: Promise<number>): Promise<void> {
    this.#ms = this.ms;
    this.#ms += await work;
    await this.#pause();
    this.#start = performance.now();
  }

  /** Does work that may rest after each of its steps; where a pause throws, as nobody waits for it any more, the work is ended. */
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
