// A node's rotation: a unit quaternion quantised to four i16, and the matrix that all code derives from it. Boxes are computed
// with that very matrix, so quantising and rounding cannot make them too small.

/** A 3×3 matrix in f32; row i maps a point of the mesh to coordinate i of the node's frame. */
@unmanaged
export class Rotation {
  xx: f32; xy: f32; xz: f32;
  yx: f32; yy: f32; yz: f32;
  zx: f32; zy: f32; zz: f32;
}

export const ROTATION_BYTES: usize = offsetof<Rotation>();

export function setIdentityRotation(out: Rotation): void {
  out.xx = 1; out.xy = 0; out.xz = 0;
  out.yx = 0; out.yy = 1; out.yz = 0;
  out.zx = 0; out.zy = 0; out.zz = 1;
}

/** Sets the rotation from a quaternion's quantised components, whatever their length. */
// @ts-ignore: decorator
@inline
export function rotationOf(out: Rotation, qx: i32, qy: i32, qz: i32, qw: i32): void {
  setRotation(out, <f32>qx, <f32>qy, <f32>qz, <f32>qw);
}

/** Sets the rotation from a quaternion of any length. */
// @ts-ignore: decorator
@inline
export function setRotation(out: Rotation, x: f32, y: f32, z: f32, w: f32): void {
  const s = <f32>2.0 / (x * x + y * y + z * z + w * w);
  const sx = s * x, sy = s * y, sz = s * z;
  const xx = sx * x, xy = sx * y, xz = sx * z, xw = sx * w;
  const yy = sy * y, yz = sy * z, yw = sy * w;
  const zz = sz * z, zw = sz * w;
  out.xx = <f32>1.0 - yy - zz; out.xy = xy - zw; out.xz = xz + yw;
  out.yx = xy + zw; out.yy = <f32>1.0 - xx - zz; out.yz = yz - xw;
  out.zx = xz - yw; out.zy = yz + xw; out.zz = <f32>1.0 - xx - yy;
}

/** A unit quaternion in f64, for the search of rotations. */
@unmanaged
export class Quaternion {
  x: f64; y: f64; z: f64; w: f64;
}

/** Quantises q to four i16 at `address`. */
export function quantise(address: usize, q: Quaternion): void {
  const scale = 32767.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  store<i16>(address, <i16>nearest(q.x * scale), 0);
  store<i16>(address, <i16>nearest(q.y * scale), 2);
  store<i16>(address, <i16>nearest(q.z * scale), 4);
  store<i16>(address, <i16>nearest(q.w * scale), 6);
}

export function rotationAt(out: Rotation, address: usize): void {
  rotationOf(out, load<i16>(address, 0), load<i16>(address, 2), load<i16>(address, 4), load<i16>(address, 6));
}

/**
 * Sets q to the rotation whose matrix has these rows, orthonormal and right-handed. It must turn by hardly more than 120°, as the
 * results of Jacobi's rotations do (their trace is above -0.09, as far as a search finds): then the one of Shepperd's four cases
 * (1978) that is accurate there is enough.
 */
export function setFromRows(
  q: Quaternion,
  xx: f64, xy: f64, xz: f64,
  yx: f64, yy: f64, yz: f64,
  zx: f64, zy: f64, zz: f64,
): void {
  const s = sqrt(xx + yy + zz + 1.0) * 2.0;
  q.w = 0.25 * s; q.x = (zy - yz) / s; q.y = (xz - zx) / s; q.z = (yx - xy) / s;
}

/** Sets out to q followed by a small rotation by 2·atan(t) about a frame's own axis (0 x, 1 y, 2 z). */
export function setRotatedAboutAxis(out: Quaternion, q: Quaternion, axis: i32, t: f64): void {
  const x = q.x, y = q.y, z = q.z, w = q.w;
  if (axis == 0) { out.x = x + t * w; out.y = y - t * z; out.z = z + t * y; out.w = w - t * x; }
  else if (axis == 1) { out.x = x + t * z; out.y = y + t * w; out.z = z - t * x; out.w = w - t * y; }
  else { out.x = x - t * y; out.y = y + t * x; out.z = z + t * w; out.w = w - t * z; }
}
