// A node's rotation: a unit quaternion quantised to four i16, and the matrix that everyone makes of it. Boxes
// are computed with that very matrix, so quantising and rounding cannot make them too small.

import { lane0, lane1, lane2, lane3, plus, times } from './lanes';

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

/** Sets the rotation of a quaternion's quantised components, whatever their length. */
// @ts-ignore: decorator
@inline
export function rotationOf(out: Rotation, qx: i32, qy: i32, qz: i32, qw: i32): void {
  setRotation(out, <f32>qx, <f32>qy, <f32>qz, <f32>qw);
}

/** Sets the rotation of a quaternion of any length. */
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

/** A unit quaternion in f64, for searching. */
@unmanaged
export class Quaternion {
  x: f64; y: f64; z: f64; w: f64;
}

export const QUATERNION_BYTES: usize = offsetof<Quaternion>();

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

/** The columns of a rotation, x to z in the first three lanes; the last lane is of no meaning. */
export let columnX: v128 = i32x4.splat(0), columnY: v128 = i32x4.splat(0), columnZ: v128 = i32x4.splat(0);

/**
 * Sets the columns of the very matrix that `rotationAt` makes, in lanes. Manifolds of two dragons take 0.985 of the time with
 * this, and frames of 64 dragons in a heap 0.96.
 */
export function setRotationColumns(address: usize): void {
  const q = f32x4.convert_i32x4_s(v128.load16x4_s(address));
  const squares = times(q, q);
  const square = plus(plus(plus(lane0(squares), lane1(squares)), lane2(squares)), lane3(squares));
  const s = times(f32x4.div(f32x4.splat(2), square), q);
  // An entry is a row of the identity plus or minus one product, plus or minus another one.
  columnX = columnOf(
    f32x4(1, 0, 0, 0), f32x4(-0.0, 0, 0, 0), v128.shuffle<f32>(s, s, 1, 0, 0, 3), v128.shuffle<f32>(q, q, 1, 1, 2, 3),
    f32x4(-0.0, 0, -0.0, 0), v128.shuffle<f32>(s, s, 2, 2, 1, 3), v128.shuffle<f32>(q, q, 2, 3, 3, 3),
  );
  columnY = columnOf(
    f32x4(0, 1, 0, 0), f32x4(0, -0.0, 0, 0), v128.shuffle<f32>(s, s, 0, 0, 1, 3), v128.shuffle<f32>(q, q, 1, 0, 2, 3),
    f32x4(-0.0, -0.0, 0, 0), v128.shuffle<f32>(s, s, 2, 2, 0, 3), v128.shuffle<f32>(q, q, 3, 2, 3, 3),
  );
  columnZ = columnOf(
    f32x4(0, 0, 1, 0), f32x4(0, 0, -0.0, 0), v128.shuffle<f32>(s, s, 0, 1, 0, 3), v128.shuffle<f32>(q, q, 2, 2, 0, 3),
    f32x4(0, -0.0, -0.0, 0), v128.shuffle<f32>(s, s, 1, 0, 1, 3), v128.shuffle<f32>(q, q, 3, 3, 1, 3),
  );
}

/** Adds a · b and c · d to `one`; their signs are turned where a bit is set. */
// @ts-ignore: decorator
@inline
function columnOf(one: v128, signs: v128, a: v128, b: v128, otherSigns: v128, c: v128, d: v128): v128 {
  return plus(plus(one, v128.xor(times(a, b), signs)), v128.xor(times(c, d), otherSigns));
}

/** Sets q to the rotation whose matrix has these rows, orthonormal and right-handed (Shepperd 1978). */
export function fromRows(
  q: Quaternion,
  xx: f64, xy: f64, xz: f64,
  yx: f64, yy: f64, yz: f64,
  zx: f64, zy: f64, zz: f64,
): void {
  const trace = xx + yy + zz;
  if (trace > 0) {
    const s = sqrt(trace + 1.0) * 2.0;
    q.w = 0.25 * s; q.x = (zy - yz) / s; q.y = (xz - zx) / s; q.z = (yx - xy) / s;
  } else if (xx > yy && xx > zz) {
    const s = sqrt(1.0 + xx - yy - zz) * 2.0;
    q.w = (zy - yz) / s; q.x = 0.25 * s; q.y = (xy + yx) / s; q.z = (xz + zx) / s;
  } else if (yy > zz) {
    const s = sqrt(1.0 + yy - xx - zz) * 2.0;
    q.w = (xz - zx) / s; q.x = (xy + yx) / s; q.y = 0.25 * s; q.z = (yz + zy) / s;
  } else {
    const s = sqrt(1.0 + zz - xx - yy) * 2.0;
    q.w = (yx - xy) / s; q.x = (xz + zx) / s; q.y = (yz + zy) / s; q.z = 0.25 * s;
  }
}

/** Sets out to q followed by a small rotation by 2·atan(t) about a frame's own axis (0 x, 1 y, 2 z). */
export function turned(out: Quaternion, q: Quaternion, axis: i32, t: f64): void {
  const x = q.x, y = q.y, z = q.z, w = q.w;
  if (axis == 0) { out.x = x + t * w; out.y = y - t * z; out.z = z + t * y; out.w = w - t * x; }
  else if (axis == 1) { out.x = x + t * z; out.y = y + t * w; out.z = z - t * x; out.w = w - t * y; }
  else { out.x = x - t * y; out.y = y + t * x; out.z = z + t * w; out.w = w - t * z; }
}
