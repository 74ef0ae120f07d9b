import { isAffine, isInvertibleAt } from '../../check/affine.js';

/** Returns whether the service accepts the matrix at `at`. */
export function isValidTransform(m: ArrayLike<number>, at: number): boolean {
  return isInvertibleAt(m, at) && isAffine(m, at);
}
