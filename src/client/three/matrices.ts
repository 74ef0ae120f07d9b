/** Whether the matrix at `at` is finite and invertible, by the measure that the service accepts it with. */
export function hasInverse(matrices: ArrayLike<number>, at: number): boolean {
  const ax = matrices[at];
  const ay = matrices[at + 1];
  const az = matrices[at + 2];
  const bx = matrices[at + 4];
  const by = matrices[at + 5];
  const bz = matrices[at + 6];
  const cx = matrices[at + 8];
  const cy = matrices[at + 9];
  const cz = matrices[at + 10];
  const determinant = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
  const lengths = Math.hypot(ax, ay, az) * Math.hypot(bx, by, bz) * Math.hypot(cx, cy, cz);
  const place = matrices[at + 12] + matrices[at + 13] + matrices[at + 14];
  return Math.abs(determinant) > 2 ** -40 * lengths && Number.isFinite(lengths + place);
}

/** Whether two affine matrices are the same. */
export function sameMatrix(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  // Translation first: it is what changes most often.
  return (
    a[12] === b[12] &&
    a[13] === b[13] &&
    a[14] === b[14] &&
    a[0] === b[0] &&
    a[1] === b[1] &&
    a[2] === b[2] &&
    a[4] === b[4] &&
    a[5] === b[5] &&
    a[6] === b[6] &&
    a[8] === b[8] &&
    a[9] === b[9] &&
    a[10] === b[10]
  );
}
