import { orient2d, orient3d } from './predicates';

/** Nine f64: the corners of a triangle. */
@unmanaged
export class Triangle {
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
}

// @ts-ignore: decorator
@inline
function side(t: Triangle, x: f64, y: f64, z: f64): f64 {
  return orient3d(t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz, x, y, z);
}

/** Whether three points are not in line, exactly. Not for coordinates that are not finite. */
export function hasArea(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): bool {
  return (
    orient2d(ax, ay, bx, by, cx, cy) != 0.0 ||
    orient2d(ay, az, by, bz, cy, cz) != 0.0 ||
    orient2d(az, ax, bz, bx, cz, cx) != 0.0
  );
}

/**
 * Whether two triangles share a point, exactly on their float64 coordinates; touching counts, and coplanar
 * overlap. Planes that cross: then an edge of one meets the other triangle (an edge that lies in the other's
 * plane need not be looked at, as its neighbours or the other's edges meet too).
 */
export function trianglesIntersect(p: Triangle, q: Triangle): bool {
  const pa = side(q, p.ax, p.ay, p.az);
  const pb = side(q, p.bx, p.by, p.bz);
  const pc = side(q, p.cx, p.cy, p.cz);
  if ((pa > 0 && pb > 0 && pc > 0) || (pa < 0 && pb < 0 && pc < 0)) return false;
  const qa = side(p, q.ax, q.ay, q.az);
  const qb = side(p, q.bx, q.by, q.bz);
  const qc = side(p, q.cx, q.cy, q.cz);
  if ((qa > 0 && qb > 0 && qc > 0) || (qa < 0 && qb < 0 && qc < 0)) return false;
  if (pa == 0 && pb == 0 && pc == 0) return coplanarIntersect(p, q);
  return (
    (crosses(pa, pb) && lineMeets(q, p.ax, p.ay, p.az, p.bx, p.by, p.bz)) ||
    (crosses(pb, pc) && lineMeets(q, p.bx, p.by, p.bz, p.cx, p.cy, p.cz)) ||
    (crosses(pc, pa) && lineMeets(q, p.cx, p.cy, p.cz, p.ax, p.ay, p.az)) ||
    (crosses(qa, qb) && lineMeets(p, q.ax, q.ay, q.az, q.bx, q.by, q.bz)) ||
    (crosses(qb, qc) && lineMeets(p, q.bx, q.by, q.bz, q.cx, q.cy, q.cz)) ||
    (crosses(qc, qa) && lineMeets(p, q.cx, q.cy, q.cz, q.ax, q.ay, q.az))
  );
}

/** An edge whose ends have these sides meets the plane in one point. */
// @ts-ignore: decorator
@inline
function crosses(s: f64, t: f64): bool {
  return (s <= 0 && t >= 0 && s != t) || (s >= 0 && t <= 0 && s != t);
}

/** Whether the line through two points, known to cross the plane, passes through the triangle or its border. */
function lineMeets(t: Triangle, px: f64, py: f64, pz: f64, qx: f64, qy: f64, qz: f64): bool {
  const u = orient3d(px, py, pz, qx, qy, qz, t.ax, t.ay, t.az, t.bx, t.by, t.bz);
  const v = orient3d(px, py, pz, qx, qy, qz, t.bx, t.by, t.bz, t.cx, t.cy, t.cz);
  if ((u > 0 && v < 0) || (u < 0 && v > 0)) return false;
  const w = orient3d(px, py, pz, qx, qy, qz, t.cx, t.cy, t.cz, t.ax, t.ay, t.az);
  return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
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
