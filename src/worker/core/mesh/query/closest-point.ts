// Finds the point of a mesh that is nearest to a given one, in world distance: by branch and bound on the tree, nearest
// box first (Roussopoulos, Kelley and Vincent, "Nearest Neighbor Queries", 1995), with lower bounds in float32.
// Triangles are decided in float64. World units, relative to the given point.

import { Affine, invert } from '../../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import { upward } from '../../math/interval';
import { greatestOf } from '../../math/lanes';
import { Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import { spectralNorm } from '../../math/spectral-norm';
import { Triangle } from '../../math/triangles';
import {
  Block, LEAF, MOST_WAITING, Mesh, Node, blockAt, childMask, childOf, highBounds, isRotated, lowBounds, nodeAt,
  placeTree, treeScale, triangleOf,
} from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { mapTriangle } from './mapped-triangle';
import { VECTOR_BYTES, WORD_BYTES } from '../../sizes';

/** The nearest point, in the world relative to the given point. */
export let closestX: f64 = 0;
export let closestY: f64 = 0;
export let closestZ: f64 = 0;
export let closestTriangle: i32 = -1;
export let closestDistance: f64 = 0;

/** Maps tree space to the world relative to the given point. */
export const toWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** The stack of pending children, with lower bounds of their distances: three of each depth and the last node's four. */
const stack: usize = memory.data(MOST_WAITING * 2 * WORD_BYTES, 16);
const keys: usize = memory.data(VECTOR_BYTES, 16);

// The given point in tree space, and the least factor by which the map stretches a length: bounds are in multiples of
// it.
let pointX: f32 = 0, pointY: f32 = 0, pointZ: f32 = 0;
let least: f64 = 0;
/** The float32 rounding error of a distance to a box, in tree space. */
let blur: f32 = 0;

/** How the distances of boxes are bounded. */
let metric: u32 = 0;
/** The map stretches all directions alike: distances are measured in tree space. */
const ALIKE: u32 = 0;
/**
 * The map is not uniform: distances are measured in the world, along axes one of which points to the mesh; perpendicular
 * to it they are bounded by extents.
 */
const STRETCHED: u32 = 1;
/**
 * The mesh is far away relative to its size: distances are measured along the direction to it, relative to tree space's
 * origin, where float32 is precise.
 */
const FAR: u32 = 2;

/** A mesh counts as far away if its distance is more than this many times its size. */
const FAR_AWAY: f64 = 100;

// Maps tree space to these axes, divided by `least`; row 2 is the axis that points to the mesh.
let row0X: f32 = 0, row0Y: f32 = 0, row0Z: f32 = 0, row0W: f32 = 0;
let row1X: f32 = 0, row1Y: f32 = 0, row1Z: f32 = 0, row1W: f32 = 0;
let row2X: f32 = 0, row2Y: f32 = 0, row2Z: f32 = 0, row2W: f32 = 0;
let blurAcross: f32 = 0;
/** The distance along the last axis from the point to the origin of tree space. */
let ahead: f64 = 0;

/** A point that is farther away is clamped to this, so that nothing overflows. */
const FARTHEST: f64 = 1e15;
/** The float32 rounding error of a distance, relative to its rounded components: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/**
 * Finds the nearest point of a mesh. Returns whether there is one no farther than `limit`; `m` maps mesh space to the
 * world relative to the given point. Of triangles at the same distance, the one with the lowest index wins. With `any`,
 * finds a point that need not be the nearest.
 */
export function closestOnMesh(mesh: Mesh, m: Affine, limit: f64, any: bool): bool {
  setMaps(mesh, m);
  closestTriangle = -1;
  closestDistance = limit;
  let bound = boundOf(limit);
  let top = stack + 8;
  store<f32>(stack, -Infinity);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      if (!searchBlock(blockAt(mesh, child), bound)) continue;
      if (any) return true;
      bound = boundOf(closestDistance);
      continue;
    }
    countNode();
    const node = nodeAt(mesh, child);
    const near = distances(node);
    let bits = <u32>i32x4.bitmask(f32x4.le(near, f32x4.splat(bound))) & childMask(node);
    v128.store(keys, near);
    while (bits != 0) {
      // The farthest is pushed first, so that the nearest is popped next.
      const next = greatestOf(keys, bits);
      bits &= ~(1 << next);
      store<f32>(top, load<f32>(keys + (<usize>next << 2)));
      store<u32>(top, childOf(node, next), 4);
      top += 8;
    }
  }
  return closestTriangle >= 0;
}

