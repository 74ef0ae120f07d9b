import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_REVERSED, VIEW_VIEWPORT } from '../shared/layout.js';
import type { Ray, Vec3 } from '../shared/types.js';
import type { View } from './views.js';

/**
 * The ray through a point of a view, in world space, from the near plane to the far plane; null outside of the
 * viewport. It starts at the eye, for an orthographic projection on the eye's plane, as three's Raycaster does.
 *
 * In clip space, the points that project to (x, y) satisfy two equations, row0 · p = x row3 · p and
 * row1 · p = y row3 · p: two planes in view space, which meet in the ray. This needs no inverse of the projection,
 * and holds for every one.
 */
export function pickRay({ record, floats }: View, px: number, py: number): Ray | null {
  const [left, top, width, height] = floats.subarray(VIEW_VIEWPORT / 8, VIEW_VIEWPORT / 8 + 4);
  // Compared as the caller would compute the borders: rounding puts (left + width - left) / width above 1.
  if (!(px >= left && px <= left + width && py >= top && py <= top + height)) return null;
  const x = ((px - left) / width) * 2 - 1;
  const y = 1 - ((py - top) / height) * 2;

  const p = floats.subarray(VIEW_PROJECTION / 8, VIEW_PROJECTION / 8 + 16);
  const ax = p[0] - x * p[3];
  const ay = p[4] - x * p[7];
  const az = p[8] - x * p[11];
  const aw = p[12] - x * p[15];
  const bx = p[1] - y * p[3];
  const by = p[5] - y * p[7];
  const bz = p[9] - y * p[11];
  const bw = p[13] - y * p[15];

  // The direction lies in both planes; a camera looks along -z.
  const cz = ax * by - ay * bx;
  const sign = cz > 0 ? -1 : 1;
  const dx = sign * (ay * bz - az * by);
  const dy = sign * (az * bx - ax * bz);
  const dz = sign * cz;
  // Where the two planes meet the eye's plane z = 0: for a perspective projection that is the eye itself.
  const ox = (ay * bw - aw * by) / cz;
  const oy = (aw * bx - ax * bw) / cz;

  // How far along the ray the depth is v: row2 · p = v row3 · p again.
  const lengthTo = (v: number): number =>
    (v * (p[3] * ox + p[7] * oy + p[15]) - (p[2] * ox + p[6] * oy + p[14])) /
    (p[2] * dx + p[6] * dy + p[10] * dz - v * (p[3] * dx + p[7] * dy + p[11] * dz));
  const depthRange = record[VIEW_DEPTH / 4] === 1 ? [0, 1] : [-1, 1];
  if (record[VIEW_REVERSED / 4] === 1) depthRange.reverse();
  const near = lengthTo(depthRange[0]);
  const far = lengthTo(depthRange[1]);

  const { origin, direction } = toWorld(
    floats.subarray(VIEW_MATRIX / 8, VIEW_MATRIX / 8 + 16),
    [ox, oy, 0],
    [dx, dy, dz],
  );
  const unit = Math.hypot(...direction);
  return {
    origin,
    direction,
    tMin: near * unit,
    // An infinite far plane is reached nowhere, or by rounding far behind the eye.
    tMax: far > near ? far * unit : Number.POSITIVE_INFINITY,
  };
}

/** Through the inverse of an affine matrix. */
function toWorld(m: Float64Array, point: Vec3, direction: Vec3): { origin: Vec3; direction: Vec3 } {
  const [ax, ay, az, , bx, by, bz, , cx, cy, cz, , tx, ty, tz] = m;
  // The rows of the inverse, times the determinant, are the cross products of the columns.
  const u: Vec3 = [by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx];
  const v: Vec3 = [cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax];
  const w: Vec3 = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
  const determinant = ax * u[0] + ay * u[1] + az * u[2];
  const apply = (x: number, y: number, z: number): Vec3 => [
    (u[0] * x + u[1] * y + u[2] * z) / determinant,
    (v[0] * x + v[1] * y + v[2] * z) / determinant,
    (w[0] * x + w[1] * y + w[2] * z) / determinant,
  ];
  return {
    origin: apply(point[0] - tx, point[1] - ty, point[2] - tz),
    direction: apply(...direction),
  };
}
