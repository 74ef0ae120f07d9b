import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_VIEWPORT } from '../../shared/layout.js';
import type { Ray, Vec3 } from '../../shared/types.js';
import type { View } from '../frame/view-table.js';

/**
 * The ray through a point of a view, in world space, from the near plane to the far plane; null outside of the
 * viewport, and where an oblique near plane leaves nothing. It starts at the eye, for an orthographic projection on the
 * eye's plane, as three's Raycaster does.
 *
 * In clip space, the points that project to (x, y) satisfy two equations, row0 · p = x row3 · p and
 * row1 · p = y row3 · p: two planes in view space, which meet in the ray. This needs no inverse of the projection,
 * and holds for every one.
 */
export function pickRay({ record, floats }: View, px: number, py: number): Ray | null {
  // By index, here and below: what patterns take apart leaves kilobytes of iterators behind.
  const left = floats[VIEW_VIEWPORT / 8];
  const top = floats[VIEW_VIEWPORT / 8 + 1];
  const width = floats[VIEW_VIEWPORT / 8 + 2];
  const height = floats[VIEW_VIEWPORT / 8 + 3];
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

  // Clip z and w are linear along the ray. Between the planes is where z - low · w ≥ 0 and high · w - z ≥ 0; a reversed
  // depth changes but which of the two is near.
  const z0 = p[2] * ox + p[6] * oy + p[14];
  const w0 = p[3] * ox + p[7] * oy + p[15];
  const z1 = p[2] * dx + p[6] * dy + p[10] * dz;
  const w1 = p[3] * dx + p[7] * dy + p[11] * dz;
  const low = record[VIEW_DEPTH / 4] === 1 ? 0 : -1;
  const aboveNear = z0 - low * w0;
  const nearSlope = z1 - low * w1;
  const belowFar = w0 - z0;
  const farSlope = w1 - z1;
  if ((nearSlope === 0 && aboveNear < 0) || (farSlope === 0 && belowFar < 0)) return null;
  let near = Number.NEGATIVE_INFINITY;
  let far = Number.POSITIVE_INFINITY;
  if (nearSlope > 0) near = -aboveNear / nearSlope;
  else if (nearSlope < 0) far = -aboveNear / nearSlope;
  if (farSlope > 0) near = Math.max(near, -belowFar / farSlope);
  else if (farSlope < 0) far = Math.min(far, -belowFar / farSlope);
  if (near > far) return null;

  const { origin, direction } = toWorld(
    floats.subarray(VIEW_MATRIX / 8, VIEW_MATRIX / 8 + 16),
    [ox, oy, 0],
    [dx, dy, dz],
  );
  const unit = Math.hypot(direction[0], direction[1], direction[2]);
  return {
    origin,
    direction,
    tMin: near * unit,
    tMax: far * unit,
  };
}

/** Through the inverse of an affine matrix. */
function toWorld(m: Float64Array, point: Vec3, direction: Vec3): { origin: Vec3; direction: Vec3 } {
  const ax = m[0];
  const ay = m[1];
  const az = m[2];
  const bx = m[4];
  const by = m[5];
  const bz = m[6];
  const cx = m[8];
  const cy = m[9];
  const cz = m[10];
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
    origin: apply(point[0] - m[12], point[1] - m[13], point[2] - m[14]),
    direction: apply(direction[0], direction[1], direction[2]),
  };
}
