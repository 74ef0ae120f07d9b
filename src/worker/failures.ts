import { type Failure, failureOf } from '../shared/failure.js';
import type { Outcome } from '../shared/protocol.js';

/** Returns the failure to report. An error that only a bug can throw is thrown again and ends the worker. */
export function declared(error: unknown): Failure {
  const failure = failureOf(error);
  if (!failure) throw error;
  return failure;
}

/** Does what needs memory, and returns whether there was enough. */
export function hasRoom(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    declared(error);
    return false;
  }
}

/** Does one of many: where it fails, the others are done all the same. */
export function outcomeOf<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { failure: declared(error) };
  }
}
