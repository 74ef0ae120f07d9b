// Finds the point of a triangle that is nearest to the segment from (0, 0, -half) to (0, 0, half).

import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import { Triangle } from '../../math/triangles';

export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
let minDistanceSquared: f64 = 0;

const movedTriangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/**
 * Finds the point of a triangle that is nearest to the segment. Returns its squared distance; returns `limit`, and sets
 * no point, if the distance is not less. A half that is not positive counts as 0.
 */
export function nearestPointToSegment(half: f64, t: Triangle, limit: f64): f64 {
  minDistanceSquared = limit;
  if (!(half > 0)) {
    offerPoint(nearestOfTriangle(t, limit), nearestX, nearestY, nearestZ);
    return minDistanceSquared;
  }
  offerEnd(t, half);
  offerEnd(t, -half);
  offerEdge(half, t.ax, t.ay, t.az, t.bx, t.by, t.bz);
  offerEdge(half, t.bx, t.by, t.bz, t.cx, t.cy, t.cz);
  offerEdge(half, t.cx, t.cy, t.cz, t.ax, t.ay, t.az);
  // Where the segment passes through the face.
  const u = t.bx * t.cy - t.by * t.cx, v = t.cx * t.ay - t.cy * t.ax, w = t.ax * t.by - t.ay * t.bx;
  const sum = u + v + w;
  if (sum != 0 && ((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0))) {
    const z = (u * t.az + v * t.bz + w * t.cz) / sum;
    if (abs(z) <= half) offerPoint(0, 0, 0, z);
  }
  return minDistanceSquared;
}

/** Finds the point of a triangle that is nearest to the segment's end at height `end`. Returns its squared distance. */
export function nearestPointToEnd(end: f64, t: Triangle): f64 {
  minDistanceSquared = Infinity;
  offerEnd(t, end);
  return minDistanceSquared;
}

// @ts-ignore: decorator
@inline
function offerPoint(distanceSquared: f64, x: f64, y: f64, z: f64): void {
  if (!(distanceSquared < minDistanceSquared)) return;
  minDistanceSquared = distanceSquared;
  pointX = x;
  pointY = y;
  pointZ = z;
}

function offerEnd(t: Triangle, end: f64): void {
  memory.copy(changetype<usize>(movedTriangle), changetype<usize>(t), 72);
  movedTriangle.az -= end;
  movedTriangle.bz -= end;
  movedTriangle.cz -= end;
  const distanceSquared = nearestOfTriangle(movedTriangle, minDistanceSquared);
  offerPoint(distanceSquared, nearestX, nearestY, nearestZ + end);
}

/** Offers the point of an edge that is nearest to the axis, with its distance from the segment. */
function offerEdge(half: f64, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const lengthSquared = ex * ex + ey * ey;
  if (lengthSquared == 0) return;
  const t = max(min(-(ax * ex + ay * ey) / lengthSquared, 1.0), 0.0);
  const x = ax + t * ex, y = ay + t * ey, z = az + t * ez;
  const beyondEnd = max(abs(z) - half, 0.0);
  offerPoint(x * x + y * y + beyondEnd * beyondEnd, x, y, z);
}
