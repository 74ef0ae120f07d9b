// Closest points of two triangles: a corner of one and a point of the other, or points of two edges. A segment or a point is
// a triangle with repeated corners.

import { Affine, setIdentity } from './affine';
import * as closest from './closest';
import { fromX, fromY, fromZ, intersectionSegment, toX, toY, toZ } from './triangle-intersection-segment';
import { Triangle, trianglesIntersect } from './triangles';

/** The point of the first triangle that is closest to the second. */
export let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;
/** The point of the second triangle that is closest to the first. */
export let otherX: f64 = 0, otherY: f64 = 0, otherZ: f64 = 0;

let minDistanceSquared: f64 = 0;
const movedTriangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/**
 * Returns the squared distance of two triangles that do not intersect, and sets the closest points. For triangles that do, it
 * is the distance of their corners and edges (`distanceOfTriangles` handles them).
 */
export function nearestOfTriangles(p: Triangle, q: Triangle): f64 {
  return nearestWithin(p, q, Infinity);
}

/** Like `nearestOfTriangles` if the squared distance is less than a limit; otherwise it returns the limit. */
export function nearestWithin(p: Triangle, q: Triangle, limit: f64): f64 {
  if (limit < Infinity && areSeparatedByCentroids(p, q, limit)) return limit;
  minDistanceSquared = limit;
  const p0 = changetype<usize>(p), q0 = changetype<usize>(q);
  for (let i: usize = 0; i < 72; i += 24) {
    compareCorner(p0 + i, q0, false);
    compareCorner(q0 + i, p0, true);
    for (let j: usize = 0; j < 72; j += 24) {
      compareEdges(p0 + i, p0 + (i == 48 ? 0 : i + 24), q0 + j, q0 + (j == 48 ? 0 : j + 24));
    }
  }
  return minDistanceSquared;
}

/**
 * Returns the distance of two triangles, and sets the closest points; if they intersect, 0 and the same point twice. They
 * intersect if their float64 coordinates do, exactly.
 */
export function distanceOfTriangles(p: Triangle, q: Triangle): f64 {
  const distance = sqrt(nearestOfTriangles(p, q));
  if (areSeparatedByNearest(p, q) || !trianglesIntersect(p, q)) return distance;
  intersectionSegment(p, q, identity);
  const x = 0.5 * (fromX + toX), y = 0.5 * (fromY + toY), z = 0.5 * (fromZ + toZ);
  setNearest(x, y, z, x, y, z);
  return 0;
}

const identity = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
setIdentity(identity);

/**
 * Returns whether two triangles certainly do not intersect, by the vector between the closest points that
 * `nearestOfTriangles` has just found: whether a plane perpendicular to it separates them.
 */
function areSeparatedByNearest(p: Triangle, q: Triangle): bool {
  const x = otherX - nearestX, y = otherY - nearestY, z = otherZ - nearestZ;
  const ofP = max(max(x * p.ax + y * p.ay + z * p.az, x * p.bx + y * p.by + z * p.bz), x * p.cx + y * p.cy + z * p.cz);
  const ofQ = min(min(x * q.ax + y * q.ay + z * q.az, x * q.bx + y * q.by + z * q.bz), x * q.cx + y * q.cy + z * q.cz);
  return ofP < ofQ;
}

/** Maximum rounding error of a gap along a vector, relative to the lengths in its terms. */
const GAP_ROUNDING: f64 = 7.105427357601002e-15; // 2^-47

/**
 * Returns whether two triangles are certainly farther apart than the root of `limit`, by the vector between their centroids:
 * it rejects most of the pairs that boxes let through, in a tenth of the time.
 */
