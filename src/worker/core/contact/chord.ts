// Where a line is in a convex body: inside of it from `enters` to `leaves`, in lengths of its direction. Of a line that
// passes it by, `enters` is the greater one.

import { Affine } from '../math/affine';
import { Mesh, blockAt, triangleOf } from '../mesh/layout';
import { middleX, middleY, middleZ, setMiddle } from '../mesh/middle';
import { Body, setInverse } from './body';

export let enters: f64 = 0;
export let leaves: f64 = 0;

const inverse = changetype<Affine>(memory.data(96, 16));

/** The line through (x, y, z) along (dx, dy, dz), both about the bodies' place. */
export function setChord(body: Body, x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): void {
  setInverse(inverse, body);
  const m = inverse;
  const px = m.xx * x + m.yx * y + m.zx * z + m.tx, ux = m.xx * dx + m.yx * dy + m.zx * dz;
  const py = m.xy * x + m.yy * y + m.zy * z + m.ty, uy = m.xy * dx + m.yy * dy + m.zy * dz;
  const pz = m.xz * x + m.yz * y + m.zz * z + m.tz, uz = m.xz * dx + m.yz * dy + m.zz * dz;
  enters = -Infinity;
  leaves = Infinity;
  if (body.mesh != 0) meshChord(changetype<Mesh>(body.mesh), px, py, pz, ux, uy, uz);
  else if (body.isBox) {
    slab(px, ux, 1);
    slab(py, uy, 1);
    slab(pz, uz, 1);
  } else capsuleChord(px, py, pz, ux, uy, uz, body.half);
}

/** -half … half. */
function slab(p: f64, u: f64, half: f64): void {
  if (u == 0) {
    if (abs(p) > half * (1 + 1e-9)) enters = Infinity;
    return;
  }
  const over = 1.0 / u, middle = -p * over, reach = abs(half * over);
  enters = max(enters, middle - reach);
  leaves = min(leaves, middle + reach);
}

/** What of it is in one of the two balls or in the cylinder between is in one piece. */
function capsuleChord(px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64, half: f64): void {
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
  enters = low;
  leaves = high;
}

let root0: f64 = 0;
let root1: f64 = 0;

/** Of square · t² + 2 · product · t + distance = 1; a line that misses by rounding touches. */
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

/** All planes of a convex mesh's faces, whichever way they are turned: the middle of the mesh is behind them. */
function meshChord(mesh: Mesh, px: f64, py: f64, pz: f64, ux: f64, uy: f64, uz: f64): void {
  setMiddle(mesh);
  const mx = middleX, my = middleY, mz = middleZ;
  const count = mesh.blockCount;
  for (let index: u32 = 0; index < count; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      const at = changetype<usize>(block) + (<usize>lane << 2);
      const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
      const ex = <f64>load<f32>(at, 48) - ax, ey = <f64>load<f32>(at, 64) - ay, ez = <f64>load<f32>(at, 80) - az;
      const fx = <f64>load<f32>(at, 96) - ax, fy = <f64>load<f32>(at, 112) - ay, fz = <f64>load<f32>(at, 128) - az;
      const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
      // Heights over the face, negative where it is in front of the line.
      const depth = nx * (mx - ax) + ny * (my - ay) + nz * (mz - az);
      const sign: f64 = depth > 0 ? -1 : 1;
      const height = sign * (nx * (px - ax) + ny * (py - ay) + nz * (pz - az));
      const speed = sign * (nx * ux + ny * uy + nz * uz);
      if (speed == 0) {
        if (height > 1e-6 * abs(depth)) enters = Infinity;
        continue;
      }
      const t = -height / speed;
      if (speed > 0) leaves = min(leaves, t);
      else enters = max(enters, t);
    }
  }
}
