import { CollisionError } from '../../../shared/errors.js';
import { named } from '../../link/worker-link.js';

/** Tells whether there is no service any more. */
export function isEnd(error: unknown): error is CollisionError {
  return CollisionError.is(error) && (error.code === 'DISPOSED' || error.code === 'WORKER_LOST');
}

/** Returns an error as the caller's operation tells it: that there is no service any more is found out by calls of ours. */
export function toldOf(operation: string, error: unknown): unknown {
  if (!isEnd(error)) return error;
  const { code, message, cause } = error;
  return named(operation, { code, message: message.replace(/^\w+: /, '') }, cause);
}
