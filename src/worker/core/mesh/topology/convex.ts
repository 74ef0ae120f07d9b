// Decides whether a mesh is the surface of a convex solid: whether none of it is in front of any of its faces. For each
// face, the tree is searched for a vertex beyond the face's plane. A face is skipped if its plane follows from one that
// was tested already, so flat sides of many triangles take few searches. Tree space, float64; a vertex may be in front
// of a face by no more than the rounding of the corners to float32 can cause.

import { allocate } from '../../memory';
import { addPlane, clearPlanes, hasVertexBeyond } from '../query/beyond-planes';
import { dipoleAt } from '../tree/dipoles';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf } from './derivation-state';

/** The error of a height due to rounding the corners to float32, in tree space, which reaches to 2 either way. */
const ROUNDING: f64 = 2.384185791015625e-7; // 2^-22
/** The diagonal of tree space, rounded up: 4 · √3. */
const MAX_TILT_DISTANCE: f64 = 7;
/** The distance of the farthest point of tree space from its origin, rounded up: 2 · √3. */
const MAX_RADIUS: f64 = 3.5;

/** A plane that nothing is in front of by more than its margin: its unit normal, and its height along it. */
@unmanaged
class ProvenPlane {
  x: f64; y: f64; z: f64;
  height: f64;
  margin: f64;
}

const PROVEN_PLANE_BYTES: usize = offsetof<ProvenPlane>();
/** How many planes are remembered: more than the number of sides that meet anywhere in a typical tessellated surface. */
const MAX_PROVEN: u32 = 16;

// @ts-ignore: decorator
@inline
function provenAt(d: Derivation, index: u32): ProvenPlane {
  return changetype<ProvenPlane>(d.proven + <usize>index * PROVEN_PLANE_BYTES);
}

export function beginConvex(d: Derivation): void {
  // The last face's plane follows the proven ones; planes that are not set yet are at infinity.
  d.proven = allocate(<u64>(MAX_PROVEN + 1) * PROVEN_PLANE_BYTES);
  setPlane(provenAt(d, MAX_PROVEN), 0, 0, 0, Infinity, 0);
  d.provenCount = d.provenLast = 0;
  d.side = 0;
  d.isConcave = meshOf(d).closed == 0 ? 1 : 0;
}

/**
 * Sets `isConcave` if a face of blocks from `start` to `end` proves that the mesh is not convex. Sets the orientation of
 * the faces.
 */
export function testBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end && !d.isConcave; index++) {
    const block = blockAt(mesh, index);
    clearPlanes();
    isCoplanar = false;
    let isSound = true;
    for (let lanes = filledLanes(block); lanes != 0 && isSound; lanes &= lanes - 1) {
      isSound = addFace(d, changetype<usize>(block) + (<usize>ctz(lanes) << 2));
    }
    if (!isSound || hasVertexBeyond(mesh)) d.isConcave = 1;
    else if (isCoplanar) proveLast(d);
  }
}

/** Whether the face that was added last lies in the plane of the previous one. */
let isCoplanar: bool = false;

/** Remembers the last face's plane if half of its margin is enough. */
function proveLast(d: Derivation): void {
  const last = provenAt(d, MAX_PROVEN);
  clearPlanes();
  addPlane(last.x, last.y, last.z, last.height + last.margin);
  if (!hasVertexBeyond(meshOf(d))) addProven(d, last);
}

/**
 * Adds the face's plane to the planes that nothing may be in front of. Returns false if its orientation differs from the
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
  // If rounding moves a corner, the plane tilts by that distance divided by the triangle's least altitude.
  const margin = ROUNDING * (1 + MAX_TILT_DISTANCE * longest / length);
  // The centre of a convex surface is behind all of its faces.
  const center = dipoleAt(mesh, 0);
  const depth = (nx * (ax - <f64>center.x) + ny * (ay - <f64>center.y) + nz * (az - <f64>center.z)) / length;
  if (abs(depth) > margin) {
    const side = depth < 0 ? -1 : 1;
    if (d.side == -side) return false;
    d.side = side;
  }
  const reciprocal: f64 = (depth < 0 ? -1.0 : 1.0) / length;
  const x = nx * reciprocal, y = ny * reciprocal, z = nz * reciprocal;
  const height = x * ax + y * ay + z * az;
  // NaN results from a triangle too thin to have a normal: nothing can be proven to be in front of it.
  if (!(margin < Infinity)) return true;
  if (isProven(d, x, y, z, height, margin)) return true;
  addPlane(x, y, z, height + margin);
  // If the previous face lies in the same plane, further ones are likely to: half of the margin is reserved for those.
  const last = provenAt(d, MAX_PROVEN);
  isCoplanar = planeDeviation(last, x, y, z, height) <= 0.5 * margin;
  setPlane(last, x, y, z, height, 0.5 * margin);
  return true;
}

/** Returns by how much one plane may be in front of another anywhere in tree space. */
// @ts-ignore: decorator
@inline
function planeDeviation(p: ProvenPlane, x: f64, y: f64, z: f64, height: f64): f64 {
  const dx = p.x - x, dy = p.y - y, dz = p.z - z;
  return MAX_RADIUS * sqrt(dx * dx + dy * dy + dz * dz) + abs(p.height - height);
}

// @ts-ignore: decorator
@inline
function setPlane(p: ProvenPlane, x: f64, y: f64, z: f64, height: f64, margin: f64): void {
  p.x = x; p.y = y; p.z = z;
  p.height = height;
  p.margin = margin;
}

/** Returns whether a proven plane implies that nothing is in front of this one by more than its margin. */
function isProven(d: Derivation, x: f64, y: f64, z: f64, height: f64, margin: f64): bool {
  for (let i: u32 = 0; i < d.provenCount; i++) {
    const p = provenAt(d, i);
    if (p.margin + planeDeviation(p, x, y, z, height) > margin) continue;
    if (i > 0) swapProven(p, provenAt(d, i - 1));
    return true;
  }
  return false;
}

/** Swaps two proven planes, to move the one that was useful towards the front, where planes stay longest. */
function swapProven(p: ProvenPlane, q: ProvenPlane): void {
  for (let at: usize = 0; at < PROVEN_PLANE_BYTES; at += 8) {
    const value = load<f64>(changetype<usize>(p) + at);
    store<f64>(changetype<usize>(p) + at, load<f64>(changetype<usize>(q) + at));
    store<f64>(changetype<usize>(q) + at, value);
  }
}

/** Remembers a plane, in place of one in the back half if there is no room. */
function addProven(d: Derivation, p: ProvenPlane): void {
  if (d.provenCount < MAX_PROVEN) d.provenLast = d.provenCount++;
  else d.provenLast = d.provenLast + 1 < MAX_PROVEN ? d.provenLast + 1 : MAX_PROVEN >> 1;
  memory.copy(changetype<usize>(provenAt(d, d.provenLast)), changetype<usize>(p), PROVEN_PLANE_BYTES);
}
