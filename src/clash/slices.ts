import { nextTask } from '../shared/next-task.js';
import { throwIfAborted } from './check.js';

/** Milliseconds after which other tasks get a turn. */
const SLICE_MS = 4;

/** Steps of a microsecond or so that are done without a yield. */
const STEPS_PER_CHUNK = 64;

/**
 * Does a step for each number from 0 to below `count`, and yields after every few. The inner loop is a function of its own: V8
 * does not optimize the loop of a generator while it runs. A report that was made in a generator's loop took 140 ms of processor
 * time instead of 40.
 */
export function* inChunks(count: number, step: (i: number) => void): Generator<void> {
  for (let first = 0; first < count; first += STEPS_PER_CHUNK) {
    runChunk(first, Math.min(first + STEPS_PER_CHUNK, count), step);
    yield;
  }
}

function runChunk(first: number, end: number, step: (i: number) => void): void {
  for (let i = first; i < end; i++) step(i);
}

/** Runs work that yields after each step, pausing every few milliseconds. Rejects with ABORTED by the signal. */
export async function inSlices<T>(work: Generator<void, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const deadline = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < deadline);
    await nextTask();
    throwIfAborted(signal);
  }
}
