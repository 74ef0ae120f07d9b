// Whether the middle of a solid, the centre of a box or ball or the segment of a capsule, is behind a closed mesh's
// surface: by the normal where the surface is nearest to it, which at edges and corners is that of the triangles
// there, each by its angle (Bærentzen and Aanæs, "Signed Distance Computation Using the Angle Weighted Pseudonormal",
// 2005).

import { Triangle } from '../../math/triangles';
import { metCount, triangleAt } from '../met';
import { nearestPlace, placeX, placeY, placeZ } from './segment-triangle';
import { THROUGH } from './triangle-mtd';
import { half } from './penetration-direction';

export let nearestTriangle: u32 = 0;
/** Also when it is in the surface. */
export let isBehind: bool = false;
/** The surface's normal there, to its outer side. */
export let behindX: f64 = 0, behindY: f64 = 0, behindZ: f64 = 0;

/** Places no farther from each other, relative to their distance, are one. */
const SAME: f64 = 1e-9;

/** `orientation` is -1 where the map to the solid's space turns the mesh inside out. */
export function findNearest(orientation: f64): void {
  let least = Infinity;
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  for (let i: u32 = 0; i < metCount; i++) {
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
  for (let i: u32 = 0; i < metCount; i++) {
    const triangle = triangleAt(i);
    if (!(nearestPlace(half, triangle, limit * limit) < limit * limit)) continue;
    if (abs(placeX - x) + abs(placeY - y) + abs(placeZ - z) <= same) addNormal(triangle, x, y, z, same, orientation);
  }
  const reach = max(half, 0.0);
  const outwards = behindX * x + behindY * y + behindZ * (z - max(min(z, reach), -reach));
  isBehind = outwards > 0 || least <= THROUGH * THROUGH;
}

/** Unit, times the angle of the triangle at the place. */
function addNormal(t: Triangle, x: f64, y: f64, z: f64, same: f64, orientation: f64): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  if (length == 0) return;
  const wx = vx - ux, wy = vy - uy, wz = vz - uz;
  // On an edge it is half a turn, and in the face there is no other triangle.
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

/** The angle of two vectors, by the lengths of their cross product and their dot product. */
function between(cross: f64, dot: f64): f64 {
  return Math.atan2(cross, dot);
}
