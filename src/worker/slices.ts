import type { ToWorker, WorkerApi } from '../shared/protocol.js';
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
}

/** What is let pass while long work is under way. */
export interface Gate {
  mayPass(message: ToWorker): boolean;
  /** Tells the same of a call; `first` is its first argument. */
  mayCall(name: keyof WorkerApi, first: unknown): boolean;
}

const resumes = new Queue<() => void>();
let wakeUp: () => void;

const resumeNext = (): void => resumes.take()!();

if (typeof setImmediate === 'function') {
  wakeUp = () => setImmediate(resumeNext);
} else {
  // Timers are slowed down to 4 ms when they nest; messages to oneself are not.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resumeNext;
  wakeUp = () => port2.postMessage(null);
}

/** Calls `resume` after the messages that wait now were served. */
export function afterMessages(resume: () => void): void {
  resumes.add(resume);
  wakeUp();
}
