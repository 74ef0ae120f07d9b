import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { nameOf } from './name-of.js';

/**
 * Says in the console why an object is left out, and what of it, unless that was said last or everything has ended; answers
 * what was said of it last.
 */
export function complain(object: Object3D, error: CollisionError | null, said: string, what = ''): string {
  if (error === null || error.code === 'DISPOSED' || error.message === said) return said;
  console.warn(`trackScene: the ${nameOf(object)} is left out${what}: ${error.message}`);
  return error.message;
}
