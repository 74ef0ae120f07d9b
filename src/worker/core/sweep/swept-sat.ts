// Sweeps one polytope against another without rotation: separating axes, each of which gives the time interval in which
// the two overlap along it (Gottschalk, Lin and Manocha, "OBBTree", 1996, with time intervals as in Ericson, "Real-Time
// Collision Detection", 2005, 5.5.8). Closed-form, float64. Polytopes are boxes, skewed or not, and triangles; the first
// moves. The bounds of tree nodes are tested by the same axes.

import { Support } from '../contact/convex/support';

/** A box by its centre and half of its edges, or a triangle by a corner and two edges, in the world. */
@unmanaged
export class Polytope {
  x: f64; y: f64; z: f64;
  e0X: f64; e0Y: f64; e0Z: f64;
  e1X: f64; e1Y: f64; e1Z: f64;
  e2X: f64; e2Y: f64; e2Z: f64;
  /** 1 for a triangle, whose third edge leads from the end of the first to the end of the second. */
  isTriangle: u32;
  pad: u32;
}

export const POLYTOPE_BYTES: usize = offsetof<Polytope>();

/** Sets a triangle from its corners, nine f64. */
export function setTriangle(out: Polytope, at: usize): void {
  const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
  out.x = x; out.y = y; out.z = z;
  out.e0X = load<f64>(at, 24) - x; out.e0Y = load<f64>(at, 32) - y; out.e0Z = load<f64>(at, 40) - z;
  out.e1X = load<f64>(at, 48) - x; out.e1Y = load<f64>(at, 56) - y; out.e1Z = load<f64>(at, 64) - z;
  out.e2X = out.e1X - out.e0X; out.e2Y = out.e1Y - out.e0Y; out.e2Z = out.e1Z - out.e0Z;
  out.isTriangle = 1;
}

/** Sets a box from its body's position and edges. */
export function setBox(out: Polytope, body: Support): void {
  out.x = body.x; out.y = body.y; out.z = body.z;
  memory.copy(changetype<usize>(out) + 24, changetype<usize>(body) + offsetof<Support>('edge0X'), 72);
  out.isTriangle = 0;
}

// The result of the last sweep.
/** The time of contact; -1 if the two overlap at the start. */
export let satTime: f64 = 0;
/** The unit normal from the second to the first, of the contact or of the minimum translation. */
export let satX: f64 = 0, satY: f64 = 0, satZ: f64 = 0;
/** The length of the minimum translation if they overlap at the start. */
export let satDepth: f64 = 0;

let a: Polytope = changetype<Polytope>(0);
let b: Polytope = changetype<Polytope>(0);
let vx: f64 = 0, vy: f64 = 0, vz: f64 = 0;
let speed: f64 = 0;
let margin: f64 = 0;
let entryTime: f64 = 0, exitTime: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;

/** Rounding error of a projection, relative to the sum of its terms. */
const ROUNDING: f64 = 4e-15;
/** A penetration up to this, relative to the width along an axis, counts as touching and not as overlap. */
const TOUCHING: f64 = 1e-9;
/** A motion along an axis up to this, relative to its length, counts as sliding along the surface. */
const SLIDING_TOLERANCE: f64 = 1e-12;
/** Squared sine of the angle below which two edges count as parallel. */
const MIN_SINE_SQUARED: f64 = 1e-12;

/**
 * Sweeps the first polytope along a translation of the given length. Returns whether it hits the second by `limit`. If
 * they only touch at the start and do not approach, that is no hit. The first is inflated by `inflation` on all sides.
 */
export function satSweep(p: Polytope, q: Polytope, x: f64, y: f64, z: f64, length: f64, limit: f64, inflation: f64): bool {
  a = p;
  b = q;
  vx = x; vy = y; vz = z;
  speed = length;
  margin = inflation;
  entryTime = -Infinity;
  exitTime = limit;
  satDepth = Infinity;
  if (!testFaceNormals(p) || !testFaceNormals(q)) return false;
  for (let i: usize = 24; i < 96; i += 24) {
    const e = changetype<usize>(p) + i;
    const ex = load<f64>(e), ey = load<f64>(e, 8), ez = load<f64>(e, 16);
    const ee = ex * ex + ey * ey + ez * ez;
    for (let j: usize = 24; j < 96; j += 24) {
      const f = changetype<usize>(q) + j;
      const fx = load<f64>(f), fy = load<f64>(f, 8), fz = load<f64>(f, 16);
      const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
      const lengthSquared = nx * nx + ny * ny + nz * nz;
      if (lengthSquared <= MIN_SINE_SQUARED * ee * (fx * fx + fy * fy + fz * fz)) continue;
      if (!clipTimesByAxis(nx, ny, nz, lengthSquared)) return false;
    }
  }
  if (p.isTriangle && q.isTriangle && !testInPlaneAxes()) return false;
  if (entryTime > -Infinity) {
    satTime = entryTime;
    satX = normalX; satY = normalY; satZ = normalZ;
    return true;
  }
  satTime = -1;
  return true;
}

