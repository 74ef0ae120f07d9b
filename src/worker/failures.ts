import { type Failure, failureOf } from '../shared/failure.js';
import type { Outcome } from '../shared/protocol.js';

/** Returns the failure to report. An error that only a bug can cause is thrown again and ends the worker. */
export function failureOrRethrow(error: unknown): Failure {
  const failure = failureOf(error);
  if (!failure) throw error;
  return failure;
}

/** Does work that allocates memory, and returns whether there was enough. */
export function hasMemoryFor(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    failureOrRethrow(error);
    return false;
  }
}

/** Does one of many tasks: if it fails, the others are still done. */
export function outcomeOf<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { failure: failureOrRethrow(error) };
  }
}
