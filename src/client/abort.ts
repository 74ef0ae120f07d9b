import { CollisionError } from '../shared/errors.js';
import type { Deferred } from './link.js';
import { invalid } from './validate.js';

/** An AbortSignal or none. */
export function checkSignal(operation: string, signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || isSignal(signal)) return;
  invalid(operation, 'signal', signal, 'an AbortSignal');
}

/** The promise of `answer`, which rejects with ABORTED as soon as the signal says so. */
export function abortable<T>(operation: string, signal: AbortSignal | undefined, answer: Deferred<T>): Promise<T> {
  if (!signal) return answer.promise;
  const abort = () => answer.reject(aborted(operation, signal));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const forget = () => signal.removeEventListener('abort', abort);
  answer.promise.then(forget, forget);
  return answer.promise;
}

export function aborted(operation: string, signal: AbortSignal): CollisionError {
  return new CollisionError('ABORTED', `${operation}: aborted by its signal`, { cause: signal.reason });
}

function isSignal(signal: unknown): signal is AbortSignal {
  const candidate = signal as Partial<AbortSignal> | null;
  return typeof candidate?.aborted === 'boolean' && typeof candidate.addEventListener === 'function';
}
