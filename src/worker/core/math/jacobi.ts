// Cyclic Jacobi rotations of 3×3 matrices (Golub and Van Loan, Matrix Computations, 8.5): two-sided ones of a symmetric
// matrix, which yield its eigenvalues and eigenvectors; and one-sided ones of any matrix, which yield its singular
// values, the small ones as accurately as the large ones (Hestenes, "Inversion of Matrices by Biorthogonalization and
// Related Results", 1958).

import { Affine } from './affine';
import { F64_BYTES } from '../sizes';

/** Maximum number of sweeps: rotations converge quadratically, so this is more than any matrix has taken. */
const MAX_SWEEPS: i32 = 8;

/** Returns the tangent of the smaller of the angles that make `pq` zero. */
// @ts-ignore: decorator
@inline
function tangent(pp: f64, qq: f64, pq: f64): f64 {
  const theta = (qq - pp) / (2.0 * pq);
  return (theta >= 0.0 ? 1.0 : -1.0) / (abs(theta) + sqrt(theta * theta + 1.0));
}

// --- both sides ---

const a: usize = memory.data(9 * F64_BYTES, 16); // the matrix, row by row
const v: usize = memory.data(9 * F64_BYTES, 16); // eigenvectors in its columns

// @ts-ignore: decorator
@inline
function get(m: usize, row: i32, column: i32): f64 {
  return load<f64>(m + ((row * 3 + column) << 3));
}

// @ts-ignore: decorator
@inline
function set(m: usize, row: i32, column: i32, value: f64): void {
  store<f64>(m + ((row * 3 + column) << 3), value);
}

/**
 * Diagonalises a symmetric matrix, given by its upper triangle, until the off-diagonal entries are at most `tolerance`
 * times the diagonal ones. The functions below read the result.
 */
export function diagonalise(xx: f64, xy: f64, xz: f64, yy: f64, yz: f64, zz: f64, tolerance: f64): void {
  set(a, 0, 0, xx); set(a, 0, 1, xy); set(a, 0, 2, xz);
  set(a, 1, 0, xy); set(a, 1, 1, yy); set(a, 1, 2, yz);
  set(a, 2, 0, xz); set(a, 2, 1, yz); set(a, 2, 2, zz);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) set(v, i, j, i == j ? 1.0 : 0.0);
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    const offDiagonal = abs(get(a, 0, 1)) + abs(get(a, 0, 2)) + abs(get(a, 1, 2));
    if (offDiagonal <= tolerance * (abs(get(a, 0, 0)) + abs(get(a, 1, 1)) + abs(get(a, 2, 2)))) return;
    annihilate(0, 1);
    annihilate(0, 2);
    annihilate(1, 2);
  }
}

/** Returns component `row` of eigenvector `column`. */
export function eigenvector(row: i32, column: i32): f64 {
  return get(v, row, column);
}

/**
 * Returns an upper bound of the greatest eigenvalue by Gershgorin's theorem, too large by no more than the tolerance.
 */
export function greatestEigenvalue(): f64 {
  const xy = abs(get(a, 0, 1)), xz = abs(get(a, 0, 2)), yz = abs(get(a, 1, 2));
  return max(max(get(a, 0, 0) + xy + xz, get(a, 1, 1) + xy + yz), get(a, 2, 2) + xz + yz);
}

function annihilate(p: i32, q: i32): void {
  const apq = get(a, p, q);
  if (apq == 0.0) return;
  const t = tangent(get(a, p, p), get(a, q, q), apq);
  const c = 1.0 / sqrt(t * t + 1.0);
  const s = t * c;
  for (let k = 0; k < 3; k++) {
    const kp = get(a, k, p), kq = get(a, k, q);
    set(a, k, p, c * kp - s * kq);
    set(a, k, q, s * kp + c * kq);
  }
  for (let k = 0; k < 3; k++) {
    const pk = get(a, p, k), qk = get(a, q, k);
    set(a, p, k, c * pk - s * qk);
    set(a, q, k, s * pk + c * qk);
  }
  for (let k = 0; k < 3; k++) {
    const kp = get(v, k, p), kq = get(v, k, q);
    set(v, k, p, c * kp - s * kq);
    set(v, k, q, s * kp + c * kq);
  }
}

// --- one side ---

/** Columns are orthogonal if the cosine of their angle is at most this: 2⁻⁵¹. */
const RIGHT_ANGLE: f64 = 4.440892098500626e-16;
/** Maximum number of one-sided sweeps, which continue to the last bit and may take longer. */
const MAX_ONE_SIDED_SWEEPS: i32 = 20;

/**
 * Rotates the columns of `w` until they are orthogonal, and those of `v` along with them. Leaves the translations
 * alone.
 */
export function orthogonalise(w: Affine, v: Affine): void {
  for (let sweep = 0; sweep < MAX_ONE_SIDED_SWEEPS; sweep++) {
    const hasRotated = rotateColumns(w, v, 0, 24) | rotateColumns(w, v, 0, 48) | rotateColumns(w, v, 24, 48);
    if (!hasRotated) return;
  }
}

function rotateColumns(w: Affine, v: Affine, first: usize, second: usize): i32 {
  const p = changetype<usize>(w) + first, q = changetype<usize>(w) + second;
  const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
  const qx = load<f64>(q), qy = load<f64>(q, 8), qz = load<f64>(q, 16);
  const pp = px * px + py * py + pz * pz, qq = qx * qx + qy * qy + qz * qz, pq = px * qx + py * qy + pz * qz;
  if (!(abs(pq) > RIGHT_ANGLE * sqrt(pp) * sqrt(qq))) return 0;
  const t = tangent(pp, qq, pq);
  const c = 1.0 / sqrt(1.0 + t * t), s = c * t;
  for (let at: usize = 0; at < 24; at += 8) {
    rotatePair(p + at, q + at, c, s);
    rotatePair(changetype<usize>(v) + first + at, changetype<usize>(v) + second + at, c, s);
  }
  return 1;
}

// @ts-ignore: decorator
@inline
function rotatePair(p: usize, q: usize, c: f64, s: f64): void {
  const x = load<f64>(p), y = load<f64>(q);
  store<f64>(p, c * x - s * y);
  store<f64>(q, s * x + c * y);
}
