// Finds the point of a mesh that is nearest to a given one, in world distance: by branch and bound on the tree, nearest
// box first (Roussopoulos, Kelley and Vincent, "Nearest Neighbor Queries", 1995), with lower bounds in float32.
// Triangles are decided in float64. World units, relative to the given point.

import { Affine, invert } from '../../math/affine';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import { roundUp } from '../../math/interval';
import { indexOfMax } from '../../math/lanes';
import { Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import { spectralNorm } from '../../math/spectral-norm';
import { Triangle } from '../../math/triangles';
import {
  Block, LEAF, MAX_STACK_ENTRIES, Mesh, Node, blockAt, childMask, childOf, maxBounds, isRotated, minBounds, nodeAt,
  composeTreeMap, treeScale, triangleOf,
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
export const stack: usize = memory.data(MAX_STACK_ENTRIES * 2 * WORD_BYTES, 16);
const keys: usize = memory.data(VECTOR_BYTES, 16);

// The given point in tree space, and the least factor by which the map stretches a length: bounds are in multiples of
// it.
let pointX: f32 = 0, pointY: f32 = 0, pointZ: f32 = 0;
let minStretch: f64 = 0;
/** The float32 rounding error of a distance to a box, in tree space. */
let boxError: f32 = 0;

/** How the distances of boxes are bounded. */
let metric: u32 = 0;
/** The map stretches all directions alike: distances are measured in tree space. */
const UNIFORM: u32 = 0;
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

// Maps tree space to these axes, divided by `minStretch`; row 2 is the axis that points to the mesh.
let row0X: f32 = 0, row0Y: f32 = 0, row0Z: f32 = 0, row0W: f32 = 0;
let row1X: f32 = 0, row1Y: f32 = 0, row1Z: f32 = 0, row1W: f32 = 0;
let row2X: f32 = 0, row2Y: f32 = 0, row2Z: f32 = 0, row2W: f32 = 0;
let axisError: f32 = 0;
/** The distance along the last axis from the point to the origin of tree space. */
let distanceAhead: f64 = 0;

/** A point that is farther away is clamped to this, so that nothing overflows. */
const MAX_COORDINATE: f64 = 1e15;
/** The float32 rounding error of a distance, relative to its rounded components: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/**
 * Finds the nearest point of a mesh. Returns whether there is one no farther than `limit`; `m` maps mesh space to the
 * world relative to the given point. Of triangles at the same distance, the one with the lowest index wins. With `stopsAtFirst`,
 * finds a point that need not be the nearest.
 */
export function closestOnMesh(mesh: Mesh, m: Affine, limit: f64, stopsAtFirst: bool): bool {
  setMaps(mesh, m);
  closestTriangle = -1;
  closestDistance = limit;
  let bound = boxBoundOf(limit);
  let top = stack + 8;
  store<f32>(stack, -Infinity);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      if (!searchBlock(blockAt(mesh, child), bound)) continue;
      if (stopsAtFirst) return true;
      bound = boxBoundOf(closestDistance);
      continue;
    }
    top = pushCloser(top, nodeAt(mesh, child), bound);
  }
  return closestTriangle >= 0;
}

/** Pushes the children of a node that may be nearer than a bound, each with the distance of its box. Returns the new top. */
// @ts-ignore: decorator
@inline
export function pushCloser(top: usize, node: Node, bound: f32): usize {
  countNode();
  const childDistances = boxDistances(node);
  let bits = <u32>i32x4.bitmask(f32x4.le(childDistances, f32x4.splat(bound))) & childMask(node);
  v128.store(keys, childDistances);
  while (bits != 0) {
    // The farthest is pushed first, so that the nearest is popped next.
    const next = indexOfMax(keys, bits);
    bits &= ~(1 << next);
    store<f32>(top, load<f32>(keys + (<usize>next << 2)));
    store<u32>(top, childOf(node, next), 4);
    top += 8;
  }
  return top;
}

/** Converts a distance in the world to the unit in which boxes are measured, rounded up. */
export function boxBoundOf(distance: f64): f32 {
  if (metric != FAR) return roundUp(min(distance / minStretch, 1e30));
  const rest = min((distance - distanceAhead + (distance + abs(distanceAhead)) * 1e-15) / minStretch, 1e30);
  return <f32>(rest + abs(rest) * 1e-6);
}

