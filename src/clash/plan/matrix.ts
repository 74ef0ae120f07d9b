import { isAffine, isInvertibleAt } from '../../client/check/affine.js';
import { invalid } from '../check.js';

export const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Returns a part's matrix. Throws INVALID_ARGUMENT if no part can be placed by it. */
export function readMatrix(matrix: ArrayLike<number> | undefined): ArrayLike<number> {
  if (matrix === undefined) return IDENTITY;
  if (matrix !== null && matrix.length === 16 && isAffine(matrix, 0) && isInvertibleAt(matrix, 0)) return matrix;
  return invalid('the matrix of the part', matrix, 'an affine and invertible one');
}