function areSeparatedByCentroids(p: Triangle, q: Triangle, limit: f64): bool {
  const x = q.ax + q.bx + q.cx - p.ax - p.bx - p.cx;
  const y = q.ay + q.by + q.cy - p.ay - p.by - p.cy;
  const z = q.az + q.bz + q.cz - p.az - p.bz - p.cz;
  const ofP = max(max(x * p.ax + y * p.ay + z * p.az, x * p.bx + y * p.by + z * p.bz), x * p.cx + y * p.cy + z * p.cz);
  const ofQ = min(min(x * q.ax + y * q.ay + z * q.az, x * q.bx + y * q.by + z * q.bz), x * q.cx + y * q.cy + z * q.cz);
  const rounding = GAP_ROUNDING * (abs(ofP) + abs(ofQ) + (abs(x) + abs(y) + abs(z)) * (sizeOf(p) + sizeOf(q)));
  const minGap = ofQ - ofP - rounding;
  return minGap > 0 && minGap * minGap > limit * (x * x + y * y + z * z);
}

/** Returns the largest coordinate of a triangle. */
// @ts-ignore: decorator
@inline
function sizeOf(t: Triangle): f64 {
  return max(
    max(max(max(abs(t.ax), abs(t.ay)), max(abs(t.az), abs(t.bx))), max(max(abs(t.by), abs(t.bz)), abs(t.cx))),
    max(abs(t.cy), abs(t.cz)),
  );
}

function compareCorner(corner: usize, t: usize, isOfSecond: bool): void {
  const x = load<f64>(corner), y = load<f64>(corner, 8), z = load<f64>(corner, 16);
  for (let to = changetype<usize>(movedTriangle), end = to + 72; to < end; to += 24, t += 24) {
    store<f64>(to, load<f64>(t) - x);
    store<f64>(to, load<f64>(t, 8) - y, 8);
    store<f64>(to, load<f64>(t, 16) - z, 16);
  }
  const distanceSquared = closest.nearestOfTriangle(movedTriangle, minDistanceSquared);
  if (!(distanceSquared < minDistanceSquared)) return;
  minDistanceSquared = distanceSquared;
  const px = x + closest.nearestX, py = y + closest.nearestY, pz = z + closest.nearestZ;
  if (isOfSecond) setNearest(px, py, pz, x, y, z);
  else setNearest(x, y, z, px, py, pz);
}

// @ts-ignore: decorator
@inline
function setNearest(x: f64, y: f64, z: f64, u: f64, v: f64, w: f64): void {
  nearestX = x; nearestY = y; nearestZ = z;
  otherX = u; otherY = v; otherZ = w;
}

/** Compares two edges if both closest points are between their ends (Ericson, Real-Time Collision Detection, 2005, 5.1.9). */
function compareEdges(a: usize, b: usize, c: usize, d: usize): void {
  const ax = load<f64>(a), ay = load<f64>(a, 8), az = load<f64>(a, 16);
  const cx = load<f64>(c), cy = load<f64>(c, 8), cz = load<f64>(c, 16);
  const ex = load<f64>(b) - ax, ey = load<f64>(b, 8) - ay, ez = load<f64>(b, 16) - az;
  const fx = load<f64>(d) - cx, fy = load<f64>(d, 8) - cy, fz = load<f64>(d, 16) - cz;
  const wx = ax - cx, wy = ay - cy, wz = az - cz;
  const ee = ex * ex + ey * ey + ez * ez, ff = fx * fx + fy * fy + fz * fz, ef = ex * fx + ey * fy + ez * fz;
  const ew = ex * wx + ey * wy + ez * wz, fw = fx * wx + fy * wy + fz * wz;
  const area = ee * ff - ef * ef;
  const s = (ef * fw - ew * ff) / area, t = (ee * fw - ew * ef) / area;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return;
  const dx = wx + s * ex - t * fx, dy = wy + s * ey - t * fy, dz = wz + s * ez - t * fz;
  const distanceSquared = dx * dx + dy * dy + dz * dz;
  if (!(distanceSquared < minDistanceSquared)) return;
  minDistanceSquared = distanceSquared;
  setNearest(ax + s * ex, ay + s * ey, az + s * ez, cx + t * fx, cy + t * fy, cz + t * fz);
}