/** Converts a distance in the world to the unit in which boxes are measured, rounded up. */
export function boundOf(distance: f64): f32 {
  if (metric != FAR) return upward(min(distance / least, 1e30));
  const rest = min((distance - ahead + (distance + abs(ahead)) * 1e-15) / least, 1e30);
  return <f32>(rest + abs(rest) * 1e-6);
}

/** Sets the query point: the origin of the space to which `m` maps mesh space. */
export function setMaps(mesh: Mesh, m: Affine): void {
  placeTree(toWorld, mesh, m);
  invert(toTree, toWorld);
  least = (1.0 - 1e-6) / spectralNorm(toTree);
  const most = spectralNorm(toWorld);
  const distance = sqrt(toWorld.tx * toWorld.tx + toWorld.ty * toWorld.ty + toWorld.tz * toWorld.tz);
  metric = distance > FAR_AWAY * most ? FAR : most <= least * 1.001 ? ALIKE : STRETCHED;
  const x = max(min(toTree.tx, FARTHEST), -FARTHEST);
  const y = max(min(toTree.ty, FARTHEST), -FARTHEST);
  const z = max(min(toTree.tz, FARTHEST), -FARTHEST);
  pointX = <f32>x;
  pointY = <f32>y;
  pointZ = <f32>z;
  blur = <f32>(abs(x) + abs(y) + abs(z) + 4.0) * ROUNDING;
  if (metric != ALIKE) setAxes(mesh, most, distance);
}

/** Sets the axes; the last of them points to the centre of the mesh's bounds. */
function setAxes(mesh: Mesh, most: f64, distance: f64): void {
  const scale = treeScale(mesh);
  const cx = (0.5 * (mesh.lowX + mesh.highX) - mesh.offsetX) * scale;
  const cy = (0.5 * (mesh.lowY + mesh.highY) - mesh.offsetY) * scale;
  const cz = (0.5 * (mesh.lowZ + mesh.highZ) - mesh.offsetZ) * scale;
  let x = toWorld.xx * cx + toWorld.yx * cy + toWorld.zx * cz + toWorld.tx;
  let y = toWorld.xy * cx + toWorld.yy * cy + toWorld.zy * cz + toWorld.ty;
  let z = toWorld.xz * cx + toWorld.yz * cy + toWorld.zz * cz + toWorld.tz;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 0) {
    x /= length;
    y /= length;
    z /= length;
  } else z = 1;
  setBasis(x, y, z);
  const ux = firstX, uy = firstY, uz = firstZ;
  const vx = secondX, vy = secondY, vz = secondZ;
  const over = 1.0 / least;
  row0X = along(0, ux, uy, uz, over); row0Y = along(24, ux, uy, uz, over); row0Z = along(48, ux, uy, uz, over);
  row1X = along(0, vx, vy, vz, over); row1Y = along(24, vx, vy, vz, over); row1Z = along(48, vx, vy, vz, over);
  row2X = along(0, x, y, z, over); row2Y = along(24, x, y, z, over); row2Z = along(48, x, y, z, over);
  row0W = along(72, ux, uy, uz, over);
  row1W = along(72, vx, vy, vz, over);
  ahead = toWorld.tx * x + toWorld.ty * y + toWorld.tz * z;
  row2W = metric == FAR ? 0 : along(72, x, y, z, over);
  // If the mesh is far away, the rounding error only depends on its size.
  blurAcross = <f32>min(((metric == FAR ? 0 : distance) + 8.0 * most) * over, 1e30) * ROUNDING;
}

