// The rotation of a node, from below upwards. Proxies: the identity, the principal axes of the node's
// triangles (Gottschalk, Lin and Manocha, "OBBTree", 1996: covariance of the surface, weighted by area) and
// the rotations of its children; the best is turned a little while the boxes get smaller.

import { diagonalise, eigenvector } from '../../math/jacobi';
import {
  QUATERNION_BYTES, Quaternion, Rotation, fromRows, quantise, rotationAt, setIdentityRotation, turned,
} from '../../math/quaternion';
import {
  BLOCK_BYTES, BOX_PADDING, Block, IDENTITY_QUATERNION, LEAF, NODE_BYTES, Node, childCount, childOf, filledLanes,
  firstBlock, innerCount, isRotated,
} from '../tree/layout';
import { FITTING } from '../tree/counters';
import { storeBoxes } from '../tree/store-boxes';
import { emptyHigh, emptyLow, halfArea } from './binned-sah';

/** What a node hands to its parent while a tree is fitted. */
@unmanaged
export class Subtree {
  firstBlock: u32;
  endBlock: u32;
  pad0: u64;
  low: v128; // exact axis-aligned bounds
  high: v128;
  area: f64;
  x: f64; y: f64; z: f64; // ∫ p
  xx: f64; xy: f64; xz: f64; yy: f64; yz: f64; zz: f64; // ∫ p pᵀ
}

export const SUBTREE_BYTES: usize = offsetof<Subtree>();

/** How many blocks are looked at per child while candidates are compared; the winner is computed over all. */
const SAMPLES: u32 = 16;
/** A rotation must save a tenth of the boxes' area, else rays are better off without it. */
const WORTH: f32 = 0.9;
/** The tolerance of principal axes, which only start a search: they need not be exact, and are quantised afterwards. */
const AXIS_TOLERANCE: f64 = 1e-12;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const best = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const trial = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const quantised: usize = memory.data(8, 16);
const lows: usize = memory.data(64, 16); // bounds of the four children
const highs: usize = memory.data(64, 16);

let blocks: usize = 0;
let subtrees: usize = 0;
let boxLow: v128 = i32x4.splat(0);
let boxHigh: v128 = i32x4.splat(0);

// @ts-ignore: decorator
@inline
function subtreeAt(index: u32): Subtree {
  return changetype<Subtree>(subtrees + index * <u32>SUBTREE_BYTES);
}

/** Fits node `index`, whose inner children are fitted already. Answers half the area of its boxes. */
export function fitNode(node: Node, index: u32, allBlocks: usize, allSubtrees: usize, padding: f32): f32 {
  blocks = allBlocks;
  subtrees = allSubtrees;
  const identityCost = boundSubtree(node, index);
  gatherMoments(node, index);
  let cost = identityCost;
  node.quaternion = IDENTITY_QUATERNION;
  if (FITTING && searchRotation(node, index, identityCost)) {
    quantise(quantised, best);
    rotationAt(rotation, quantised);
    cost = rotatedBoxes(node, false);
    if (cost < identityCost * WORTH) node.quaternion = load<u64>(quantised);
  }
  if (!isRotated(node)) cost = axisAlignedBoxes(node); // the search has left those of its trials
  storeBoxes(node, lows, highs, padding * BOX_PADDING);
  return cost;
}

/** Computes the boxes anew for triangles that moved, under the rotation that the node has. Answers as `fitNode`. */
export function refitNode(node: Node, index: u32, allBlocks: usize, allSubtrees: usize, padding: f32): f32 {
  blocks = allBlocks;
  subtrees = allSubtrees;
  let cost = boundSubtree(node, index);
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    cost = rotatedBoxes(node, false);
  }
  storeBoxes(node, lows, highs, padding * BOX_PADDING);
  return cost;
}

// --- what a node knows of its triangles ---

/**
 * Sets the blocks and the bounds of a node's subtree, from its own leaves and its children's subtrees. Answers as
 * axisAlignedBoxes.
 */
function boundSubtree(node: Node, index: u32): f32 {
  const cost = axisAlignedBoxes(node);
  const s = subtreeAt(index);
  const count = childCount(node), inner = innerCount(node);
  // A subtree's blocks are its own leaves, then its children's, which follow one another.
  s.firstBlock = firstBlock(node);
  s.endBlock = s.firstBlock + count - inner;
  for (let i: u32 = 0; i < inner; i++) s.endBlock = max(s.endBlock, subtreeAt(childOf(node, i)).endBlock);
  s.low = emptyLow();
  s.high = emptyHigh();
  for (let i: usize = 0; i < count; i++) {
    s.low = f32x4.pmin(s.low, v128.load(lows + (i << 4)));
    s.high = f32x4.pmax(s.high, v128.load(highs + (i << 4)));
  }
  return cost;
}

