import type { Line, LOD, Mesh, Object3D, Points, Sprite } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ContactDetail, ObjectOptions, Shape } from '../../../shared/types.js';
import { unreadableError } from '../../check/validate.js';
import { renameError } from '../../link/worker-link.js';
import { nameOf } from './name-of.js';

// What the caller says of objects, beyond what is in the scene.

/** Options of an object that the scene itself does not specify. */
export interface SceneObjectOptions extends Partial<Omit<ObjectOptions, 'shape' | 'matrix'>> {
  /**
   * Its triangles are a `solid` mesh: they must be closed, or else the object is `untracked`. Default false. A shape that
   * replaces them has its own `solid`.
   */
  solid?: boolean;
  /**
   * Vertices of its geometry nearer than this are merged, as in `addMesh`: that closes three's spheres, cylinders and tori.
   * Objects with the same geometry and the same `weld` share the mesh. Default 0.
   */
  weld?: number;
}

/** What three draws: a shape may replace any of these, and each has options. Instanced, skinned and batched meshes are Meshes. */
export type SceneDrawable =
  | Mesh
  | Line
  | Points
  | Sprite
  | (LOD & { readonly geometry?: undefined; readonly material?: undefined });

/** What the caller wants for objects, beyond what is in the scene. */
export interface ObjectSettings {
  /** For every object whose options do not specify it. */
  readonly contacts: ContactDetail;
  /** Returns the shape that replaces the object's triangles, if any. */
  shape(object: SceneDrawable): Shape | null;
  options(object: SceneDrawable): SceneObjectOptions;
}

/** Returns whether an error leaves out one object; all other errors concern the service. */
export function isAboutOneObject(error: unknown): error is CollisionError {
  return CollisionError.is(error) && ['INVALID_ARGUMENT', 'BAD_DATA', 'UNSUPPORTED'].includes(error.code);
}

/** Returns the error of an object, given what was thrown when it was read. Rethrows errors that concern the service. */
export function objectErrorOf(object: Object3D, thrown: unknown): CollisionError {
  const error = CollisionError.is(thrown) ? thrown : unreadableError('trackScene', nameOf(object), thrown);
  if (!isAboutOneObject(error)) throw error;
  return renameError('trackScene', error) as CollisionError; // the caller has not called what has thrown it
}

/** Copies a result of the caller's, who may change it in place: arrays and plain objects. */
export function copyDeep<T>(given: T): T {
  if (Array.isArray(given)) return given.map(copyDeep) as T;
  if (!given || Object.getPrototypeOf(given) !== Object.prototype) return given;
  const copy = { ...given };
  for (const key in copy) copy[key] = copyDeep(copy[key]);
  return copy;
}

/** Compares results of the caller's: numbers, strings, and objects and arrays of them. */
export function isEqualDeep(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  const keys = Object.keys(a);
  const [left, right] = [a, b] as Record<string, unknown>[];
  return keys.length === Object.keys(b).length && keys.every((key) => isEqualDeep(left[key], right[key]));
}
