import { Affine } from './affine';

/**
 * How many times as long a map makes what it makes longest: the largest singular value of its linear part. Columns' dot
 * products, then cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5) until only squares are left.
 */
export function stretchOf(m: Affine): f64 {
  // By the largest entry, so that no square overflows or vanishes.
  const unit = max(
    max(max(abs(m.xx), abs(m.xy)), max(abs(m.xz), abs(m.yx))),
    max(max(max(abs(m.yy), abs(m.yz)), max(abs(m.zx), abs(m.zy))), abs(m.zz)),
  );
  const ax = m.xx / unit, ay = m.xy / unit, az = m.xz / unit;
  const bx = m.yx / unit, by = m.yy / unit, bz = m.yz / unit;
  const cx = m.zx / unit, cy = m.zy / unit, cz = m.zz / unit;
  let aa = ax * ax + ay * ay + az * az, bb = bx * bx + by * by + bz * bz, cc = cx * cx + cy * cy + cz * cz;
  let ab = ax * bx + ay * by + az * bz, ac = ax * cx + ay * cy + az * cz, bc = bx * cx + by * cy + bz * cz;
  // Columns at right angles, but for what float32 does to them: Gershgorin's bound, no more than 3e-7 too large.
  const most = max(max(aa, bb), cc), p = abs(ab), q = abs(ac), r = abs(bc);
  if (p + q + r <= most * 5e-7) return unit * sqrt(max(max(aa + p + q, bb + p + r), cc + q + r));
  const negligible = (aa + bb + cc) * 1.1102230246251565e-16; // 2^-53
  for (let sweep = 0; sweep < 8 && abs(ab) + abs(ac) + abs(bc) > negligible; sweep++) {
    let t = tangent(aa, bb, ab), c = 1 / sqrt(t * t + 1), s = t * c;
    aa -= t * ab;
    bb += t * ab;
    ab = 0;
    let other = c * ac - s * bc;
    bc = s * ac + c * bc;
    ac = other;

    t = tangent(aa, cc, ac);
    c = 1 / sqrt(t * t + 1);
    s = t * c;
    aa -= t * ac;
    cc += t * ac;
    ac = 0;
    ab = -s * bc;
    bc = c * bc;

    t = tangent(bb, cc, bc);
    c = 1 / sqrt(t * t + 1);
    s = t * c;
    bb -= t * bc;
    cc += t * bc;
    bc = 0;
    other = c * ab;
    ac = s * ab;
    ab = other;
  }
  return unit * sqrt(max(max(aa, bb), cc));
}

/** Of the angle that makes `pq` vanish. */
// @ts-ignore: decorator
@inline
function tangent(pp: f64, qq: f64, pq: f64): f64 {
  if (pq == 0) return 0;
  const theta = (qq - pp) / (2 * pq);
  return (theta >= 0 ? 1.0 : -1.0) / (abs(theta) + sqrt(theta * theta + 1));
}
