import { CollisionError } from 'collision-worker';
import { isAffine, isInvertibleAt } from '../../client/check/affine.js';

export const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Answers a part's matrix as it is given. Throws INVALID_ARGUMENT for one that no part can be placed by. */
export function readMatrix(matrix: ArrayLike<number> | undefined): ArrayLike<number> {
  if (matrix === undefined) return IDENTITY;
  if (matrix !== null && matrix.length === 16 && isAffine(matrix, 0) && isInvertibleAt(matrix, 0)) return matrix;
  const message = 'clash: the matrix of the part is no affine, finite and invertible one of 16 numbers';
  throw new CollisionError('INVALID_ARGUMENT', message);
}
