import { Affine } from './affine';
import { diagonalise, eigenvector } from './jacobi';

/** How many times as long a map makes what it makes longest: the largest singular value of its linear part. */
export function stretchOf(m: Affine): f64 {
  // By the largest entry, so that no square overflows or vanishes.
  const unit = max(
    max(max(abs(m.xx), abs(m.xy)), max(abs(m.xz), abs(m.yx))),
    max(max(max(abs(m.yy), abs(m.yz)), max(abs(m.zx), abs(m.zy))), abs(m.zz)),
  );
  const ax = m.xx / unit, ay = m.xy / unit, az = m.xz / unit;
  const bx = m.yx / unit, by = m.yy / unit, bz = m.yz / unit;
  const cx = m.zx / unit, cy = m.zy / unit, cz = m.zz / unit;
  const aa = ax * ax + ay * ay + az * az, bb = bx * bx + by * by + bz * bz, cc = cx * cx + cy * cy + cz * cz;
  const ab = ax * bx + ay * by + az * bz, ac = ax * cx + ay * cy + az * cz, bc = bx * cx + by * cy + bz * cz;
  let square = max(max(aa, bb), cc);
  // Columns at right angles are the singular vectors themselves.
  if (abs(ab) + abs(ac) + abs(bc) > square * 1e-14) {
    diagonalise(aa, ab, ac, bb, bc, cc);
    for (let i = 0; i < 3; i++) {
      const u = eigenvector(0, i), v = eigenvector(1, i), w = eigenvector(2, i);
      const x = u * ax + v * bx + w * cx, y = u * ay + v * by + w * cy, z = u * az + v * bz + w * cz;
      square = max(square, (x * x + y * y + z * z) / (u * u + v * v + w * w));
    }
  }
  return unit * sqrt(square);
}
