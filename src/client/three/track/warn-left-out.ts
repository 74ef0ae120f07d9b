import type { Object3D } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import { nameOf } from './name-of.js';

/**
 * Warns in the console that an object, or a part of it, is left out, and why, unless `lastWarning` is the same message or
 * everything has ended; returns the last message.
 */
export function warnLeftOut(object: Object3D, error: CollisionError | null, lastWarning: string, part = ''): string {
  if (error === null || error.code === 'DISPOSED' || error.message === lastWarning) return lastWarning;
  console.warn(`trackScene: the ${nameOf(object)} is left out${part}: ${error.message}`);
  return error.message;
}
