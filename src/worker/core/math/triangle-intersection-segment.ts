// The intersection segment of two triangles. Exact signs decide which edges end the segment, as in the intersection
// test (Guigue and Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates", 2003);
// the ends on these edges are computed from volumes that are accurate to eleven digits, so that each lies on both
// triangles, however flat, long or nearly coplanar these are.

import { Affine } from './affine';
import {
  axisU, axisV, chooseAxes, chooseCommonAxes, firstEnd, isCollinear, lastEnd, precedes,
} from './collinear-triangles';
import { CORNER_BYTES, accurateOrient2d, accurateOrient3d, orient3dTwice } from './predicates';
import { NO_PLANE, PLANES_COINCIDE, Triangle, a, b, c, d, e, f, accurateHeight, planes } from './triangles';
import { POSITION_BYTES } from '../sizes';

/** The ends of the segment, in the space that `intersectionSegment` maps to. */
export let fromX: f64 = 0, fromY: f64 = 0, fromZ: f64 = 0;
export let toX: f64 = 0, toY: f64 = 0, toZ: f64 = 0;

/**
 * Finds the intersection of two triangles that `trianglesIntersect` has just found to intersect: the segment; a point
 * if they only touch; or the longest extent of the common polygon if they are coplanar. `m` maps it to the space in
 * which it is measured.
 */
export function intersectionSegment(p: Triangle, q: Triangle, m: Affine): void {
  pointCount = 0;
  if (planes == PLANES_COINCIDE) {
    intersectCoplanar(p, q, m);
    return;
  }
  if (planes == NO_PLANE) {
    intersectCollinear(p, q, m);
    return;
  }
  // The later of the two starts, and the earlier of the two ends.
  const volumes = orient3dTwice(a, c, d, e, a, b, d, f);
  if (f64x2.extract_lane(volumes, 0) <= 0) addPlaneCrossing(a, c, p, q, true, m);
  else addPlaneCrossing(d, e, q, p, false, m);
  if (f64x2.extract_lane(volumes, 1) <= 0) addPlaneCrossing(d, f, q, p, false, m);
  else addPlaneCrossing(a, b, p, q, true, m);
  setEnds(0, 1);
}

// Points of the intersection: at most three corners of each triangle and nine crossings of edges.
const points: usize = memory.data((2 * 3 + 9) * POSITION_BYTES, 16);
let pointCount: u32 = 0;

function addCorner(corner: usize, m: Affine): void {
  addPoint(load<f64>(corner), load<f64>(corner, 8), load<f64>(corner, 16), m);
}

