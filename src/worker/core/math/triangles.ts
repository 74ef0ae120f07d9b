// Triangle against triangle, exactly on float64 coordinates (Guigue and Devillers, "Fast and Robust Triangle-Triangle
// Overlap Test Using Orientation Predicates", 2003; triangles without an area are in collinear-triangles.ts), and
// triangle against cube in float64.

import { collinearIntersect, isCollinear } from './collinear-triangles';
import {
  ACCURACY_RATIO, BOUND_3D, CORNER_BYTES, absSum, loadPair, orient2d, orient3dExact, orient3dTwice, swapLanes,
} from './predicates';
import { positives } from './signs';

/** Nine f64: the corners of a triangle. */
@unmanaged
export class Triangle {
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
}

/** The heights of two corners above the other triangle's plane: one of the first triangle, one of the second. */
@unmanaged
class Heights {
  /** orient3d of the other triangle and the corner, in floating point. */
  ofP: f64; ofQ: f64;
  /** The magnitude above which it is accurate to eleven digits. */
  accuracyLimitOfP: f64; accuracyLimitOfQ: f64;
  /** A value of the same sign as the exact one. */
  sideOfP: f64; sideOfQ: f64;
}

const HEIGHTS_BYTES: usize = offsetof<Heights>();
/** The heights of the first, the second and the third corners: Heights each. */
const heights: usize = memory.data(3 * <i32>offsetof<Heights>(), 16);

// @ts-ignore: decorator
@inline
function heightsAt(corner: usize): Heights { return changetype<Heights>(heights + corner * HEIGHTS_BYTES); }

/**
 * Returns orient3d(t, corner), accurate to eleven digits, for the triangle t and a corner of the other one of the two
 * for which `arrangeCorners` was called last; NaN if its result is not that accurate. `isOfP`: whether the corner belongs to
 * the first triangle.
 */
// @ts-ignore: decorator
@inline
export function accurateHeight(corner: usize, o: Triangle, isOfP: bool): f64 {
  const cornerHeights = heightsAt((corner - changetype<usize>(o)) / CORNER_BYTES);
  const height = isOfP ? cornerHeights.ofP : cornerHeights.ofQ;
  return abs(height) > (isOfP ? cornerHeights.accuracyLimitOfP : cornerHeights.accuracyLimitOfQ) ? height : NaN;
}

/**
 * Finds on which sides of the other's plane the corners of both triangles are. Returns false if all corners of one are
 * on one side. It computes both at once, in two lanes, because nearly all pairs here have passed a prefilter and need
 * both: the search for all pairs of two meshes takes 8 % less time than with one after the other.
 */
function findSides(p: Triangle, q: Triangle): bool {
  // Lane 0 is for the corners of p, lane 1 for those of q.
  const first = changetype<usize>(p), other = changetype<usize>(q);
  const ax = loadPair(first, other, 0), ay = loadPair(first, other, 8), az = loadPair(first, other, 16);
  const bx = loadPair(first, other, 24), by = loadPair(first, other, 32), bz = loadPair(first, other, 40);
  const cx = loadPair(first, other, 48), cy = loadPair(first, other, 56), cz = loadPair(first, other, 64);
  // Each lane's plane is that of the other triangle.
  const ox = swapLanes(ax), oy = swapLanes(ay), oz = swapLanes(az);
  const ex = f64x2.sub(swapLanes(bx), ox), ey = f64x2.sub(swapLanes(by), oy), ez = f64x2.sub(swapLanes(bz), oz);
  const fx = f64x2.sub(swapLanes(cx), ox), fy = f64x2.sub(swapLanes(cy), oy), fz = f64x2.sub(swapLanes(cz), oz);
  const yz = f64x2.mul(ey, fz), zy = f64x2.mul(ez, fy);
  const zx = f64x2.mul(ez, fx), xz = f64x2.mul(ex, fz);
  const xy = f64x2.mul(ex, fy), yx = f64x2.mul(ey, fx);
  const nx = f64x2.sub(yz, zy), ny = f64x2.sub(zx, xz), nz = f64x2.sub(xy, yx);
  const mx = absSum(yz, zy), my = absSum(zx, xz), mz = absSum(xy, yx);
  let certainLanes = setHeights(0, f64x2.sub(ox, ax), f64x2.sub(oy, ay), f64x2.sub(oz, az), nx, ny, nz, mx, my, mz);
  certainLanes &= setHeights(1, f64x2.sub(ox, bx), f64x2.sub(oy, by), f64x2.sub(oz, bz), nx, ny, nz, mx, my, mz);
  certainLanes &= setHeights(2, f64x2.sub(ox, cx), f64x2.sub(oy, cy), f64x2.sub(oz, cz), nx, ny, nz, mx, my, mz);
  if (certainLanes != 3) for (let corner: usize = 0; corner < 3; corner++) computeExactSides(p, q, corner);
  const zero = f64x2.splat(0), side = offsetof<Heights>('sideOfP');
  const a = v128.load(heights, side), b = v128.load(heights, HEIGHTS_BYTES + side);
  const c = v128.load(heights, 2 * HEIGHTS_BYTES + side);
  const above = v128.and(v128.and(f64x2.gt(a, zero), f64x2.gt(b, zero)), f64x2.gt(c, zero));
  const below = v128.and(v128.and(f64x2.lt(a, zero), f64x2.lt(b, zero)), f64x2.lt(c, zero));
  return !v128.any_true(v128.or(above, below));
}

