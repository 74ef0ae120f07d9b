// Tests whether the core of a primitive, the centre of a box or ball or the segment of a capsule, is behind a closed
// mesh's surface, by the normal at the surface point nearest to it. At edges and corners that is the angle-weighted sum
// of the adjacent triangles' normals (Bærentzen and Aanæs, "Signed Distance Computation Using the Angle Weighted
// Pseudonormal", 2005).

import { checkpoint } from '../../checkpoint';
import { Triangle } from '../../math/triangles';
import { BATCH_TRIANGLES, overlappingCount, triangleAt } from './overlapping-triangles';
import { nearestPointToSegment, pointX, pointY, pointZ } from './segment-triangle';
import { THROUGH_DISTANCE } from './triangle-mtd';
import { half } from './penetration-direction';

export let nearestTriangle: u32 = 0;
/** Whether the core is behind the surface, or in it. A sheet with faces on both sides has nothing behind it. */
export let isBehind: bool = false;
/** The surface's pseudonormal at the nearest point, pointing outwards. */
export let pseudonormalX: f64 = 0, pseudonormalY: f64 = 0, pseudonormalZ: f64 = 0;

/** The sum of the normals' weights. */
let weightSum: f64 = 0;
/** Opposite normals that cancel each other out leave no more than this, relative to the sum of their weights. */
const MIN_LENGTH: f64 = 1e-12;

/** Points that are no farther apart than this, relative to their coordinates, count as the same. */
const POINT_TOLERANCE: f64 = 1e-9;

/**
 * Finds the triangle nearest to the solid's core and whether the core is behind the surface. `orientation` is -1 if the
 * map to the solid's space mirrors the mesh.
 */
export function findNearest(orientation: f64): void {
  let minDistanceSquared = Infinity;
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  for (let i: u32 = 0; i < overlappingCount; i++) {
    if ((i & (BATCH_TRIANGLES - 1)) == 0) checkpoint(BATCH_TRIANGLES);
    if (boundsDistanceSquared(triangleAt(i)) > minDistanceSquared) continue;
    const distanceSquared = nearestPointToSegment(half, triangleAt(i), minDistanceSquared);
    if (!(distanceSquared < minDistanceSquared)) continue;
    minDistanceSquared = distanceSquared;
    nearestTriangle = i;
    x = pointX;
    y = pointY;
    z = pointZ;
  }
  pseudonormalX = pseudonormalY = pseudonormalZ = weightSum = 0;
  const tolerance = POINT_TOLERANCE * (1.0 + abs(x) + abs(y) + abs(z)), limit = sqrt(minDistanceSquared) + tolerance;
  for (let i: u32 = 0; i < overlappingCount; i++) {
    if ((i & (BATCH_TRIANGLES - 1)) == 0) checkpoint(BATCH_TRIANGLES);
    const triangle = triangleAt(i);
    if (boundsDistanceSquared(triangle) > limit * limit) continue;
    if (!(nearestPointToSegment(half, triangle, limit * limit) < limit * limit)) continue;
    if (abs(pointX - x) + abs(pointY - y) + abs(pointZ - z) <= tolerance) addNormal(triangle, x, y, z, tolerance, orientation);
  }
  const segmentHalf = max(half, 0.0);
  const outwardDot = pseudonormalX * x + pseudonormalY * y + pseudonormalZ * (z - max(min(z, segmentHalf), -segmentHalf));
  isBehind = abs(pseudonormalX) + abs(pseudonormalY) + abs(pseudonormalZ) > MIN_LENGTH * weightSum &&
    (outwardDot > 0 || minDistanceSquared <= THROUGH_DISTANCE * THROUGH_DISTANCE);
}

/**
 * Returns the squared distance of a triangle's bounds from those of the segment, slightly reduced: no point of the
 * triangle is nearer.
 */
// @ts-ignore: decorator
@inline
function boundsDistanceSquared(t: Triangle): f64 {
  const segmentHalf = max(half, 0.0);
  const at = changetype<usize>(t);
  const a = v128.load(at), b = v128.load(at, 24), c = v128.load(at, 48); // x and y
  const lower = f64x2.pmin(f64x2.pmin(a, b), c), upper = f64x2.pmax(f64x2.pmax(a, b), c);
  const across = f64x2.pmax(f64x2.pmax(lower, f64x2.neg(upper)), f64x2.splat(0));
  // Both ends of z: the lowest, and the highest negated.
  const sign = f64x2(1, -1);
  const p = f64x2.mul(v128.load64_splat(at, 16), sign), q = f64x2.mul(v128.load64_splat(at, 40), sign);
  const ends = f64x2.pmin(f64x2.pmin(p, q), f64x2.mul(v128.load64_splat(at, 64), sign));
  const along = f64x2.sub(f64x2.pmax(ends, v128.shuffle<f64>(ends, ends, 1, 0)), f64x2.splat(segmentHalf));
  const beyond = f64x2.pmax(along, f64x2.splat(0));
  const squares = f64x2.mul(across, across);
  const z = f64x2.extract_lane(beyond, 0);
  return (f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1) + z * z) * ROUNDING_FACTOR;
}

/** Compensates some hundred roundings of 2^-53. */
const ROUNDING_FACTOR: f64 = 1.0 - 1e-14;

/** Adds a triangle's unit normal, weighted with the triangle's angle at the point. */
function addNormal(t: Triangle, x: f64, y: f64, z: f64, tolerance: f64, orientation: f64): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  if (length == 0) return;
  const wx = vx - ux, wy = vy - uy, wz = vz - uz;
  // The angle on an edge is π; inside the face any weight will do, since no other triangle contributes.
  let angle: f64 = Math.PI;
  if (isSamePoint(t.ax, t.ay, t.az, x, y, z, tolerance)) angle = angleBetween(length, ux * vx + uy * vy + uz * vz);
  else if (isSamePoint(t.bx, t.by, t.bz, x, y, z, tolerance)) angle = angleBetween(length, -(ux * wx + uy * wy + uz * wz));
  else if (isSamePoint(t.cx, t.cy, t.cz, x, y, z, tolerance)) angle = angleBetween(length, vx * wx + vy * wy + vz * wz);
  weightSum += angle;
  const weight = orientation * angle / length;
  pseudonormalX += weight * nx;
  pseudonormalY += weight * ny;
  pseudonormalZ += weight * nz;
}

// @ts-ignore: decorator
@inline
function isSamePoint(ax: f64, ay: f64, az: f64, x: f64, y: f64, z: f64, tolerance: f64): bool {
  return abs(ax - x) + abs(ay - y) + abs(az - z) <= tolerance;
}

/** Returns the angle between two vectors, from the length of their cross product and their dot product. */
function angleBetween(cross: f64, dot: f64): f64 {
  return Math.atan2(cross, dot);
}
