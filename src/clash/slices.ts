import { nextTask } from '../shared/next-task.js';
import { throwIfAborted } from './check.js';

/** Milliseconds after which others have a turn. */
const SLICE = 4;
/** Steps between two looks at the clock, for work that has many small ones. */
export const STEPS = 256;

/** Does work that may rest after each step, and rests every few milliseconds. Rejects with ABORTED by the signal. */
export async function inSlices<T>(work: Generator<void, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const end = performance.now() + SLICE;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < end);
    await nextTask();
    throwIfAborted(signal);
  }
}
