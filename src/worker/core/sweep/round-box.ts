// A sphere or capsule and a box: the distance of its axis from the box, and the penetration depth of the two. Boxes may be skewed
// as far as float32 skews rotation matrices; others are left to GJK (advance.ts). World units about a common origin, float64.

import { Support } from '../contact/convex/support';
import { F64_BYTES } from '../sizes';

let roundBody: Support = changetype<Support>(0);
let boxBody: Support = changetype<Support>(0);

// --- how far its axis is from it ---

/** Sine of the angle by which edges may deviate from a right angle. */
const MAX_SKEW: f64 = 1e-6;

/** Unit vectors along the box's edges, and half of the edges' lengths: x, y, z and the half length of each. */
const edges: usize = memory.data(3 * 4 * F64_BYTES, 16);
/** The cosines between edges, and the greatest of their magnitudes. */
let cos01: f64 = 0, cos02: f64 = 0, cos12: f64 = 0;
export let skew: f64 = 0;
/** Half of the edges' lengths. */
export let h0: f64 = 0, h1: f64 = 0, h2: f64 = 0;

/** Sets the box. Returns false if it is skewed too much. */
export function setBoxFrame(box: Support): bool {
  boxBody = box;
  h0 = setEdge(0, boxBody.edge0X, boxBody.edge0Y, boxBody.edge0Z);
  h1 = setEdge(32, boxBody.edge1X, boxBody.edge1Y, boxBody.edge1Z);
  h2 = setEdge(64, boxBody.edge2X, boxBody.edge2Y, boxBody.edge2Z);
  if (!(h0 > 0 && h1 > 0 && h2 > 0)) return false;
  cos01 = cosine(0, 32);
  cos02 = cosine(0, 64);
  cos12 = cosine(32, 64);
  skew = max(max(abs(cos01), abs(cos02)), abs(cos12));
  return skew <= MAX_SKEW;
}

// @ts-ignore: decorator
@inline
function setEdge(i: usize, x: f64, y: f64, z: f64): f64 {
  const half = sqrt(x * x + y * y + z * z), scale = 1.0 / half;
  store<f64>(edges + i, x * scale);
  store<f64>(edges + i, y * scale, 8);
  store<f64>(edges + i, z * scale, 16);
  return half;
}

// @ts-ignore: decorator
@inline
function cosine(i: usize, j: usize): f64 {
  const p = edges + i, q = edges + j;
  return load<f64>(p) * load<f64>(q) + load<f64>(p, 8) * load<f64>(q, 8) + load<f64>(p, 16) * load<f64>(q, 16);
}

/** The coordinates that `setCoordinates` has set. */
export let c0: f64 = 0, c1: f64 = 0, c2: f64 = 0;

/**
 * Sets the coordinates of a vector in the basis of the unit vectors along the box's edges, with an error of the square of the
 * skew.
 */
export function setCoordinates(x: f64, y: f64, z: f64): void {
  const u = along(0, x, y, z), v = along(32, x, y, z), w = along(64, x, y, z);
  c0 = u - cos01 * v - cos02 * w;
  c1 = v - cos01 * u - cos12 * w;
  c2 = w - cos02 * u - cos12 * v;
}

// @ts-ignore: decorator
@inline
function along(i: usize, x: f64, y: f64, z: f64): f64 {
  return load<f64>(edges + i) * x + load<f64>(edges + i, 8) * y + load<f64>(edges + i, 16) * z;
}

/** The shortest vector from the box to the axis. */
export let separationX: f64 = 0, separationY: f64 = 0, separationZ: f64 = 0;

// Along each edge of the box: the middle of the axis relative to the box's centre, half of the axis, and the box's closest point.
let p0: f64 = 0, p1: f64 = 0, p2: f64 = 0;
export let d0: f64 = 0, d1: f64 = 0, d2: f64 = 0;
let y0: f64 = 0, y1: f64 = 0, y2: f64 = 0;
let hasAxis: bool = false;

/** Measures the distance between the axis of a sphere or capsule and the box. */
export function axisToBox(round: Support): f64 {
  setAxisInBox(round);
  setCoordinates(round.x - boxBody.x, round.y - boxBody.y, round.z - boxBody.z);
  return distanceAt(c0, c1, c2);
}