/** Tests the face normals as axes. */
function testFaceNormals(p: Polytope): bool {
  if (!testCrossProduct(p.e0X, p.e0Y, p.e0Z, p.e1X, p.e1Y, p.e1Z)) return false;
  if (p.isTriangle) return true;
  return testCrossProduct(p.e1X, p.e1Y, p.e1Z, p.e2X, p.e2Y, p.e2Z) && testCrossProduct(p.e2X, p.e2Y, p.e2Z, p.e0X, p.e0Y, p.e0Z);
}

// @ts-ignore: decorator
@inline
function testCrossProduct(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64): bool {
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const lengthSquared = nx * nx + ny * ny + nz * nz;
  return !(lengthSquared > 0) || clipTimesByAxis(nx, ny, nz, lengthSquared);
}

/** Tests the axes in the planes of two triangles, perpendicular to their edges, for coplanar triangles. */
function testInPlaneAxes(): bool {
  return testInPlaneEdges(a) && testInPlaneEdges(b);
}

function testInPlaneEdges(p: Polytope): bool {
  const nx = p.e0Y * p.e1Z - p.e0Z * p.e1Y, ny = p.e0Z * p.e1X - p.e0X * p.e1Z, nz = p.e0X * p.e1Y - p.e0Y * p.e1X;
  return testCrossProduct(nx, ny, nz, p.e0X, p.e0Y, p.e0Z) && testCrossProduct(nx, ny, nz, p.e1X, p.e1Y, p.e1Z) &&
    testCrossProduct(nx, ny, nz, p.e2X, p.e2Y, p.e2Z);
}

let projectedMin: f64 = 0, projectedMax: f64 = 0, terms: f64 = 0;

// @ts-ignore: decorator
@inline
function project(p: Polytope, x: f64, y: f64, z: f64): void {
  const center = p.x * x + p.y * y + p.z * z;
  const u = p.e0X * x + p.e0Y * y + p.e0Z * z, v = p.e1X * x + p.e1Y * y + p.e1Z * z;
  if (p.isTriangle) {
    projectedMin = center + min(min(u, v), 0.0);
    projectedMax = center + max(max(u, v), 0.0);
    terms = abs(p.x * x) + abs(p.y * y) + abs(p.z * z) + abs(u) + abs(v);
    return;
  }
  const radius = abs(u) + abs(v) + abs(p.e2X * x + p.e2Y * y + p.e2Z * z);
  projectedMin = center - radius;
  projectedMax = center + radius;
  terms = abs(p.x * x) + abs(p.y * y) + abs(p.z * z) + radius;
}

/** Narrows the time in which the two overlap along an axis. Returns false if there is none. */
function clipTimesByAxis(x: f64, y: f64, z: f64, lengthSquared: f64): bool {
  project(a, x, y, z);
  const inflation = margin > 0 ? margin * sqrt(lengthSquared) : 0;
  const minA = projectedMin - inflation, maxA = projectedMax + inflation;
  let tolerance = terms;
  project(b, x, y, z);
  tolerance = (tolerance + terms) * ROUNDING + (maxA - minA) * TOUCHING;
  const rate = vx * x + vy * y + vz * z;
  // How far the first is below the second, and above it.
  const below = projectedMin - maxA, above = minA - projectedMax;
  if (max(below, above) < -tolerance) {
    // They overlap along this axis from the start on.
    if (rate > 0) exitTime = min(exitTime, -above / rate);
    else if (rate < 0) exitTime = min(exitTime, below / rate);
    if (entryTime == -Infinity) offerDepth(x, y, z, min(-below, -above), lengthSquared, above > below);
    return exitTime >= entryTime;
  }
  const isAbove = above > below;
  const closingSpeed = isAbove ? -rate : rate;
  const minSpeed = SLIDING_TOLERANCE * speed * sqrt(lengthSquared);
  if (!(closingSpeed > minSpeed)) return margin > 0 && max(below, above) <= tolerance;
  const entry = max(max(below, above), 0.0) / closingSpeed;
  exitTime = min(exitTime, (isAbove ? maxA - projectedMin : projectedMax - minA) / closingSpeed);
  if (entry > entryTime) {
    entryTime = entry;
    const scale = (isAbove ? 1.0 : -1.0) / sqrt(lengthSquared);
    normalX = x * scale; normalY = y * scale; normalZ = z * scale;
  }
  return exitTime >= entryTime;
}

function offerDepth(x: f64, y: f64, z: f64, overlap: f64, lengthSquared: f64, isAbove: bool): void {
  const length = sqrt(lengthSquared), depth = overlap / length;
  if (!(depth < satDepth)) return;
  satDepth = depth;
  const scale = (isAbove ? 1.0 : -1.0) / length;
  satX = x * scale; satY = y * scale; satZ = z * scale;
}
