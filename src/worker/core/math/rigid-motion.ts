// The rigid motion between two placements: the translation of the origin, and the shorter rotation of the axes. A placement
// may scale, mirror and shear; its axes are its columns after Gram-Schmidt orthonormalisation. Any other change of shape
// takes effect from the start: `setStartMap` is the end turned back to the start.

import { Affine, copyColumns } from './affine';

/** The translation from start to end, and the rotation as its axis times the angle in radians, which is 0 … π. */
export let translationX: f64 = 0, translationY: f64 = 0, translationZ: f64 = 0;
export let spinX: f64 = 0, spinY: f64 = 0, spinZ: f64 = 0;
export let angle: f64 = 0;
/** The rotation as a quaternion. */
export let turnX: f64 = 0, turnY: f64 = 0, turnZ: f64 = 0, turnW: f64 = 1;

/** A smaller angle counts as no rotation: the columns of float32 matrices are no more exact. */
const MIN_ANGLE: f64 = 1e-7;

@unmanaged
class Axes {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
}
const startAxes = changetype<Axes>(memory.data(<i32>offsetof<Axes>(), 16));
const endAxes = changetype<Axes>(memory.data(<i32>offsetof<Axes>(), 16));

/** Finds the motion from one placement to another. */
export function findMotion(from: Affine, to: Affine): void {
  translationX = to.tx - from.tx;
  translationY = to.ty - from.ty;
  translationZ = to.tz - from.tz;
  if (!haveDifferentColumns(from, to)) {
    clearRotation();
    return;
  }
  setAxes(startAxes, from);
  setAxes(endAxes, to);
  // The rotation, a column for each axis of the world.
  const xx = dot(endAxes.xx, endAxes.yx, endAxes.zx, startAxes.xx, startAxes.yx, startAxes.zx);
  const xy = dot(endAxes.xy, endAxes.yy, endAxes.zy, startAxes.xx, startAxes.yx, startAxes.zx);
  const xz = dot(endAxes.xz, endAxes.yz, endAxes.zz, startAxes.xx, startAxes.yx, startAxes.zx);
  const yx = dot(endAxes.xx, endAxes.yx, endAxes.zx, startAxes.xy, startAxes.yy, startAxes.zy);
  const yy = dot(endAxes.xy, endAxes.yy, endAxes.zy, startAxes.xy, startAxes.yy, startAxes.zy);
  const yz = dot(endAxes.xz, endAxes.yz, endAxes.zz, startAxes.xy, startAxes.yy, startAxes.zy);
  const zx = dot(endAxes.xx, endAxes.yx, endAxes.zx, startAxes.xz, startAxes.yz, startAxes.zz);
  const zy = dot(endAxes.xy, endAxes.yy, endAxes.zy, startAxes.xz, startAxes.yz, startAxes.zz);
  const zz = dot(endAxes.xz, endAxes.yz, endAxes.zz, startAxes.xz, startAxes.yz, startAxes.zz);
  setQuaternion(xx, xy, xz, yx, yy, yz, zx, zy, zz);
  const sine = sqrt(turnX * turnX + turnY * turnY + turnZ * turnZ);
  angle = 2.0 * Math.atan2(sine, abs(turnW));
  if (!(angle > MIN_ANGLE)) {
    clearRotation();
    return;
  }
  const scale = (turnW < 0 ? -angle : angle) / sine;
  spinX = turnX * scale;
  spinY = turnY * scale;
  spinZ = turnZ * scale;
}

function clearRotation(): void {
  angle = spinX = spinY = spinZ = 0;
  turnX = turnY = turnZ = 0;
  turnW = 1;
}

/** Turns the columns of a map back by the motion's rotation, and moves its translation back to the start accordingly. */
export function setStartMap(out: Affine, map: Affine, from: Affine, to: Affine): void {
  const p = changetype<usize>(map), q = changetype<usize>(out);
  const x = map.tx - to.tx, y = map.ty - to.ty, z = map.tz - to.tz;
  if (angle == 0) {
    copyColumns(q, map);
    out.tx = from.tx + x;
    out.ty = from.ty + y;
    out.tz = from.tz + z;
    return;
  }
  for (let column: usize = 0; column < 72; column += 24) {
    rotateBack(load<f64>(p + column), load<f64>(p + column, 8), load<f64>(p + column, 16));
    store<f64>(q + column, backX);
    store<f64>(q + column, backY, 8);
    store<f64>(q + column, backZ, 16);
  }
  rotateBack(x, y, z);
  out.tx = from.tx + backX;
  out.ty = from.ty + backY;
  out.tz = from.tz + backZ;
}

let backX: f64 = 0, backY: f64 = 0, backZ: f64 = 0;

/** Turns a vector by the inverse of the quaternion: v + 2 q × (q × v - w v). */
function rotateBack(x: f64, y: f64, z: f64): void {
  const s = 2.0 / (turnX * turnX + turnY * turnY + turnZ * turnZ + turnW * turnW);
  const u = turnY * z - turnZ * y - turnW * x, v = turnZ * x - turnX * z - turnW * y, w = turnX * y - turnY * x - turnW * z;
  backX = x + s * (turnY * w - turnZ * v);
  backY = y + s * (turnZ * u - turnX * w);
  backZ = z + s * (turnX * v - turnY * u);
}

function haveDifferentColumns(a: Affine, b: Affine): bool {
  return !(
    a.xx == b.xx && a.xy == b.xy && a.xz == b.xz && a.yx == b.yx && a.yy == b.yy && a.yz == b.yz &&
    a.zx == b.zx && a.zy == b.zy && a.zz == b.zz
  );
}

// @ts-ignore: decorator
@inline
function dot(x: f64, y: f64, z: f64, u: f64, v: f64, w: f64): f64 {
  return x * u + y * v + z * w;
}

function setAxes(out: Axes, m: Affine): void {
  let scale = 1.0 / sqrt(dot(m.xx, m.xy, m.xz, m.xx, m.xy, m.xz));
  const ux = m.xx * scale, uy = m.xy * scale, uz = m.xz * scale;
  const along = dot(ux, uy, uz, m.yx, m.yy, m.yz);
  let vx = m.yx - along * ux, vy = m.yy - along * uy, vz = m.yz - along * uz;
  scale = 1.0 / sqrt(dot(vx, vy, vz, vx, vy, vz));
  vx *= scale; vy *= scale; vz *= scale;
  out.xx = ux; out.xy = uy; out.xz = uz;
  out.yx = vx; out.yy = vy; out.yz = vz;
  out.zx = uy * vz - uz * vy;
  out.zy = uz * vx - ux * vz;
  out.zz = ux * vy - uy * vx;
}

/**
 * Sets the quaternion of a rotation from its columns, the largest component first, so that nothing cancels (Shepperd 1978).
 */
function setQuaternion(xx: f64, xy: f64, xz: f64, yx: f64, yy: f64, yz: f64, zx: f64, zy: f64, zz: f64): void {
  const trace = xx + yy + zz;
  if (trace >= max(max(xx, yy), zz)) {
    turnW = 1.0 + trace; turnX = yz - zy; turnY = zx - xz; turnZ = xy - yx;
  } else if (xx >= yy && xx >= zz) {
    turnX = 1.0 + xx - yy - zz; turnY = xy + yx; turnZ = xz + zx; turnW = yz - zy;
  } else if (yy >= zz) {
    turnY = 1.0 + yy - xx - zz; turnX = xy + yx; turnZ = yz + zy; turnW = zx - xz;
  } else {
    turnZ = 1.0 + zz - xx - yy; turnX = xz + zx; turnY = yz + zy; turnW = xy - yx;
  }
}
