// The rigid motion between two placements: the translation of the origin, and the shorter rotation of the axes. A placement
// may scale, mirror and shear; its axes are its columns after Gram-Schmidt orthonormalisation. Any other change of shape
// takes effect from the start: `startMap` is the end turned back to the start.

import { Affine, copyColumns } from './affine';

/** The translation from start to end, and the rotation as its axis times the angle in radians, which is 0 … π. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let spinX: f64 = 0, spinY: f64 = 0, spinZ: f64 = 0;
export let angle: f64 = 0;
/** The rotation as a quaternion. */
export let turnX: f64 = 0, turnY: f64 = 0, turnZ: f64 = 0, turnW: f64 = 1;

/** A smaller angle counts as no rotation: the columns of float32 matrices are no more exact. */
const LEAST_ANGLE: f64 = 1e-7;

@unmanaged
class Axes {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
}
const first = changetype<Axes>(memory.data(<i32>offsetof<Axes>(), 16));
const last = changetype<Axes>(memory.data(<i32>offsetof<Axes>(), 16));

/** Finds the motion from one placement to another. */
export function findMotion(from: Affine, to: Affine): void {
  wayX = to.tx - from.tx;
  wayY = to.ty - from.ty;
  wayZ = to.tz - from.tz;
  if (!isTurned(from, to)) {
    withoutTurn();
    return;
  }
  setAxes(first, from);
  setAxes(last, to);
  // The rotation, a column for each axis of the world.
  const xx = dot(last.xx, last.yx, last.zx, first.xx, first.yx, first.zx);
  const xy = dot(last.xy, last.yy, last.zy, first.xx, first.yx, first.zx);
  const xz = dot(last.xz, last.yz, last.zz, first.xx, first.yx, first.zx);
  const yx = dot(last.xx, last.yx, last.zx, first.xy, first.yy, first.zy);
  const yy = dot(last.xy, last.yy, last.zy, first.xy, first.yy, first.zy);
  const yz = dot(last.xz, last.yz, last.zz, first.xy, first.yy, first.zy);
  const zx = dot(last.xx, last.yx, last.zx, first.xz, first.yz, first.zz);
  const zy = dot(last.xy, last.yy, last.zy, first.xz, first.yz, first.zz);
  const zz = dot(last.xz, last.yz, last.zz, first.xz, first.yz, first.zz);
  setQuaternion(xx, xy, xz, yx, yy, yz, zx, zy, zz);
  const sine = sqrt(turnX * turnX + turnY * turnY + turnZ * turnZ);
  angle = 2.0 * Math.atan2(sine, abs(turnW));
  if (!(angle > LEAST_ANGLE)) {
    withoutTurn();
    return;
  }
  const by = (turnW < 0 ? -angle : angle) / sine;
  spinX = turnX * by;
  spinY = turnY * by;
  spinZ = turnZ * by;
}

function withoutTurn(): void {
  angle = spinX = spinY = spinZ = 0;
  turnX = turnY = turnZ = 0;
  turnW = 1;
}

/** Turns the columns of a map back by the motion's rotation, and moves its translation back to the start accordingly. */
export function startMap(out: Affine, map: Affine, from: Affine, to: Affine): void {
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
    turnBack(load<f64>(p + column), load<f64>(p + column, 8), load<f64>(p + column, 16));
    store<f64>(q + column, backX);
    store<f64>(q + column, backY, 8);
    store<f64>(q + column, backZ, 16);
  }
  turnBack(x, y, z);
  out.tx = from.tx + backX;
  out.ty = from.ty + backY;
  out.tz = from.tz + backZ;
}

let backX: f64 = 0, backY: f64 = 0, backZ: f64 = 0;

/** Turns a vector by the inverse of the quaternion: v + 2 q × (q × v - w v). */
function turnBack(x: f64, y: f64, z: f64): void {
  const s = 2.0 / (turnX * turnX + turnY * turnY + turnZ * turnZ + turnW * turnW);
  const u = turnY * z - turnZ * y - turnW * x, v = turnZ * x - turnX * z - turnW * y, w = turnX * y - turnY * x - turnW * z;
  backX = x + s * (turnY * w - turnZ * v);
  backY = y + s * (turnZ * u - turnX * w);
  backZ = z + s * (turnX * v - turnY * u);
}

function isTurned(a: Affine, b: Affine): bool {
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
  let by = 1.0 / sqrt(dot(m.xx, m.xy, m.xz, m.xx, m.xy, m.xz));
  const ux = m.xx * by, uy = m.xy * by, uz = m.xz * by;
  const along = dot(ux, uy, uz, m.yx, m.yy, m.yz);
  let vx = m.yx - along * ux, vy = m.yy - along * uy, vz = m.yz - along * uz;
  by = 1.0 / sqrt(dot(vx, vy, vz, vx, vy, vz));
  vx *= by; vy *= by; vz *= by;
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
