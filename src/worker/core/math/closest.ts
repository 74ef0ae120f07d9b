// Closest points of a segment or a triangle to the origin, or to another segment, in float64. Every result is a point of the
// shape itself, so that rounding never makes a distance smaller than it can be (Ericson, Real-Time Collision Detection, 2005,
// 5.1; the edges of a triangle are tested separately from its face, because the plane of a needle-like triangle is uncertain).

import { Triangle } from './triangles';

/** The closest point of the last query. */
export let nearestX: f64 = 0;
export let nearestY: f64 = 0;
export let nearestZ: f64 = 0;

// @ts-ignore: decorator
@inline
function setNearest(x: f64, y: f64, z: f64): f64 {
  nearestX = x;
  nearestY = y;
  nearestZ = z;
  return x * x + y * y + z * z;
}

/** Returns the squared distance of the origin from the segment: the same for both directions of the segment, to the last bit. */
export function nearestOfSegment(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): f64 {
  const forward = ax < bx || (ax == bx && (ay < by || (ay == by && az < bz)));
  const px = forward ? ax : bx, py = forward ? ay : by, pz = forward ? az : bz;
  const qx = forward ? bx : ax, qy = forward ? by : ay, qz = forward ? bz : az;
  const ex = qx - px, ey = qy - py, ez = qz - pz;
  const along = -(px * ex + py * ey + pz * ez);
  if (!(along > 0)) return setNearest(px, py, pz);
  const length = ex * ex + ey * ey + ez * ez;
  if (along >= length) return setNearest(qx, qy, qz);
  const t = along / length;
  return setNearest(px + t * ex, py + t * ey, pz + t * ez);
}

/** Maximum rounding error of a corner's distance from a plane, relative to the lengths in its terms. */
const PLANE_ROUNDING: f64 = 7.105427357601002e-15; // 2^-47

/**
 * When a triangle's plane counts as well-defined: the squared sine of a corner, and the squared distance of the origin relative
 * to the edges.
 */
const LEAST_SINE_SQUARE: f64 = 1e-3;
const MOST_FAR_SQUARE: f64 = 1e6;

/**
 * Returns the squared distance of the origin from the triangle. May return Infinity if that is certainly greater than `limit`.
 */
export function nearestOfTriangle(t: Triangle, limit: f64): f64 {
  const ax = t.ax, ay = t.ay, az = t.az, bx = t.bx, by = t.by, bz = t.bz, cx = t.cx, cy = t.cy, cz = t.cz;
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const fx = cx - ax, fy = cy - ay, fz = cz - az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const square = nx * nx + ny * ny + nz * nz;
  const height = abs(nx * ax + ny * ay + nz * az);
  const rounding =
    PLANE_ROUNDING * (abs(ax) + abs(ay) + abs(az)) * (abs(ex) + abs(ey) + abs(ez)) * (abs(fx) + abs(fy) + abs(fz));
  const surely = height - rounding;
  if (surely > 0 && surely * surely > limit * square) return Infinity;

  // Weights of the corners at the foot of the perpendicular to the plane.
  const u = nx * (by * cz - bz * cy) + ny * (bz * cx - bx * cz) + nz * (bx * cy - by * cx);
  const v = nx * (cy * az - cz * ay) + ny * (cz * ax - cx * az) + nz * (cx * ay - cy * ax);
  const w = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx);
  // If the plane is well-defined, an edge with the foot on its inner side is not closest.
  const ee = ex * ex + ey * ey + ez * ez, ff = fx * fx + fy * fy + fz * fz;
  const isSure = square > LEAST_SINE_SQUARE * ee * ff && ax * ax + ay * ay + az * az < MOST_FAR_SQUARE * min(ee, ff);
  let best: f64 = Infinity, x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (!(isSure && w > 0)) {
    best = nearestOfSegment(ax, ay, az, bx, by, bz);
    x = nearestX; y = nearestY; z = nearestZ;
  }
  if (!(isSure && u > 0)) {
    const other = nearestOfSegment(bx, by, bz, cx, cy, cz);
    if (other < best) {
      best = other;
      x = nearestX; y = nearestY; z = nearestZ;
    }
  }
  if (!(isSure && v > 0)) {
    const other = nearestOfSegment(cx, cy, cz, ax, ay, az);
    if (other < best) {
      best = other;
      x = nearestX; y = nearestY; z = nearestZ;
    }
  }
  const sum = u + v + w;
  if (u >= 0 && v >= 0 && w >= 0 && sum > 0) {
    const per = 1.0 / sum;
    const other = setNearest(
      (u * ax + v * bx + w * cx) * per, (u * ay + v * by + w * cy) * per, (u * az + v * bz + w * cz) * per,
    );
    if (other < best) return other;
  }
  setNearest(x, y, z);
  return best;
}

