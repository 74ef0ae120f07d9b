import { CollisionError } from '../../../shared/errors.js';
import { renameError } from '../../link/worker-link.js';

/** Returns whether an error means that the service has ended. */
export function isServiceEnded(error: unknown): boolean {
  return CollisionError.is(error) && (error.code === 'DISPOSED' || error.code === 'WORKER_LOST');
}

/**
 * Renames an error to the caller's operation if it means that the service has ended, which another operation may have found
 * out.
 */
export function namedIfEnded(operation: string, error: unknown): unknown {
  return isServiceEnded(error) ? renameError(operation, error) : error;
}
