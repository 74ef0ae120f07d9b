import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { nameOf } from './name-of.js';

/**
 * Warns in the console that an object, or a part of it, is left out, and why, unless `said` is the same message or everything
 * has ended; returns the last message.
 */
export function complain(object: Object3D, error: CollisionError | null, said: string, what = ''): string {
  if (error === null || error.code === 'DISPOSED' || error.message === said) return said;
  console.warn(`trackScene: the ${nameOf(object)} is left out${what}: ${error.message}`);
  return error.message;
}
