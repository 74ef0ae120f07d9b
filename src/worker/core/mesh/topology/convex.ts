// Decides whether a mesh is the surface of a convex solid: whether nothing of it is in front of any of its faces. Each
// face asks the tree for a vertex beyond its plane. A face whose plane is as good as one that has been asked about
// already is not asked about again, so flat sides of many triangles take a few searches. Tree space, float64; a face
// may be passed by no more than rounding its corners to float32 can do.

import { allocate } from '../../memory';
import { addPlane, clearPlanes, isAnyBeyond } from '../query/beyond-planes';
import { dipoleAt } from '../tree/dipoles';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf } from './derivation-state';

/** The error of a height from rounding the corners to float32, in tree space, which reaches to 2 either way. */
const ROUNDING: f64 = 2.384185791015625e-7; // 2^-22
/** The diagonal of tree space, rounded up: 4 · √3. */
const WIDEST: f64 = 7;
/** The length of the farthest place of tree space, rounded up: 2 · √3. */
const FARTHEST: f64 = 3.5;

/** A plane that nothing is in front of by more than its margin: unit normal, and its height along that. */
@unmanaged
class Proven {
  x: f64; y: f64; z: f64;
  height: f64;
  margin: f64;
}

const PROVEN_BYTES: usize = offsetof<Proven>();
/** How many planes are remembered: more than the sides that meet in any place of what people tessellate. */
const MOST_PROVEN: u32 = 16;

// @ts-ignore: decorator
@inline
function provenAt(d: Derivation, index: u32): Proven {
  return changetype<Proven>(d.proven + <usize>index * PROVEN_BYTES);
}

export function beginConvex(d: Derivation): void {
  // Behind the proven ones is the last face's plane; no plane yet lies anywhere.
  d.proven = allocate(<u64>(MOST_PROVEN + 1) * PROVEN_BYTES);
  setPlane(provenAt(d, MOST_PROVEN), 0, 0, 0, Infinity, 0);
  d.provenCount = d.provenLast = 0;
  d.side = 0;
  d.isConcave = meshOf(d).closed == 0 ? 1 : 0;
}

/**
 * Sets `isConcave` where the mesh is not convex by a face of blocks from `start` to `end`. Sets how the faces are
 * turned.
 */
export function testBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    const block = blockAt(mesh, index);
    clearPlanes();
    isFlat = false;
    let isSound = true;
    for (let lanes = filledLanes(block); lanes != 0 && isSound; lanes &= lanes - 1) {
      isSound = addFace(d, changetype<usize>(block) + (<usize>ctz(lanes) << 2));
    }
    if (!isSound || isAnyBeyond(mesh)) {
      d.isConcave = 1;
      return;
    }
    if (isFlat) proveLast(d);
  }
}

/** Whether the last face that was added lies in the plane of the one before. */
let isFlat: bool = false;

/** Remembers the last face's plane if half of its margin suffices. */
function proveLast(d: Derivation): void {
  const last = provenAt(d, MOST_PROVEN);
  clearPlanes();
  addPlane(last.x, last.y, last.z, last.height + last.margin);
  if (!isAnyBeyond(meshOf(d))) addProven(d, last);
}

/**
 * Adds the face's plane to the planes that nothing may be in front of. Answers false where it is turned unlike the
 * others.
 */
function addFace(d: Derivation, at: usize): bool {
  const mesh = meshOf(d);
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - ax, ey = <f64>load<f32>(at, 64) - ay, ez = <f64>load<f32>(at, 80) - az;
  const fx = <f64>load<f32>(at, 96) - ax, fy = <f64>load<f32>(at, 112) - ay, fz = <f64>load<f32>(at, 128) - az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const gx = fx - ex, gy = fy - ey, gz = fz - ez;
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const longest = sqrt(max(max(ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz), gx * gx + gy * gy + gz * gz));
  // A corner moved by rounding tips the plane by that over the triangle's least altitude.
  const margin = ROUNDING * (1 + WIDEST * longest / length);
  // The middle of the surface is behind all faces of a convex one.
  const middle = dipoleAt(mesh, 0);
  const depth = (nx * (ax - <f64>middle.x) + ny * (ay - <f64>middle.y) + nz * (az - <f64>middle.z)) / length;
  if (abs(depth) > margin) {
    const side = depth < 0 ? -1 : 1;
    if (d.side == -side) return false;
    d.side = side;
  }
  const over: f64 = (depth < 0 ? -1.0 : 1.0) / length;
  const x = nx * over, y = ny * over, z = nz * over;
  const height = x * ax + y * ay + z * az;
  // NaN comes of a triangle too thin to have a normal: nobody can say what is in front of it.
  if (!(margin < Infinity)) return true;
  if (isProven(d, x, y, z, height, margin)) return true;
  addPlane(x, y, z, height + margin);
  // Where the face before lies in the plane as well, more are likely to: half of the margin is left for those.
  const last = provenAt(d, MOST_PROVEN);
  isFlat = tip(last, x, y, z, height) <= 0.5 * margin;
  setPlane(last, x, y, z, height, 0.5 * margin);
  return true;
}

/** Answers by how much a plane may be in front of another one anywhere in tree space. */
// @ts-ignore: decorator
@inline
function tip(p: Proven, x: f64, y: f64, z: f64, height: f64): f64 {
  const dx = p.x - x, dy = p.y - y, dz = p.z - z;
  return FARTHEST * sqrt(dx * dx + dy * dy + dz * dz) + abs(p.height - height);
}

// @ts-ignore: decorator
@inline
function setPlane(p: Proven, x: f64, y: f64, z: f64, height: f64, margin: f64): void {
  p.x = x; p.y = y; p.z = z;
  p.height = height;
  p.margin = margin;
}

/** Tells whether a proven plane implies that nothing is farther in front of this one than its margin. */
function isProven(d: Derivation, x: f64, y: f64, z: f64, height: f64, margin: f64): bool {
  for (let i: u32 = 0; i < d.provenCount; i++) {
    const p = provenAt(d, i);
    if (p.margin + tip(p, x, y, z, height) > margin) continue;
    if (i > 0) swapProven(p, provenAt(d, i - 1));
    return true;
  }
  return false;
}

/** Swaps two proven planes, which moves the one that was of use towards the front, where planes stay longest. */
function swapProven(p: Proven, q: Proven): void {
  for (let at: usize = 0; at < PROVEN_BYTES; at += 8) {
    const value = load<f64>(changetype<usize>(p) + at);
    store<f64>(changetype<usize>(p) + at, load<f64>(changetype<usize>(q) + at));
    store<f64>(changetype<usize>(q) + at, value);
  }
}

/** Remembers a plane, in place of a plane in the back half when there is no room. */
function addProven(d: Derivation, p: Proven): void {
  if (d.provenCount < MOST_PROVEN) d.provenLast = d.provenCount++;
  else d.provenLast = d.provenLast + 1 < MOST_PROVEN ? d.provenLast + 1 : MOST_PROVEN >> 1;
  memory.copy(changetype<usize>(provenAt(d, d.provenLast)), changetype<usize>(p), PROVEN_BYTES);
}