/** Sets half of the axis of a sphere or capsule in the box's coordinates. */
export function setAxisInBox(round: Support): void {
  hasAxis = round.edgeCount != 0;
  d0 = d1 = d2 = 0;
  if (!hasAxis) return;
  setCoordinates(round.edge0X, round.edge0Y, round.edge0Z);
  d0 = c0; d1 = c1; d2 = c2;
}

/**
 * Measures the distance between the axis that was set and the box when the axis' middle is at these coordinates. Along the axis
 * the squared distance is convex, and its slope is piecewise linear between the points where the axis crosses the planes of
 * faces: the slopes there tell on which piece it is 0. The skew is taken into account for the length of the distance vector. It
 * makes the closest point inexact by its first order, and the distance by its square.
 */
export function distanceAt(q0: f64, q1: f64, q2: f64): f64 {
  p0 = q0; p1 = q1; p2 = q2;
  const s: f64 = hasAxis ? nearestOnAxis() : 0;
  const a0 = p0 + s * d0, a1 = p1 + s * d1, a2 = p2 + s * d2;
  y0 = min(max(a0, -h0), h0);
  y1 = min(max(a1, -h1), h1);
  y2 = min(max(a2, -h2), h2);
  const b0 = a0 - y0, b1 = a1 - y1, b2 = a2 - y2;
  separationX = worldX(b0, b1, b2);
  separationY = worldY(b0, b1, b2);
  separationZ = worldZ(b0, b1, b2);
  const distance = sqrt(separationX * separationX + separationY * separationY + separationZ * separationZ);
  const terms = abs(p0) + abs(p1) + abs(p2) + abs(d0) + abs(d1) + abs(d2) + h0 + h1 + h2;
  return distance > ROUNDING * terms ? distance : 0;
}

/** A distance up to this, relative to the terms that it is computed from, counts as 0. */
const ROUNDING: f64 = 1e-14;

// @ts-ignore: decorator
@inline
function worldX(u: f64, v: f64, w: f64): f64 { return u * load<f64>(edges) + v * load<f64>(edges, 32) + w * load<f64>(edges, 64); }
// @ts-ignore: decorator
@inline
function worldY(u: f64, v: f64, w: f64): f64 { return u * load<f64>(edges, 8) + v * load<f64>(edges, 40) + w * load<f64>(edges, 72); }
// @ts-ignore: decorator
@inline
function worldZ(u: f64, v: f64, w: f64): f64 { return u * load<f64>(edges, 16) + v * load<f64>(edges, 48) + w * load<f64>(edges, 80); }

let intervalStart: f64 = 0, intervalEnd: f64 = 0, slopeAtStart: f64 = 0, slopeAtEnd: f64 = 0;

/** Returns the parameter on the axis, from -1 to 1, of the point closest to the box. */
function nearestOnAxis(): f64 {
  slopeAtStart = slopeAt(-1);
  if (slopeAtStart >= 0) return -1;
  slopeAtEnd = slopeAt(1);
  if (slopeAtEnd <= 0) return 1;
  intervalStart = -1;
  intervalEnd = 1;
  narrowAtPlanes(p0, d0, h0);
  narrowAtPlanes(p1, d1, h1);
  narrowAtPlanes(p2, d2, h2);
  return intervalStart + (intervalEnd - intervalStart) * (-slopeAtStart / (slopeAtEnd - slopeAtStart));
}

/** Narrows the interval at the points where the axis crosses the planes of two opposite faces, if it does. */
// @ts-ignore: decorator
@inline
function narrowAtPlanes(center: f64, halfAxis: f64, half: f64): void {
  const toUpper = half - center, toLower = half + center, halfLength = abs(halfAxis);
  if (abs(toUpper) < halfLength) narrowAt(toUpper / halfAxis);
  if (abs(toLower) < halfLength) narrowAt(-toLower / halfAxis);
}

function narrowAt(s: f64): void {
  if (!(s > intervalStart && s < intervalEnd)) return;
  const slope = slopeAt(s);
  if (slope < 0) {
    intervalStart = s;
    slopeAtStart = slope;
  } else {
    intervalEnd = s;
    slopeAtEnd = slope;
  }
}

// @ts-ignore: decorator
@inline
function slopeAt(s: f64): f64 {
  return d0 * excessBeyond(p0 + s * d0, h0) + d1 * excessBeyond(p1 + s * d1, h1) + d2 * excessBeyond(p2 + s * d2, h2);
}