/** Sets the heights of one corner of each triangle. Returns in which lanes their signs are certain, a bit each. */
// @ts-ignore: decorator
@inline
function setHeights(
  corner: usize, dx: v128, dy: v128, dz: v128, nx: v128, ny: v128, nz: v128, mx: v128, my: v128, mz: v128,
): i32 {
  const at = heights + corner * HEIGHTS_BYTES;
  const height = f64x2.add(f64x2.add(f64x2.mul(dx, nx), f64x2.mul(dy, ny)), f64x2.mul(dz, nz));
  const size = f64x2.add(
    f64x2.add(f64x2.mul(f64x2.abs(dx), mx), f64x2.mul(f64x2.abs(dy), my)), f64x2.mul(f64x2.abs(dz), mz),
  );
  const maxError = f64x2.mul(f64x2.splat(BOUND_3D), size);
  v128.store(at, height);
  v128.store(at, f64x2.mul(maxError, f64x2.splat(ACCURACY_RATIO)), offsetof<Heights>('accuracyLimitOfP'));
  v128.store(at, height, offsetof<Heights>('sideOfP'));
  return i64x2.bitmask(f64x2.gt(f64x2.abs(height), maxError));
}

/** Computes the exact side of a corner of each triangle if its height is too close to 0 to be certain. */
function computeExactSides(p: Triangle, q: Triangle, corner: usize): void {
  const cornerHeights = heightsAt(corner);
  const offset = corner * CORNER_BYTES;
  if (!(abs(cornerHeights.ofP) * ACCURACY_RATIO > cornerHeights.accuracyLimitOfP))
    cornerHeights.sideOfP = exactHeight(q, changetype<usize>(p) + offset);
  if (!(abs(cornerHeights.ofQ) * ACCURACY_RATIO > cornerHeights.accuracyLimitOfQ))
    cornerHeights.sideOfQ = exactHeight(p, changetype<usize>(q) + offset);
}

function exactHeight(t: Triangle, corner: usize): f64 {
  return orient3dExact(
    t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz,
    load<f64>(corner), load<f64>(corner, 8), load<f64>(corner, 16),
  );
}

/** The index of the value whose sign differs from the two others, by which of the three are positive, a bit each. */
const apexes: usize = memory.data<u8>([0, 0, 1, 2, 2, 1, 0, 0]);

/**
 * Returns the corner that the other triangle's plane separates from the two others, or that it touches while they are
 * on one side.
 */
// @ts-ignore: decorator
@inline
export function apexOf(a: f64, b: f64, c: f64): usize {
  return a != 0 && b != 0 && c != 0 ? apexOfSigns(positives(a, b, c)) : apexOnPlane(a, b, c);
}

/** Returns the same from which of the three corners are above the plane, a bit each; the others are below it. */
// @ts-ignore: decorator
@inline
export function apexOfSigns(above: u32): usize {
  return <usize>load<u8>(apexes + above);
}

/** Returns the same if a corner is on the plane. */
function apexOnPlane(a: f64, b: f64, c: f64): usize {
  if ((a > 0 && b <= 0 && c <= 0) || (a < 0 && b >= 0 && c >= 0)) return 0;
  if ((b > 0 && a <= 0 && c <= 0) || (b < 0 && a >= 0 && c >= 0)) return 1;
  if ((c > 0 && a <= 0 && b <= 0) || (c < 0 && a >= 0 && b >= 0)) return 2;
  return a == 0 ? 0 : b == 0 ? 1 : 2;
}

/** Returns whether that corner is on the positive side; a corner on the plane counts as opposite to the others. */
// @ts-ignore: decorator
@inline
function apexIsAbove(a: f64, b: f64, c: f64, apex: usize): bool {
  const apexHeight = apex == 0 ? a : apex == 1 ? b : c;
  return apexHeight > 0 || (apexHeight == 0 && (apex == 0 ? b : a) < 0);
}

