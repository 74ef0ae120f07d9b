// Affine matrices as three stores them: 16 numbers, column-major, the bottom row 0, 0, 0, 1.

export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Of the linear part. */
export function determinantAt(m: ArrayLike<number>, at: number): number {
  const ax = m[at];
  const ay = m[at + 1];
  const az = m[at + 2];
  const bx = m[at + 4];
  const by = m[at + 5];
  const bz = m[at + 6];
  const cx = m[at + 8];
  const cy = m[at + 9];
  const cz = m[at + 10];
  return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

/**
 * Whether the matrix at `at` is finite and invertible, as the worker decides it. Relative to the columns: a small
 * scale is no flaw, columns in one plane are.
 */
export function isInvertibleAt(m: ArrayLike<number>, at: number): boolean {
  const lengths =
    Math.hypot(m[at], m[at + 1], m[at + 2]) *
    Math.hypot(m[at + 4], m[at + 5], m[at + 6]) *
    Math.hypot(m[at + 8], m[at + 9], m[at + 10]);
  const place = m[at + 12] + m[at + 13] + m[at + 14];
  return Math.abs(determinantAt(m, at)) > 2 ** -40 * lengths && Number.isFinite(lengths + place);
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
