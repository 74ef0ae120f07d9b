// The point of a mesh that is nearest to a given one, in the world's metric: through the tree, nearest box first, with
// bounds in float32 that are never too great; triangles are decided in float64.

import { Affine, invert } from '../math/affine';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../math/closest';
import { upward } from '../math/interval';
import { Rotation, rotationAt, setIdentityRotation } from '../math/quaternion';
import { stretchOf } from '../math/stretch';
import { Triangle } from '../math/triangles';
import {
  Block, LEAF, MAX_DEPTH, Mesh, Node, blockAt, childCount, childMask, childOf, highBounds, isRotated, lowBounds, nodeAt,
  treeScale, triangleOf,
} from './layout';
import { countLeaf, countNode, countTriangle } from './measure';

/** What is nearest, in the world about the given point. */
export let closestX: f64 = 0;
export let closestY: f64 = 0;
export let closestZ: f64 = 0;
export let closestTriangle: i32 = -1;
export let closestDistance: f64 = 0;

const toWorld = changetype<Affine>(memory.data(96, 16)); // tree space to the world about the given point
const toTree = changetype<Affine>(memory.data(96, 16));
const rotation = changetype<Rotation>(memory.data(36, 16));
const triangle = changetype<Triangle>(memory.data(72, 16));

/** Children that wait, and how near each can be: three of each depth and the last node's four. */
const stack: usize = memory.data(8 * (3 * <i32>MAX_DEPTH + 4), 16);
const keys: usize = memory.data(16, 16);

// The given point in tree space, and the least that the map makes of a length.
let pointX: f32 = 0, pointY: f32 = 0, pointZ: f32 = 0;
let least: f64 = 0;
/** What float32 may add to a distance in tree space. */
let blur: f32 = 0;
/** Whether the map stretches all directions alike; else its inverse times `least`, by rows. */
let isAlike: bool = false;
let rowXx: f32 = 0, rowXy: f32 = 0, rowXz: f32 = 0;
let rowYx: f32 = 0, rowYy: f32 = 0, rowYz: f32 = 0;
let rowZx: f32 = 0, rowZy: f32 = 0, rowZz: f32 = 0;

/** Farther than this the point counts as this far: nothing overflows then. */
const FARTHEST: f64 = 1e15;
/** Of a distance in float32, from its rounded parts: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/**
 * Whether there is a point no farther than `limit`; `m` maps mesh space to the world about the given point. Of triangles
 * at the same distance the one with the lowest index wins.
 */
export function closestOnMesh(mesh: Mesh, m: Affine, limit: f64): bool {
  setMaps(mesh, m);
  closestTriangle = -1;
  closestDistance = limit;
  let bound = boundOf(limit);
  let top = stack + 8;
  store<f32>(stack, 0);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      if (searchBlock(blockAt(mesh, child), bound)) bound = boundOf(closestDistance);
      continue;
    }
    countNode();
    const node = nodeAt(mesh, child);
    const near = distances(node);
    let bits = <u32>i32x4.bitmask(f32x4.le(near, f32x4.splat(bound))) & childMask(node);
    v128.store(keys, near);
    while (bits != 0) {
      // The farthest first, so that the nearest is taken next.
      let next = ctz(bits);
      for (let i = next + 1, count = childCount(node); i < count; i++) {
        if (bits & (1 << i) && load<f32>(keys + (<usize>i << 2)) > load<f32>(keys + (<usize>next << 2))) next = i;
      }
      bits &= ~(1 << next);
      store<f32>(top, load<f32>(keys + (<usize>next << 2)));
      store<u32>(top, childOf(node, next), 4);
      top += 8;
    }
  }
  return closestTriangle >= 0;
}

/** A distance of the world as one that tree space has at most. */
function boundOf(distance: f64): f32 {
  return upward(min(distance / least, 1e30));
}

function setMaps(mesh: Mesh, m: Affine): void {
  const shrink = 1.0 / treeScale(mesh);
  toWorld.xx = m.xx * shrink; toWorld.xy = m.xy * shrink; toWorld.xz = m.xz * shrink;
  toWorld.yx = m.yx * shrink; toWorld.yy = m.yy * shrink; toWorld.yz = m.yz * shrink;
  toWorld.zx = m.zx * shrink; toWorld.zy = m.zy * shrink; toWorld.zz = m.zz * shrink;
  toWorld.tx = m.xx * mesh.offsetX + m.yx * mesh.offsetY + m.zx * mesh.offsetZ + m.tx;
  toWorld.ty = m.xy * mesh.offsetX + m.yy * mesh.offsetY + m.zy * mesh.offsetZ + m.ty;
  toWorld.tz = m.xz * mesh.offsetX + m.yz * mesh.offsetY + m.zz * mesh.offsetZ + m.tz;
  invert(toTree, toWorld);
  least = (1.0 - 1e-6) / stretchOf(toTree);
  isAlike = stretchOf(toWorld) <= least * 1.001;
  const x = max(min(toTree.tx, FARTHEST), -FARTHEST);
  const y = max(min(toTree.ty, FARTHEST), -FARTHEST);
  const z = max(min(toTree.tz, FARTHEST), -FARTHEST);
  pointX = <f32>x;
  pointY = <f32>y;
  pointZ = <f32>z;
  blur = <f32>(abs(x) + abs(y) + abs(z) + 4.0) * ROUNDING;
  if (isAlike) return;
  rowXx = <f32>(toTree.xx * least); rowXy = <f32>(toTree.yx * least); rowXz = <f32>(toTree.zx * least);
  rowYx = <f32>(toTree.xy * least); rowYy = <f32>(toTree.yy * least); rowYz = <f32>(toTree.zy * least);
  rowZx = <f32>(toTree.xz * least); rowZy = <f32>(toTree.yz * least); rowZz = <f32>(toTree.zz * least);
}

