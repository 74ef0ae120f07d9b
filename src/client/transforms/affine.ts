// Affine matrices as three stores them: 16 numbers, column-major, the bottom row 0, 0, 0, 1.

export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Of the linear part; from one column to the next it is 4 numbers, or 3 where the bottom row is left out. */
export function determinantAt(m: ArrayLike<number>, at: number, stride = 4): number {
  const [ax, ay, az] = [m[at], m[at + 1], m[at + 2]];
  const [bx, by, bz] = [m[at + stride], m[at + stride + 1], m[at + stride + 2]];
  const [cx, cy, cz] = [m[at + 2 * stride], m[at + 2 * stride + 1], m[at + 2 * stride + 2]];
  return ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by);
}

/**
 * Whether the matrix at `at` is finite and invertible, to the bit as the worker decides it (`usable` of the core's
 * affine.ts). Relative to the columns: a small scale is no flaw, columns in one plane are.
 */
export function isInvertibleAt(m: ArrayLike<number>, at: number, stride = 4): boolean {
  let sum = 0;
  let lengths = 1;
  for (let column = at; column < at + 3 * stride; column += stride) {
    const [x, y, z] = [m[column], m[column + 1], m[column + 2]];
    sum = sum + x + y + z;
    lengths *= Math.sqrt(x * x + y * y + z * z);
  }
  const place = at + 3 * stride;
  sum = sum + m[place] + m[place + 1] + m[place + 2];
  const volume = Math.abs(determinantAt(m, at, stride));
  return Number.isFinite(sum) && volume > 2 ** -40 * lengths && volume < Infinity && 1 / volume < Infinity;
}

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

/** Whether the bottom row is 0, 0, 0, 1. A matrix that is not finite elsewhere passes: the worker rejects it. */
export function isAffine(m: ArrayLike<number>, at: number): boolean {
  // Inverting leaves the zeros, and rounds the one: three's matrixWorldInverse has 1 ± 2⁻⁵² there.
  if (m[at + 3] === 0 && m[at + 7] === 0 && m[at + 11] === 0 && Math.abs(m[at + 15] - 1) < 1e-9) return true;
  for (let i = at; i < at + 15; i++) if ((i - at) % 4 !== 3 && !Number.isFinite(m[i])) return true;
  return false;
}
