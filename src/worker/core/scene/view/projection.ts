// Reads the projection of a view's record (layout.ts, VIEW_*): the four functions that map a world point to x, y, z and
// w of clip space, and the eye.

import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_REVERSED } from '../../../../shared/layout';
import { Affine, invert } from '../../math/affine';
import { Plane, combineUnit } from '../../math/plane';

export const clipX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const clipY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const clipZ = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const clipW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
/** The near plane and the far plane. */
export const nearPlane = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const farPlane = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

/** The eye if eyeW is 1; if eyeW is 0, as in an orthographic projection, the unit direction to the eye. */
export let eyeX: f64 = 0, eyeY: f64 = 0, eyeZ: f64 = 0, eyeW: f64 = 0;
/** The function that maps a world point to its height above the eye's plane; the camera looks along its -z. */
export const viewZ = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

const camera = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// @ts-ignore: decorator
@inline
function elementAt(m: usize, row: i32, column: i32): f64 {
  return load<f64>(m + ((column * 4 + row) << 3));
}

export function setProjection(record: usize): void {
  setRow(clipX, record, 0);
  setRow(clipY, record, 1);
  setRow(clipZ, record, 2);
  setRow(clipW, record, 3);
  // One end of the depth range is at z = w, the other at z = -w or z = 0.
  const upperPlane = load<u32>(record, VIEW_REVERSED) == 0 ? farPlane : nearPlane;
  const lowerPlane = load<u32>(record, VIEW_REVERSED) == 0 ? nearPlane : farPlane;
  setDepthPlane(upperPlane, -1, 1);
  setDepthPlane(lowerPlane, 1, load<u32>(record, VIEW_DEPTH) == 0 ? 1 : 0);
  setEye(record);
}

/** Multiplies out a row of projection · view. */
function setRow(out: Plane, record: usize, row: i32): void {
  for (let column = 0; column < 4; column++) {
    let sum: f64 = 0;
    for (let k = 0; k < 4; k++) sum += elementAt(record + VIEW_PROJECTION, row, k) * elementAt(record + VIEW_MATRIX, k, column);
    store<f64>(changetype<usize>(out) + (<usize>column << 3), sum);
  }
}

/**
 * Sets a plane to sign · z + weight · w. If rounding leaves no normal, as for a far plane at infinity, all points are
 * on its inner side.
 */
function setDepthPlane(out: Plane, sign: f64, weight: f64): void {
  if (combineUnit(out, sign, clipZ, weight, clipW)) return;
  out.x = out.y = out.z = 0;
  out.w = 1;
}

/** Finds the eye: the point at which x, y and w of clip space are all 0. */
function setEye(record: usize): void {
  const p = record + VIEW_PROJECTION;
  let x = minor(p, 1, 2, 3), y = -minor(p, 0, 2, 3), z = minor(p, 0, 1, 3), w = -minor(p, 0, 1, 2);
  if (w != 0) {
    x /= w;
    y /= w;
    z /= w;
    w = 1;
  } else if (z < 0) {
    x = -x;
    y = -y;
    z = -z;
  }

  const m = record + VIEW_MATRIX;
  for (let column: i32 = 0; column < 4; column++) {
    for (let row: i32 = 0; row < 3; row++) {
      store<f64>(changetype<usize>(camera) + (<usize>(column * 3 + row) << 3), elementAt(m, row, column));
    }
  }
  viewZ.x = camera.xz; viewZ.y = camera.yz; viewZ.z = camera.zz; viewZ.w = camera.tz;
  // Through the inverse of the view.
  x -= camera.tx * w;
  y -= camera.ty * w;
  z -= camera.tz * w;
  invert(camera, camera);
  eyeX = camera.xx * x + camera.yx * y + camera.zx * z;
  eyeY = camera.xy * x + camera.yy * y + camera.zy * z;
  eyeZ = camera.xz * x + camera.yz * y + camera.zz * z;
  eyeW = w;
  if (w == 0) {
    const inverseLength = 1.0 / sqrt(eyeX * eyeX + eyeY * eyeY + eyeZ * eyeZ);
    eyeX *= inverseLength;
    eyeY *= inverseLength;
    eyeZ *= inverseLength;
  }
}

/** Computes a determinant of the rows x, y and w of the projection and three columns. */
function minor(p: usize, i: i32, j: i32, k: i32): f64 {
  return (
    elementAt(p, 0, i) * (elementAt(p, 1, j) * elementAt(p, 3, k) - elementAt(p, 1, k) * elementAt(p, 3, j)) +
    elementAt(p, 0, j) * (elementAt(p, 1, k) * elementAt(p, 3, i) - elementAt(p, 1, i) * elementAt(p, 3, k)) +
    elementAt(p, 0, k) * (elementAt(p, 1, i) * elementAt(p, 3, j) - elementAt(p, 1, j) * elementAt(p, 3, i))
  );
}
