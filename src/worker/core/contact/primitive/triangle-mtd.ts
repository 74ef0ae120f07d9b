// Minimum translation distance of one triangle: the shortest translation, in world space, that moves it out of a solid
// on its own. For a box it is exact, by the separating axes. For a round solid it points away from the nearest point,
// which is the shortest if the sphere or capsule is not distorted in the world.

import { Triangle } from '../../math/triangles';
import { CUBE } from './overlapping-triangles';
import { nearestPlace, placeX, placeY, placeZ } from './segment-triangle';
import { faceUnit, half, normalSquare } from './penetration-direction';

/** The normal, in the solid's space, of the planes perpendicular to the shortest translation; of any length. */
export let ownX: f64 = 0, ownY: f64 = 0, ownZ: f64 = 0;
let least: f64 = 0; // square of the translation's length

/** A segment whose distance from a triangle is no greater than this passes through it. */
export const THROUGH: f64 = 1e-9;

/** Finds the shortest translation that moves a triangle out of the solid. Returns its length in the world. */
export function triangleMtd(t: Triangle): f64 {
  if (half == CUBE) return cubeOwnExit(t);
  const distance = sqrt(nearestPlace(half, t, Infinity));
  if (!(distance > THROUGH)) return throughExit(t);
  ownX = placeX;
  ownY = placeY;
  ownZ = placeZ - max(min(placeZ, half), -half);
  return max(1.0 - distance, 0.0) * distance / sqrt(normalSquare(ownX, ownY, ownZ));
}

/** Returns an upper bound of `triangleMtd` that is cheap to compute. */
export function exitOfBounds(t: Triangle): f64 {
  if (half != CUBE) return Infinity;
  const x = 1.0 - max(min(min(t.ax, t.bx), t.cx), -max(max(t.ax, t.bx), t.cx));
  const y = 1.0 - max(min(min(t.ay, t.by), t.cy), -max(max(t.ay, t.by), t.cy));
  const z = 1.0 - max(min(min(t.az, t.bz), t.cz), -max(max(t.az, t.bz), t.cz));
  return max(min(min(x * faceUnit(0), y * faceUnit(1)), z * faceUnit(2)), 0.0);
}

function cubeOwnExit(t: Triangle): f64 {
  const ax = t.ax, ay = t.ay, az = t.az;
  least = Infinity;
  offer(1, 0, 0, min(min(ax, t.bx), t.cx), max(max(ax, t.bx), t.cx), 1);
  offer(0, 1, 0, min(min(ay, t.by), t.cy), max(max(ay, t.by), t.cy), 1);
  offer(0, 0, 1, min(min(az, t.bz), t.cz), max(max(az, t.bz), t.cz), 1);
  offerNormal(t);
  offerEdge(t, t.bx - ax, t.by - ay, t.bz - az);
  offerEdge(t, t.cx - t.bx, t.cy - t.by, t.cz - t.bz);
  offerEdge(t, ax - t.cx, ay - t.cy, az - t.cz);
  return sqrt(least);
}

/**
 * Finds the shortest translation if the triangle intersects the axis of a capsule, or contains the centre of a ball.
 * Returns its length in the world.
 */
function throughExit(t: Triangle): f64 {
  least = Infinity;
  offerNormal(t);
  if (half > 0) {
    offerAcross(t, t.bx - t.ax, t.by - t.ay);
    offerAcross(t, t.cx - t.bx, t.cy - t.by);
    offerAcross(t, t.ax - t.cx, t.ay - t.cy);
  }
  // The triangle is degenerate to a line, up to rounding.
  if (least == Infinity) offer(0, 0, 1, 0, 0, 1.0 + half);
  return sqrt(least);
}

function offerNormal(t: Triangle): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const height = nx * t.ax + ny * t.ay + nz * t.az;
  const radius = half == CUBE ? abs(nx) + abs(ny) + abs(nz) : sqrt(nx * nx + ny * ny + nz * nz) + half * abs(nz);
  offer(nx, ny, nz, height, height, radius);
}

/** Offers the three cross products of an edge with the cube's axes. */
function offerEdge(t: Triangle, x: f64, y: f64, z: f64): void {
  let a = t.az * y - t.ay * z, b = t.bz * y - t.by * z, c = t.cz * y - t.cy * z;
  offer(0, -z, y, min(min(a, b), c), max(max(a, b), c), abs(z) + abs(y));
  a = t.ax * z - t.az * x; b = t.bx * z - t.bz * x; c = t.cx * z - t.cz * x;
  offer(z, 0, -x, min(min(a, b), c), max(max(a, b), c), abs(z) + abs(x));
  a = t.ay * x - t.ax * y; b = t.by * x - t.bx * y; c = t.cy * x - t.cx * y;
  offer(-y, x, 0, min(min(a, b), c), max(max(a, b), c), abs(y) + abs(x));
}

/** Offers the cross product of an edge with the z axis. */
function offerAcross(t: Triangle, x: f64, y: f64): void {
  const a = t.ax * y - t.ay * x, b = t.bx * y - t.by * x, c = t.cx * y - t.cy * x;
  offer(y, -x, 0, min(min(a, b), c), max(max(a, b), c), sqrt(x * x + y * y));
}

/**
 * Offers an axis: `low` to `high` is the triangle's interval on it, `radius` the solid's reach. If both directions are
 * equally long, prefers the one opposite to the axis: away from a face's front.
 */
// @ts-ignore: decorator
@inline
function offer(x: f64, y: f64, z: f64, low: f64, high: f64, radius: f64): void {
  const square = normalSquare(x, y, z);
  if (!(square > 0)) return;
  const against = max(radius + high, 0.0), along = max(radius - low, 0.0);
  const shorter = min(against, along);
  const length = shorter * shorter / square;
  if (!(length < least)) return;
  least = length;
  const sign: f64 = against <= along ? -1 : 1;
  ownX = sign * x;
  ownY = sign * y;
  ownZ = sign * z;
}
