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
  // A signal need not be the platform's own.
  const use = (act: () => void) => {
    try {
      reading(operation, 'signal', act);
    } catch (error) {
      answer.reject(error as CollisionError);
    }
  };
  use(() => {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  });
  const forget = () => use(() => signal.removeEventListener('abort', abort));
  answer.promise.then(forget, forget);
  return answer.promise;
}

/** Answers what `answer` does, and rejects with ABORTED as soon as the signal says so. */
export function unlessAborted<T>(operation: string, answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(aborted(operation, signal));
    // A signal need not be the platform's own.
    const use = (act: () => void): void => {
      try {
        reading(operation, 'signal', act);
      } catch (error) {
        reject(error);
      }
    };
    use(() => {
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort);
    });
    answer.then(resolve, reject).then(() => use(() => signal.removeEventListener('abort', abort)));
  });
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
