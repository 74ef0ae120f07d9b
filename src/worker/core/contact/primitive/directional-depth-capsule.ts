// Computes how far a triangle must move along a direction to leave a capsule of radius 1 about the z axis, or the unit
// ball. The set of all positions of the capsule's centre at which it touches the triangle is a rounded convex body, that
// of the triangle swept along the segment: balls around corners, cylinders around edges, and plates. The last feature to
// leave determines the distance.

import { Triangle } from '../../math/triangles';

// The unit direction, and the greatest exit distance of all features so far.
let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
let last: f64 = 0;

/**
 * Returns how far a triangle must move along a unit direction to leave the capsule or ball; -Infinity if they never meet
 * along it.
 */
export function capsuleExitDistance(half: f64, t: Triangle, x: f64, y: f64, z: f64): f64 {
  wayX = x;
  wayY = y;
  wayZ = z;
  last = -Infinity;
  leaveBall(t, half);
  if (half == 0) return last;
  leaveBall(t, -half);
  leaveAxis(t.ax, t.ay, t.az, half);
  leaveAxis(t.bx, t.by, t.bz, half);
  leaveAxis(t.cx, t.cy, t.cz, half);
  leaveStrip(t.ax, t.ay, t.az, t.bx, t.by, t.bz, half);
  leaveStrip(t.bx, t.by, t.bz, t.cx, t.cy, t.cz, half);
  leaveStrip(t.cx, t.cy, t.cz, t.ax, t.ay, t.az, half);
  return last;
}

/**
 * Raises `last` to the distance at which the triangle, raised along z, leaves the unit ball: the last contact of its
 * corners, edges and face with the ball.
 */
function leaveBall(t: Triangle, raised: f64): void {
  const ax = t.ax, ay = t.ay, az = t.az + raised;
  const bx = t.bx, by = t.by, bz = t.bz + raised;
  const cx = t.cx, cy = t.cy, cz = t.cz + raised;
  const ux = bx - ax, uy = by - ay, uz = bz - az;
  const vx = cx - bx, vy = cy - by, vz = cz - bz;
  const wx = ax - cx, wy = ay - cy, wz = az - cz;
  leaveCorner(ax, ay, az);
  leaveCorner(bx, by, bz);
  leaveCorner(cx, cy, cz);
  leaveEdge(ax, ay, az, ux, uy, uz);
  leaveEdge(bx, by, bz, vx, vy, vz);
  leaveEdge(cx, cy, cz, wx, wy, wz);
  // The face touches the ball for the last time where its normal points from the ball's centre.
  let nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const along = nx * wayX + ny * wayY + nz * wayZ;
  if (along == 0) return;
  const scale = (along > 0 ? 1.0 : -1.0) / sqrt(nx * nx + ny * ny + nz * nz);
  nx *= scale;
  ny *= scale;
  nz *= scale;
  const moved = (1.0 - (nx * ax + ny * ay + nz * az)) / abs(along * scale);
  const x = nx - moved * wayX, y = ny - moved * wayY, z = nz - moved * wayZ;
  const side: f64 = along > 0 ? 1 : -1;
  if (
    side * turn(ux, uy, uz, x - ax, y - ay, z - az, nx, ny, nz) >= 0 &&
    side * turn(vx, vy, vz, x - bx, y - by, z - bz, nx, ny, nz) >= 0 &&
    side * turn(wx, wy, wz, x - cx, y - cy, z - cz, nx, ny, nz) >= 0
  ) last = max(last, moved);
}

// @ts-ignore: decorator
@inline
function turn(ex: f64, ey: f64, ez: f64, x: f64, y: f64, z: f64, nx: f64, ny: f64, nz: f64): f64 {
  return (ey * z - ez * y) * nx + (ez * x - ex * z) * ny + (ex * y - ey * x) * nz;
}

function leaveCorner(x: f64, y: f64, z: f64): void {
  const root = lastRoot(x * wayX + y * wayY + z * wayZ, x * x + y * y + z * z - 1.0, 1);
  if (root > last) last = root;
}

/** Returns the greater root of square · t² + 2 middle · t + rest = 0; NaN if there is none. */
// @ts-ignore: decorator
@inline
function lastRoot(middle: f64, rest: f64, square: f64): f64 {
  const root = sqrt(middle * middle - square * rest);
  return middle > 0 ? -rest / (middle + root) : (root - middle) / square;
}

function leaveEdge(ax: f64, ay: f64, az: f64, ex: f64, ey: f64, ez: f64): void {
  const length = ex * ex + ey * ey + ez * ez;
  if (length == 0) return;
  const at = (ax * ex + ay * ey + az * ez) / length, along = (wayX * ex + wayY * ey + wayZ * ez) / length;
  const x = ax - at * ex, y = ay - at * ey, z = az - at * ez;
  const dx = wayX - along * ex, dy = wayY - along * ey, dz = wayZ - along * ez;
  const square = dx * dx + dy * dy + dz * dz;
  const root = lastRoot(x * dx + y * dy + z * dz, x * x + y * y + z * z - 1.0, square);
  if (!(root > last)) return;
  const s = -(at + root * along);
  if (s >= 0 && s <= 1) last = root;
}

/** Raises `last` to the distance at which a corner leaves the capsule's cylinder. */
function leaveAxis(x: f64, y: f64, z: f64, half: f64): void {
  const root = lastRoot(x * wayX + y * wayY, x * x + y * y - 1.0, wayX * wayX + wayY * wayY);
  if (root > last && abs(z + root * wayZ) <= half) last = root;
}

/** Raises `last` to the distance at which an edge leaves the capsule's cylinder. */
function leaveStrip(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, half: f64): void {
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const length = sqrt(ex * ex + ey * ey);
  if (length == 0) return;
  let nx = ey / length, ny = -ex / length;
  const along = nx * wayX + ny * wayY;
  if (along == 0) return;
  if (along < 0) {
    nx = -nx;
    ny = -ny;
  }
  const moved = (1.0 - (nx * ax + ny * ay)) / abs(along);
  if (!(moved > last)) return;
  const x = nx - moved * wayX - ax, y = ny - moved * wayY - ay, z = -moved * wayZ - az;
  const s = (x * ex + y * ey) / (length * length);
  if (s >= 0 && s <= 1 && abs(z - s * ez) <= half) last = moved;
}
