// Computes how far a triangle must move along a direction to leave a capsule of radius 1 about the z axis, or the unit
// ball. The set of all positions of the capsule's centre at which it touches the triangle is a rounded convex body, that
// of the triangle swept along the segment: balls around corners, cylinders around edges, and plates. The last feature to
// leave determines the distance.

import { Triangle } from '../../math/triangles';

// The unit direction, and the greatest exit distance of all features so far.
let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
let maxDistance: f64 = 0;

/**
 * Returns how far a triangle must move along a unit direction to leave the capsule or ball; -Infinity if they never meet
 * along it.
 */
export function capsuleExitDistance(half: f64, t: Triangle, x: f64, y: f64, z: f64): f64 {
  directionX = x;
  directionY = y;
  directionZ = z;
  maxDistance = -Infinity;
  includeBallExit(t, half);
  if (half == 0) return maxDistance;
  includeBallExit(t, -half);
  includeCornerCylinderExit(t.ax, t.ay, t.az, half);
  includeCornerCylinderExit(t.bx, t.by, t.bz, half);
  includeCornerCylinderExit(t.cx, t.cy, t.cz, half);
  includeEdgeCylinderExit(t.ax, t.ay, t.az, t.bx, t.by, t.bz, half);
  includeEdgeCylinderExit(t.bx, t.by, t.bz, t.cx, t.cy, t.cz, half);
  includeEdgeCylinderExit(t.cx, t.cy, t.cz, t.ax, t.ay, t.az, half);
  return maxDistance;
}

/**
 * Raises `maxDistance` to the distance at which the triangle, raised along z, leaves the unit ball: the last contact of its
 * corners, edges and face with the ball.
 */
function includeBallExit(t: Triangle, offsetZ: f64): void {
  const ax = t.ax, ay = t.ay, az = t.az + offsetZ;
  const bx = t.bx, by = t.by, bz = t.bz + offsetZ;
  const cx = t.cx, cy = t.cy, cz = t.cz + offsetZ;
  const ux = bx - ax, uy = by - ay, uz = bz - az;
  const vx = cx - bx, vy = cy - by, vz = cz - bz;
  const wx = ax - cx, wy = ay - cy, wz = az - cz;
  includeCornerExit(ax, ay, az);
  includeCornerExit(bx, by, bz);
  includeCornerExit(cx, cy, cz);
  includeEdgeExit(ax, ay, az, ux, uy, uz);
  includeEdgeExit(bx, by, bz, vx, vy, vz);
  includeEdgeExit(cx, cy, cz, wx, wy, wz);
  // The face touches the ball for the last time where its normal points from the ball's centre.
  let nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const along = nx * directionX + ny * directionY + nz * directionZ;
  if (along == 0) return;
  const scale = (along > 0 ? 1.0 : -1.0) / sqrt(nx * nx + ny * ny + nz * nz);
  nx *= scale;
  ny *= scale;
  nz *= scale;
  const distance = (1.0 - (nx * ax + ny * ay + nz * az)) / abs(along * scale);
  const x = nx - distance * directionX, y = ny - distance * directionY, z = nz - distance * directionZ;
  const side: f64 = along > 0 ? 1 : -1;
  if (
    side * tripleProduct(ux, uy, uz, x - ax, y - ay, z - az, nx, ny, nz) >= 0 &&
    side * tripleProduct(vx, vy, vz, x - bx, y - by, z - bz, nx, ny, nz) >= 0 &&
    side * tripleProduct(wx, wy, wz, x - cx, y - cy, z - cz, nx, ny, nz) >= 0
  ) maxDistance = max(maxDistance, distance);
}

// @ts-ignore: decorator
@inline
function tripleProduct(ex: f64, ey: f64, ez: f64, x: f64, y: f64, z: f64, nx: f64, ny: f64, nz: f64): f64 {
  return (ey * z - ez * y) * nx + (ez * x - ex * z) * ny + (ex * y - ey * x) * nz;
}

function includeCornerExit(x: f64, y: f64, z: f64): void {
  const root = greaterRoot(x * directionX + y * directionY + z * directionZ, x * x + y * y + z * z - 1.0, 1);
  if (root > maxDistance) maxDistance = root;
}

/** Returns the greater root of quadratic · t² + 2 halfLinear · t + constant = 0; NaN if there is none. */
// @ts-ignore: decorator
@inline
function greaterRoot(halfLinear: f64, constant: f64, quadratic: f64): f64 {
  const root = sqrt(halfLinear * halfLinear - quadratic * constant);
  return halfLinear > 0 ? -constant / (halfLinear + root) : (root - halfLinear) / quadratic;
}

function includeEdgeExit(ax: f64, ay: f64, az: f64, ex: f64, ey: f64, ez: f64): void {
  const lengthSquared = ex * ex + ey * ey + ez * ez;
  if (lengthSquared == 0) return;
  const at = (ax * ex + ay * ey + az * ez) / lengthSquared,
    along = (directionX * ex + directionY * ey + directionZ * ez) / lengthSquared;
  const x = ax - at * ex, y = ay - at * ey, z = az - at * ez;
  const dx = directionX - along * ex, dy = directionY - along * ey, dz = directionZ - along * ez;
  const acrossSquared = dx * dx + dy * dy + dz * dz;
  const root = greaterRoot(x * dx + y * dy + z * dz, x * x + y * y + z * z - 1.0, acrossSquared);
  if (!(root > maxDistance)) return;
  const s = -(at + root * along);
  if (s >= 0 && s <= 1) maxDistance = root;
}

/** Raises `maxDistance` to the distance at which a corner leaves the capsule's cylinder. */
function includeCornerCylinderExit(x: f64, y: f64, z: f64, half: f64): void {
  const root = greaterRoot(x * directionX + y * directionY, x * x + y * y - 1.0, directionX * directionX +
    directionY * directionY);
  if (root > maxDistance && abs(z + root * directionZ) <= half) maxDistance = root;
}

/** Raises `maxDistance` to the distance at which an edge leaves the capsule's cylinder. */
function includeEdgeCylinderExit(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, half: f64): void {
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const length = sqrt(ex * ex + ey * ey);
  if (length == 0) return;
  let nx = ey / length, ny = -ex / length;
  const along = nx * directionX + ny * directionY;
  if (along == 0) return;
  if (along < 0) {
    nx = -nx;
    ny = -ny;
  }
  const distance = (1.0 - (nx * ax + ny * ay)) / abs(along);
  if (!(distance > maxDistance)) return;
  const x = nx - distance * directionX - ax, y = ny - distance * directionY - ay, z = -distance * directionZ - az;
  const s = (x * ex + y * ey) / (length * length);
  if (s >= 0 && s <= 1 && abs(z - s * ez) <= half) maxDistance = distance;
}
