// Minimum translation distance of one triangle: the shortest translation, in world space, that moves it out of a solid
// on its own. For a box it is exact, by the separating axes. For a round solid it points away from the nearest point,
// which is the shortest if the sphere or capsule is not distorted in the world.

import { Triangle } from '../../math/triangles';
import { CUBE } from './overlapping-triangles';
import { nearestPointToSegment, pointX, pointY, pointZ } from './segment-triangle';
import { worldPerUnitAlong, half, normalLengthSquared } from './penetration-direction';

/** The normal, in the solid's space, of the planes perpendicular to the shortest translation; of any length. */
export let mtdX: f64 = 0, mtdY: f64 = 0, mtdZ: f64 = 0;
let minLengthSquared: f64 = 0; // square of the translation's length

/** A segment whose distance from a triangle is no greater than this passes through it. */
export const THROUGH_DISTANCE: f64 = 1e-9;

/** Finds the shortest translation that moves a triangle out of the solid. Returns its length in the world. */
export function triangleMtd(t: Triangle): f64 {
  if (half == CUBE) return cubeMtd(t);
  const distance = sqrt(nearestPointToSegment(half, t, Infinity));
  if (!(distance > THROUGH_DISTANCE)) return throughMtd(t);
  mtdX = pointX;
  mtdY = pointY;
  mtdZ = pointZ - max(min(pointZ, half), -half);
  return max(1.0 - distance, 0.0) * distance / sqrt(normalLengthSquared(mtdX, mtdY, mtdZ));
}

/** Returns an upper bound of `triangleMtd` that is cheap to compute. */
export function mtdBound(t: Triangle): f64 {
  if (half != CUBE) return Infinity;
  const x = 1.0 - max(min(min(t.ax, t.bx), t.cx), -max(max(t.ax, t.bx), t.cx));
  const y = 1.0 - max(min(min(t.ay, t.by), t.cy), -max(max(t.ay, t.by), t.cy));
  const z = 1.0 - max(min(min(t.az, t.bz), t.cz), -max(max(t.az, t.bz), t.cz));
  return max(min(min(x * worldPerUnitAlong(0), y * worldPerUnitAlong(1)), z * worldPerUnitAlong(2)), 0.0);
}

function cubeMtd(t: Triangle): f64 {
  const ax = t.ax, ay = t.ay, az = t.az;
  minLengthSquared = Infinity;
  offerAxis(1, 0, 0, min(min(ax, t.bx), t.cx), max(max(ax, t.bx), t.cx), 1);
  offerAxis(0, 1, 0, min(min(ay, t.by), t.cy), max(max(ay, t.by), t.cy), 1);
  offerAxis(0, 0, 1, min(min(az, t.bz), t.cz), max(max(az, t.bz), t.cz), 1);
  offerFaceNormal(t);
  offerEdgeAxes(t, t.bx - ax, t.by - ay, t.bz - az);
  offerEdgeAxes(t, t.cx - t.bx, t.cy - t.by, t.cz - t.bz);
  offerEdgeAxes(t, ax - t.cx, ay - t.cy, az - t.cz);
  return sqrt(minLengthSquared);
}

/**
 * Finds the shortest translation if the triangle intersects the axis of a capsule, or contains the centre of a ball.
 * Returns its length in the world.
 */
function throughMtd(t: Triangle): f64 {
  minLengthSquared = Infinity;
  offerFaceNormal(t);
  if (half > 0) {
    offerEdgeCrossZ(t, t.bx - t.ax, t.by - t.ay);
    offerEdgeCrossZ(t, t.cx - t.bx, t.cy - t.by);
    offerEdgeCrossZ(t, t.ax - t.cx, t.ay - t.cy);
  }
  // The triangle is degenerate to a line, up to rounding.
  if (minLengthSquared == Infinity) offerAxis(0, 0, 1, 0, 0, 1.0 + half);
  return sqrt(minLengthSquared);
}

function offerFaceNormal(t: Triangle): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const height = nx * t.ax + ny * t.ay + nz * t.az;
  const radius = half == CUBE ? abs(nx) + abs(ny) + abs(nz) : sqrt(nx * nx + ny * ny + nz * nz) + half * abs(nz);
  offerAxis(nx, ny, nz, height, height, radius);
}

/** Offers the three cross products of an edge with the cube's axes. */
function offerEdgeAxes(t: Triangle, x: f64, y: f64, z: f64): void {
  let a = t.az * y - t.ay * z, b = t.bz * y - t.by * z, c = t.cz * y - t.cy * z;
  offerAxis(0, -z, y, min(min(a, b), c), max(max(a, b), c), abs(z) + abs(y));
  a = t.ax * z - t.az * x; b = t.bx * z - t.bz * x; c = t.cx * z - t.cz * x;
  offerAxis(z, 0, -x, min(min(a, b), c), max(max(a, b), c), abs(z) + abs(x));
  a = t.ay * x - t.ax * y; b = t.by * x - t.bx * y; c = t.cy * x - t.cx * y;
  offerAxis(-y, x, 0, min(min(a, b), c), max(max(a, b), c), abs(y) + abs(x));
}

/** Offers the cross product of an edge with the z axis. */
function offerEdgeCrossZ(t: Triangle, x: f64, y: f64): void {
  const a = t.ax * y - t.ay * x, b = t.bx * y - t.by * x, c = t.cx * y - t.cy * x;
  offerAxis(y, -x, 0, min(min(a, b), c), max(max(a, b), c), sqrt(x * x + y * y));
}

/**
 * Offers an axis: `lower` to `upper` is the triangle's interval on it, `radius` the solid's reach. If both directions are
 * equally long, prefers the one opposite to the axis: away from a face's front.
 */
// @ts-ignore: decorator
@inline
function offerAxis(x: f64, y: f64, z: f64, lower: f64, upper: f64, radius: f64): void {
  const normalSquared = normalLengthSquared(x, y, z);
  if (!(normalSquared > 0)) return;
  const exitAgainst = max(radius + upper, 0.0), exitAlong = max(radius - lower, 0.0);
  const shorterExit = min(exitAgainst, exitAlong);
  const lengthSquared = shorterExit * shorterExit / normalSquared;
  if (!(lengthSquared < minLengthSquared)) return;
  minLengthSquared = lengthSquared;
  const sign: f64 = exitAgainst <= exitAlong ? -1 : 1;
  mtdX = sign * x;
  mtdY = sign * y;
  mtdZ = sign * z;
}
