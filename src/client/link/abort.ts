import { CollisionError } from '../../shared/errors.js';
import { reading } from '../check/validate.js';
import type { Deferred } from './worker-link.js';

/**
 * Answers the promise of `answer`, which rejects with ABORTED as soon as the signal says so; the worker is told then
 * that it need not begin.
 */
export function abortable<T>(operation: string, signal: AbortSignal | undefined, answer: Deferred<T>): Promise<T> {
  if (!signal) return answer.promise;
  const abort = () => {
    if (answer.settled) return;
    answer.reject(aborted(operation, signal));
    answer.drop?.();
  };
  const forget = listenTo(operation, signal, abort, (error) => answer.reject(error));
  answer.promise.then(forget, forget);
  return answer.promise;
}

/** Answers what `answer` does, and rejects with ABORTED as soon as the signal says so. */
export function unlessAborted<T>(operation: string, answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const forget = listenTo(operation, signal, () => reject(aborted(operation, signal)), reject);
    answer.then(resolve, reject).then(forget);
  });
}

/**
 * Has `onAbort` called when a signal aborts, now if it has; answers what ends that. A signal need not be the platform's
 * own: `onError` hears what it throws.
 */
function listenTo(
  operation: string,
  signal: AbortSignal,
  onAbort: () => void,
  onError: (error: CollisionError) => void,
): () => void {
  const use = (act: () => void): void => {
    try {
      reading(operation, 'signal', act);
    } catch (error) {
      onError(error as CollisionError);
    }
  };
  use(() => {
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
  });
  return () => use(() => signal.removeEventListener('abort', onAbort));
}

export function aborted(operation: string, signal: AbortSignal): CollisionError {
  let cause: unknown;
  try {
    cause = signal.reason;
  } catch (error) {
    cause = error;
  }
  return new CollisionError('ABORTED', `${operation}: aborted by its signal`, { cause });
}
