import { BOUND_3D, orient2d, orient3d, orient3dExact } from './predicates';

/** Nine f64: the corners of a triangle. */
@unmanaged
export class Triangle {
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
}

/** Whether three points are not in line, exactly. Not for coordinates that are not finite. */
export function hasArea(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): bool {
  return (
    orient2d(ax, ay, bx, by, cx, cy) != 0.0 ||
    orient2d(ay, az, by, bz, cy, cz) != 0.0 ||
    orient2d(az, ax, bz, bx, cz, cx) != 0.0
  );
}

const CORNER: usize = 24;

/** Orientation of four corners, at their addresses. */
export function orient(a: usize, b: usize, c: usize, d: usize): f64 {
  return orient3d(
    load<f64>(a), load<f64>(a, 8), load<f64>(a, 16), load<f64>(b), load<f64>(b, 8), load<f64>(b, 16),
    load<f64>(c), load<f64>(c, 8), load<f64>(c, 16), load<f64>(d), load<f64>(d, 8), load<f64>(d, 16),
  );
}

// On which sides of a triangle's plane another's corners are: the signs of orient3d(a, b, c, corner).
let side0: f64 = 0, side1: f64 = 0, side2: f64 = 0;

/** orient3d for the three corners of `o`, what depends on `t` alone worked out once; false when all are on one side. */
function findSides(t: Triangle, o: Triangle): bool {
  const bx = t.bx - t.ax, by = t.by - t.ay, bz = t.bz - t.az;
  const cx = t.cx - t.ax, cy = t.cy - t.ay, cz = t.cz - t.az;
  const yz = by * cz, zy = bz * cy, zx = bz * cx, xz = bx * cz, xy = bx * cy, yx = by * cx;
  const nx = yz - zy, ny = zx - xz, nz = xy - yx;
  const mx = abs(yz) + abs(zy), my = abs(zx) + abs(xz), mz = abs(xy) + abs(yx);
  side0 = sideOf(t, o.ax, o.ay, o.az, nx, ny, nz, mx, my, mz);
  side1 = sideOf(t, o.bx, o.by, o.bz, nx, ny, nz, mx, my, mz);
  side2 = sideOf(t, o.cx, o.cy, o.cz, nx, ny, nz, mx, my, mz);
  return !((side0 > 0 && side1 > 0 && side2 > 0) || (side0 < 0 && side1 < 0 && side2 < 0));
}

// @ts-ignore: decorator
@inline
function sideOf(
  t: Triangle, x: f64, y: f64, z: f64, nx: f64, ny: f64, nz: f64, mx: f64, my: f64, mz: f64,
): f64 {
  const dx = t.ax - x, dy = t.ay - y, dz = t.az - z;
  const det = dx * nx + dy * ny + dz * nz;
  if (abs(det) > BOUND_3D * (abs(dx) * mx + abs(dy) * my + abs(dz) * mz)) return det;
  return orient3dExact(t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz, x, y, z);
}

/** The corner that the other's plane parts from the two others, or touches while they are on one side. */
// @ts-ignore: decorator
@inline
export function apexOf(a: f64, b: f64, c: f64): usize {
  if ((a > 0 && b <= 0 && c <= 0) || (a < 0 && b >= 0 && c >= 0)) return 0;
  if ((b > 0 && a <= 0 && c <= 0) || (b < 0 && a >= 0 && c >= 0)) return 1;
  if ((c > 0 && a <= 0 && b <= 0) || (c < 0 && a >= 0 && b >= 0)) return 2;
  return a == 0 ? 0 : b == 0 ? 1 : 2;
}

/** Whether that corner is on the positive side; one on the plane is opposite to the others. */
// @ts-ignore: decorator
@inline
function apexIsAbove(a: f64, b: f64, c: f64, apex: usize): bool {
  const own = apex == 0 ? a : apex == 1 ? b : c;
  return own > 0 || (own == 0 && (apex == 0 ? b : a) < 0);
}

/** What `arrange` finds. */
export const PLANES_PART: i32 = 0;
export const PLANES_CROSS: i32 = 1;
export const PLANES_AGREE: i32 = 2;

/**
 * Corners of two triangles by what they are to each other's plane, at their addresses: `a` and `d` are the apexes, on
 * one side with the two others on the other, or on the planes. The line in which the planes cross, in one sense of it,
 * meets p from edge ac to edge ab, and q from edge de to edge df.
 */
export let a: usize = 0, b: usize = 0, c: usize = 0;
export let d: usize = 0, e: usize = 0, f: usize = 0;

/** Whether the plane of one has the other on one side, both lie in one plane, or neither. */
export function arrange(p: Triangle, q: Triangle): i32 {
  if (!findSides(q, p)) return PLANES_PART;
  const p0 = side0, p1 = side1, p2 = side2;
  if (!findSides(p, q)) return PLANES_PART;
  if (p0 == 0 && p1 == 0 && p2 == 0) return PLANES_AGREE;
  const i = apexOf(p0, p1, p2), j = apexOf(side0, side1, side2);
  a = changetype<usize>(p) + i * CORNER;
  b = changetype<usize>(p) + (i == 2 ? 0 : i + 1) * CORNER;
  c = changetype<usize>(p) + (i == 0 ? 2 : i - 1) * CORNER;
  d = changetype<usize>(q) + j * CORNER;
  e = changetype<usize>(q) + (j == 2 ? 0 : j + 1) * CORNER;
  f = changetype<usize>(q) + (j == 0 ? 2 : j - 1) * CORNER;
  // Turned so that each apex is above the other's plane.
  if (!apexIsAbove(p0, p1, p2, i)) {
    const other = e;
    e = f;
    f = other;
  }
  if (!apexIsAbove(side0, side1, side2, j)) {
    const other = b;
    b = c;
    c = other;
  }
  return PLANES_CROSS;
}

