// Measures the distance of a convex polygon in space from the segment from (0, 0, -half) to (0, 0, half), in float64,
// in the units of the polygon (Ericson, "Real-Time Collision Detection", 2005, 5.1).

import { cornerCount, cornerX, cornerY, cornerZ } from '../../math/clip-polygon';
import { Plane, valueAt } from '../../math/plane';

/** The polygon's nearest point to the segment. */
export let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;
let minDistance: f64 = 0;

/**
 * Returns the distance from the segment to the polygon of math/clip-polygon.ts, which lies in a plane of unit normal.
 */
export function segmentToPolygon(plane: Plane, half: f64): f64 {
  minDistance = Infinity;
  const startHeight = valueAt(plane, 0, 0, -half), endHeight = valueAt(plane, 0, 0, half);
  if ((startHeight < 0 && endHeight > 0) || (startHeight > 0 && endHeight < 0)) {
    testInterior(plane, half * (startHeight + endHeight) / (startHeight - endHeight), half);
    if (minDistance == 0) return 0;
  }
  testInterior(plane, -half, half);
  testInterior(plane, half, half);
  let previous = cornerCount - 1;
  for (let i: u32 = 0; i < cornerCount; i++) {
    testSide(previous, i, half);
    previous = i;
  }
  return minDistance;
}

function updateNearest(x: f64, y: f64, z: f64, half: f64): void {
  const beyond = max(abs(z) - half, 0);
  const distance = sqrt(x * x + y * y + beyond * beyond);
  if (!(distance < minDistance)) return;
  minDistance = distance;
  nearestX = x;
  nearestY = y;
  nearestZ = z;
}

/** Tries the foot of the perpendicular from the point at height z of the segment, if it is inside the polygon. */
function testInterior(plane: Plane, z: f64, half: f64): void {
  const distance = valueAt(plane, 0, 0, z);
  const x = -distance * plane.x, y = -distance * plane.y, w = z - distance * plane.z;
  let isWithin = false;
  let previous = cornerCount - 1;
  for (let i: u32 = 0; i < cornerCount; i++) {
    const ax = cornerX(previous), ay = cornerY(previous), az = cornerZ(previous);
    const ex = cornerX(i) - ax, ey = cornerY(i) - ay, ez = cornerZ(i) - az;
    const px = x - ax, py = y - ay, pz = w - az;
    const turn = (ey * pz - ez * py) * plane.x + (ez * px - ex * pz) * plane.y + (ex * py - ey * px) * plane.z;
    if (turn < 0) return;
    if (turn > 0) isWithin = true; // of a polygon that is a point or a line, no side sets this
    previous = i;
  }
  if (isWithin) updateNearest(x, y, w, half);
}

/** Tries the nearest point of a side to the segment: Ericson, "Real-Time Collision Detection", 2005, 5.1.9. */
function testSide(from: u32, to: u32, half: f64): void {
  const ax = cornerX(from), ay = cornerY(from), az = cornerZ(from);
  const dx = cornerX(to) - ax, dy = cornerY(to) - ay, dz = cornerZ(to) - az;
  const planarLengthSquared = dx * dx + dy * dy;
  // First to the line of the segment, then to the segment's point nearest to that, and back.
  let s = planarLengthSquared == 0 ? 0 : -(ax * dx + ay * dy) / planarLengthSquared;
  s = max<f64>(0, min<f64>(1, s));
  const z = max(-half, min(half, az + s * dz));
  const lengthSquared = planarLengthSquared + dz * dz;
  s = lengthSquared == 0 ? 0 : (dz * (z - az) - ax * dx - ay * dy) / lengthSquared;
  s = max<f64>(0, min<f64>(1, s));
  updateNearest(ax + s * dx, ay + s * dy, az + s * dz, half);
}
