// Tests whether two oriented boxes are certainly farther apart than a length.

import { Affine } from './affine';

/** Rounding error of a comparison, relative to its terms. */
const ROUNDING: f64 = 1e-14;

let first: Affine = changetype<Affine>(0);
let second: Affine = changetype<Affine>(0);
let minGap: f64 = 0;
/** The vector from the first box's centre to the second's. */
let centerOffsetX: f64 = 0, centerOffsetY: f64 = 0, centerOffsetZ: f64 = 0;

/**
 * Returns whether two boxes are certainly farther apart than a length: by the axes perpendicular to their faces, and by the
 * line through their centres.
 */
export function areFartherApart(a: Affine, b: Affine, length: f64): bool {
  first = a;
  second = b;
  minGap = length;
  centerOffsetX = b.tx - a.tx; centerOffsetY = b.ty - a.ty; centerOffsetZ = b.tz - a.tz;
  return areSeparatedByFaces(a) || areSeparatedByFaces(b) || areSeparatedAlong(centerOffsetX, centerOffsetY, centerOffsetZ);
}

function areSeparatedByFaces(a: Affine): bool {
  return (
    areSeparatedAlong(a.yy * a.zz - a.yz * a.zy, a.yz * a.zx - a.yx * a.zz, a.yx * a.zy - a.yy * a.zx) ||
    areSeparatedAlong(a.zy * a.xz - a.zz * a.xy, a.zz * a.xx - a.zx * a.xz, a.zx * a.xy - a.zy * a.xx) ||
    areSeparatedAlong(a.xy * a.yz - a.xz * a.yy, a.xz * a.yx - a.xx * a.yz, a.xx * a.yy - a.xy * a.yx)
  );
}

/** Tests one axis, of any length. */
function areSeparatedAlong(x: f64, y: f64, z: f64): bool {
  const centerDistance = abs(centerOffsetX * x + centerOffsetY * y + centerOffsetZ * z),
    radiusSum = projectedRadius(first, x, y, z) + projectedRadius(second, x, y, z);
  const length = minGap * sqrt(x * x + y * y + z * z);
  return centerDistance - radiusSum - length > ROUNDING * (centerDistance + radiusSum + length);
}

// @ts-ignore: decorator
@inline
function projectedRadius(a: Affine, x: f64, y: f64, z: f64): f64 {
  return abs(a.xx * x + a.xy * y + a.xz * z) + abs(a.yx * x + a.yy * y + a.yz * z) + abs(a.zx * x + a.zy * y + a.zz * z);
}