/** Returns the squared distance between the segment from (0, 0, -half) to (0, 0, half) and the one from p to q. */
export function axisToSegment(half: f64, px: f64, py: f64, pz: f64, qx: f64, qy: f64, qz: f64): f64 {
  let best = min(axisToPoint(half, px, py, pz), axisToPoint(half, qx, qy, qz));
  if (half == 0) return min(best, nearestOfSegment(px, py, pz, qx, qy, qz));
  best = min(best, nearestOfSegment(px, py, pz - half, qx, qy, qz - half));
  best = min(best, nearestOfSegment(px, py, pz + half, qx, qy, qz + half));
  // Between the ends of both: where the projection along the axis is closest to it.
  const ex = qx - px, ey = qy - py;
  const across = ex * ex + ey * ey;
  const t = -(px * ex + py * ey) / across;
  if (!(t > 0 && t < 1)) return best;
  return min(best, axisToPoint(half, px + t * ex, py + t * ey, pz + t * (qz - pz)));
}

/** Returns the squared distance of a point from the segment from (0, 0, -half) to (0, 0, half). */
// @ts-ignore: decorator
@inline
export function axisToPoint(half: f64, x: f64, y: f64, z: f64): f64 {
  const beyond = max(abs(z) - half, 0.0);
  return x * x + y * y + beyond * beyond;
}

const moved = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/**
 * Returns the squared distance of a triangle from that segment. If that is greater than `limit`, the result may be greater still.
 */
export function axisToTriangle(half: f64, t: Triangle, limit: f64): f64 {
  if (half == 0) return nearestOfTriangle(t, limit);
  moved.ax = t.ax; moved.ay = t.ay; moved.bx = t.bx; moved.by = t.by; moved.cx = t.cx; moved.cy = t.cy;
  moved.az = t.az - half; moved.bz = t.bz - half; moved.cz = t.cz - half;
  let best = nearestOfTriangle(moved, limit);
  moved.az = t.az + half; moved.bz = t.bz + half; moved.cz = t.cz + half;
  best = min(best, nearestOfTriangle(moved, limit));
  if (best <= limit) return best;
  best = min(best, axisToSegment(half, t.ax, t.ay, t.az, t.bx, t.by, t.bz));
  best = min(best, axisToSegment(half, t.bx, t.by, t.bz, t.cx, t.cy, t.cz));
  best = min(best, axisToSegment(half, t.cx, t.cy, t.cz, t.ax, t.ay, t.az));
  return best > limit && axisCrosses(half, t) ? 0 : best;
}

/** Returns whether the segment passes through the triangle's face. */
function axisCrosses(half: f64, t: Triangle): bool {
  const u = t.bx * t.cy - t.by * t.cx, v = t.cx * t.ay - t.cy * t.ax, w = t.ax * t.by - t.ay * t.bx;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return false;
  const sum = u + v + w;
  return sum != 0 && abs((u * t.az + v * t.bz + w * t.cz) / sum) <= half;
}