/**
 * Whether two triangles share a point, exactly on their float64 coordinates; touching counts, and coplanar overlap.
 * Each meets the line in which the planes cross in an interval, and the signs of two volumes tell whether these
 * overlap (Guigue and Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates", 2003).
 */
export function trianglesIntersect(p: Triangle, q: Triangle): bool {
  const planes = arrange(p, q);
  if (planes == PLANES_CROSS) return orient(a, b, d, e) <= 0 && orient(a, c, f, d) <= 0;
  return planes == PLANES_AGREE && coplanarIntersect(p, q);
}

/** In one plane: as triangles of 2D, along the axis that leaves them the largest area. */
function coplanarIntersect(p: Triangle, q: Triangle): bool {
  const x = abs(orient2d(p.ay, p.az, p.by, p.bz, p.cy, p.cz));
  const y = abs(orient2d(p.az, p.ax, p.bz, p.bx, p.cz, p.cx));
  const z = abs(orient2d(p.ax, p.ay, p.bx, p.by, p.cx, p.cy));
  if (x >= y && x >= z) {
    return flatIntersect(p.ay, p.az, p.by, p.bz, p.cy, p.cz, q.ay, q.az, q.by, q.bz, q.cy, q.cz);
  }
  if (y >= z) return flatIntersect(p.az, p.ax, p.bz, p.bx, p.cz, p.cx, q.az, q.ax, q.bz, q.bx, q.cz, q.cx);
  return flatIntersect(p.ax, p.ay, p.bx, p.by, p.cx, p.cy, q.ax, q.ay, q.bx, q.by, q.cx, q.cy);
}

function flatIntersect(
  pax: f64, pay: f64, pbx: f64, pby: f64, pcx: f64, pcy: f64,
  qax: f64, qay: f64, qbx: f64, qby: f64, qcx: f64, qcy: f64,
): bool {
  // Two convex polygons are apart when an edge of one has the whole other strictly on its outer side.
  const turnP = orient2d(pax, pay, pbx, pby, pcx, pcy);
  const turnQ = orient2d(qax, qay, qbx, qby, qcx, qcy);
  return !(
    parts(turnP, pax, pay, pbx, pby, qax, qay, qbx, qby, qcx, qcy) ||
    parts(turnP, pbx, pby, pcx, pcy, qax, qay, qbx, qby, qcx, qcy) ||
    parts(turnP, pcx, pcy, pax, pay, qax, qay, qbx, qby, qcx, qcy) ||
    parts(turnQ, qax, qay, qbx, qby, pax, pay, pbx, pby, pcx, pcy) ||
    parts(turnQ, qbx, qby, qcx, qcy, pax, pay, pbx, pby, pcx, pcy) ||
    parts(turnQ, qcx, qcy, qax, qay, pax, pay, pbx, pby, pcx, pcy)
  );
}

function parts(
  turn: f64,
  ax: f64, ay: f64, bx: f64, by: f64,
  px: f64, py: f64, qx: f64, qy: f64, rx: f64, ry: f64,
): bool {
  const p = orient2d(ax, ay, bx, by, px, py);
  const q = orient2d(ax, ay, bx, by, qx, qy);
  const r = orient2d(ax, ay, bx, by, rx, ry);
  return turn > 0 ? p < 0 && q < 0 && r < 0 : p > 0 && q > 0 && r > 0;
}

/**
 * Whether a triangle and the cube [-1, 1]³ share a point: separating axes as in Akenine-Möller, "Fast 3D
 * Triangle-Box Overlap Testing", 2001.
 */
export function triangleMeetsCube(t: Triangle): bool {
  if (max(max(t.ax, t.bx), t.cx) < -1 || min(min(t.ax, t.bx), t.cx) > 1) return false;
  if (max(max(t.ay, t.by), t.cy) < -1 || min(min(t.ay, t.by), t.cy) > 1) return false;
  if (max(max(t.az, t.bz), t.cz) < -1 || min(min(t.az, t.bz), t.cz) > 1) return false;
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.bx, vy = t.cy - t.by, vz = t.cz - t.bz;
  const wx = t.ax - t.cx, wy = t.ay - t.cy, wz = t.az - t.cz;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  if (abs(nx * t.ax + ny * t.ay + nz * t.az) > abs(nx) + abs(ny) + abs(nz)) return false;
  return !(cubeApart(t, ux, uy, uz) || cubeApart(t, vx, vy, vz) || cubeApart(t, wx, wy, wz));
}

/** Whether one of the cross products of an edge with the cube's axes separates. */
function cubeApart(t: Triangle, ex: f64, ey: f64, ez: f64): bool {
  return (
    apartAlong(t.ay * -ez + t.az * ey, t.by * -ez + t.bz * ey, t.cy * -ez + t.cz * ey, abs(ez) + abs(ey)) ||
    apartAlong(t.ax * ez - t.az * ex, t.bx * ez - t.bz * ex, t.cx * ez - t.cz * ex, abs(ez) + abs(ex)) ||
    apartAlong(t.ay * ex - t.ax * ey, t.by * ex - t.bx * ey, t.cy * ex - t.cx * ey, abs(ey) + abs(ex))
  );
}

// @ts-ignore: decorator
@inline
function apartAlong(a: f64, b: f64, c: f64, radius: f64): bool {
  return min(min(a, b), c) > radius || max(max(a, b), c) < -radius;
}
