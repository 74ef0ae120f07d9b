// Affine matrices as three stores them: 16 numbers, column-major, the bottom row 0, 0, 0, 1.
import { isAffine, isInvertibleAt } from '../check/affine.js';

/** Numbers of a transform: the bottom row of an affine matrix is left out. */
export const AFFINE_NUMBERS = 12;
export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/**
 * The worker certainly accepts a matrix if volume² > MIN_SURE_RATIO · s³, where s is the sum of the nine squares: the product
 * of the columns' lengths is at most (s / 3)^1.5, so the volume is above 5·10⁻¹⁰ of that product; it is refused below
 * 2⁻⁴⁰ of it, which is 9·10⁻¹³ (`isInvertibleAt`).
 */
export const MIN_SURE_RATIO = 1e-20;
/** A sum of three numbers of this size is finite. */
export const MAX_SURE_POSITION = 1e300;

/** Writes the three upper rows, twelve numbers, column by column. */
export function writeAffine(target: Float64Array, at: number, m: ArrayLike<number>): void {
  target[at] = m[0];
  target[at + 1] = m[1];
  target[at + 2] = m[2];
  target[at + 3] = m[4];
  target[at + 4] = m[5];
  target[at + 5] = m[6];
  target[at + 6] = m[8];
  target[at + 7] = m[9];
  target[at + 8] = m[10];
  target[at + 9] = m[12];
  target[at + 10] = m[13];
  target[at + 11] = m[14];
}

/** Writes the three upper rows of a · (b at `from`), as `writeAffine` does. */
export function multiplyAffine(
  target: Float64Array,
  at: number,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  from: number,
): void {
  for (let column = 0; column < 4; column++) {
    const x = b[from + 4 * column];
    const y = b[from + 4 * column + 1];
    const z = b[from + 4 * column + 2];
    const w = column === 3 ? 1 : 0;
    for (let row = 0; row < 3; row++) {
      target[at + 3 * column + row] = a[row] * x + a[row + 4] * y + a[row + 8] * z + a[row + 12] * w;
    }
  }
}

/** Does `multiplyAffine`, and returns whether the worker accepts the product. `b` need not be affine. */
export function tryMultiplyAffine(
  target: Float64Array,
  at: number,
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  from: number,
): boolean {
  if (!isAffine(b, from)) return false;
  multiplyAffine(target, at, a, b, from);
  return isInvertibleAt(target, at, 3);
}

/** Returns whether two matrices of 16 numbers are equal. */
export function isSameMatrix(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let i = 0; i < 16; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Returns whether twelve numbers are the three upper rows of a matrix. Compares the translation first: it changes most often. */
export function isSameAffine(rows: Float64Array, at: number, m: ArrayLike<number>): boolean {
  return (
    rows[at + 9] === m[12] &&
    rows[at + 10] === m[13] &&
    rows[at + 11] === m[14] &&
    rows[at] === m[0] &&
    rows[at + 1] === m[1] &&
    rows[at + 2] === m[2] &&
    rows[at + 3] === m[4] &&
    rows[at + 4] === m[5] &&
    rows[at + 5] === m[6] &&
    rows[at + 6] === m[8] &&
    rows[at + 7] === m[9] &&
    rows[at + 8] === m[10]
  );
}
