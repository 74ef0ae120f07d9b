// Tests of affine matrices as three stores them: 16 numbers, column-major, the bottom row 0, 0, 0, 1.

/** The square of a larger volume does not underflow. If it overflows, so does what it is compared with: the slow test decides. */
const MIN_VOLUME = 1e-100;
/** Above this fraction of the product of the columns' squared lengths, the squared volume needs no slow test. */
const MIN_SURE_RATIO = 1e-20;
/** Rounding makes the volume of coplanar columns no larger than this fraction of the product of their lengths. */
const FLATNESS_TOLERANCE = 2 ** -40;
/** three's matrixWorldInverse has 1 ± 2⁻⁵² in its corner, since inverting rounds. */
const CORNER_TOLERANCE = 1e-9;

/**
 * Computes the determinant of the linear part, whose columns are `stride` numbers apart: 4, or 3 without a bottom row.
 */
export function determinantAt(m: ArrayLike<number>, at: number, stride = 4): number {
  // Numbers are read by their index: destructuring would leave iterators to the garbage collector.
  const ax = m[at];
  const ay = m[at + 1];
  const az = m[at + 2];
  const bx = m[at + stride];
  const by = m[at + stride + 1];
  const bz = m[at + stride + 2];
  const cx = m[at + 2 * stride];
  const cy = m[at + 2 * stride + 1];
  const cz = m[at + 2 * stride + 2];
  return ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by);
}

/**
 * Returns whether the matrix at `at` is finite and invertible, to the bit as the worker decides it (`isUsable` of the
 * core's affine.ts). Relative to the columns: a small scale is accepted, coplanar columns are not.
 */
export function isInvertibleAt(m: ArrayLike<number>, at: number, stride = 4): boolean {
  const b = at + stride;
  const c = b + stride;
  const t = c + stride;
  const sum =
    m[at] +
    m[at + 1] +
    m[at + 2] +
    m[b] +
    m[b + 1] +
    m[b + 2] +
    m[c] +
    m[c + 1] +
    m[c + 2] +
    m[t] +
    m[t + 1] +
    m[t + 2];
  if (!(sum - sum === 0)) return false;
  const x = m[at] * m[at] + m[at + 1] * m[at + 1] + m[at + 2] * m[at + 2];
  const y = m[b] * m[b] + m[b + 1] * m[b + 1] + m[b + 2] * m[b + 2];
  const z = m[c] * m[c] + m[c + 1] * m[c + 1] + m[c + 2] * m[c + 2];
  const volume = Math.abs(determinantAt(m, at, stride));
  const squaredLengthProduct = x * y * z;
  if (volume > MIN_VOLUME && volume * volume > squaredLengthProduct * MIN_SURE_RATIO) return true;
  const lengthProduct = Math.sqrt(x) * Math.sqrt(y) * Math.sqrt(z);
  return volume > lengthProduct * FLATNESS_TOLERANCE && volume < Infinity && 1 / volume < Infinity;
}

/** Returns whether the bottom row is 0, 0, 0, 1. A matrix that is not finite elsewhere passes: the worker rejects it. */
export function isAffine(m: ArrayLike<number>, at: number): boolean {
  const isCornerOne = Math.abs(m[at + 15] - 1) < CORNER_TOLERANCE;
  if (m[at + 3] === 0 && m[at + 7] === 0 && m[at + 11] === 0 && isCornerOne) return true;
  for (let i = at; i < at + 15; i++) if ((i - at) % 4 !== 3 && !Number.isFinite(m[i])) return true;
  return false;
}
