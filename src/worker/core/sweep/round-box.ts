// A sphere or capsule and a box: when it may come to it, how far its axis is from it, and how deep the two are in each other.
// Boxes may be skewed as far as float32 makes matrices that turn; others are left to GJK (advance.ts). World units about a
// common place, float64.

import { Support } from '../contact/convex/support';
import { clip, enter, interval, leave } from '../math/interval';
import { best } from './meeting';
import { wayX, wayY, wayZ } from './motion';
import { F64_BYTES } from '../sizes';

let a: Support = changetype<Support>(0);
let b: Support = changetype<Support>(0);

// --- when it may come to it ---

/** Far more than rounding adds. */
const BESIDE: f64 = 1.000000001;

/** The part of the way on which the two may overlap (math/interval.ts). */
let part: v128 = i32x4.splat(0);

/**
 * Bounds from below when the sphere or capsule comes to the box: by the axes of its faces, by those across the way on which
 * it may pass beside, and by those across an edge and the capsule's axis. Answers Infinity where it does not come to it.
 */
export function enterBox(round: Support, box: Support): f64 {
  a = round;
  b = box;
  part = interval(0, best);
  if (!slab(b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  if (!slab(b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z)) return Infinity;
  if (!slab(b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (isBesideBox(b.edge0X, b.edge0Y, b.edge0Z) || isBesideBox(b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (isBesideBox(b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  if (a.edges != 0) {
    const x = a.edge0X, y = a.edge0Y, z = a.edge0Z;
    if (isBesideBox(x, y, z) || !slab(x, y, z, b.edge0X, b.edge0Y, b.edge0Z)) return Infinity;
    if (!slab(x, y, z, b.edge1X, b.edge1Y, b.edge1Z) || !slab(x, y, z, b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  }
  return enter(part) * (1.0 - SLAB_ROUNDING);
}

/** What rounding may make of the time of a slab, and of its width. */
const SLAB_ROUNDING: f64 = 1e-12;

/** Narrows the time to that in which the two overlap along the axis at right angles to two vectors. */
function slab(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64): bool {
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const middle = nx * (b.x - a.x) + ny * (b.y - a.y) + nz * (b.z - a.z), rate = nx * wayX + ny * wayY + nz * wayZ;
  const reach = reachOf(nx, ny, nz) * (1.0 + SLAB_ROUNDING) + abs(middle) * SLAB_ROUNDING;
  part = clip(part, -middle, rate, -reach, reach);
  return enter(part) <= leave(part);
}

/** Answers how far the two reach along an axis together, times its length. */
// @ts-ignore: decorator
@inline
function reachOf(nx: f64, ny: f64, nz: f64): f64 {
  const along = a.edges != 0 ? abs(nx * a.edge0X + ny * a.edge0Y + nz * a.edge0Z) : 0;
  return (
    abs(nx * b.edge0X + ny * b.edge0Y + nz * b.edge0Z) + abs(nx * b.edge1X + ny * b.edge1Y + nz * b.edge1Z) +
    abs(nx * b.edge2X + ny * b.edge2Y + nz * b.edge2Z) + along + a.radius * sqrt(nx * nx + ny * ny + nz * nz)
  );
}

function isBesideBox(ex: f64, ey: f64, ez: f64): bool {
  const nx = wayY * ez - wayZ * ey, ny = wayZ * ex - wayX * ez, nz = wayX * ey - wayY * ex;
  return abs(nx * (b.x - a.x) + ny * (b.y - a.y) + nz * (b.z - a.z)) > reachOf(nx, ny, nz) * BESIDE;
}

// --- how far its axis is from it ---

/** The sine of the angle by which edges may be off a right angle. */
const SKEW: f64 = 1e-6;
/** Below this one they are at right angles but for rounding of float64. */
const NO_SKEW: f64 = 1e-15;

/** Unit vectors along the box's edges, and half of the edges' lengths: x, y, z and half of each. */
const edges: usize = memory.data(3 * 4 * F64_BYTES, 16);
let isSkewed: bool = false;

/** Takes a box. Answers false where it is skewed too much. */
export function setBoxFrame(box: Support): bool {
  b = box;
  let at = edges;
  for (let i: usize = 0; i < 72; i += 24, at += 32) {
    const e = changetype<usize>(box) + offsetof<Support>('edge0X') + i;
    const x = load<f64>(e), y = load<f64>(e, 8), z = load<f64>(e, 16);
    const half = sqrt(x * x + y * y + z * z);
    if (!(half > 0)) return false;
    store<f64>(at, x / half);
    store<f64>(at, y / half, 8);
    store<f64>(at, z / half, 16);
    store<f64>(at, half, 24);
  }
  const skew = max(max(abs(cosine(0, 32)), abs(cosine(0, 64))), abs(cosine(32, 64)));
  isSkewed = skew > NO_SKEW;
  return skew <= SKEW;
}

// @ts-ignore: decorator
@inline
function cosine(i: usize, j: usize): f64 {
  const p = edges + i, q = edges + j;
  return load<f64>(p) * load<f64>(q) + load<f64>(p, 8) * load<f64>(q, 8) + load<f64>(p, 16) * load<f64>(q, 16);
}

/** The shortest way from the box to the axis. */
export let apartX: f64 = 0, apartY: f64 = 0, apartZ: f64 = 0;

// Along each edge of the box: the middle of the axis, half of the axis, half of the edge; and how far on, in halves of the
// edge, the box's nearest place is.
let p0: f64 = 0, p1: f64 = 0, p2: f64 = 0;
let d0: f64 = 0, d1: f64 = 0, d2: f64 = 0;
let h0: f64 = 0, h1: f64 = 0, h2: f64 = 0;
let y0: f64 = 0, y1: f64 = 0, y2: f64 = 0;

/**
 * Measures how far the axis of a sphere or capsule is from the box. Along the axis the square of the distance is convex, and
 * its slope is made of lines between the places where the axis crosses the planes of faces: the slope at these says on which
 * line it is 0. Of a skewed box that is the first step, and one by Newton's method the second.
 */
export function axisToBox(round: Support): f64 {
  const x = round.x - b.x, y = round.y - b.y, z = round.z - b.z;
  const hasAxis = round.edges != 0;
  const ex = hasAxis ? round.edge0X : 0, ey = hasAxis ? round.edge0Y : 0, ez = hasAxis ? round.edge0Z : 0;
  h0 = load<f64>(edges, 24); h1 = load<f64>(edges, 56); h2 = load<f64>(edges, 88);
  p0 = along(0, x, y, z); p1 = along(32, x, y, z); p2 = along(64, x, y, z);
  d0 = along(0, ex, ey, ez); d1 = along(32, ex, ey, ez); d2 = along(64, ex, ey, ez);
  let s: f64 = hasAxis ? nearestOnAxis() : 0;
  y0 = min(max((p0 + s * d0) / h0, -1.0), 1.0);
  y1 = min(max((p1 + s * d1) / h1, -1.0), 1.0);
  y2 = min(max((p2 + s * d2) / h2, -1.0), 1.0);
  setApart(x + s * ex, y + s * ey, z + s * ez);
  if (isSkewed) {
    settle();
    if (hasAxis) {
      const bend = (abs(y0) < 1 ? 0 : d0 * d0) + (abs(y1) < 1 ? 0 : d1 * d1) + (abs(y2) < 1 ? 0 : d2 * d2);
      if (bend > 0) {
        s = min(max(s - (apartX * ex + apartY * ey + apartZ * ez) / bend, -1.0), 1.0);
        setApart(x + s * ex, y + s * ey, z + s * ez);
        settle();
      }
    }
  }
  const distance = sqrt(apartX * apartX + apartY * apartY + apartZ * apartZ);
  const terms = abs(p0) + abs(p1) + abs(p2) + abs(d0) + abs(d1) + abs(d2) + h0 + h1 + h2;
  return distance > ROUNDING * terms ? distance : 0;
}

/** A distance that is not greater than this, relative to what it is made of, is none. */
const ROUNDING: f64 = 1e-14;

// @ts-ignore: decorator
@inline
function along(i: usize, x: f64, y: f64, z: f64): f64 {
  return load<f64>(edges + i) * x + load<f64>(edges + i, 8) * y + load<f64>(edges + i, 16) * z;
}

/** Sets the way from the box's place to another one. */
function setApart(x: f64, y: f64, z: f64): void {
  apartX = x - (y0 * b.edge0X + y1 * b.edge1X + y2 * b.edge2X);
  apartY = y - (y0 * b.edge0Y + y1 * b.edge1Y + y2 * b.edge2Y);
  apartZ = z - (y0 * b.edge0Z + y1 * b.edge1Z + y2 * b.edge2Z);
}

/** Moves the box's place to where it is nearest, edge by edge, which leaves the skew's part of what was left. */
function settle(): void {
  y0 = settleEdge(y0, h0, b.edge0X, b.edge0Y, b.edge0Z);
  y1 = settleEdge(y1, h1, b.edge1X, b.edge1Y, b.edge1Z);
  y2 = settleEdge(y2, h2, b.edge2X, b.edge2Y, b.edge2Z);
}

// @ts-ignore: decorator
@inline
function settleEdge(from: f64, half: f64, ex: f64, ey: f64, ez: f64): f64 {
  const to = min(max(from + (apartX * ex + apartY * ey + apartZ * ez) / (half * half), -1.0), 1.0);
  const by = to - from;
  apartX -= by * ex; apartY -= by * ey; apartZ -= by * ez;
  return to;
}

let left: f64 = 0, right: f64 = 0, atLeft: f64 = 0, atRight: f64 = 0;

/** Answers where on the axis, from -1 to 1, it is nearest to the box as if that was not skewed. */
function nearestOnAxis(): f64 {
  atLeft = slopeAt(-1);
  if (atLeft >= 0) return -1;
  atRight = slopeAt(1);
  if (atRight <= 0) return 1;
  left = -1;
  right = 1;
  narrowAt((h0 - p0) / d0);
  narrowAt((-h0 - p0) / d0);
  narrowAt((h1 - p1) / d1);
  narrowAt((-h1 - p1) / d1);
  narrowAt((h2 - p2) / d2);
  narrowAt((-h2 - p2) / d2);
  return left + (right - left) * (-atLeft / (atRight - atLeft));
}

function narrowAt(s: f64): void {
  if (!(s > left && s < right)) return;
  const slope = slopeAt(s);
  if (slope < 0) {
    left = s;
    atLeft = slope;
  } else {
    right = s;
    atRight = slope;
  }
}

// @ts-ignore: decorator
@inline
function slopeAt(s: f64): f64 {
  return d0 * beyond(p0 + s * d0, h0) + d1 * beyond(p1 + s * d1, h1) + d2 * beyond(p2 + s * d2, h2);
}

// @ts-ignore: decorator
@inline
function beyond(place: f64, half: f64): f64 {
  return place - min(max(place, -half), half);
}

/** Answers the box's place, as a coordinate about the common place, that was nearest to the axis. */
// @ts-ignore: decorator
@inline
export function nearestOfBoxX(): f64 { return b.x + y0 * b.edge0X + y1 * b.edge1X + y2 * b.edge2X; }
// @ts-ignore: decorator
@inline
export function nearestOfBoxY(): f64 { return b.y + y0 * b.edge0Y + y1 * b.edge1Y + y2 * b.edge2Y; }
// @ts-ignore: decorator
@inline
export function nearestOfBoxZ(): f64 { return b.z + y0 * b.edge0Z + y1 * b.edge1Z + y2 * b.edge2Z; }

// --- how deep the two are in each other ---

/** The unit normal from the box on which a sphere or capsule leaves it soonest, whose axis is in it. */
export let boxExitX: f64 = 0, boxExitY: f64 = 0, boxExitZ: f64 = 0;
let exitDepth: f64 = 0;

/**
 * Answers how far the two are in each other where the axis meets the box, and sets the normal: the faces of their Minkowski
 * difference are across two edges of the box, or one and the axis.
 */
export function depthInBox(round: Support, box: Support): f64 {
  a = round;
  b = box;
  exitDepth = Infinity;
  offerExit(b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z);
  offerExit(b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z);
  offerExit(b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z);
  if (a.edges != 0) {
    offerExit(a.edge0X, a.edge0Y, a.edge0Z, b.edge0X, b.edge0Y, b.edge0Z);
    offerExit(a.edge0X, a.edge0Y, a.edge0Z, b.edge1X, b.edge1Y, b.edge1Z);
    offerExit(a.edge0X, a.edge0Y, a.edge0Z, b.edge2X, b.edge2Y, b.edge2Z);
  }
  return exitDepth;
}

/** The sine of the angle below which an edge and the axis count as parallel, squared. */
const PARALLEL_SQUARE: f64 = 1e-12;

function offerExit(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64): void {
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const square = nx * nx + ny * ny + nz * nz;
  if (!(square > PARALLEL_SQUARE * (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz))) return;
  const length = sqrt(square), middle = nx * (a.x - b.x) + ny * (a.y - b.y) + nz * (a.z - b.z);
  const depth = (reachOf(nx, ny, nz) - abs(middle)) / length;
  if (!(depth < exitDepth)) return;
  exitDepth = depth;
  const by = (middle < 0 ? -1.0 : 1.0) / length;
  boxExitX = nx * by; boxExitY = ny * by; boxExitZ = nz * by;
}
