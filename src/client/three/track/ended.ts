import { CollisionError } from '../../../shared/errors.js';
import { namedAnew } from '../../link/worker-link.js';

/** Tells whether there is no service any more. */
export function isEnd(error: unknown): boolean {
  return CollisionError.is(error) && (error.code === 'DISPOSED' || error.code === 'WORKER_LOST');
}

/** Names an error after the caller's operation where there is no service any more, which other operations have found out. */
export function namedIfEnded(operation: string, error: unknown): unknown {
  return isEnd(error) ? namedAnew(operation, error) : error;
}