/** The results of `arrangeCorners`. */
export const PLANES_SEPARATE: i32 = 0;
export const PLANES_CROSS: i32 = 1;
export const PLANES_COINCIDE: i32 = 2;
/** At least one of the triangles has no area, and so no plane. */
export const NO_PLANE: i32 = 3;

/**
 * The addresses of the corners of two triangles, arranged by their sides of each other's plane: `a` and `d` are the
 * apexes, on one side with the two others on the other, or on the planes. The intersection line of the planes, in one
 * direction, crosses p from edge ac to edge ab, and q from edge de to edge df.
 */
export let a: usize = 0, b: usize = 0, c: usize = 0;
export let d: usize = 0, e: usize = 0, f: usize = 0;

/** The relation of the planes that `trianglesIntersect` found last. */
export let planes: i32 = PLANES_SEPARATE;

/** Returns how the planes of two triangles are related (PLANES_*, NO_PLANE), and arranges the corners accordingly. */
function arrangeCorners(p: Triangle, q: Triangle): i32 {
  if (!findSides(p, q)) return PLANES_SEPARATE;
  const p0 = heightsAt(0).sideOfP, p1 = heightsAt(1).sideOfP, p2 = heightsAt(2).sideOfP;
  const q0 = heightsAt(0).sideOfQ, q1 = heightsAt(1).sideOfQ, q2 = heightsAt(2).sideOfQ;
  // All corners of one are on the plane of the other if both are coplanar, or if the other has no plane: then every
  // comparison with its corners gives 0. For two with an area, this holds for both or for none.
  const isInP = q0 == 0 && q1 == 0 && q2 == 0;
  if (p0 == 0 && p1 == 0 && p2 == 0) {
    return isInP && !isCollinear(changetype<usize>(p)) && !isCollinear(changetype<usize>(q)) ? PLANES_COINCIDE : NO_PLANE;
  }
  if (isInP) return NO_PLANE;
  const i = apexOf(p0, p1, p2), j = apexOf(q0, q1, q2);
  a = changetype<usize>(p) + i * CORNER_BYTES;
  b = changetype<usize>(p) + (i == 2 ? 0 : i + 1) * CORNER_BYTES;
  c = changetype<usize>(p) + (i == 0 ? 2 : i - 1) * CORNER_BYTES;
  d = changetype<usize>(q) + j * CORNER_BYTES;
  e = changetype<usize>(q) + (j == 2 ? 0 : j + 1) * CORNER_BYTES;
  f = changetype<usize>(q) + (j == 0 ? 2 : j - 1) * CORNER_BYTES;
  // Swapped so that each apex is above the other's plane.
  const isPAbove = apexIsAbove(p0, p1, p2, i), isQAbove = apexIsAbove(q0, q1, q2, j);
  const formerB = b, formerE = e;
  b = isQAbove ? b : c;
  c = isQAbove ? c : formerB;
  e = isPAbove ? e : f;
  f = isPAbove ? f : formerE;
  return PLANES_CROSS;
}

/**
 * Returns whether two triangles share a point, exactly on their float64 coordinates; touching counts, and so does
 * coplanar overlap; a triangle with collinear corners is the segment or the point that they span. Each meets the line
 * in which the planes cross in an interval, and the signs of two volumes tell whether these overlap (Guigue and
 * Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates", 2003).
 */
export function trianglesIntersect(p: Triangle, q: Triangle): bool {
  planes = arrangeCorners(p, q);
  if (planes == PLANES_CROSS) return !v128.any_true(f64x2.gt(orient3dTwice(a, b, d, e, a, c, f, d), f64x2.splat(0)));
  if (planes == PLANES_COINCIDE) return coplanarIntersect(p, q);
  return planes == NO_PLANE && collinearIntersect(changetype<usize>(p), changetype<usize>(q));
}

/** Tests two coplanar triangles as 2D triangles, projected along the axis that keeps their area largest. */
function coplanarIntersect(p: Triangle, q: Triangle): bool {
  const x = abs(orient2d(p.ay, p.az, p.by, p.bz, p.cy, p.cz));
  const y = abs(orient2d(p.az, p.ax, p.bz, p.bx, p.cz, p.cx));
  const z = abs(orient2d(p.ax, p.ay, p.bx, p.by, p.cx, p.cy));
  if (x >= y && x >= z) {
    return trianglesIntersect2d(p.ay, p.az, p.by, p.bz, p.cy, p.cz, q.ay, q.az, q.by, q.bz, q.cy, q.cz);
  }
  if (y >= z) return trianglesIntersect2d(p.az, p.ax, p.bz, p.bx, p.cz, p.cx, q.az, q.ax, q.bz, q.bx, q.cz, q.cx);
  return trianglesIntersect2d(p.ax, p.ay, p.bx, p.by, p.cx, p.cy, q.ax, q.ay, q.bx, q.by, q.cx, q.cy);
}

