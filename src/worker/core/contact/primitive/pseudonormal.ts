// Tests whether the core of a primitive, the centre of a box or ball or the segment of a capsule, is behind a closed
// mesh's surface, by the normal at the surface point nearest to it. At edges and corners that is the angle-weighted sum
// of the adjacent triangles' normals (Bærentzen and Aanæs, "Signed Distance Computation Using the Angle Weighted
// Pseudonormal", 2005).

import { checkpoint } from '../../checkpoint';
import { Triangle } from '../../math/triangles';
import { CHUNK, overlappingCount, triangleAt } from './overlapping-triangles';
import { nearestPlace, placeX, placeY, placeZ } from './segment-triangle';
import { THROUGH } from './triangle-mtd';
import { half } from './penetration-direction';

export let nearestTriangle: u32 = 0;
/** Whether the core is behind the surface, or in it. */
export let isBehind: bool = false;
/** The surface's pseudonormal at the nearest point, pointing outwards. */
export let behindX: f64 = 0, behindY: f64 = 0, behindZ: f64 = 0;

/** Points that are no farther apart than this, relative to their coordinates, count as the same. */
const SAME: f64 = 1e-9;

/**
 * Finds the triangle nearest to the solid's core and whether the core is behind the surface. `orientation` is -1 if the
 * map to the solid's space mirrors the mesh.
 */
export function findNearest(orientation: f64): void {
  let least = Infinity;
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  for (let i: u32 = 0; i < overlappingCount; i++) {
    if ((i & (CHUNK - 1)) == 0) checkpoint(CHUNK);
    if (boundsSquare(triangleAt(i)) > least) continue;
    const square = nearestPlace(half, triangleAt(i), least);
    if (!(square < least)) continue;
    least = square;
    nearestTriangle = i;
    x = placeX;
    y = placeY;
    z = placeZ;
  }
  behindX = behindY = behindZ = 0;
  const same = SAME * (1.0 + abs(x) + abs(y) + abs(z)), limit = sqrt(least) + same;
  for (let i: u32 = 0; i < overlappingCount; i++) {
    if ((i & (CHUNK - 1)) == 0) checkpoint(CHUNK);
    const triangle = triangleAt(i);
    if (boundsSquare(triangle) > limit * limit) continue;
    if (!(nearestPlace(half, triangle, limit * limit) < limit * limit)) continue;
    if (abs(placeX - x) + abs(placeY - y) + abs(placeZ - z) <= same) addNormal(triangle, x, y, z, same, orientation);
  }
  const reach = max(half, 0.0);
  const outwards = behindX * x + behindY * y + behindZ * (z - max(min(z, reach), -reach));
  isBehind = outwards > 0 || least <= THROUGH * THROUGH;
}

/**
 * Returns the squared distance of a triangle's bounds from those of the segment, slightly reduced: no point of the
 * triangle is nearer.
 */
// @ts-ignore: decorator
@inline
function boundsSquare(t: Triangle): f64 {
  const reach = max(half, 0.0);
  const at = changetype<usize>(t);
  const a = v128.load(at), b = v128.load(at, 24), c = v128.load(at, 48); // x and y
  const low = f64x2.pmin(f64x2.pmin(a, b), c), high = f64x2.pmax(f64x2.pmax(a, b), c);
  const across = f64x2.pmax(f64x2.pmax(low, f64x2.neg(high)), f64x2.splat(0));
  // Both ends of z: the lowest, and the highest negated.
  const sign = f64x2(1, -1);
  const p = f64x2.mul(v128.load64_splat(at, 16), sign), q = f64x2.mul(v128.load64_splat(at, 40), sign);
  const ends = f64x2.pmin(f64x2.pmin(p, q), f64x2.mul(v128.load64_splat(at, 64), sign));
  const along = f64x2.sub(f64x2.pmax(ends, v128.shuffle<f64>(ends, ends, 1, 0)), f64x2.splat(reach));
  const beyond = f64x2.pmax(along, f64x2.splat(0));
  const squares = f64x2.mul(across, across);
  const z = f64x2.extract_lane(beyond, 0);
  return (f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1) + z * z) * A_HAIR_LESS;
}

/** Compensates some hundred roundings of 2^-53. */
const A_HAIR_LESS: f64 = 1.0 - 1e-14;

/** Adds a triangle's unit normal, weighted with the triangle's angle at the point. */
function addNormal(t: Triangle, x: f64, y: f64, z: f64, same: f64, orientation: f64): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  if (length == 0) return;
  const wx = vx - ux, wy = vy - uy, wz = vz - uz;
  // The angle on an edge is π; inside the face any weight will do, since no other triangle contributes.
  let angle: f64 = Math.PI;
  if (isAt(t.ax, t.ay, t.az, x, y, z, same)) angle = between(length, ux * vx + uy * vy + uz * vz);
  else if (isAt(t.bx, t.by, t.bz, x, y, z, same)) angle = between(length, -(ux * wx + uy * wy + uz * wz));
  else if (isAt(t.cx, t.cy, t.cz, x, y, z, same)) angle = between(length, vx * wx + vy * wy + vz * wz);
  const weight = orientation * angle / length;
  behindX += weight * nx;
  behindY += weight * ny;
  behindZ += weight * nz;
}

// @ts-ignore: decorator
@inline
function isAt(ax: f64, ay: f64, az: f64, x: f64, y: f64, z: f64, same: f64): bool {
  return abs(ax - x) + abs(ay - y) + abs(az - z) <= same;
}

/** Returns the angle between two vectors, from the length of their cross product and their dot product. */
function between(cross: f64, dot: f64): f64 {
  return Math.atan2(cross, dot);
}
