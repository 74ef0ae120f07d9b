import { Affine } from './affine';
import { diagonalise, greatestEigenvalue } from './jacobi';

/** Columns count as orthogonal if their dot products are smaller than this, relative to the largest square. */
const RIGHT_ANGLE: f64 = 5e-7;
/** Other columns are rotated until the next rotation would change no bit of the norm: 2⁻⁵³. */
const LAST_BIT_TOLERANCE: f64 = 1.1102230246251565e-16;

/**
 * Returns the maximum stretch of a map, its spectral norm: the root of the greatest eigenvalue of the columns' dot
 * products. It is never too small, and too large by no more than 3e-7.
 */
export function spectralNorm(m: Affine): f64 {
  // The columns are divided by the largest entry, so that no square overflows or underflows.
  const scale = max(
    max(max(abs(m.xx), abs(m.xy)), max(abs(m.xz), abs(m.yx))),
    max(max(max(abs(m.yy), abs(m.yz)), max(abs(m.zx), abs(m.zy))), abs(m.zz)),
  );
  const ax = m.xx / scale, ay = m.xy / scale, az = m.xz / scale;
  const bx = m.yx / scale, by = m.yy / scale, bz = m.yz / scale;
  const cx = m.zx / scale, cy = m.zy / scale, cz = m.zz / scale;
  const aa = ax * ax + ay * ay + az * az, bb = bx * bx + by * by + bz * bz, cc = cx * cx + cy * cy + cz * cz;
  const ab = ax * bx + ay * by + az * bz, ac = ax * cx + ay * cy + az * cz, bc = bx * cx + by * cy + bz * cz;
  // Columns that are orthogonal up to float32 rounding: Gershgorin's bound, no more than 3e-7 too large.
  const maxLengthSquared = max(max(aa, bb), cc), p = abs(ab), q = abs(ac), r = abs(bc);
  if (p + q + r <= maxLengthSquared * RIGHT_ANGLE) return scale * sqrt(max(max(aa + p + q, bb + p + r), cc + q + r));
  diagonalise(aa, ab, ac, bb, bc, cc, LAST_BIT_TOLERANCE);
  return scale * sqrt(greatestEigenvalue());
}