// @ts-ignore: decorator
@inline
function excessBeyond(coordinate: f64, half: f64): f64 {
  return coordinate - min(max(coordinate, -half), half);
}

/** Returns the box's point closest to the axis in the last measurement, relative to the common origin. */
// @ts-ignore: decorator
@inline
export function nearestOnBoxX(): f64 { return boxBody.x + worldX(y0, y1, y2); }
// @ts-ignore: decorator
@inline
export function nearestOnBoxY(): f64 { return boxBody.y + worldY(y0, y1, y2); }
// @ts-ignore: decorator
@inline
export function nearestOnBoxZ(): f64 { return boxBody.z + worldZ(y0, y1, y2); }

// --- how deep the two are in each other ---

/** The unit normal from the box along which a sphere or capsule whose axis is in the box leaves it soonest. */
export let boxExitX: f64 = 0, boxExitY: f64 = 0, boxExitZ: f64 = 0;
let exitDepth: f64 = 0;

/**
 * Returns the penetration depth of the two if the axis intersects the box, and sets the normal. The faces of their Minkowski
 * difference are perpendicular to two edges of the box, or to one edge and the axis.
 */
export function depthInBox(round: Support, box: Support): f64 {
  roundBody = round;
  boxBody = box;
  exitDepth = Infinity;
  offerExitAxis(boxBody.edge1X, boxBody.edge1Y, boxBody.edge1Z, boxBody.edge2X, boxBody.edge2Y, boxBody.edge2Z);
  offerExitAxis(boxBody.edge2X, boxBody.edge2Y, boxBody.edge2Z, boxBody.edge0X, boxBody.edge0Y, boxBody.edge0Z);
  offerExitAxis(boxBody.edge0X, boxBody.edge0Y, boxBody.edge0Z, boxBody.edge1X, boxBody.edge1Y, boxBody.edge1Z);
  if (roundBody.edgeCount != 0) {
    offerExitAxis(roundBody.edge0X, roundBody.edge0Y, roundBody.edge0Z, boxBody.edge0X, boxBody.edge0Y, boxBody.edge0Z);
    offerExitAxis(roundBody.edge0X, roundBody.edge0Y, roundBody.edge0Z, boxBody.edge1X, boxBody.edge1Y, boxBody.edge1Z);
    offerExitAxis(roundBody.edge0X, roundBody.edge0Y, roundBody.edge0Z, boxBody.edge2X, boxBody.edge2Y, boxBody.edge2Z);
  }
  return exitDepth;
}

/** Returns the sum of both extents along an axis, times the axis' length. */
// @ts-ignore: decorator
@inline
function projectedRadius(nx: f64, ny: f64, nz: f64): f64 {
  const along = roundBody.edgeCount != 0 ? abs(nx * roundBody.edge0X + ny * roundBody.edge0Y + nz * roundBody.edge0Z) : 0;
  return (
    abs(nx * boxBody.edge0X + ny * boxBody.edge0Y + nz * boxBody.edge0Z) +
      abs(nx * boxBody.edge1X + ny * boxBody.edge1Y + nz * boxBody.edge1Z) +
    abs(nx * boxBody.edge2X + ny * boxBody.edge2Y + nz * boxBody.edge2Z) + along +
      roundBody.radius * sqrt(nx * nx + ny * ny + nz * nz)
  );
}

/** Squared sine of the angle below which an edge and the axis count as parallel. */
const MIN_SINE_SQUARED: f64 = 1e-12;

function offerExitAxis(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64): void {
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const lengthSquared = nx * nx + ny * ny + nz * nz;
  if (!(lengthSquared > MIN_SINE_SQUARED * (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz))) return;
  const length = sqrt(lengthSquared),
    centerDistance = nx * (roundBody.x - boxBody.x) + ny * (roundBody.y - boxBody.y) + nz * (roundBody.z - boxBody.z);
  const depth = (projectedRadius(nx, ny, nz) - abs(centerDistance)) / length;
  if (!(depth < exitDepth)) return;
  exitDepth = depth;
  const scale = (centerDistance < 0 ? -1.0 : 1.0) / length;
  boxExitX = nx * scale; boxExitY = ny * scale; boxExitZ = nz * scale;
}
