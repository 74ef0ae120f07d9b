// Tests whether two oriented boxes are certainly farther apart than a length.

import { Affine } from './affine';

/** Rounding error of a comparison, relative to its terms. */
const ROUNDING: f64 = 1e-14;

let first: Affine = changetype<Affine>(0);
let second: Affine = changetype<Affine>(0);
let padding: f64 = 0;
/** The vector from the first box's centre to the second's. */
let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;

/**
 * Returns whether two boxes are certainly farther apart than a length: by the axes perpendicular to their faces, and by the
 * line through their centres.
 */
export function areBeyond(a: Affine, b: Affine, length: f64): bool {
  first = a;
  second = b;
  padding = length;
  wayX = b.tx - a.tx; wayY = b.ty - a.ty; wayZ = b.tz - a.tz;
  return arePartedByFaces(a) || arePartedByFaces(b) || areParted(wayX, wayY, wayZ);
}

function arePartedByFaces(a: Affine): bool {
  return (
    areParted(a.yy * a.zz - a.yz * a.zy, a.yz * a.zx - a.yx * a.zz, a.yx * a.zy - a.yy * a.zx) ||
    areParted(a.zy * a.xz - a.zz * a.xy, a.zz * a.xx - a.zx * a.xz, a.zx * a.xy - a.zy * a.xx) ||
    areParted(a.xy * a.yz - a.xz * a.yy, a.xz * a.yx - a.xx * a.yz, a.xx * a.yy - a.xy * a.yx)
  );
}

/** Tests one axis, of any length. */
function areParted(x: f64, y: f64, z: f64): bool {
  const far = abs(wayX * x + wayY * y + wayZ * z), reach = reachOf(first, x, y, z) + reachOf(second, x, y, z);
  const length = padding * sqrt(x * x + y * y + z * z);
  return far - reach - length > ROUNDING * (far + reach + length);
}

// @ts-ignore: decorator
@inline
function reachOf(a: Affine, x: f64, y: f64, z: f64): f64 {
  return abs(a.xx * x + a.xy * y + a.xz * z) + abs(a.yx * x + a.yy * y + a.yz * z) + abs(a.zx * x + a.zy * y + a.zz * z);
}
