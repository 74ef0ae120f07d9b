import { checkFinite, guardRead, throwInvalid } from './validate.js';

/** The limit of a plane's constant, relative to its normal: nothing is so far away, and products do not overflow. */
export const MAX_PLANE_CONSTANT = 1e150;

/**
 * Copies planes: four finite numbers each, no normal of which is zero; `maxPlanes` planes at most. They are scaled by powers
 * of two, so that the largest component of each normal is in [1, 2).
 */
export function checkClipPlanes(operation: string, argument: string, value: unknown, maxPlanes: number): Float64Array {
  return guardRead(operation, argument, () => {
    const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
    if (!isList) throwInvalid(operation, argument, value, '4 numbers per plane');
    const { length } = value as ArrayLike<number>;
    if (length % 4 !== 0 || length > 4 * maxPlanes) {
      throwInvalid(operation, `the length of ${argument}`, length, `4 for each of at most ${maxPlanes} planes`);
    }
    const planes = new Float64Array(length);
    for (let i = 0; i < length; i++) {
      planes[i] = checkFinite(operation, `${argument}[${i}]`, (value as ArrayLike<number>)[i]);
    }
    for (let i = 0; i < length; i += 4) {
      const plane = planes.subarray(i, i + 4);
      const [x, y, z] = plane;
      if (x === 0 && y === 0 && z === 0) {
        throwInvalid(operation, `the normal of plane ${i / 4} of ${argument}`, [x, y, z], 'one not zero');
      }
      scalePlane(plane);
    }
    return planes;
  });
}

/** Scales a plane, whose normal must be finite and not zero, as the worker expects it. */
export function scalePlane(plane: Float64Array): void {
  const largest = Math.max(Math.abs(plane[0]), Math.abs(plane[1]), Math.abs(plane[2]));
  // The scale is applied in two steps, since the reciprocal of the smallest numbers is infinite.
  const exponent = Math.floor(Math.log2(largest));
  const half = Math.trunc(-exponent / 2);
  for (const factor of [2 ** half, 2 ** (-exponent - half)]) for (let i = 0; i < 4; i++) plane[i] *= factor;
  plane[3] = Math.max(-MAX_PLANE_CONSTANT, Math.min(MAX_PLANE_CONSTANT, plane[3]));
}