function gatherMoments(node: Node, index: u32): void {
  const s = subtreeAt(index);
  s.area = 0;
  s.x = 0; s.y = 0; s.z = 0;
  s.xx = 0; s.xy = 0; s.xz = 0; s.yy = 0; s.yz = 0; s.zz = 0;
  const count = childCount(node);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    if (child & LEAF) {
      const block = blocks + (child & ~LEAF) * <u32>BLOCK_BYTES;
      for (let lanes = filledLanes(changetype<Block>(block)); lanes != 0; lanes &= lanes - 1) {
        addMoments(s, block + (<usize>ctz(lanes) << 2));
      }
    } else {
      const c = subtreeAt(child);
      s.area += c.area;
      s.x += c.x; s.y += c.y; s.z += c.z;
      s.xx += c.xx; s.xy += c.xy; s.xz += c.xz; s.yy += c.yy; s.yz += c.yz; s.zz += c.zz;
    }
  }
}

function addMoments(s: Subtree, lane: usize): void {
  const ax = <f64>load<f32>(lane), ay = <f64>load<f32>(lane, 16), az = <f64>load<f32>(lane, 32);
  const bx = <f64>load<f32>(lane, 48), by = <f64>load<f32>(lane, 64), bz = <f64>load<f32>(lane, 80);
  const cx = <f64>load<f32>(lane, 96), cy = <f64>load<f32>(lane, 112), cz = <f64>load<f32>(lane, 128);
  const ux = bx - ax, uy = by - ay, uz = bz - az;
  const vx = cx - ax, vy = cy - ay, vz = cz - az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const area = 0.5 * sqrt(nx * nx + ny * ny + nz * nz);
  const mx = ax + bx + cx, my = ay + by + cy, mz = az + bz + cz;
  const third = area / 3.0;
  const twelfth = area / 12.0;
  s.area += area;
  s.x += third * mx; s.y += third * my; s.z += third * mz;
  s.xx += twelfth * (mx * mx + ax * ax + bx * bx + cx * cx);
  s.xy += twelfth * (mx * my + ax * ay + bx * by + cx * cy);
  s.xz += twelfth * (mx * mz + ax * az + bx * bz + cx * cz);
  s.yy += twelfth * (my * my + ay * ay + by * by + cy * cy);
  s.yz += twelfth * (my * mz + ay * az + by * bz + cy * cz);
  s.zz += twelfth * (mz * mz + az * az + bz * bz + cz * cz);
}

/** Sets boxLow and boxHigh to the bounds of a block. */
function axisAligned(block: Block): void {
  boxLow = transposedMin(
    f32x4.pmin(f32x4.pmin(block.ax, block.bx), block.cx),
    f32x4.pmin(f32x4.pmin(block.ay, block.by), block.cy),
    f32x4.pmin(f32x4.pmin(block.az, block.bz), block.cz),
  );
  boxHigh = transposedMax(
    f32x4.pmax(f32x4.pmax(block.ax, block.bx), block.cx),
    f32x4.pmax(f32x4.pmax(block.ay, block.by), block.cy),
    f32x4.pmax(f32x4.pmax(block.az, block.bz), block.cz),
  );
}

/** Answers the least lane of each of x, y, z, as xyz. */
function transposedMin(x: v128, y: v128, z: v128): v128 {
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(leastLane(x)), 1, leastLane(y)), 2, leastLane(z));
}

function transposedMax(x: v128, y: v128, z: v128): v128 {
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(greatestLane(x)), 1, greatestLane(y)), 2, greatestLane(z));
}

function leastLane(v: v128): f32 {
  const pairs = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

function greatestLane(v: v128): f32 {
  const pairs = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

// --- boxes of the four children ---

/** Sets lows and highs to the boxes without a rotation. Answers the sum of half their areas. */
function axisAlignedBoxes(node: Node): f32 {
  let cost: f32 = 0;
  const count = childCount(node);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    if (child & LEAF) {
      axisAligned(changetype<Block>(blocks + (child & ~LEAF) * <u32>BLOCK_BYTES));
    } else {
      boxLow = subtreeAt(child).low;
      boxHigh = subtreeAt(child).high;
    }
    cost += halfArea(boxLow, boxHigh);
    v128.store(lows + (<usize>i << 4), boxLow);
    v128.store(highs + (<usize>i << 4), boxHigh);
  }
  return cost;
}

/**
 * Sets lows and highs to the boxes in the frame of `rotation`, over all blocks or about SAMPLES of each child. Answers
 * the sum of half their areas.
 */
function rotatedBoxes(node: Node, sampled: bool): f32 {
  let cost: f32 = 0;
  const count = childCount(node);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    let first = child & ~LEAF;
    let end = first + 1;
    if (!(child & LEAF)) {
      first = subtreeAt(child).firstBlock;
      end = subtreeAt(child).endBlock;
    }
    boundRotated(first, end, sampled ? 1 + (end - first - 1) / SAMPLES : 1);
    cost += halfArea(boxLow, boxHigh);
    v128.store(lows + (<usize>i << 4), boxLow);
    v128.store(highs + (<usize>i << 4), boxHigh);
  }
  return cost;
}

