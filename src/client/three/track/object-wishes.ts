import type { Line, LOD, Mesh, Object3D, Points, Sprite } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ContactDetail, ObjectOptions, Shape } from '../../../shared/types.js';
import { unreadable } from '../../check/validate.js';
import { nameOf } from './name-of.js';

// What the caller says of objects, beyond what the scene says.

/** What the service shall know of an object beyond what the scene says. */
export interface SceneObjectOptions extends Partial<Omit<ObjectOptions, 'shape' | 'matrix'>> {
  /**
   * Its triangles are a `solid` mesh: they must be closed, or else the object is `untracked`. Default false. A shape
   * that stands for them says so itself.
   */
  solid?: boolean;
  /**
   * Vertices of its geometry nearer than this become one, as in `addMesh`: three's spheres, cylinders and tori are
   * closed then. Objects that share a geometry and this share the mesh. Default 0.
   */
  weld?: number;
}

/** What three draws: a shape may stand for any of these, and each has options. Instanced, skinned and batched meshes are Meshes. */
export type SceneDrawable = Mesh | Line | Points | Sprite | (LOD & { readonly geometry?: undefined });

/** What the caller wishes beyond what the scene says. */
export interface ObjectWishes {
  /** It is for every object that does not say so itself. */
  readonly contacts: ContactDetail;
  /** Stands for the object instead of its triangles. */
  shape(object: SceneDrawable): Shape | null;
  options(object: SceneDrawable): SceneObjectOptions;
}

/** Answers whether an error leaves out one object; all others are about the service. */
export function isAboutOneObject(error: unknown): error is CollisionError {
  return CollisionError.is(error) && ['INVALID_ARGUMENT', 'BAD_DATA', 'UNSUPPORTED'].includes(error.code);
}

/** Answers what is wrong with one object, of what was thrown where it was read. Throws what is about the service. */
export function faultOf(object: Object3D, thrown: unknown): CollisionError {
  const error = CollisionError.is(thrown) ? thrown : unreadable('trackScene', nameOf(object), thrown);
  if (!isAboutOneObject(error)) throw error;
  return error;
}

/** Copies what the caller answers, who may change it in place: arrays and plain objects. */
export function copyDeep<T>(given: T): T {
  if (Array.isArray(given)) return given.map(copyDeep) as T;
  if (!given || Object.getPrototypeOf(given) !== Object.prototype) return given;
  const copy = { ...given };
  for (const key in copy) copy[key] = copyDeep(copy[key]);
  return copy;
}

/** Compares what the caller answers: numbers, words, and objects and arrays of them. */
export function isEqualDeep(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  const keys = Object.keys(a);
  const [left, right] = [a, b] as Record<string, unknown>[];
  return keys.length === Object.keys(b).length && keys.every((key) => isEqualDeep(left[key], right[key]));
}
