// The rotation of a node, from below upwards. Proxies: the identity, the principal axes of points of the node's surface
// (Gottschalk, Lin and Manocha, "OBBTree", 1996) and the rotations of its children; the best is turned a little while the
// boxes get smaller. What is tried is tried on few points: the corners of leaves, and of every other child those that lie
// farthest in seven directions and against them (Larsson and Källberg, "Fast Computation of Tight-Fitting Oriented Bounding
// Boxes", 2011). What is chosen is computed over all triangles.

import { diagonalise, eigenvector } from '../../math/jacobi';
import {
  QUATERNION_BYTES, Quaternion, Rotation, fromRows, quantise, rotationAt, setRotation, turned,
} from '../../math/quaternion';
import {
  BLOCK_BYTES, BOX_PADDING, Block, IDENTITY_QUATERNION, LEAF, NODE_BYTES, Node, childCount, childOf, firstBlock,
  innerCount, isRotated,
} from '../tree/layout';
import { FITTING } from '../tree/counters';
import { storeBoxes } from '../tree/store-boxes';
import { emptyHigh, emptyLow, halfArea } from './binned-sah';
import { VECTOR_BYTES } from '../../sizes';

/** What a node hands to its parent while its boxes are computed. */
@unmanaged
export class Subtree {
  firstBlock: u32;
  endBlock: u32;
  pad: u64;
  low: v128; // exact axis-aligned bounds
  high: v128;
}

export const SUBTREE_BYTES: usize = offsetof<Subtree>();

/** Directions in which points are looked for that stand for a subtree: the axes, and the diagonals of a cube. */
const DIRECTION_COUNT: usize = 7;
/** The points that stand for a subtree, the two farthest of each direction. */
const EXTREMES: usize = 2 * DIRECTION_COUNT;
/** The corners of the four triangles of a leaf. */
const CORNERS: usize = 12;
/** An axis of the points of a child: four vectors, of which a leaf fills three. */
const EXTREMES_AXIS_BYTES: usize = 64;
/** What else a node hands to its parent while rotations are searched: x of its extremes, y, z. */
export const EXTREMES_BYTES: usize = 3 * EXTREMES_AXIS_BYTES;

/** A rotation must save a tenth of the boxes' area, else rays are better off without it. */
const WORTH: f32 = 0.9;
/** The tolerance of principal axes, which only start a search. */
const AXIS_TOLERANCE: f64 = 1e-3;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const best = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const trial = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const quantised: usize = memory.data(4 * <i32>sizeof<i16>(), 16);
const lows: usize = memory.data(4 * VECTOR_BYTES, 16); // bounds of the four children
const highs: usize = memory.data(4 * VECTOR_BYTES, 16);
/** The points of the four children: x, y and z of one point of each child in turn. */
const points: usize = memory.data(((<i32>EXTREMES + 3) & ~3) * 3 * VECTOR_BYTES, 16);
let pointCount: usize = 0;
/** All bits in the lanes of children that there are. */
let lanes: v128 = i32x4.splat(0);

let blocks: usize = 0;
let subtrees: usize = 0;
let extremes: usize = 0;
let boxLow: v128 = i32x4.splat(0);
let boxHigh: v128 = i32x4.splat(0);

// @ts-ignore: decorator
@inline
function subtreeAt(index: u32): Subtree {
  return changetype<Subtree>(subtrees + index * <u32>SUBTREE_BYTES);
}

// @ts-ignore: decorator
@inline
function extremesAt(index: u32): usize {
  return extremes + index * <u32>EXTREMES_BYTES;
}

/**
 * Fits node `index`, whose inner children are fitted already: with `doesTurn`, turns of the best rotation are tried, too. Answers
 * half the area of its boxes.
 */
