// When a sphere or capsule may come to a box.

import { Support } from '../contact/convex/support';
import { best } from './meeting';
import { wayX, wayY, wayZ } from './motion';

let a: Support = changetype<Support>(0);
let b: Support = changetype<Support>(0);
/** Far more than rounding adds. */
const BESIDE: f64 = 1.000000001;
let slabEnter: f64 = 0, slabLeave: f64 = 0;

/**
 * Bounds from below when the sphere or capsule comes to the box: by the axes of its faces, and by those across the way on
 * which it may pass beside. Answers Infinity where it does not come to it.
 */
export function enterBox(round: Support, box: Support): f64 {
  a = round;
  b = box;
  slabEnter = 0;
  slabLeave = best;
  if (!slab(b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z)) return Infinity;
  if (!slab(b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (!slab(b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  if (a.edges != 0 && isBesideBox(a.edge0X, a.edge0Y, a.edge0Z)) return Infinity;
  if (isBesideBox(b.edge0X, b.edge0Y, b.edge0Z) || isBesideBox(b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (isBesideBox(b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  return slabEnter * (1.0 - SLAB_ROUNDING);
}

/** What rounding may make of the time of a slab, and of its width. */
const SLAB_ROUNDING: f64 = 1e-12;

/** Narrows the time to that in which the two overlap along the axis at right angles to two edges of the box. */
// @ts-ignore: decorator
@inline
function slab(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64, gx: f64, gy: f64, gz: f64): bool {
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const middle = nx * b.x + ny * b.y + nz * b.z, rate = nx * wayX + ny * wayY + nz * wayZ;
  const reach = (abs(nx * gx + ny * gy + nz * gz) + shapeReach(nx, ny, nz)) * (1.0 + SLAB_ROUNDING) + abs(middle) * SLAB_ROUNDING;
  if (rate == 0) return abs(middle) <= reach;
  const s = (middle - reach) / rate, t = (middle + reach) / rate;
  slabEnter = max(slabEnter, min(s, t));
  slabLeave = min(slabLeave, max(s, t));
  return slabEnter <= slabLeave;
}

/** Answers how far the sphere or capsule reaches along an axis, times its length. */
// @ts-ignore: decorator
@inline
function shapeReach(nx: f64, ny: f64, nz: f64): f64 {
  const along = a.edges != 0 ? abs(nx * a.edge0X + ny * a.edge0Y + nz * a.edge0Z) : 0;
  return along + a.radius * sqrt(nx * nx + ny * ny + nz * nz);
}

// @ts-ignore: decorator
@inline
function isBesideBox(ex: f64, ey: f64, ez: f64): bool {
  const nx = wayY * ez - wayZ * ey, ny = wayZ * ex - wayX * ez, nz = wayX * ey - wayY * ex;
  const reach =
    abs(nx * b.edge0X + ny * b.edge0Y + nz * b.edge0Z) + abs(nx * b.edge1X + ny * b.edge1Y + nz * b.edge1Z) +
    abs(nx * b.edge2X + ny * b.edge2Y + nz * b.edge2Z) + shapeReach(nx, ny, nz);
  return abs(nx * b.x + ny * b.y + nz * b.z) > reach * BESIDE;
}