/** Sets the query point: the origin of the space to which `m` maps mesh space. */
export function setMaps(mesh: Mesh, m: Affine): void {
  composeTreeMap(toWorld, mesh, m);
  invert(toTree, toWorld);
  minStretch = (1.0 - 1e-6) / spectralNorm(toTree);
  const maxStretch = spectralNorm(toWorld);
  const distance = sqrt(toWorld.tx * toWorld.tx + toWorld.ty * toWorld.ty + toWorld.tz * toWorld.tz);
  metric = distance > FAR_AWAY * maxStretch ? FAR : maxStretch <= minStretch * 1.001 ? UNIFORM : STRETCHED;
  const x = max(min(toTree.tx, MAX_COORDINATE), -MAX_COORDINATE);
  const y = max(min(toTree.ty, MAX_COORDINATE), -MAX_COORDINATE);
  const z = max(min(toTree.tz, MAX_COORDINATE), -MAX_COORDINATE);
  pointX = <f32>x;
  pointY = <f32>y;
  pointZ = <f32>z;
  boxError = <f32>(abs(x) + abs(y) + abs(z) + 4.0) * ROUNDING;
  if (metric != UNIFORM) setAxes(mesh, maxStretch, distance);
}

/** Sets the axes; the last of them points to the centre of the mesh's bounds. */
function setAxes(mesh: Mesh, maxStretch: f64, distance: f64): void {
  const scale = treeScale(mesh);
  const cx = (0.5 * (mesh.minX + mesh.maxX) - mesh.offsetX) * scale;
  const cy = (0.5 * (mesh.minY + mesh.maxY) - mesh.offsetY) * scale;
  const cz = (0.5 * (mesh.minZ + mesh.maxZ) - mesh.offsetZ) * scale;
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
  const ux = tangentX, uy = tangentY, uz = tangentZ;
  const vx = bitangentX, vy = bitangentY, vz = bitangentZ;
  const reciprocal = 1.0 / minStretch;
  row0X = columnAlong(0, ux, uy, uz, reciprocal); row0Y = columnAlong(24, ux, uy, uz, reciprocal);
  row0Z = columnAlong(48, ux, uy, uz, reciprocal);
  row1X = columnAlong(0, vx, vy, vz, reciprocal); row1Y = columnAlong(24, vx, vy, vz, reciprocal);
  row1Z = columnAlong(48, vx, vy, vz, reciprocal);
  row2X = columnAlong(0, x, y, z, reciprocal); row2Y = columnAlong(24, x, y, z, reciprocal);
  row2Z = columnAlong(48, x, y, z, reciprocal);
  row0W = columnAlong(72, ux, uy, uz, reciprocal);
  row1W = columnAlong(72, vx, vy, vz, reciprocal);
  distanceAhead = toWorld.tx * x + toWorld.ty * y + toWorld.tz * z;
  row2W = metric == FAR ? 0 : columnAlong(72, x, y, z, reciprocal);
  // If the mesh is far away, the rounding error only depends on its size.
  axisError = <f32>min(((metric == FAR ? 0 : distance) + 8.0 * maxStretch) * reciprocal, 1e30) * ROUNDING;
}

/** Projects a column of the map to the world onto an axis. */
// @ts-ignore: decorator
@inline
function columnAlong(column: usize, x: f64, y: f64, z: f64, reciprocal: f64): f32 {
  const at = changetype<usize>(toWorld) + column;
  return <f32>max(min((load<f64>(at) * x + load<f64>(at, 8) * y + load<f64>(at, 16) * z) * reciprocal, 1e15), -1e15);
}

/**
 * Returns lower bounds of the distances of the node's four boxes: world distances divided by `minStretch`, and minus
 * `distanceAhead` if the mesh is far away.
 */