function trianglesIntersect2d(
  pax: f64, pay: f64, pbx: f64, pby: f64, pcx: f64, pcy: f64,
  qax: f64, qay: f64, qbx: f64, qby: f64, qcx: f64, qcy: f64,
): bool {
  // Two convex polygons are disjoint if an edge of one has the whole other strictly on its outer side.
  const orientationP = orient2d(pax, pay, pbx, pby, pcx, pcy);
  const orientationQ = orient2d(qax, qay, qbx, qby, qcx, qcy);
  return !(
    isSeparatedByEdge(orientationP, pax, pay, pbx, pby, qax, qay, qbx, qby, qcx, qcy) ||
    isSeparatedByEdge(orientationP, pbx, pby, pcx, pcy, qax, qay, qbx, qby, qcx, qcy) ||
    isSeparatedByEdge(orientationP, pcx, pcy, pax, pay, qax, qay, qbx, qby, qcx, qcy) ||
    isSeparatedByEdge(orientationQ, qax, qay, qbx, qby, pax, pay, pbx, pby, pcx, pcy) ||
    isSeparatedByEdge(orientationQ, qbx, qby, qcx, qcy, pax, pay, pbx, pby, pcx, pcy) ||
    isSeparatedByEdge(orientationQ, qcx, qcy, qax, qay, pax, pay, pbx, pby, pcx, pcy)
  );
}

function isSeparatedByEdge(
  orientation: f64,
  ax: f64, ay: f64, bx: f64, by: f64,
  px: f64, py: f64, qx: f64, qy: f64, rx: f64, ry: f64,
): bool {
  const p = orient2d(ax, ay, bx, by, px, py);
  const q = orient2d(ax, ay, bx, by, qx, qy);
  const r = orient2d(ax, ay, bx, by, rx, ry);
  return orientation > 0 ? p < 0 && q < 0 && r < 0 : p > 0 && q > 0 && r > 0;
}

/**
 * Returns whether a triangle and the cube [-1, 1]³ share a point, up to rounding. Tests separating axes as in
 * Akenine-Möller, "Fast 3D Triangle-Box Overlapping Testing", 2001.
 */
export function triangleIntersectsCube(t: Triangle): bool {
  if (max(max(t.ax, t.bx), t.cx) < -1 || min(min(t.ax, t.bx), t.cx) > 1) return false;
  if (max(max(t.ay, t.by), t.cy) < -1 || min(min(t.ay, t.by), t.cy) > 1) return false;
  if (max(max(t.az, t.bz), t.cz) < -1 || min(min(t.az, t.bz), t.cz) > 1) return false;
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.bx, vy = t.cy - t.by, vz = t.cz - t.bz;
  const wx = t.ax - t.cx, wy = t.ay - t.cy, wz = t.az - t.cz;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  if (abs(nx * t.ax + ny * t.ay + nz * t.az) > abs(nx) + abs(ny) + abs(nz)) return false;
  return !(isSeparatedByEdgeAxes(t, ux, uy, uz) || isSeparatedByEdgeAxes(t, vx, vy, vz) || isSeparatedByEdgeAxes(t, wx, wy, wz));
}

/** Returns whether the cross product of an edge with one of the cube's axes separates. */
function isSeparatedByEdgeAxes(t: Triangle, ex: f64, ey: f64, ez: f64): bool {
  return (
    isSeparatedAlong(t.ay * -ez + t.az * ey, t.by * -ez + t.bz * ey, t.cy * -ez + t.cz * ey, abs(ez) + abs(ey)) ||
    isSeparatedAlong(t.ax * ez - t.az * ex, t.bx * ez - t.bz * ex, t.cx * ez - t.cz * ex, abs(ez) + abs(ex)) ||
    isSeparatedAlong(t.ay * ex - t.ax * ey, t.by * ex - t.bx * ey, t.cy * ex - t.cx * ey, abs(ey) + abs(ex))
  );
}

// @ts-ignore: decorator
@inline
function isSeparatedAlong(a: f64, b: f64, c: f64, radius: f64): bool {
  return min(min(a, b), c) > radius || max(max(a, b), c) < -radius;
}
