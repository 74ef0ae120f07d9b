// A rigid motion from time 0 to time 1: the pivot moves uniformly along a straight line, and everything rotates uniformly
// about it, about one axis by the shorter way (which is slerp: Shoemake, "Animating Rotation with Quaternion Curves",
// 1985). World units about a common origin.

import { Affine, setIdentity } from '../math/affine';
import { Support } from '../contact/convex/support';
import { POSITION_BYTES } from '../sizes';

export let translationX: f64 = 0, translationY: f64 = 0, translationZ: f64 = 0;
/** Length of the translation. */
export let translationLength: f64 = 0;
/** The axis times the angle in radians. */
export let spinX: f64 = 0, spinY: f64 = 0, spinZ: f64 = 0;
/** The angle in radians, 0 … π. */
export let angle: f64 = 0;
/** Position of the pivot at time 0. */
export let pivotX: f64 = 0, pivotY: f64 = 0, pivotZ: f64 = 0;
/** Maximum distance of any moving point from the pivot. */
export let arm: f64 = 0;

/** The rotation at the time that was set last. */
export const rotation = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** A rotation below this counts as none: it moves nothing by more than rounding does. */
const MIN_ANGLE: f64 = 1e-14;

/** Sets the translation of the pivot and the rotation, by a quaternion of any length but 0. */
export function setMotion(x: f64, y: f64, z: f64, qx: f64, qy: f64, qz: f64, qw: f64): void {
  setTranslation(x, y, z);
  const sine = sqrt(qx * qx + qy * qy + qz * qz);
  if (sine == 0) {
    clearRotation();
    return;
  }
  angle = 2.0 * Math.atan2(sine, abs(qw));
  if (!(angle > MIN_ANGLE)) {
    clearRotation();
    return;
  }
  const scale = (qw < 0 ? -angle : angle) / sine;
  spinX = qx * scale;
  spinY = qy * scale;
  spinZ = qz * scale;
}

/** Sets the translation of the pivot, and the rotation as its axis times its angle, which is 0 … π. */
export function setSpin(x: f64, y: f64, z: f64, rotationX: f64, rotationY: f64, rotationZ: f64, radians: f64): void {
  setTranslation(x, y, z);
  spinX = rotationX;
  spinY = rotationY;
  spinZ = rotationZ;
  angle = radians;
}

/** Removes the rotation. */
export function clearRotation(): void {
  angle = spinX = spinY = spinZ = 0;
}

export function setTranslation(x: f64, y: f64, z: f64): void {
  translationX = x;
  translationY = y;
  translationZ = z;
  translationLength = sqrt(x * x + y * y + z * z);
}

/** Sets the pivot, and how far the moving body reaches from it. */
export function setPivot(x: f64, y: f64, z: f64, radius: f64): void {
  pivotX = x;
  pivotY = y;
  pivotZ = z;
  arm = radius;
}

/** Sets the rotation at a time. */
function setRotationAt(time: f64): void {
  setIdentity(rotation);
  if (angle == 0) return;
  const x = spinX / angle, y = spinY / angle, z = spinZ / angle;
  const s = Math.sin(time * angle), half = Math.sin(0.5 * time * angle);
  const c = 2.0 * half * half; // 1 - cos
  rotation.xx = 1.0 - c * (y * y + z * z); rotation.xy = c * x * y + s * z; rotation.xz = c * x * z - s * y;
  rotation.yx = c * x * y - s * z; rotation.yy = 1.0 - c * (x * x + z * z); rotation.yz = c * y * z + s * x;
  rotation.zx = c * x * z + s * y; rotation.zy = c * y * z - s * x; rotation.zz = 1.0 - c * (x * x + y * y);
}

/** Rotates a vector in memory by the rotation that was set last. */
export function rotateVector(to: usize, from: usize): void {
  const x = load<f64>(from), y = load<f64>(from, 8), z = load<f64>(from, 16);
  store<f64>(to, rotation.xx * x + rotation.yx * y + rotation.zx * z);
  store<f64>(to, rotation.xy * x + rotation.yy * y + rotation.zy * z, 8);
  store<f64>(to, rotation.xz * x + rotation.yz * y + rotation.zz * z, 16);
}

const offset: usize = memory.data(POSITION_BYTES, 16);

/** Moves a point in memory to its position at a time, for which the rotation must be set. */
function movePoint(to: usize, from: usize, time: f64): void {
  store<f64>(offset, load<f64>(from) - pivotX);
  store<f64>(offset, load<f64>(from, 8) - pivotY, 8);
  store<f64>(offset, load<f64>(from, 16) - pivotZ, 16);
  rotateVector(to, offset);
  store<f64>(to, load<f64>(to) + pivotX + time * translationX);
  store<f64>(to, load<f64>(to, 8) + pivotY + time * translationY, 8);
  store<f64>(to, load<f64>(to, 16) + pivotZ + time * translationZ, 16);
}

/** Sets a map to its pose at a time: its columns and its translation. */
export function moveMap(to: Affine, from: Affine, time: f64): void {
  const p = changetype<usize>(to), q = changetype<usize>(from);
  setRotationAt(time);
  for (let column: usize = 0; column < 72; column += 24) rotateVector(p + column, q + column);
  movePoint(p + 72, q + 72, time);
}

/** Sets a body that is not a mesh to its pose at a time; its other fields must already be the same. */
export function moveBody(to: Support, from: Support, time: f64): void {
  if (angle == 0) {
    to.x = from.x + time * translationX;
    to.y = from.y + time * translationY;
    to.z = from.z + time * translationZ;
    return;
  }
  setRotationAt(time);
  const p = changetype<usize>(to), q = changetype<usize>(from);
  for (let column: usize = 0; column < 72; column += 24) rotateVector(p + column, q + column);
  movePoint(p + offsetof<Support>('x'), q + offsetof<Support>('x'), time);
  const edges = offsetof<Support>('edge0X');
  for (let i: usize = 0; i < from.edgeCount; i++) rotateVector(p + edges + i * 24, q + edges + i * 24);
  if (from.triangle == 0) return;
  for (let corner: usize = 0; corner < 72; corner += 24) rotateVector(<usize>to.triangle + corner, <usize>from.triangle + corner);
}