/** Projects a column of the map to the world onto an axis. */
// @ts-ignore: decorator
@inline
function along(column: usize, x: f64, y: f64, z: f64, over: f64): f32 {
  const at = changetype<usize>(toWorld) + column;
  return <f32>max(min((load<f64>(at) * x + load<f64>(at, 8) * y + load<f64>(at, 16) * z) * over, 1e15), -1e15);
}

/**
 * Returns lower bounds of the distances of the node's four boxes: world distances divided by `least`, and minus `ahead`
 * if the mesh is far away.
 */
export function distances(node: Node): v128 {
  let x = pointX, y = pointY, z = pointZ;
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    x = rotation.xx * pointX + rotation.xy * pointY + rotation.xz * pointZ;
    y = rotation.yx * pointX + rotation.yy * pointY + rotation.yz * pointZ;
    z = rotation.zx * pointX + rotation.zy * pointY + rotation.zz * pointZ;
  } else if (metric != ALIKE) setIdentityRotation(rotation);
  const lowX = lowBounds(node, 0), highX = highBounds(node, 0);
  const lowY = lowBounds(node, 1), highY = highBounds(node, 1);
  const lowZ = lowBounds(node, 2), highZ = highBounds(node, 2);
  if (metric == ALIKE) return lengths(outside(lowX, highX, x), outside(lowY, highY, y), outside(lowZ, highZ, z));

  const half = f32x4.splat(0.5);
  const hx = f32x4.mul(f32x4.sub(highX, lowX), half), cx = f32x4.mul(f32x4.add(highX, lowX), half);
  const hy = f32x4.mul(f32x4.sub(highY, lowY), half), cy = f32x4.mul(f32x4.add(highY, lowY), half);
  const hz = f32x4.mul(f32x4.sub(highZ, lowZ), half), cz = f32x4.mul(f32x4.add(highZ, lowZ), half);
  const centre = middle(cx, cy, cz, row2X, row2Y, row2Z, row2W);
  const reach = f32x4.add(extent(hx, hy, hz, row2X, row2Y, row2Z), f32x4.splat(blurAcross));
  if (metric == FAR) return f32x4.sub(centre, reach);
  const none = f32x4.splat(0);
  const ez = f32x4.pmax(none, f32x4.sub(f32x4.abs(centre), reach));
  const ex = f32x4.pmax(none, f32x4.sub(
    f32x4.abs(middle(cx, cy, cz, row0X, row0Y, row0Z, row0W)),
    f32x4.add(extent(hx, hy, hz, row0X, row0Y, row0Z), f32x4.splat(blurAcross)),
  ));
  const ey = f32x4.pmax(none, f32x4.sub(
    f32x4.abs(middle(cx, cy, cz, row1X, row1Y, row1Z, row1W)),
    f32x4.add(extent(hx, hy, hz, row1X, row1Y, row1Z), f32x4.splat(blurAcross)),
  ));
  return f32x4.pmax(
    lengths(ex, ey, ez), lengths(outside(lowX, highX, x), outside(lowY, highY, y), outside(lowZ, highZ, z)),
  );
}

/** Projects the centres of the boxes onto an axis. */
// @ts-ignore: decorator
@inline
function middle(cx: v128, cy: v128, cz: v128, x: f32, y: f32, z: f32, w: f32): v128 {
  return f32x4.add(
    f32x4.add(onAxis(cx, 0, x, y, z), onAxis(cy, 12, x, y, z)), f32x4.add(onAxis(cz, 24, x, y, z), f32x4.splat(w)),
  );
}

