// Clips a line to convex bodies: it remains between `tMin` and `tMax`, in lengths of its direction, after each body
// has clipped it. If the line misses a body, `tMin` is greater than `tMax`.

import { Affine } from '../../math/affine';
import { normalX, normalY, normalZ, setNormal } from '../../mesh/topology/hull';
import { Hull, planeAt } from '../../mesh/topology/hull-layout';
import { Mesh, blockAt, filledLanes } from '../../mesh/tree/layout';
import { Support, inverseOf } from './support';

export let tMin: f64 = 0;
export let tMax: f64 = 0;

let lineX: f64 = 0, lineY: f64 = 0, lineZ: f64 = 0;
let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;

/**
 * Sets the line through (x, y, z) along (dx, dy, dz), both relative to the bodies' common origin, from `lower` to `upper`.
 */
export function setLine(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, lower: f64, upper: f64): void {
  lineX = x; lineY = y; lineZ = z;
  directionX = dx; directionY = dy; directionZ = dz;
  tMin = lower;
  tMax = upper;
}

/** Clips the line to a body whose inverse is set. */
export function clipLine(body: Support): void {
  const m = inverseOf(body);
  const x = lineX, y = lineY, z = lineZ, dx = directionX, dy = directionY, dz = directionZ;
  const px = m.xx * x + m.yx * y + m.zx * z + m.tx, ux = m.xx * dx + m.yx * dy + m.zx * dz;
  const py = m.xy * x + m.yy * y + m.zy * z + m.ty, uy = m.xy * dx + m.yy * dy + m.zy * dz;
  const pz = m.xz * x + m.yz * y + m.zz * z + m.tz, uz = m.xz * dx + m.yz * dy + m.zz * dz;
  if (body.mesh != 0) clipByHull(body, px, py, pz, ux, uy, uz);
  else if (body.isBox) {
    clipBySlab(px, ux, 1);
    clipBySlab(py, uy, 1);
    clipBySlab(pz, uz, 1);
  } else clipByCapsule(px, py, pz, ux, uy, uz, body.half);
}

// @ts-ignore: decorator
@inline
function clipInterval(lower: f64, upper: f64): void {
  tMin = max(tMin, lower);
  tMax = min(tMax, upper);
}

/** Clips the line to the slab from -half to half along an axis; the line starts at p and moves by u along it. */
function clipBySlab(p: f64, u: f64, half: f64): void {
  if (u == 0) {
    if (abs(p) > half * (1 + 1e-9)) tMin = Infinity;
    return;
  }
  const reciprocal = 1.0 / u, center = -p * reciprocal, halfWidth = abs(half * reciprocal);
  clipInterval(center - halfWidth, center + halfWidth);
}

/**
 * Clips the line to a capsule, or to a ball if half is 0. Its parts in the two balls and in the cylinder between them
 * form one interval.
 */
function clipByCapsule(px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64, half: f64): void {
  const savedMin = tMin, savedMax = tMax;
  let lower: f64 = Infinity, upper: f64 = -Infinity;
  for (let end = 0; end < (half > 0 ? 2 : 1); end++) {
    const z = end == 0 ? pz - half : pz + half;
    if (!setRoots(px * px + py * py + z * z, px * ux + py * uy + z * uz, ux * ux + uy * uy + uz * uz)) continue;
    lower = min(lower, root0);
    upper = max(upper, root1);
  }
  if (half > 0) {
    if (setRoots(px * px + py * py, px * ux + py * uy, ux * ux + uy * uy)) {
      tMin = root0;
      tMax = root1;
      clipBySlab(pz, uz, half);
    } else tMin = Infinity;
    if (tMin <= tMax) {
      lower = min(lower, tMin);
      upper = max(upper, tMax);
    }
  }
  tMin = savedMin;
  tMax = savedMax;
  clipInterval(lower, upper);
}

let root0: f64 = 0;
let root1: f64 = 0;

/**
 * Solves lengthSquared · t² + 2 · product · t + distanceSquared = 1 and sets its roots. Returns false if there are none; a line
 * that misses by rounding only counts as touching.
 */
function setRoots(distanceSquared: f64, product: f64, lengthSquared: f64): bool {
  if (lengthSquared == 0) {
    root0 = -Infinity;
    root1 = Infinity;
    return distanceSquared <= 1 + 1e-9;
  }
  const center = -product / lengthSquared;
  const halfWidthSquared = (1 - (distanceSquared + product * center)) / lengthSquared;
  if (halfWidthSquared * lengthSquared < -1e-9) return false;
  const halfWidth = sqrt(max(halfWidthSquared, 0.0));
  root0 = center - halfWidth;
  root1 = center + halfWidth;
  return true;
}

/** Clips the line by the plane of each face of a mesh's hull, with the outward orientation that the hull stores. */
function clipByHull(body: Support, px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64): void {
  const mesh = changetype<Mesh>(body.mesh);
  const hull = changetype<Hull>(<usize>body.hull);
  let count: u32 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      const plane = planeAt(hull, count++);
      const triangle = changetype<usize>(block) + (<usize>ctz(lanes) << 2);
      setNormal(triangle);
      const x = normalX, y = normalY, z = normalZ;
      const facing = x * <f64>load<f32>(plane) + y * <f64>load<f32>(plane, 16) + z * <f64>load<f32>(plane, 32);
      const height =
        x * (px - <f64>load<f32>(triangle)) + y * (py - <f64>load<f32>(triangle, 16)) +
        z * (pz - <f64>load<f32>(triangle, 32));
      const speed = x * ux + y * uy + z * uz;
      if (speed == 0) {
        if (height * facing > 1e-6 * facing * facing) tMin = Infinity;
      } else if ((speed > 0) == (facing > 0)) tMax = min(tMax, -height / speed);
      else tMin = max(tMin, -height / speed);
    }
  }
}