export function fitNode(
  node: Node, index: u32, allBlocks: usize, allSubtrees: usize, allExtremes: usize, padding: f32, doesTurn: bool,
): f32 {
  blocks = allBlocks;
  subtrees = allSubtrees;
  extremes = allExtremes;
  const identityCost = boundSubtree(node, index);
  let cost = identityCost;
  node.quaternion = IDENTITY_QUATERNION;
  if (FITTING) {
    gatherPoints(node);
    if (searchRotation(node, index, identityCost, doesTurn)) {
      quantise(quantised, best);
      rotationAt(rotation, quantised);
      cost = rotatedBoxes(node);
      if (cost < identityCost * WORTH) node.quaternion = load<u64>(quantised);
      else cost = axisAlignedBoxes(node);
    }
    keepExtremes(extremesAt(index));
  }
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
    cost = rotatedBoxes(node);
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

/** Sets lows and highs to the boxes in the frame of `rotation`. Answers the sum of half their areas. */
function rotatedBoxes(node: Node): f32 {
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
    boundRotated(first, end);
    cost += halfArea(boxLow, boxHigh);
    v128.store(lows + (<usize>i << 4), boxLow);
    v128.store(highs + (<usize>i << 4), boxHigh);
  }
  return cost;
}

function boundRotated(first: u32, end: u32): void {
  const xx = f32x4.splat(rotation.xx), xy = f32x4.splat(rotation.xy), xz = f32x4.splat(rotation.xz);
  const yx = f32x4.splat(rotation.yx), yy = f32x4.splat(rotation.yy), yz = f32x4.splat(rotation.yz);
  const zx = f32x4.splat(rotation.zx), zy = f32x4.splat(rotation.zy), zz = f32x4.splat(rotation.zz);
  let lowX = emptyLow(), lowY = emptyLow(), lowZ = emptyLow();
  let highX = emptyHigh(), highY = emptyHigh(), highZ = emptyHigh();
  for (let i = first; i < end; i++) {
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

// --- points that stand for children ---

/** Gathers the points of a node's children, a child in each lane. */
function gatherPoints(node: Node): void {
  const count = childCount(node);
  lanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
  pointCount = innerCount(node) == 0 ? CORNERS : EXTREMES;
  const a = childOf(node, 0);
  const b = count > 1 ? childOf(node, 1) : a, c = count > 2 ? childOf(node, 2) : a, d = count > 3 ? childOf(node, 3) : a;
  for (let group: u32 = 0; <usize>(group << 2) < pointCount; group++) {
    for (let axis: usize = 0; axis < 3; axis++) {
      const va = v128.load(pointsOf(a, group, axis)), vb = v128.load(pointsOf(b, group, axis));
      const vc = v128.load(pointsOf(c, group, axis)), vd = v128.load(pointsOf(d, group, axis));
      const ab = v128.shuffle<f32>(va, vb, 0, 4, 1, 5), cd = v128.shuffle<f32>(vc, vd, 0, 4, 1, 5);
      const abToo = v128.shuffle<f32>(va, vb, 2, 6, 3, 7), cdToo = v128.shuffle<f32>(vc, vd, 2, 6, 3, 7);
      const at = points + <usize>group * 192 + (axis << 4);
      v128.store(at, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
      v128.store(at, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), 48);
      v128.store(at, v128.shuffle<f32>(abToo, cdToo, 0, 1, 4, 5), 96);
      v128.store(at, v128.shuffle<f32>(abToo, cdToo, 2, 3, 6, 7), 144);
    }
  }
}

/** Answers where a coordinate of four points of a child is. A leaf has three such groups, the last of which stands twice. */
// @ts-ignore: decorator
@inline
function pointsOf(child: u32, group: u32, axis: usize): usize {
  if (child & LEAF) return blocks + (child & ~LEAF) * <u32>BLOCK_BYTES + min<u32>(group, 2) * 48 + (axis << 4);
  return extremesAt(child) + axis * EXTREMES_AXIS_BYTES + (group << 4);
}

/** The least and the greatest key of each direction: those of the points of a child in a lane. */
const leastKeys: usize = memory.data(<i32>DIRECTION_COUNT * VECTOR_BYTES, 16);
const greatestKeys: usize = memory.data(<i32>DIRECTION_COUNT * VECTOR_BYTES, 16);
/** A key is how far a point lies in a direction, with its number in the last bits. */
const NUMBER_MASK: i32 = 15;

/** Keeps of all points those that lie farthest in each direction and against it. */
function keepExtremes(to: usize): void {
  for (let at: usize = 0; at < DIRECTION_COUNT * 16; at += 16) {
    v128.store(leastKeys + at, emptyLow());
    v128.store(greatestKeys + at, emptyHigh());
  }
  let number = i32x4.splat(0);
  const end = points + pointCount * 48;
  for (let point = points; point < end; point += 48) {
    const x = v128.load(point), y = v128.load(point, 16), z = v128.load(point, 32);
    const sum = f32x4.add(x, y), difference = f32x4.sub(x, y);
    compareKey(0, x, number);
    compareKey(1, y, number);
    compareKey(2, z, number);
    compareKey(3, f32x4.add(sum, z), number);
    compareKey(4, f32x4.sub(sum, z), number);
    compareKey(5, f32x4.add(difference, z), number);
    compareKey(6, f32x4.sub(difference, z), number);
    number = i32x4.add(number, i32x4.splat(1));
  }
  for (let d: usize = 0; d < DIRECTION_COUNT; d++) {
    const low = v128.load(leastKeys + (d << 4)), high = v128.load(greatestKeys + (d << 4));
    copyPoint(to + (d << 3), low, leastLane(low));
    copyPoint(to + (d << 3) + 4, high, greatestLane(high));
  }
}

// @ts-ignore: decorator
@inline
function compareKey(direction: usize, far: v128, number: v128): void {
  const key = v128.or(v128.andnot(far, i32x4.splat(NUMBER_MASK)), number);
  const low = leastKeys + (direction << 4), high = greatestKeys + (direction << 4);
  v128.store(low, f32x4.pmin(v128.load(low), key));
  v128.store(high, f32x4.pmax(v128.load(high), key));
}

/** Copies the point with the given key, which one of the lanes has. */
function copyPoint(to: usize, keys: v128, key: f32): void {
  const lane = <usize>ctz(i32x4.bitmask(i32x4.eq(keys, i32x4.splat(reinterpret<i32>(key)))));
  const from = points + <usize>(reinterpret<i32>(key) & NUMBER_MASK) * 48 + (lane << 2);
  store<f32>(to, load<f32>(from));
  store<f32>(to, load<f32>(from, 16), EXTREMES_AXIS_BYTES);
  store<f32>(to, load<f32>(from, 32), 2 * EXTREMES_AXIS_BYTES);
}

// --- the search ---

/** Searches for a rotation that promises to be worth it and leaves it in `best`. Answers false when there is none. */
function searchRotation(node: Node, index: u32, identityCost: f32, doesTurn: bool): bool {
  principalAxes(subtreeAt(index));
  let bestCost = tried();
  copyQuaternion(best, trial);
  const inner = innerCount(node);
  for (let i: u32 = 0; i < inner; i++) {
    const childNode = changetype<Node>(changetype<usize>(node) + (childOf(node, i) - index) * <u32>NODE_BYTES);
    if (!isRotated(childNode)) continue;
    const q = changetype<usize>(childNode) + offsetof<Node>('quaternion');
    const inverse = 1.0 / 32767.0;
    trial.x = inverse * <f64>load<i16>(q, 0); trial.y = inverse * <f64>load<i16>(q, 2);
    trial.z = inverse * <f64>load<i16>(q, 4); trial.w = inverse * <f64>load<i16>(q, 6);
    const cost = tried();
    if (cost < bestCost) {
      bestCost = cost;
      copyQuaternion(best, trial);
    }
  }
  // Where even the best start is worse by a tenth, small turns do not make up for it.
  if (bestCost > identityCost * HOPELESS) return false;
  if (doesTurn) bestCost = turnBest(bestCost);
  return bestCost < identityCost * WORTH;
}

/** Turns `best` a little about each of its axes, as long as boxes get smaller. Answers what they cost then. */
function turnBest(cost: f32): f32 {
  turnPoints();
  for (let step = WIDEST_TURN; step > LEAST_TURN; step *= NEXT_TURN) {
    for (let axis = 0; axis < 3; axis++) {
      tryTurns(axis, step);
      const isForward = forwardCost <= backwardCost;
      const turnedCost = isForward ? forwardCost : backwardCost;
      if (turnedCost >= cost) continue;
      cost = turnedCost;
      turned(trial, best, axis, isForward ? step : -step);
      copyQuaternion(best, trial);
      takeTurn(axis, isForward ? step : -step);
    }
  }
  return cost;
}

/** A start that costs so much more than boxes without a rotation is given up. */
const HOPELESS: f32 = 1.1;
/**
 * Turns that are tried, as tangents of half their angles: 0.15 and 0.05. With 0.2, 0.08 and 0.032 fitting took half as long
 * again, and rays visited 0.2 % fewer nodes and 1.6 % fewer leaves.
 */
const WIDEST_TURN: f64 = 0.15;
const LEAST_TURN: f64 = 0.04;
const NEXT_TURN: f64 = 0.33;

/** The points in the frame of `best`, as `points`; and the extents of each child along its axes. */
const turnedPoints: usize = memory.data(((<i32>EXTREMES + 3) & ~3) * 3 * VECTOR_BYTES, 16);
const extents: usize = memory.data(3 * VECTOR_BYTES, 16);

/** Takes the points to the frame of `best`. */
function turnPoints(): void {
  setRotation(rotation, <f32>best.x, <f32>best.y, <f32>best.z, <f32>best.w);
  let to = turnedPoints;
  const end = points + pointCount * 48;
  for (let point = points; point < end; point += 48) {
    const px = v128.load(point), py = v128.load(point, 16), pz = v128.load(point, 32);
    v128.store(to, dot(px, py, pz, rotation.xx, rotation.xy, rotation.xz));
    v128.store(to, dot(px, py, pz, rotation.yx, rotation.yy, rotation.yz), 16);
    v128.store(to, dot(px, py, pz, rotation.zx, rotation.zy, rotation.zz), 32);
    to += 48;
  }
  for (let axis: usize = 0; axis < 48; axis += 16) measure(axis);
}

// @ts-ignore: decorator
@inline
function dot(px: v128, py: v128, pz: v128, x: f32, y: f32, z: f32): v128 {
  const two = f32x4.add(f32x4.mul(f32x4.splat(x), px), f32x4.mul(f32x4.splat(y), py));
  return f32x4.add(two, f32x4.mul(f32x4.splat(z), pz));
}

/** Sets the extents along an axis, given by its bytes. */
function measure(axis: usize): void {
  let low = emptyLow(), high = emptyHigh();
  const end = turnedPoints + pointCount * 48;
  for (let point = turnedPoints + axis; point < end; point += 48) {
    const value = v128.load(point);
    low = f32x4.pmin(low, value);
    high = f32x4.pmax(high, value);
  }
  v128.store(extents + axis, f32x4.sub(high, low));
}

// What tryTurns has found.
let forwardCost: f32 = 0, backwardCost: f32 = 0;

/**
 * Sets what the boxes cost when the frame of `best` is turned about one of its axes, by 2·atan(t) and back. Coordinates along
 * that axis stay as they are, and those along both others come of the same products for both ways.
 */
function tryTurns(axis: i32, t: f64): void {
  const c = f32x4.splat(<f32>((1.0 - t * t) / (1.0 + t * t))), s = f32x4.splat(<f32>((2.0 * t) / (1.0 + t * t)));
  const u: usize = axis == 0 ? 16 : axis == 1 ? 32 : 0, v: usize = axis == 0 ? 32 : axis == 1 ? 0 : 16;
  let lowU = emptyLow(), lowV = lowU, backLowU = lowU, backLowV = lowU;
  let highU = emptyHigh(), highV = highU, backHighU = highU, backHighV = highU;
  const end = turnedPoints + pointCount * 48;
  for (let point = turnedPoints; point < end; point += 48) {
    const pu = v128.load(point + u), pv = v128.load(point + v);
    const cu = f32x4.mul(c, pu), cv = f32x4.mul(c, pv), su = f32x4.mul(s, pu), sv = f32x4.mul(s, pv);
    const forwardU = f32x4.sub(cu, sv), forwardV = f32x4.add(cv, su);
    const backU = f32x4.add(cu, sv), backV = f32x4.sub(cv, su);
    lowU = f32x4.pmin(lowU, forwardU); highU = f32x4.pmax(highU, forwardU);
    lowV = f32x4.pmin(lowV, forwardV); highV = f32x4.pmax(highV, forwardV);
    backLowU = f32x4.pmin(backLowU, backU); backHighU = f32x4.pmax(backHighU, backU);
    backLowV = f32x4.pmin(backLowV, backV); backHighV = f32x4.pmax(backHighV, backV);
  }
  const along = v128.load(extents + (<usize>axis << 4));
  forwardCost = sumOfAreas(along, f32x4.sub(highU, lowU), f32x4.sub(highV, lowV));
  backwardCost = sumOfAreas(along, f32x4.sub(backHighU, backLowU), f32x4.sub(backHighV, backLowV));
}

/** Turns the points by 2·atan(t) about an axis of the frame. */
function takeTurn(axis: i32, t: f64): void {
  const c = f32x4.splat(<f32>((1.0 - t * t) / (1.0 + t * t))), s = f32x4.splat(<f32>((2.0 * t) / (1.0 + t * t)));
  const u: usize = axis == 0 ? 16 : axis == 1 ? 32 : 0, v: usize = axis == 0 ? 32 : axis == 1 ? 0 : 16;
  const end = turnedPoints + pointCount * 48;
  for (let point = turnedPoints; point < end; point += 48) {
    const pu = v128.load(point + u), pv = v128.load(point + v);
    v128.store(point + u, f32x4.sub(f32x4.mul(c, pu), f32x4.mul(s, pv)));
    v128.store(point + v, f32x4.add(f32x4.mul(c, pv), f32x4.mul(s, pu)));
  }
  measure(u);
  measure(v);
}

/** Answers half the areas of the children's boxes, of which the extents are given. */
// @ts-ignore: decorator
@inline
function sumOfAreas(dx: v128, dy: v128, dz: v128): f32 {
  return laneSum(f32x4.add(f32x4.mul(dx, f32x4.add(dy, dz)), f32x4.mul(dy, dz)));
}

/** Answers the sum of half the areas of the children's boxes under `trial`, as far as the points tell. */
function tried(): f32 {
  setRotation(rotation, <f32>trial.x, <f32>trial.y, <f32>trial.z, <f32>trial.w);
  const xx = f32x4.splat(rotation.xx), xy = f32x4.splat(rotation.xy), xz = f32x4.splat(rotation.xz);
  const yx = f32x4.splat(rotation.yx), yy = f32x4.splat(rotation.yy), yz = f32x4.splat(rotation.yz);
  const zx = f32x4.splat(rotation.zx), zy = f32x4.splat(rotation.zy), zz = f32x4.splat(rotation.zz);
  let lowX = emptyLow(), lowY = emptyLow(), lowZ = emptyLow();
  let highX = emptyHigh(), highY = emptyHigh(), highZ = emptyHigh();
  const end = points + pointCount * 48;
  for (let point = points; point < end; point += 48) {
    const px = v128.load(point), py = v128.load(point, 16), pz = v128.load(point, 32);
    const x = f32x4.add(f32x4.add(f32x4.mul(xx, px), f32x4.mul(xy, py)), f32x4.mul(xz, pz));
    const y = f32x4.add(f32x4.add(f32x4.mul(yx, px), f32x4.mul(yy, py)), f32x4.mul(yz, pz));
    const z = f32x4.add(f32x4.add(f32x4.mul(zx, px), f32x4.mul(zy, py)), f32x4.mul(zz, pz));
    lowX = f32x4.pmin(lowX, x); highX = f32x4.pmax(highX, x);
    lowY = f32x4.pmin(lowY, y); highY = f32x4.pmax(highY, y);
    lowZ = f32x4.pmin(lowZ, z); highZ = f32x4.pmax(highZ, z);
  }
  return sumOfAreas(f32x4.sub(highX, lowX), f32x4.sub(highY, lowY), f32x4.sub(highZ, lowZ));
}

/** Adds up the lanes of children that there are. */
// @ts-ignore: decorator
@inline
function laneSum(v: v128): f32 {
  const own = v128.and(v, lanes);
  const pairs = f32x4.add(own, v128.shuffle<f32>(own, own, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

function copyQuaternion(to: Quaternion, from: Quaternion): void {
  memory.copy(changetype<usize>(to), changetype<usize>(from), QUATERNION_BYTES);
}

/** Sets `trial` to the principal axes of the points, as seen from the middle of the node. */
function principalAxes(s: Subtree): void {
  const half = f32x4.splat(0.5);
  const middle = f32x4.add(f32x4.mul(s.low, half), f32x4.mul(s.high, half));
  const mx = f32x4.splat(f32x4.extract_lane(middle, 0)), my = f32x4.splat(f32x4.extract_lane(middle, 1));
  const mz = f32x4.splat(f32x4.extract_lane(middle, 2));
  let sx = f32x4.splat(0), sy = sx, sz = sx, sxx = sx, sxy = sx, sxz = sx, syy = sx, syz = sx, szz = sx;
  const end = points + pointCount * 48;
  for (let point = points; point < end; point += 48) {
    const x = f32x4.sub(v128.load(point), mx), y = f32x4.sub(v128.load(point, 16), my);
    const z = f32x4.sub(v128.load(point, 32), mz);
    sx = f32x4.add(sx, x); sy = f32x4.add(sy, y); sz = f32x4.add(sz, z);
    sxx = f32x4.add(sxx, f32x4.mul(x, x)); sxy = f32x4.add(sxy, f32x4.mul(x, y));
    sxz = f32x4.add(sxz, f32x4.mul(x, z)); syy = f32x4.add(syy, f32x4.mul(y, y));
    syz = f32x4.add(syz, f32x4.mul(y, z)); szz = f32x4.add(szz, f32x4.mul(z, z));
  }
  const inverse = 1.0 / <f64>(pointCount * popcnt(i32x4.bitmask(lanes)));
  const x = inverse * <f64>laneSum(sx), y = inverse * <f64>laneSum(sy), z = inverse * <f64>laneSum(sz);
  diagonalise(
    inverse * <f64>laneSum(sxx) - x * x, inverse * <f64>laneSum(sxy) - x * y, inverse * <f64>laneSum(sxz) - x * z,
    inverse * <f64>laneSum(syy) - y * y, inverse * <f64>laneSum(syz) - y * z, inverse * <f64>laneSum(szz) - z * z,
    AXIS_TOLERANCE,
  );
  const ax = eigenvector(0, 0), ay = eigenvector(1, 0), az = eigenvector(2, 0);
  const bx = eigenvector(0, 1), by = eigenvector(1, 1), bz = eigenvector(2, 1);
  // The third row is the cross product, so the frame is right-handed.
  fromRows(trial, ax, ay, az, bx, by, bz, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
}
