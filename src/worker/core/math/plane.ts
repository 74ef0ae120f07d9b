import { Affine } from './affine';

/**
 * An affine function x · p + w of a point: for a plane, 0 on it and positive on its inner side; or any other
 * function.
 */
@unmanaged
export class Plane {
  x: f64; y: f64; z: f64; w: f64;
}

export const PLANE_BYTES: usize = offsetof<Plane>();

// @ts-ignore: decorator
@inline
export function valueAt(plane: Plane, x: f64, y: f64, z: f64): f64 {
  return plane.x * x + plane.y * y + plane.z * z + plane.w;
}

/** Sets out = s · a + t · b. */
export function combine(out: Plane, s: f64, a: Plane, t: f64, b: Plane): void {
  const x = s * a.x + t * b.x, y = s * a.y + t * b.y, z = s * a.z + t * b.z, w = s * a.w + t * b.w;
  out.x = x; out.y = y; out.z = z; out.w = w;
}

/**
 * Sets out = s · a + t · b, scaled so that its normal is unit. Returns false if rounding leaves no normal, as for a
 * far plane at infinity.
 */
export function combineUnit(out: Plane, s: f64, a: Plane, t: f64, b: Plane): bool {
  combine(out, s, a, t, b);
  const length = normalise(out);
  const terms = abs(s) * (abs(a.x) + abs(a.y) + abs(a.z)) + abs(t) * (abs(b.x) + abs(b.y) + abs(b.z));
  return length > terms * 1e-14;
}

/** Normalises the plane. Returns the former length of its normal. */
export function normalise(plane: Plane): f64 {
  const length = sqrt(plane.x * plane.x + plane.y * plane.y + plane.z * plane.z);
  const scale = 1.0 / length;
  plane.x *= scale;
  plane.y *= scale;
  plane.z *= scale;
  plane.w *= scale;
  return length;
}

/** Sets out to the same function in the space that `m` maps from. */
export function pullBack(out: Plane, plane: Plane, m: Affine): void {
  const x = plane.x, y = plane.y, z = plane.z;
  out.x = x * m.xx + y * m.xy + z * m.xz;
  out.y = x * m.yx + y * m.yy + z * m.yz;
  out.z = x * m.zx + y * m.zy + z * m.zz;
  out.w = x * m.tx + y * m.ty + z * m.tz + plane.w;
}
