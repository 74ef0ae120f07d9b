import type { ToWorker } from '../shared/protocol.js';
import { Queue } from './queue.js';

/** Milliseconds of work before messages are served: half a frame at 60 Hz. */
export const SLICE_MS = 8;

/** How work in slices and the messages that come meanwhile take turns. */
export interface Turns {
  /** Is called before messages are served between two slices of work. */
  pause(): void;
  /**
   * Serves calls that change nothing from now on, as long work is under way, and those messages that `mayPass` lets
   * pass: up to the first other one, from which on all wait until `release`.
   */
  hold(mayPass: (message: ToWorker) => boolean): void;
  release(): void;
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
