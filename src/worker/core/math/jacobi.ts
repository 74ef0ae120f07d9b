// Eigenvectors of a symmetric 3×3 matrix by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5).

const a: usize = memory.data(72, 16); // the matrix, row by row
const v: usize = memory.data(72, 16); // eigenvectors in its columns

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

/** Works on the upper triangle of a covariance; `eigenvector` then reads the result. */
export function diagonalise(xx: f64, xy: f64, xz: f64, yy: f64, yz: f64, zz: f64): void {
  set(a, 0, 0, xx); set(a, 0, 1, xy); set(a, 0, 2, xz);
  set(a, 1, 0, xy); set(a, 1, 1, yy); set(a, 1, 2, yz);
  set(a, 2, 0, xz); set(a, 2, 1, yz); set(a, 2, 2, zz);
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) set(v, i, j, i == j ? 1.0 : 0.0);
  for (let sweep = 0; sweep < 8; sweep++) {
    const off = abs(get(a, 0, 1)) + abs(get(a, 0, 2)) + abs(get(a, 1, 2));
    if (off <= 1e-12 * (abs(get(a, 0, 0)) + abs(get(a, 1, 1)) + abs(get(a, 2, 2)))) return;
    annihilate(0, 1);
    annihilate(0, 2);
    annihilate(1, 2);
  }
}

/** Component `row` of eigenvector `column`. */
export function eigenvector(row: i32, column: i32): f64 {
  return get(v, row, column);
}

function annihilate(p: i32, q: i32): void {
  const apq = get(a, p, q);
  if (apq == 0.0) return;
  const theta = (get(a, q, q) - get(a, p, p)) / (2.0 * apq);
  const t = (theta >= 0.0 ? 1.0 : -1.0) / (abs(theta) + sqrt(theta * theta + 1.0));
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
