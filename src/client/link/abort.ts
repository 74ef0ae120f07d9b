import { CollisionError } from '../../shared/errors.js';
import { guardRead } from '../check/validate.js';
import type { Deferred } from './worker-link.js';

/**
 * Returns the promise of `answer`, which rejects with ABORTED as soon as the signal aborts; the worker is then told not to
 * begin.
 */
export function abortable<T>(operation: string, signal: AbortSignal | undefined, answer: Deferred<T>): Promise<T> {
  if (!signal) return answer.promise;
  const abort = () => {
    if (answer.settled) return;
    answer.reject(aborted(operation, signal));
    answer.drop?.();
  };
  const stopListening = listenTo(operation, signal, abort, (error) => answer.reject(error));
  answer.promise.then(stopListening, stopListening);
  return answer.promise;
}

/** Settles as `answer` does, but rejects with ABORTED as soon as the signal aborts. */
export function unlessAborted<T>(operation: string, answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const stopListening = listenTo(operation, signal, () => reject(aborted(operation, signal)), reject);
    answer.then(resolve, reject).then(stopListening);
  });
}

/** All that wait for a signal, with one listener: Node takes more than ten listeners of a signal for a leak, and warns. */
interface SharedListener {
  readonly all: Set<() => void>;
  readonly listener: () => void;
}

const sharedListeners = new WeakMap<AbortSignal, SharedListener>();

/**
 * Calls `onAbort` when a signal aborts, or now if it has; returns a function that ends this. A signal need not be the
 * platform's own: if it throws, `onError` is called.
 */
function listenTo(
  operation: string,
  signal: AbortSignal,
  onAbort: () => void,
  onError: (error: CollisionError) => void,
): () => void {
  const guard = (action: () => void): void => {
    try {
      guardRead(operation, 'signal', action);
    } catch (error) {
      onError(error as CollisionError);
    }
  };
  guard(() => {
    if (signal.aborted) onAbort();
    const { all } = sharedListeners.get(signal) ?? addSharedListener(signal);
    all.add(onAbort);
  });
  return () =>
    guard(() => {
      const sharedListener = sharedListeners.get(signal);
      if (!sharedListener?.all.delete(onAbort) || sharedListener.all.size > 0) return;
      sharedListeners.delete(signal);
      signal.removeEventListener('abort', sharedListener.listener);
    });
}

function addSharedListener(signal: AbortSignal): SharedListener {
  const all = new Set<() => void>();
  const listener = (): void => {
    for (const each of [...all]) each();
  };
  signal.addEventListener('abort', listener);
  const sharedListener = { all, listener };
  sharedListeners.set(signal, sharedListener);
  return sharedListener;
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
