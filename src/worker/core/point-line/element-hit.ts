// A thick ray (thick-ray.ts) against one point or line, in float64.

import { LINE_END, LINE_Y, LINE_Z, POINT_Y, POINT_Z } from './layout';
import {
  ax, ay, az, aw, bx, by, bz, bw, rx, ry, rz, rw, tx, ty, tz, tw, hasRoundCap, isScreenSpace, tEnd, tStart, unitLength,
} from './thick-ray';

/** The closest point of the last tested element, in tree space, and its distance. */
export let foundX: f64 = 0, foundY: f64 = 0, foundZ: f64 = 0;
/**
 * The root of a² + b², plus the squared distance before the beginning of the ray; of a drawn line the squared distance from the
 * place on the screen, per squared r.
 */
export let foundDistanceToRay: f64 = 0;

/** Tests a point. Returns t, or Infinity if there is no hit up to `end`. */
export function intersectPoint(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, POINT_Y), z = <f64>load<f32>(lane, POINT_Z);
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, r = rx * x + ry * y + rz * z + rw;
  let t = tx * x + ty * y + tz * z + tw;
  let distanceSquared = a * a + b * b;
  if (hasRoundCap && t < tStart) {
    distanceSquared += (t - tStart) * unitLength * ((t - tStart) * unitLength);
    t = tStart;
  }
  if (!(r > 0 && (isScreenSpace ? distanceSquared <= r * r : distanceSquared < r * r) && t >= tStart && t <= end))
    return Infinity;
  foundX = x;
  foundY = y;
  foundZ = z;
  foundDistanceToRay = sqrt(distanceSquared);
  return t;
}

/** Squared sine that is no more than the rounding error of 0. */
const PARALLEL: f64 = 2.220446049250313e-16; // 2^-52

/** Tests the part of a line between two fractions of its length. Returns as `intersectPoint`. */
export function intersectLine(lane: usize, from: f64, to: f64, end: f64): f64 {
  return isScreenSpace ? intersectDrawnLine(lane, from, to, end) : intersectNearLine(lane, from, to, end);
}

/**
 * Tests the part of a line between two fractions of its length, at its closest point to the ray; if it is parallel to the ray,
 * at its end farther along, as three's Ray.distanceSqToSegment does. Returns as `intersectPoint`.
 */
function intersectNearLine(lane: usize, from: f64, to: f64, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, t0 = tx * x + ty * y + tz * z + tw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez, rise = tx * ex + ty * ey + tz * ez;
  const acrossSquared = c * c + d * d, along = rise * unitLength;
  let s = rise > 0 ? to : from;
  if (acrossSquared > PARALLEL * (acrossSquared + along * along)) s = f64.min(f64.max(-(a * c + b * d) / acrossSquared, from), to);
  let t = t0 + s * rise;
  let before: f64 = 0;
  if (hasRoundCap && t < tStart) {
    // The closest point to the beginning of the ray.
    const height = (t0 - tStart) * unitLength;
    const lengthSquared = acrossSquared + along * along;
    if (lengthSquared > 0) s = f64.min(f64.max(-(a * c + b * d + height * along) / lengthSquared, from), to);
    t = t0 + s * rise;
    before = f64.min(t - tStart, 0) * unitLength;
    t = f64.max(t, tStart);
  }
  const u = a + s * c, v = b + s * d;
  const distanceSquared = u * u + v * v + before * before;
  if (!(distanceSquared <= rw * rw && t >= tStart && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  foundDistanceToRay = sqrt(distanceSquared);
  return t;
}

/**
 * A line that is drawn no longer than a millionth of r is drawn as a point, up to rounding: its squared length per squared r.
 * It is hit at its end nearer to the eye, which hides the other one.
 */
const POINT_LENGTH_SQUARED: f64 = 9.094947017729282e-13; // 2^-40

/**
 * Tests the drawn part of a line between two fractions of its length, at the point that is drawn closest to the place on the
 * screen. Returns as `intersectPoint`.
 */
function intersectDrawnLine(lane: usize, from: f64, to: f64, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const t0 = tx * x + ty * y + tz * z + tw, rise = tx * ex + ty * ey + tz * ez;
  const r0 = rx * x + ry * y + rz * z + rw, growth = rx * ex + ry * ey + rz * ez;
  // The part between the ray's beginning and its end, and in front of the eye.
  clipStart = from;
  clipEnd = to;
  clipToPositive(t0 - tStart, rise);
  clipToPositive(tEnd - t0, -rise);
  clipToPositive(r0, growth);
  if (!(clipStart <= clipEnd)) return Infinity;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez;
  // r is 0 only where the line crosses the eye's plane.
  const minRadius = f64.max(r0, r0 + growth) * 1e-12;
  const p = f64.max(r0 + clipStart * growth, minRadius), q = f64.max(r0 + clipEnd * growth, minRadius);
  if (!(minRadius > 0)) return Infinity;
  const u = (a + clipStart * c) / p, v = (b + clipStart * d) / p;
  const du = (a + clipEnd * c) / q - u, dv = (b + clipEnd * d) / q - v;
  const lengthSquared = du * du + dv * dv;
  let closest: f64 = rise < 0 ? 1 : 0;
  if (lengthSquared > POINT_LENGTH_SQUARED) closest = f64.min(f64.max(-(u * du + v * dv) / lengthSquared, 0), 1);
  const m = u + closest * du, n = v + closest * dv;
  // Back from the screen, with the perspective correction.
  const s = clipStart + (clipEnd - clipStart) * ((closest * p) / (closest * p + (1.0 - closest) * q));
  const t = f64.min(f64.max(t0 + s * rise, tStart), tEnd);
  foundDistanceToRay = m * m + n * n;
  if (!(foundDistanceToRay <= 1 && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  return t;
}

let clipStart: f64 = 0, clipEnd: f64 = 0;

/** Clips a part of a line to where a function is not negative: `value` at its start, plus `slope` at its end. */
function clipToPositive(value: f64, slope: f64): void {
  if (slope == 0) {
    if (value < 0) clipEnd = -1;
  } else if (slope > 0) clipStart = f64.max(clipStart, -value / slope);
  else clipEnd = f64.min(clipEnd, -value / slope);
}

/** Finds an end of a line as `foundX` and so on: its second one for LINE_END, its first one for 0. */
export function findEnd(lane: usize, end: usize): void {
  foundX = load<f32>(lane + end);
  foundY = load<f32>(lane + end, LINE_Y);
  foundZ = load<f32>(lane + end, LINE_Z);
}
