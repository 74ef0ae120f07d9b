// Whether two oriented boxes are surely farther from each other than a length: by the axes across their faces, and by the
// line of their middles. Edges are left out, so what is farther is not always told.

import { Affine } from './affine';

/** What rounding may make of a comparison, relative to what goes into it. */
const ROUNDING: f64 = 1e-14;

export function areBeyond(a: Affine, b: Affine, length: f64): bool {
  const x = b.tx - a.tx, y = b.ty - a.ty, z = b.tz - a.tz;
  return isBeyondFaces(a, b, x, y, z, length) || isBeyondFaces(b, a, x, y, z, length) || isBeyond(a, b, x, y, z, x, y, z, length);
}

function isBeyondFaces(a: Affine, b: Affine, x: f64, y: f64, z: f64, length: f64): bool {
  return (
    isBeyond(a, b, x, y, z, a.yy * a.zz - a.yz * a.zy, a.yz * a.zx - a.yx * a.zz, a.yx * a.zy - a.yy * a.zx, length) ||
    isBeyond(a, b, x, y, z, a.zy * a.xz - a.zz * a.xy, a.zz * a.xx - a.zx * a.xz, a.zx * a.xy - a.zy * a.xx, length) ||
    isBeyond(a, b, x, y, z, a.xy * a.yz - a.xz * a.yy, a.xz * a.yx - a.xx * a.yz, a.xx * a.yy - a.xy * a.yx, length)
  );
}

/** Tests one axis, of any length. */
// @ts-ignore: decorator
@inline
function isBeyond(a: Affine, b: Affine, x: f64, y: f64, z: f64, u: f64, v: f64, w: f64, length: f64): bool {
  const reach =
    abs(a.xx * u + a.xy * v + a.xz * w) + abs(a.yx * u + a.yy * v + a.yz * w) + abs(a.zx * u + a.zy * v + a.zz * w) +
    abs(b.xx * u + b.xy * v + b.xz * w) + abs(b.yx * u + b.yy * v + b.yz * w) + abs(b.zx * u + b.zy * v + b.zz * w) +
    length * sqrt(u * u + v * v + w * w);
  const far = abs(x * u + y * v + z * w);
  return far - reach > ROUNDING * (far + reach);
}