function addPoint(x: f64, y: f64, z: f64, m: Affine): void {
  const at = points + <usize>pointCount * 24;
  pointCount++;
  store<f64>(at, m.xx * x + m.yx * y + m.zx * z + m.tx);
  store<f64>(at, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
  store<f64>(at, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}

function setEnds(from: u32, to: u32): void {
  const first = points + <usize>from * 24, last = points + <usize>to * 24;
  fromX = load<f64>(first);
  fromY = load<f64>(first, 8);
  fromZ = load<f64>(first, 16);
  toX = load<f64>(last);
  toY = load<f64>(last, 8);
  toZ = load<f64>(last, 16);
}

/**
 * Adds the point where an edge of `o`, from u to v, intersects the plane of `t`; `isOfP`: whether `o` is the first of
 * the two.
 */
function addPlaneCrossing(u: usize, v: usize, o: Triangle, t: Triangle, isOfP: bool, m: Affine): void {
  let heightU = accurateHeight(u, o, isOfP), heightV = accurateHeight(v, o, isOfP);
  if (heightU != heightU) heightU = heightOf(u, t);
  if (heightV != heightV) heightV = heightOf(v, t);
  addZeroHeightPoint(u, v, heightU, heightV, m);
}

function heightOf(corner: usize, t: Triangle): f64 {
  return accurateOrient3d(
    t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz,
    load<f64>(corner), load<f64>(corner, 8), load<f64>(corner, 16),
  );
}

/**
 * Adds the point of an edge that is at height 0, computed from the nearer end. The heights of the ends must not have
 * the same sign.
 */
function addZeroHeightPoint(u: usize, v: usize, heightU: f64, heightV: f64, m: Affine): void {
  const isNearV = abs(heightV) < abs(heightU);
  const near = isNearV ? v : u, far = isNearV ? u : v;
  const t = isNearV ? heightV / (heightV - heightU) : heightU / (heightU - heightV);
  const x = load<f64>(near), y = load<f64>(near, 8), z = load<f64>(near, 16);
  addPoint(x + t * (load<f64>(far) - x), y + t * (load<f64>(far, 8) - y), z + t * (load<f64>(far, 16) - z), m);
}

// --- in one plane ---

function intersectCoplanar(p: Triangle, q: Triangle, m: Affine): void {
  const first = changetype<usize>(p), other = changetype<usize>(q);
  chooseAxes(first, first + CORNER_BYTES, first + 2 * CORNER_BYTES);
  addCornersIn(first, other, m);
  addCornersIn(other, first, m);
  for (let i: usize = 0; i < 3 * CORNER_BYTES; i += CORNER_BYTES) {
    for (let j: usize = 0; j < 3 * CORNER_BYTES; j += CORNER_BYTES) {
      addCrossing(first + i, first + nextCorner(i), other + j, other + nextCorner(j), m);
    }
  }
  setFarthestEnds();
}

/** Sets the ends to the two points that are farthest from each other. */
function setFarthestEnds(): void {
  let first: u32 = 0, last: u32 = 0;
  let maxDistanceSquared: f64 = 0;
  for (let i: u32 = 0; i < pointCount; i++) {
    for (let j = i + 1; j < pointCount; j++) {
      const distanceSquared = distanceSquaredBetween(i, j);
      if (distanceSquared <= maxDistanceSquared) continue;
      maxDistanceSquared = distanceSquared;
      first = i;
      last = j;
    }
  }
  setEnds(first, last);
}

// @ts-ignore: decorator
@inline
function nextCorner(corner: usize): usize {
  return corner == 2 * CORNER_BYTES ? 0 : corner + CORNER_BYTES;
}

function distanceSquaredBetween(i: u32, j: u32): f64 {
  const first = points + <usize>i * 24, second = points + <usize>j * 24;
  const x = load<f64>(first) - load<f64>(second);
  const y = load<f64>(first, 8) - load<f64>(second, 8);
  const z = load<f64>(first, 16) - load<f64>(second, 16);
  return x * x + y * y + z * z;
}

/** Adds the corners of `t` that are in `o`, including its border. */
function addCornersIn(t: usize, o: usize, m: Affine): void {
  for (let i: usize = 0; i < 3 * CORNER_BYTES; i += CORNER_BYTES) if (isInTriangle(t + i, o)) addCorner(t + i, m);
}

function isInTriangle(point: usize, triangle: usize): bool {
  const a = triangle, b = a + CORNER_BYTES, c = b + CORNER_BYTES;
  const ab = orient(a, b, point), bc = orient(b, c, point), ca = orient(c, a, point);
  return orient(a, b, c) > 0 ? ab >= 0 && bc >= 0 && ca >= 0 : ab <= 0 && bc <= 0 && ca <= 0;
}

/** Adds the point where two edges cross between their ends. */
function addCrossing(p: usize, q: usize, r: usize, s: usize, m: Affine): void {
  const atR = orient(p, q, r), atS = orient(p, q, s);
  if (!((atR > 0 && atS < 0) || (atR < 0 && atS > 0))) return;
  const atP = orient(r, s, p), atQ = orient(r, s, q);
  if ((atP > 0 && atQ < 0) || (atP < 0 && atQ > 0)) addZeroHeightPoint(p, q, atP, atQ, m);
}

function orient(a: usize, b: usize, c: usize): f64 {
  return accurateOrient2d(
    load<f64>(a + axisU), load<f64>(a + axisV), load<f64>(b + axisU), load<f64>(b + axisV),
    load<f64>(c + axisU), load<f64>(c + axisV),
  );
}

// --- without an area ---

function intersectCollinear(p: Triangle, q: Triangle, m: Affine): void {
  const first = changetype<usize>(p), other = changetype<usize>(q);
  if (!isCollinear(first)) intersectSegmentTriangle(firstEnd(other), lastEnd(other), p, m);
  else if (!isCollinear(other)) intersectSegmentTriangle(firstEnd(first), lastEnd(first), q, m);
  else intersectSegments(firstEnd(first), lastEnd(first), firstEnd(other), lastEnd(other), m);
  setFarthestEnds();
}

/** Adds the intersection of a segment, or a point, and a triangle with an area. */
function intersectSegmentTriangle(r: usize, s: usize, t: Triangle, m: Affine): void {
  const heightR = heightOf(r, t), heightS = heightOf(s, t);
  if (heightR != 0 || heightS != 0) {
    addZeroHeightPoint(r, s, heightR, heightS, m);
    return;
  }
  const corners = changetype<usize>(t);
  chooseAxes(corners, corners + CORNER_BYTES, corners + 2 * CORNER_BYTES);
  if (isInTriangle(r, corners)) addCorner(r, m);
  if (isInTriangle(s, corners)) addCorner(s, m);
  for (let i: usize = 0; i < 3 * CORNER_BYTES; i += CORNER_BYTES) {
    if (isInSegment(corners + i, r, s)) addCorner(corners + i, m);
    addCrossing(r, s, corners + i, corners + nextCorner(i), m);
  }
}

/** Adds the intersection of two segments, or points; the ends of each are in order. */
function intersectSegments(p: usize, q: usize, r: usize, s: usize, m: Affine): void {
  if (!chooseCommonAxes(p, q, r, s)) {
    addCorner(precedes(p, r) ? r : p, m);
    addCorner(precedes(q, s) ? q : s, m);
    return;
  }
  if (isInSegment(p, r, s)) addCorner(p, m);
  if (isInSegment(q, r, s)) addCorner(q, m);
  if (isInSegment(r, p, q)) addCorner(r, m);
  if (isInSegment(s, p, q)) addCorner(s, m);
  addCrossing(p, q, r, s, m);
}

/** Returns whether a point of the plane is on a segment, whose ends are in order. */
function isInSegment(point: usize, r: usize, s: usize): bool {
  return orient(r, s, point) == 0 && !precedes(point, r) && !precedes(s, point);
}