function boundRotated(first: u32, end: u32, stride: u32): void {
  const xx = f32x4.splat(rotation.xx), xy = f32x4.splat(rotation.xy), xz = f32x4.splat(rotation.xz);
  const yx = f32x4.splat(rotation.yx), yy = f32x4.splat(rotation.yy), yz = f32x4.splat(rotation.yz);
  const zx = f32x4.splat(rotation.zx), zy = f32x4.splat(rotation.zy), zz = f32x4.splat(rotation.zz);
  let lowX = emptyLow(), lowY = emptyLow(), lowZ = emptyLow();
  let highX = emptyHigh(), highY = emptyHigh(), highZ = emptyHigh();
  for (let i = first; i < end; i += stride) {
    // Three corners, each as x, y and z of four lanes.
    let corner = blocks + i * <u32>BLOCK_BYTES;
    for (let k = 0; k < 3; k++) {
      const px = v128.load(corner), py = v128.load(corner, 16), pz = v128.load(corner, 32);
      const x = f32x4.add(f32x4.add(f32x4.mul(xx, px), f32x4.mul(xy, py)), f32x4.mul(xz, pz));
      const y = f32x4.add(f32x4.add(f32x4.mul(yx, px), f32x4.mul(yy, py)), f32x4.mul(yz, pz));
      const z = f32x4.add(f32x4.add(f32x4.mul(zx, px), f32x4.mul(zy, py)), f32x4.mul(zz, pz));
      lowX = f32x4.pmin(lowX, x); highX = f32x4.pmax(highX, x);
      lowY = f32x4.pmin(lowY, y); highY = f32x4.pmax(highY, y);
      lowZ = f32x4.pmin(lowZ, z); highZ = f32x4.pmax(highZ, z);
      corner += 48;
    }
  }
  boxLow = transposedMin(lowX, lowY, lowZ);
  boxHigh = transposedMax(highX, highY, highZ);
}

// --- the search ---

/** Searches for a rotation that promises to be worth it and leaves it in `best`. Answers false when there is none. */
function searchRotation(node: Node, index: u32, identityCost: f32): bool {
  const s = subtreeAt(index);
  setIdentityRotation(rotation);
  // Over a sample, the identity must be measured on the same sample.
  const reference = s.endBlock - s.firstBlock <= 4 * SAMPLES ? identityCost : rotatedBoxes(node, true);
  let bestCost: f32 = Infinity;
  if (s.area > 0) {
    principalAxes(s, trial);
    bestCost = tried(node);
    copyQuaternion(best, trial);
  }
  const inner = innerCount(node);
  for (let i: u32 = 0; i < inner; i++) {
    const childNode = changetype<Node>(changetype<usize>(node) + (childOf(node, i) - index) * <u32>NODE_BYTES);
    if (!isRotated(childNode)) continue;
    const q = changetype<usize>(childNode) + offsetof<Node>('quaternion');
    trial.x = <f64>load<i16>(q, 0); trial.y = <f64>load<i16>(q, 2);
    trial.z = <f64>load<i16>(q, 4); trial.w = <f64>load<i16>(q, 6);
    const cost = tried(node);
    if (cost < bestCost) {
      bestCost = cost;
      copyQuaternion(best, trial);
    }
  }
  // Where even the best start is worse by a fifth, small turns do not make up for it.
  if (bestCost > reference * 1.2) return false;
  for (let step = 0.2; step > 0.02; step *= 0.5) {
    for (let axis = 0; axis < 3; axis++) {
      for (let t = step; ; t = -step) {
        turned(trial, best, axis, t);
        const cost = tried(node);
        if (cost < bestCost) {
          bestCost = cost;
          copyQuaternion(best, trial);
          break;
        }
        if (t < 0) break;
      }
    }
  }
  return bestCost < reference * WORTH;
}

/** Answers the cost of `trial` on the sample. */
function tried(node: Node): f32 {
  quantise(quantised, trial);
  rotationAt(rotation, quantised);
  return rotatedBoxes(node, true);
}

function copyQuaternion(to: Quaternion, from: Quaternion): void {
  memory.copy(changetype<usize>(to), changetype<usize>(from), QUATERNION_BYTES);
}

function principalAxes(s: Subtree, q: Quaternion): void {
  const inverse = 1.0 / s.area;
  const x = s.x * inverse, y = s.y * inverse, z = s.z * inverse;
  diagonalise(
    s.xx * inverse - x * x, s.xy * inverse - x * y, s.xz * inverse - x * z,
    s.yy * inverse - y * y, s.yz * inverse - y * z, s.zz * inverse - z * z,
    AXIS_TOLERANCE,
  );
  const ax = eigenvector(0, 0), ay = eigenvector(1, 0), az = eigenvector(2, 0);
  const bx = eigenvector(0, 1), by = eigenvector(1, 1), bz = eigenvector(2, 1);
  // The third row is the cross product, so the frame is right-handed.
  fromRows(q, ax, ay, az, bx, by, bz, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
}
