import { CollisionError } from 'collision-worker';
import { isAffine, isInvertibleAt } from '../../client/check/affine.js';

export const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Answers a part's matrix. Throws INVALID_ARGUMENT for one that no part can be placed by. */
export function readMatrix(matrix: ArrayLike<number> | undefined): readonly number[] {
  if (matrix === undefined) return IDENTITY;
  const numbers = Array.from(matrix);
  if (numbers.length === 16 && isAffine(numbers, 0) && isInvertibleAt(numbers, 0)) return numbers;
  const message = 'clash: the matrix of the part is no affine, finite and invertible one of 16 numbers';
  throw new CollisionError('INVALID_ARGUMENT', message);
}