/**
 * How near the node's four boxes can be at least, as world distances over `least`: that is what the frame's metric says
 * at least; and where the map stretches, also the distance between the planes of a face and through the point.
 */
// @ts-ignore: decorator
@inline
function distances(node: Node): v128 {
  let x = pointX, y = pointY, z = pointZ;
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    x = rotation.xx * pointX + rotation.xy * pointY + rotation.xz * pointZ;
    y = rotation.yx * pointX + rotation.yy * pointY + rotation.yz * pointZ;
    z = rotation.zx * pointX + rotation.zy * pointY + rotation.zz * pointZ;
  } else if (!isAlike) setIdentityRotation(rotation);
  const ex = outside(lowBounds(node, 0), highBounds(node, 0), x);
  const ey = outside(lowBounds(node, 1), highBounds(node, 1), y);
  const ez = outside(lowBounds(node, 2), highBounds(node, 2), z);
  const distance = lengths(ex, ey, ez);
  if (isAlike) return distance;
  return f32x4.pmax(
    f32x4.pmax(distance, f32x4.mul(ex, f32x4.splat(stretch(rotation.xx, rotation.xy, rotation.xz)))),
    f32x4.pmax(
      f32x4.mul(ey, f32x4.splat(stretch(rotation.yx, rotation.yy, rotation.yz))),
      f32x4.mul(ez, f32x4.splat(stretch(rotation.zx, rotation.zy, rotation.zz))),
    ),
  );
}

// @ts-ignore: decorator
@inline
function lengths(x: v128, y: v128, z: v128): v128 {
  const square = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return f32x4.mul(f32x4.sqrt(square), f32x4.splat(<f32>1.0 - ROUNDING));
}

/** How far a coordinate is from four intervals, surely. */
// @ts-ignore: decorator
@inline
function outside(low: v128, high: v128, value: f32): v128 {
  const at = f32x4.splat(value);
  const gap = f32x4.pmax(f32x4.sub(low, at), f32x4.sub(at, high));
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(gap, f32x4.splat(blur)));
}

/** How much longer than `least` times it the way in the world is, for a way along that axis of the frame. */
// @ts-ignore: decorator
@inline
function stretch(x: f32, y: f32, z: f32): f32 {
  const a = x * rowXx + y * rowYx + z * rowZx, b = x * rowXy + y * rowYy + z * rowZy, c = x * rowXz + y * rowYz + z * rowZz;
  return (<f32>1.0 - <f32>4.0 * ROUNDING) / (sqrt(a * a + b * b + c * c) + <f32>1e-6);
}

/** Whether something nearer was found. */
function searchBlock(block: Block, bound: f32): bool {
  countLeaf();
  const at = changetype<usize>(block);
  // Triangles whose bounds are too far away.
  const ex = beyond(v128.load(at), v128.load(at, 48), v128.load(at, 96), pointX);
  const ey = beyond(v128.load(at, 16), v128.load(at, 64), v128.load(at, 112), pointY);
  const ez = beyond(v128.load(at, 32), v128.load(at, 80), v128.load(at, 128), pointZ);
  let bits = <u32>i32x4.bitmask(f32x4.le(lengths(ex, ey, ez), f32x4.splat(bound)));
  let found = false;
  for (; bits != 0; bits &= bits - 1) {
    const lane = ctz(bits);
    const index = triangleOf(block, lane);
    if (index < 0) continue;
    countTriangle();
    mapTriangle(at + (<usize>lane << 2));
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

function mapTriangle(at: usize): void {
  for (let k: usize = 0; k < 3; k++) {
    const from = at + k * 48, to = changetype<usize>(triangle) + k * 24;
    const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
    store<f64>(to, toWorld.xx * x + toWorld.yx * y + toWorld.zx * z + toWorld.tx);
    store<f64>(to, toWorld.xy * x + toWorld.yy * y + toWorld.zy * z + toWorld.ty, 8);
    store<f64>(to, toWorld.xz * x + toWorld.yz * y + toWorld.zz * z + toWorld.tz, 16);
  }
}
