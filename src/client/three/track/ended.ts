import { CollisionError } from '../../../shared/errors.js';
import { namedAnew } from '../../link/worker-link.js';

/** Returns whether an error means that the service has ended. */
export function isEnd(error: unknown): boolean {
  return CollisionError.is(error) && (error.code === 'DISPOSED' || error.code === 'WORKER_LOST');
}

/**
 * Renames an error to the caller's operation if it means that the service has ended, which another operation may have found
 * out.
 */
export function namedIfEnded(operation: string, error: unknown): unknown {
  return isEnd(error) ? namedAnew(operation, error) : error;
}
