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
  const isForward = ax < bx || (ax == bx && (ay < by || (ay == by && az < bz)));
  const px = isForward ? ax : bx, py = isForward ? ay : by, pz = isForward ? az : bz;
  const qx = isForward ? bx : ax, qy = isForward ? by : ay, qz = isForward ? bz : az;
  const ex = qx - px, ey = qy - py, ez = qz - pz;
  const along = -(px * ex + py * ey + pz * ez);
  if (!(along > 0)) return setNearest(px, py, pz);
  const lengthSquared = ex * ex + ey * ey + ez * ez;
  if (along >= lengthSquared) return setNearest(qx, qy, qz);
  const t = along / lengthSquared;
  return setNearest(px + t * ex, py + t * ey, pz + t * ez);
}

/** Maximum rounding error of a corner's distance from a plane, relative to the lengths in its terms. */
const PLANE_ROUNDING: f64 = 7.105427357601002e-15; // 2^-47

/**
 * When a triangle's plane counts as well-defined: the squared sine of a corner, and the squared distance of the origin relative
 * to the edges.
 */
const MIN_SINE_SQUARED: f64 = 1e-3;
const MAX_DISTANCE_RATIO_SQUARED: f64 = 1e6;

/**
 * Returns the squared distance of the origin from the triangle. May return Infinity if that is certainly greater than `limit`.
 */
export function nearestOfTriangle(t: Triangle, limit: f64): f64 {
  const ax = t.ax, ay = t.ay, az = t.az, bx = t.bx, by = t.by, bz = t.bz, cx = t.cx, cy = t.cy, cz = t.cz;
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const fx = cx - ax, fy = cy - ay, fz = cz - az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const normalLengthSquared = nx * nx + ny * ny + nz * nz;
  const height = abs(nx * ax + ny * ay + nz * az);
  const rounding =
    PLANE_ROUNDING * (abs(ax) + abs(ay) + abs(az)) * (abs(ex) + abs(ey) + abs(ez)) * (abs(fx) + abs(fy) + abs(fz));
  const minHeight = height - rounding;
  if (minHeight > 0 && minHeight * minHeight > limit * normalLengthSquared) return Infinity;

  // Weights of the corners at the foot of the perpendicular to the plane.
  const u = nx * (by * cz - bz * cy) + ny * (bz * cx - bx * cz) + nz * (bx * cy - by * cx);
  const v = nx * (cy * az - cz * ay) + ny * (cz * ax - cx * az) + nz * (cx * ay - cy * ax);
  const w = nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx);
  // If the plane is well-defined, an edge with the foot on its inner side is not closest.
  const ee = ex * ex + ey * ey + ez * ez, ff = fx * fx + fy * fy + fz * fz;
  const isPlaneCertain = normalLengthSquared > MIN_SINE_SQUARED * ee * ff && ax * ax + ay * ay +
    az * az < MAX_DISTANCE_RATIO_SQUARED * min(ee, ff);
  let minDistanceSquared: f64 = Infinity, x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (!(isPlaneCertain && w > 0)) {
    minDistanceSquared = nearestOfSegment(ax, ay, az, bx, by, bz);
    x = nearestX; y = nearestY; z = nearestZ;
  }
  if (!(isPlaneCertain && u > 0)) {
    const distanceSquared = nearestOfSegment(bx, by, bz, cx, cy, cz);
    if (distanceSquared < minDistanceSquared) {
      minDistanceSquared = distanceSquared;
      x = nearestX; y = nearestY; z = nearestZ;
    }
  }
  if (!(isPlaneCertain && v > 0)) {
    const distanceSquared = nearestOfSegment(cx, cy, cz, ax, ay, az);
    if (distanceSquared < minDistanceSquared) {
      minDistanceSquared = distanceSquared;
      x = nearestX; y = nearestY; z = nearestZ;
    }
  }
  const sum = u + v + w;
  if (u >= 0 && v >= 0 && w >= 0 && sum > 0) {
    const scale = 1.0 / sum;
    const distanceSquared = setNearest(
      (u * ax + v * bx + w * cx) * scale, (u * ay + v * by + w * cy) * scale, (u * az + v * bz + w * cz) * scale,
    );
    if (distanceSquared < minDistanceSquared) return distanceSquared;
  }
  setNearest(x, y, z);
  return minDistanceSquared;
}