function boxDistances(node: Node): v128 {
  let x = pointX, y = pointY, z = pointZ;
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    x = rotation.xx * pointX + rotation.xy * pointY + rotation.xz * pointZ;
    y = rotation.yx * pointX + rotation.yy * pointY + rotation.yz * pointZ;
    z = rotation.zx * pointX + rotation.zy * pointY + rotation.zz * pointZ;
  } else if (metric != UNIFORM) setIdentityRotation(rotation);
  const minX = minBounds(node, 0), maxX = maxBounds(node, 0);
  const minY = minBounds(node, 1), maxY = maxBounds(node, 1);
  const minZ = minBounds(node, 2), maxZ = maxBounds(node, 2);
  if (metric == UNIFORM)
    return lengths(distancesToIntervals(minX, maxX, x), distancesToIntervals(minY, maxY, y), distancesToIntervals(minZ, maxZ, z));

  const half = f32x4.splat(0.5);
  const hx = f32x4.mul(f32x4.sub(maxX, minX), half), cx = f32x4.mul(f32x4.add(maxX, minX), half);
  const hy = f32x4.mul(f32x4.sub(maxY, minY), half), cy = f32x4.mul(f32x4.add(maxY, minY), half);
  const hz = f32x4.mul(f32x4.sub(maxZ, minZ), half), cz = f32x4.mul(f32x4.add(maxZ, minZ), half);
  const centers = centersAlong(cx, cy, cz, row2X, row2Y, row2Z, row2W);
  const extents = f32x4.add(extentsAlong(hx, hy, hz, row2X, row2Y, row2Z), f32x4.splat(axisError));
  if (metric == FAR) return f32x4.sub(centers, extents);
  const zero = f32x4.splat(0);
  const ez = f32x4.pmax(zero, f32x4.sub(f32x4.abs(centers), extents));
  const ex = f32x4.pmax(zero, f32x4.sub(
    f32x4.abs(centersAlong(cx, cy, cz, row0X, row0Y, row0Z, row0W)),
    f32x4.add(extentsAlong(hx, hy, hz, row0X, row0Y, row0Z), f32x4.splat(axisError)),
  ));
  const ey = f32x4.pmax(zero, f32x4.sub(
    f32x4.abs(centersAlong(cx, cy, cz, row1X, row1Y, row1Z, row1W)),
    f32x4.add(extentsAlong(hx, hy, hz, row1X, row1Y, row1Z), f32x4.splat(axisError)),
  ));
  return f32x4.pmax(
    lengths(ex, ey, ez),
    lengths(distancesToIntervals(minX, maxX, x), distancesToIntervals(minY, maxY, y), distancesToIntervals(minZ, maxZ, z)),
  );
}

/** Projects the centres of the boxes onto an axis. */
// @ts-ignore: decorator
@inline
function centersAlong(cx: v128, cy: v128, cz: v128, x: f32, y: f32, z: f32, w: f32): v128 {
  return f32x4.add(
    f32x4.add(onAxis(cx, 0, x, y, z), onAxis(cy, 12, x, y, z)), f32x4.add(onAxis(cz, 24, x, y, z), f32x4.splat(w)),
  );
}

/** Projects the half extents of the boxes onto an axis. */
// @ts-ignore: decorator
@inline
function extentsAlong(hx: v128, hy: v128, hz: v128, x: f32, y: f32, z: f32): v128 {
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
  const lengthSquared = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return f32x4.mul(f32x4.sqrt(lengthSquared), f32x4.splat(<f32>1.0 - ROUNDING));
}

/** Returns lower bounds of the distances of a coordinate from four intervals. */
// @ts-ignore: decorator
@inline
function distancesToIntervals(minBounds: v128, maxBounds: v128, value: f32): v128 {
  const at = f32x4.splat(value);
  const gap = f32x4.pmax(f32x4.sub(minBounds, at), f32x4.sub(at, maxBounds));
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(gap, f32x4.splat(boxError)));
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
  const x = distancesToIntervals(f32x4.pmin(ax, bx), f32x4.pmax(ax, bx), pointX);
  const y = distancesToIntervals(f32x4.pmin(ay, by), f32x4.pmax(ay, by), pointY);
  const z = distancesToIntervals(f32x4.pmin(az, bz), f32x4.pmax(az, bz), pointZ);
  return <u32>i32x4.bitmask(f32x4.le(lengths(x, y, z), f32x4.splat(bound)));
}

/** Searches four triangles. Returns whether a nearer point was found. */
function searchBlock(block: Block, bound: f32): bool {
  countLeaf();
  const at = changetype<usize>(block);
  // Skips triangles whose bounds are too far away.
  const ex = distancesToTriangles(v128.load(at), v128.load(at, 48), v128.load(at, 96), pointX);
  const ey = distancesToTriangles(v128.load(at, 16), v128.load(at, 64), v128.load(at, 112), pointY);
  const ez = distancesToTriangles(v128.load(at, 32), v128.load(at, 80), v128.load(at, 128), pointZ);
  let bits = metric == FAR ? 15 : <u32>i32x4.bitmask(f32x4.le(lengths(ex, ey, ez), f32x4.splat(bound)));
  let isCloser = false;
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
    isCloser = true;
  }
  return isCloser;
}

// @ts-ignore: decorator
@inline
function distancesToTriangles(a: v128, b: v128, c: v128, value: f32): v128 {
  return distancesToIntervals(f32x4.pmin(f32x4.pmin(a, b), c), f32x4.pmax(f32x4.pmax(a, b), c), value);
}
