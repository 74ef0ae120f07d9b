import { Vector4 } from 'three';
import type { Ray, Vec3 } from '../../../shared/types.js';
import { checkFinite, checkVec3, guardRead, readOptions, throwInvalid } from '../../check/validate.js';

const RAY_KEYS = ['origin', 'direction', 'tMin', 'tMax'];

/** A point or a direction in world space: three's Vector3, or three numbers. */
export type ScenePoint = Vec3 | { readonly x: number; readonly y: number; readonly z: number };

/** three's Ray, or a ray of the service. Lengths are in world units, whatever the length of `direction`. */
export interface SceneRay {
  origin: ScenePoint;
  /** May have any length except zero. */
  direction: ScenePoint;
  /** three's `raycaster.near`. Default 0. */
  tMin?: number;
  /** three's `raycaster.far`. Default Infinity. */
  tMax?: number;
}

/** Reads a point of either kind as three finite numbers. */
export function readPoint(operation: string, argument: string, point: ScenePoint): Vec3 {
  return guardRead(operation, argument, () => {
    if (typeof point !== 'object' || point === null || !('x' in point)) return checkVec3(operation, argument, point);
    const { x, y, z } = point;
    const coordinate = (name: string, value: unknown): number => checkFinite(operation, `${argument}.${name}`, value);
    return [coordinate('x', x), coordinate('y', y), coordinate('z', z)];
  });
}

/** Reads a ray of either kind; the service checks its lengths. */
export function readRay(operation: string, ray: SceneRay): Ray {
  if (ray === undefined) throwInvalid(operation, 'ray', ray, 'an object');
  const { origin, direction, tMin, tMax } = readOptions(operation, 'ray', ray, RAY_KEYS);
  return {
    origin: readPoint(operation, 'ray.origin', origin),
    direction: readPoint(operation, 'ray.direction', direction),
    ...(tMin !== undefined && { tMin }),
    ...(tMax !== undefined && { tMax }),
  };
}

/** Returns the direction of a ray as an eye at infinity (intersection.ts), scaled so that its length does not overflow. */
export function eyeOf({ direction: [x, y, z] }: Ray): Vector4 {
  const largest = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
  return new Vector4(x / largest, y / largest, z / largest, 0);
}
