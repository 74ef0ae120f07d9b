// Clips a line to convex bodies: it remains between `enters` and `leaves`, in lengths of its direction, after each body
// has clipped it. If the line misses a body, `enters` is greater than `leaves`.

import { Affine } from '../../math/affine';
import { normalX, normalY, normalZ, setNormal } from '../../mesh/topology/hull';
import { Hull, planeAt } from '../../mesh/topology/hull-layout';
import { Mesh, blockAt, filledLanes } from '../../mesh/tree/layout';
import { Support, inverseOf } from './support';

export let enters: f64 = 0;
export let leaves: f64 = 0;

let lineX: f64 = 0, lineY: f64 = 0, lineZ: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;

/**
 * Sets the line through (x, y, z) along (dx, dy, dz), both relative to the bodies' common origin, from `low` to `high`.
 */
export function setLine(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, low: f64, high: f64): void {
  lineX = x; lineY = y; lineZ = z;
  alongX = dx; alongY = dy; alongZ = dz;
  enters = low;
  leaves = high;
}

/** Clips the line to a body whose inverse is set. */
export function cutLine(body: Support): void {
  const m = inverseOf(body);
  const x = lineX, y = lineY, z = lineZ, dx = alongX, dy = alongY, dz = alongZ;
  const px = m.xx * x + m.yx * y + m.zx * z + m.tx, ux = m.xx * dx + m.yx * dy + m.zx * dz;
  const py = m.xy * x + m.yy * y + m.zy * z + m.ty, uy = m.xy * dx + m.yy * dy + m.zy * dz;
  const pz = m.xz * x + m.yz * y + m.zz * z + m.tz, uz = m.xz * dx + m.yz * dy + m.zz * dz;
  if (body.mesh != 0) cutByHull(body, px, py, pz, ux, uy, uz);
  else if (body.isBox) {
    slab(px, ux, 1);
    slab(py, uy, 1);
    slab(pz, uz, 1);
  } else cutByCapsule(px, py, pz, ux, uy, uz, body.half);
}

// @ts-ignore: decorator
@inline
function cut(low: f64, high: f64): void {
  enters = max(enters, low);
  leaves = min(leaves, high);
}

/** Clips the line to the slab from -half to half along an axis; the line starts at p and moves by u along it. */
function slab(p: f64, u: f64, half: f64): void {
  if (u == 0) {
    if (abs(p) > half * (1 + 1e-9)) enters = Infinity;
    return;
  }
  const over = 1.0 / u, middle = -p * over, reach = abs(half * over);
  cut(middle - reach, middle + reach);
}

/**
 * Clips the line to a capsule, or to a ball if half is 0. Its parts in the two balls and in the cylinder between them
 * form one interval.
 */
function cutByCapsule(px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64, half: f64): void {
  const from = enters, to = leaves;
  let low: f64 = Infinity, high: f64 = -Infinity;
  for (let end = 0; end < (half > 0 ? 2 : 1); end++) {
    const z = end == 0 ? pz - half : pz + half;
    if (!setRoots(px * px + py * py + z * z, px * ux + py * uy + z * uz, ux * ux + uy * uy + uz * uz)) continue;
    low = min(low, root0);
    high = max(high, root1);
  }
  if (half > 0) {
    if (setRoots(px * px + py * py, px * ux + py * uy, ux * ux + uy * uy)) {
      enters = root0;
      leaves = root1;
      slab(pz, uz, half);
    } else enters = Infinity;
    if (enters <= leaves) {
      low = min(low, enters);
      high = max(high, leaves);
    }
  }
  enters = from;
  leaves = to;
  cut(low, high);
}

let root0: f64 = 0;
let root1: f64 = 0;

/**
 * Solves square · t² + 2 · product · t + distance = 1 and sets the two roots. Returns false if there are none; a line
 * that misses by rounding only counts as touching.
 */
function setRoots(distance: f64, product: f64, square: f64): bool {
  if (square == 0) {
    root0 = -Infinity;
    root1 = Infinity;
    return distance <= 1 + 1e-9;
  }
  const middle = -product / square;
  const reach = (1 - (distance + product * middle)) / square;
  if (reach * square < -1e-9) return false;
  const root = sqrt(max(reach, 0.0));
  root0 = middle - root;
  root1 = middle + root;
  return true;
}

/** Clips the line by the plane of each face of a mesh's hull, with the outward orientation that the hull stores. */
function cutByHull(body: Support, px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64): void {
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
        if (height * facing > 1e-6 * facing * facing) enters = Infinity;
      } else if ((speed > 0) == (facing > 0)) leaves = min(leaves, -height / speed);
      else enters = max(enters, -height / speed);
    }
  }
}