/** Returns the squared distance between the segment from (0, 0, -half) to (0, 0, half) and the one from p to q. */
export function axisToSegment(half: f64, px: f64, py: f64, pz: f64, qx: f64, qy: f64, qz: f64): f64 {
  let minDistanceSquared = min(axisToPoint(half, px, py, pz), axisToPoint(half, qx, qy, qz));
  if (half == 0) return min(minDistanceSquared, nearestOfSegment(px, py, pz, qx, qy, qz));
  minDistanceSquared = min(minDistanceSquared, nearestOfSegment(px, py, pz - half, qx, qy, qz - half));
  minDistanceSquared = min(minDistanceSquared, nearestOfSegment(px, py, pz + half, qx, qy, qz + half));
  // Between the ends of both: where the projection along the axis is closest to it.
  const ex = qx - px, ey = qy - py;
  const lengthSquared = ex * ex + ey * ey;
  const t = -(px * ex + py * ey) / lengthSquared;
  if (!(t > 0 && t < 1)) return minDistanceSquared;
  return min(minDistanceSquared, axisToPoint(half, px + t * ex, py + t * ey, pz + t * (qz - pz)));
}

/** Returns the squared distance of a point from the segment from (0, 0, -half) to (0, 0, half). */
// @ts-ignore: decorator
@inline
export function axisToPoint(half: f64, x: f64, y: f64, z: f64): f64 {
  const beyondEnd = max(abs(z) - half, 0.0);
  return x * x + y * y + beyondEnd * beyondEnd;
}

const movedTriangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/**
 * Returns the squared distance of a triangle from that segment. If that is greater than `limit`, the result may be greater still.
 */
export function axisToTriangle(half: f64, t: Triangle, limit: f64): f64 {
  if (half == 0) return nearestOfTriangle(t, limit);
  movedTriangle.ax = t.ax; movedTriangle.ay = t.ay; movedTriangle.bx = t.bx; movedTriangle.by = t.by;
  movedTriangle.cx = t.cx; movedTriangle.cy = t.cy;
  movedTriangle.az = t.az - half; movedTriangle.bz = t.bz - half; movedTriangle.cz = t.cz - half;
  let minDistanceSquared = nearestOfTriangle(movedTriangle, limit);
  movedTriangle.az = t.az + half; movedTriangle.bz = t.bz + half; movedTriangle.cz = t.cz + half;
  minDistanceSquared = min(minDistanceSquared, nearestOfTriangle(movedTriangle, limit));
  if (minDistanceSquared <= limit) return minDistanceSquared;
  minDistanceSquared = min(minDistanceSquared, axisToSegment(half, t.ax, t.ay, t.az, t.bx, t.by, t.bz));
  minDistanceSquared = min(minDistanceSquared, axisToSegment(half, t.bx, t.by, t.bz, t.cx, t.cy, t.cz));
  minDistanceSquared = min(minDistanceSquared, axisToSegment(half, t.cx, t.cy, t.cz, t.ax, t.ay, t.az));
  return minDistanceSquared > limit && axisCrosses(half, t) ? 0 : minDistanceSquared;
}

/** Returns whether the segment passes through the triangle's face. */
function axisCrosses(half: f64, t: Triangle): bool {
  const u = t.bx * t.cy - t.by * t.cx, v = t.cx * t.ay - t.cy * t.ax, w = t.ax * t.by - t.ay * t.bx;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return false;
  const sum = u + v + w;
  return sum != 0 && abs((u * t.az + v * t.bz + w * t.cz) / sum) <= half;
}
