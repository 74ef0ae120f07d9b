// Computes how far a triangle must move along a direction to leave the cube [-1, 1]³. Both are convex: they are disjoint
// as soon as one of the axes of Akenine-Möller ("Fast 3D Triangle-Box Overlapping Testing", 2001) separates them, and
// the distance is known for each of these axes.

import { Triangle } from '../../math/triangles';

// The unit direction.
let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
let minDistance: f64 = 0;

/** Returns how far a triangle must move along a unit direction to leave the cube [-1, 1]³. */
export function boxExitDistance(t: Triangle, x: f64, y: f64, z: f64): f64 {
  directionX = x;
  directionY = y;
  directionZ = z;
  minDistance = Infinity;
  const ax = t.ax, ay = t.ay, az = t.az;
  const ux = t.bx - ax, uy = t.by - ay, uz = t.bz - az;
  const vx = t.cx - t.bx, vy = t.cy - t.by, vz = t.cz - t.bz;
  const wx = ax - t.cx, wy = ay - t.cy, wz = az - t.cz;
  offerAxis(min(min(ax, t.bx), t.cx), max(max(ax, t.bx), t.cx), x, 1);
  offerAxis(min(min(ay, t.by), t.cy), max(max(ay, t.by), t.cy), y, 1);
  offerAxis(min(min(az, t.bz), t.cz), max(max(az, t.bz), t.cz), z, 1);
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const height = nx * ax + ny * ay + nz * az;
  offerAxis(height, height, nx * x + ny * y + nz * z, abs(nx) + abs(ny) + abs(nz));
  offerEdgeAxes(t, ux, uy, uz);
  offerEdgeAxes(t, vx, vy, vz);
  offerEdgeAxes(t, wx, wy, wz);
  return minDistance;
}

/** Offers the three cross products of an edge with the cube's axes. */
function offerEdgeAxes(t: Triangle, x: f64, y: f64, z: f64): void {
  let a = t.az * y - t.ay * z, b = t.bz * y - t.by * z, c = t.cz * y - t.cy * z;
  offerAxis(min(min(a, b), c), max(max(a, b), c), directionZ * y - directionY * z, abs(z) + abs(y));
  a = t.ax * z - t.az * x; b = t.bx * z - t.bz * x; c = t.cx * z - t.cz * x;
  offerAxis(min(min(a, b), c), max(max(a, b), c), directionX * z - directionZ * x, abs(z) + abs(x));
  a = t.ay * x - t.ax * y; b = t.by * x - t.bx * y; c = t.cy * x - t.cx * y;
  offerAxis(min(min(a, b), c), max(max(a, b), c), directionY * x - directionX * y, abs(y) + abs(x));
}

/**
 * Offers an axis: `lower` to `upper` is the triangle's interval on it, `along` the direction's component along it, `radius`
 * the cube's reach.
 */
// @ts-ignore: decorator
@inline
function offerAxis(lower: f64, upper: f64, along: f64, radius: f64): void {
  // A direction with a component along the axis by rounding alone cannot separate along it.
  if (abs(along) <= 1e-14 * radius) return;
  minDistance = min(minDistance, along > 0 ? (radius - lower) / along : (radius + upper) / -along);
}
