import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_VIEWPORT } from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';

import type { Vec3 } from '../../shared/types.js';
import type { View } from '../frame/view-table.js';

const PROJECTION = VIEW_PROJECTION / 8;
const VIEW = VIEW_MATRIX / 8;

/**
 * Computes the ray through a point of a view, in world space, from the near plane to the far plane; null outside of the
 * viewport, and if an oblique near plane leaves nothing. It starts at the eye, for an orthographic projection on the
 * eye's plane, as in three's Raycaster.
 *
 * In clip space, the points that project to (x, y) satisfy two equations, row0 · p = x row3 · p and
 * row1 · p = y row3 · p: two planes in view space, which intersect in the ray. This needs no inverse of the projection,
 * and holds for every projection.
 *
 * With a radius in pixels the ray hits points and lines by how near to its point they are drawn. The same two equations
 * give the offset at which a point is drawn, in x and y: their residuals, over row3 · p, in pixels.
 */
export function pickRay({ record, floats }: View, px: number, py: number, radius = 0): PickRay | null {
  // Numbers are read by their index, and no subarrays are made: an adapter asks for eight rays in a frame, and they would be
  // most of the garbage that the frame leaves.
  const left = floats[VIEW_VIEWPORT / 8];
  const top = floats[VIEW_VIEWPORT / 8 + 1];
  const width = floats[VIEW_VIEWPORT / 8 + 2];
  const height = floats[VIEW_VIEWPORT / 8 + 3];
  if (width === 0 || height === 0) return null;
  // Compared as the caller would compute the borders: rounding puts (left + width - left) / width above 1.
  if (!(px >= left && px <= left + width && py >= top && py <= top + height)) return null;
  const x = ((px - left) / width) * 2 - 1;
  const y = 1 - ((py - top) / height) * 2;

  const ax = floats[PROJECTION] - x * floats[PROJECTION + 3];
  const ay = floats[PROJECTION + 4] - x * floats[PROJECTION + 7];
  const az = floats[PROJECTION + 8] - x * floats[PROJECTION + 11];
  const aw = floats[PROJECTION + 12] - x * floats[PROJECTION + 15];
  const bx = floats[PROJECTION + 1] - y * floats[PROJECTION + 3];
  const by = floats[PROJECTION + 5] - y * floats[PROJECTION + 7];
  const bz = floats[PROJECTION + 9] - y * floats[PROJECTION + 11];
  const bw = floats[PROJECTION + 13] - y * floats[PROJECTION + 15];

  // The direction lies in both planes; a camera looks along -z.
  const cz = ax * by - ay * bx;
  const sign = cz > 0 ? -1 : 1;
  const dx = sign * (ay * bz - az * by);
  const dy = sign * (az * bx - ax * bz);
  const dz = sign * cz;
  // Where the two planes meet the eye's plane z = 0: for a perspective projection that is the eye itself.
  const ox = (ay * bw - aw * by) / cz;
  const oy = (aw * bx - ax * bw) / cz;

  // Clip z and w are linear along the ray. A point is between the planes if z - minDepth · w ≥ 0 and w - z ≥ 0; a reversed
  // depth only changes which of the two is near.
  const z0 = floats[PROJECTION + 2] * ox + floats[PROJECTION + 6] * oy + floats[PROJECTION + 14];
  const w0 = floats[PROJECTION + 3] * ox + floats[PROJECTION + 7] * oy + floats[PROJECTION + 15];
  const z1 = floats[PROJECTION + 2] * dx + floats[PROJECTION + 6] * dy + floats[PROJECTION + 10] * dz;
  const w1 = floats[PROJECTION + 3] * dx + floats[PROJECTION + 7] * dy + floats[PROJECTION + 11] * dz;
  const minDepth = record[VIEW_DEPTH / 4] === 1 ? 0 : -1;
  const aboveNear = z0 - minDepth * w0;
  const nearSlope = z1 - minDepth * w1;
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

  const origin = toWorld(floats, ox, oy, 0, 1);
  const direction = toWorld(floats, dx, dy, dz, 0);
  const directionLength = Math.hypot(direction[0], direction[1], direction[2]);
  const ray: PickRay = { origin, direction, tMin: near * directionLength, tMax: far * directionLength };
  if (radius > 0) {
    ray.cone = [
      ...gradientInWorld(floats, ax, ay, az, 0.5 * width),
      ...gradientInWorld(floats, bx, by, bz, 0.5 * height),
      ...gradientInWorld(floats, floats[PROJECTION + 3], floats[PROJECTION + 7], floats[PROJECTION + 11], radius),
      radius * w0,
    ];
  }
  return ray;
}

/** Maps the gradient of a function on view space to the world, times `scale`: by the transposed view matrix. */
function gradientInWorld(floats: Float64Array, x: number, y: number, z: number, scale: number): Vec3 {
  return [
    scale * (floats[VIEW] * x + floats[VIEW + 1] * y + floats[VIEW + 2] * z),
    scale * (floats[VIEW + 4] * x + floats[VIEW + 5] * y + floats[VIEW + 6] * z),
    scale * (floats[VIEW + 8] * x + floats[VIEW + 9] * y + floats[VIEW + 10] * z),
  ];
}

/** Maps a point of view space, or a direction if `w` is 0, to the world: by the inverse of the view matrix. */
function toWorld(floats: Float64Array, px: number, py: number, pz: number, w: number): Vec3 {
  const ax = floats[VIEW];
  const ay = floats[VIEW + 1];
  const az = floats[VIEW + 2];
  const bx = floats[VIEW + 4];
  const by = floats[VIEW + 5];
  const bz = floats[VIEW + 6];
  const cx = floats[VIEW + 8];
  const cy = floats[VIEW + 9];
  const cz = floats[VIEW + 10];
  const x = px - w * floats[VIEW + 12];
  const y = py - w * floats[VIEW + 13];
  const z = pz - w * floats[VIEW + 14];
  // The rows of the inverse, times the determinant, are the cross products of the columns.
  const ux = by * cz - bz * cy;
  const uy = bz * cx - bx * cz;
  const uz = bx * cy - by * cx;
  const determinant = ax * ux + ay * uy + az * uz;
  return [
    (ux * x + uy * y + uz * z) / determinant,
    ((cy * az - cz * ay) * x + (cz * ax - cx * az) * y + (cx * ay - cy * ax) * z) / determinant,
    ((ay * bz - az * by) * x + (az * bx - ax * bz) * y + (ax * by - ay * bx) * z) / determinant,
  ];
}