/** Projects the half extents of the boxes onto an axis. */
// @ts-ignore: decorator
@inline
function extent(hx: v128, hy: v128, hz: v128, x: f32, y: f32, z: f32): v128 {
  return f32x4.add(
    f32x4.add(f32x4.abs(onAxis(hx, 0, x, y, z)), f32x4.abs(onAxis(hy, 12, x, y, z))), f32x4.abs(onAxis(hz, 24, x, y, z)),
  );
}

/** Projects lengths along an axis of the node's frame onto an axis of the world. */
// @ts-ignore: decorator
@inline
function onAxis(lengths: v128, axis: usize, x: f32, y: f32, z: f32): v128 {
  const at = changetype<usize>(rotation) + axis;
  return f32x4.mul(lengths, f32x4.splat(x * load<f32>(at) + y * load<f32>(at, 4) + z * load<f32>(at, 8)));
}

// @ts-ignore: decorator
@inline
function lengths(x: v128, y: v128, z: v128): v128 {
  const square = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return f32x4.mul(f32x4.sqrt(square), f32x4.splat(<f32>1.0 - ROUNDING));
}

/** Returns lower bounds of the distances of a coordinate from four intervals. */
// @ts-ignore: decorator
@inline
function outside(low: v128, high: v128, value: f32): v128 {
  const at = f32x4.splat(value);
  const gap = f32x4.pmax(f32x4.sub(low, at), f32x4.sub(at, high));
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(gap, f32x4.splat(blur)));
}

/** Returns whether the mesh is so far away that only its nodes are worth measuring. */
export function isFarAway(): bool {
  return metric == FAR;
}

/**
 * Returns which of four boxes, given by two opposite corners each, may be nearer than a bound; a bit each. Not for a
 * mesh that is far away.
 */
// @ts-ignore: decorator
@inline
export function closerThan(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128, bound: f32): u32 {
  const x = outside(f32x4.pmin(ax, bx), f32x4.pmax(ax, bx), pointX);
  const y = outside(f32x4.pmin(ay, by), f32x4.pmax(ay, by), pointY);
  const z = outside(f32x4.pmin(az, bz), f32x4.pmax(az, bz), pointZ);
  return <u32>i32x4.bitmask(f32x4.le(lengths(x, y, z), f32x4.splat(bound)));
}

/** Searches four triangles. Returns whether a nearer point was found. */
function searchBlock(block: Block, bound: f32): bool {
  countLeaf();
  const at = changetype<usize>(block);
  // Skips triangles whose bounds are too far away.
  const ex = beyond(v128.load(at), v128.load(at, 48), v128.load(at, 96), pointX);
  const ey = beyond(v128.load(at, 16), v128.load(at, 64), v128.load(at, 112), pointY);
  const ez = beyond(v128.load(at, 32), v128.load(at, 80), v128.load(at, 128), pointZ);
  let bits = metric == FAR ? 15 : <u32>i32x4.bitmask(f32x4.le(lengths(ex, ey, ez), f32x4.splat(bound)));
  let found = false;
  for (; bits != 0; bits &= bits - 1) {
    const lane = ctz(bits);
    const index = triangleOf(block, lane);
    if (index < 0) continue;
    countTriangle();
    mapTriangle(changetype<usize>(triangle), at + (<usize>lane << 2), toWorld);
    const limit = closestDistance * (1.0 + 1e-15);
    const distance = sqrt(nearestOfTriangle(triangle, limit * limit));
    if (!(distance <= closestDistance)) continue;
    if (distance == closestDistance && closestTriangle >= 0 && closestTriangle < index) continue;
    closestDistance = distance;
    closestTriangle = index;
    closestX = nearestX;
    closestY = nearestY;
    closestZ = nearestZ;
    found = true;
  }
  return found;
}

// @ts-ignore: decorator
@inline
function beyond(a: v128, b: v128, c: v128, value: f32): v128 {
  return outside(f32x4.pmin(f32x4.pmin(a, b), c), f32x4.pmax(f32x4.pmax(a, b), c), value);
}
