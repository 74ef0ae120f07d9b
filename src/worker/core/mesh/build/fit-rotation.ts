// The rotation of a node, computed bottom-up. Candidates: the identity, the principal axes of points of the node's
// surface (Gottschalk, Lin and Manocha, "OBBTree", 1996) and the rotations of its children; the best one is then turned
// in small steps as long as the boxes get smaller. Candidates are evaluated on few points (extreme-points.ts). The boxes
// of the chosen rotation are computed over all triangles (node-boxes.ts).

import { diagonalise, eigenvector } from '../../math/jacobi';
import { Quaternion, Rotation, setFromRows, quantise, rotationAt, setRotation, setRotatedAboutAxis } from '../../math/quaternion';
import { BOX_PADDING, IDENTITY_QUATERNION, NODE_BYTES, Node, childCount, childOf, innerCount, isRotated } from '../tree/layout';
import { FITTING } from '../tree/counters';
import { storeLanes } from '../tree/store-boxes';
import { emptyMax, emptyMin } from './binned-sah';
import { VECTOR_BYTES } from '../../sizes';
import {
  MAX_POINTS, POINT_BYTES, boundRotatedPoints, gatherPoints, storeCorners, storeExtremes, laneSum, pointCount, points, setPoints,
  sumCount, triangleAreas,
} from './extreme-points';
import {
  BOXES_BYTES, Subtree, axisAlignedBoxes, boundSubtree, boxes, areaOfBoxes, rotatedBoxes, setBuildArrays, subtreeAt, sumOfAreas,
} from './node-boxes';

/** A rotation must save a tenth of the boxes' area, otherwise rays are better off without it. */
const MAX_COST_RATIO: f32 = 0.9;
/**
 * The tolerance of principal axes, which are only the start of a search. With a thirtieth of it, fitting takes 4 %
 * longer, and rays visit as many nodes.
 */
const AXIS_TOLERANCE: f64 = 0.03;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const bestRotation = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const trialRotation = changetype<Quaternion>(memory.data(<i32>offsetof<Quaternion>(), 16));
const quantised: usize = memory.data(4 * <i32>sizeof<i16>(), 16);
/** The boxes of the points under a candidate rotation. */
const trialBoxes: usize = memory.data(BOXES_BYTES, 16);

/** Sets the data of the nodes to be fitted or refitted; extreme points are not used by a refit. */
export function setFitting(blocks: usize, subtrees: usize, extremes: usize): void {
  setBuildArrays(blocks, subtrees);
  setPoints(blocks, extremes);
}

/**
 * Fits node `index`, whose inner children are fitted already; with `triesTurns`, small turns of the best rotation are
 * tried, too. Returns half the area of its boxes.
 */
export function fitNode(node: Node, index: u32, extent: f32, triesTurns: bool): f32 {
  boundSubtree(node, index);
  const identityCost = areaOfBoxes(boxes);
  let cost = identityCost;
  node.quaternion = IDENTITY_QUATERNION;
  if (FITTING && (triesTurns || isSearchWorthwhile(node, index, identityCost))) {
    if (innerCount(node) > 0) gatherPoints(node);
    if (searchRotation(node, index, identityCost, triesTurns)) {
      quantise(quantised, bestRotation);
      rotationAt(rotation, quantised);
      rotatedBoxes(node, rotation);
      cost = areaOfBoxes(boxes);
      if (cost < identityCost * MAX_COST_RATIO) node.quaternion = load<u64>(quantised);
      else {
        cost = identityCost;
        axisAlignedBoxes(node);
      }
    }
    if (triesTurns || isRotated(node)) storeExtremes(index);
  }
  storeLanes(node, boxes, extent * BOX_PADDING);
  return cost;
}

/** Recomputes the boxes for moved triangles, keeping the node's rotation. Returns half the area of its boxes. */
export function refitNode(node: Node, index: u32, extent: f32): f32 {
  boundSubtree(node, index);
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    rotatedBoxes(node, rotation);
  }
  storeLanes(node, boxes, extent * BOX_PADDING);
  return areaOfBoxes(boxes);
}

// --- the search ---

/**
 * Returns whether a rotation may be worth a search in a quick build: above leaves if boxes are large relative to their
 * triangles, and higher up if any child is rotated; the other children get the corners of their bounds as extreme
 * points.
 *
 * Fitting the full dragon takes 0.37 of the time of a search everywhere, and rays take as long: they visit 5 % more
 * nodes and 19 % more leaves, but fewer of the nodes are rotated. Rays against rods, which take twice as long without
 * rotations, visit 1.4 % more nodes.
 */
function isSearchWorthwhile(node: Node, index: u32, cost: f32): bool {
  const inner = innerCount(node);
  if (inner == 0) return cost > MIN_BOX_TO_TRIANGLE_AREA * triangleAreas();
  let isAnyChildRotated = false;
  for (let i: u32 = 0; i < inner; i++) {
    const child = childOf(node, i), s = subtreeAt(child);
    if (isRotated(childAt(node, index, i))) isAnyChildRotated = true;
    else storeCorners(child, s.min, s.max);
  }
  return isAnyChildRotated;
}

/**
 * Boxes of flat patches are seldom larger than this relative to their triangles, those of thin rods much larger. With 3,
 * rays visit 0.7 % fewer nodes of the full dragon and 9 % fewer leaves, in the same time; with 6, 11 % more leaves of
 * dragons among scattered triangles.
 */
const MIN_BOX_TO_TRIANGLE_AREA: f32 = 4;

// @ts-ignore: decorator
@inline
function childAt(node: Node, index: u32, i: u32): Node {
  return changetype<Node>(changetype<usize>(node) + (childOf(node, i) - index) * <u32>NODE_BYTES);
}

/** Searches for a promising rotation and stores it in `bestRotation`. Returns false if there is none. */
function searchRotation(node: Node, index: u32, identityCost: f32, triesTurns: bool): bool {
  const inner = innerCount(node);
  let bestCost: f32 = Infinity;
  // Without turns, a node with inner children takes the rotation of one of them.
  if (triesTurns || inner == 0) {
    principalAxes(subtreeAt(index));
    bestCost = trialCost();
    copyQuaternion(bestRotation, trialRotation);
  }
  for (let i: u32 = 0; i < inner; i++) {
    const childNode = childAt(node, index, i);
    if (!isRotated(childNode)) continue;
    const q = changetype<usize>(childNode) + offsetof<Node>('quaternion');
    const inverse = 1.0 / 32767.0;
    trialRotation.x = inverse * <f64>load<i16>(q, 0); trialRotation.y = inverse * <f64>load<i16>(q, 2);
    trialRotation.z = inverse * <f64>load<i16>(q, 4); trialRotation.w = inverse * <f64>load<i16>(q, 6);
    const cost = trialCost();
    if (cost < bestCost) {
      bestCost = cost;
      copyQuaternion(bestRotation, trialRotation);
    }
  }
  // If even the best start is worse by a tenth, small turns cannot make up for it.
  if (bestCost > identityCost * MAX_START_COST_RATIO) return false;
  if (triesTurns) bestCost = refineBest(bestCost);
  return bestCost < identityCost * MAX_COST_RATIO;
}

/** Turns `bestRotation` a little about each of its axes in turn, as long as boxes get smaller. Returns their final cost. */
function refineBest(cost: f32): f32 {
  rotatePoints();
  for (let axis = 0; axis < 3; axis++) {
    tryTurns(axis, TURN_TANGENT);
    const isForward = forwardCost <= backwardCost;
    const turnedCost = isForward ? forwardCost : backwardCost;
    if (turnedCost >= cost) continue;
    cost = turnedCost;
    setRotatedAboutAxis(trialRotation, bestRotation, axis, isForward ? TURN_TANGENT : -TURN_TANGENT);
    copyQuaternion(bestRotation, trialRotation);
    applyTurn(axis, isForward ? TURN_TANGENT : -TURN_TANGENT);
  }
  return cost;
}

/** A start is given up if it costs this many times as much as boxes without a rotation. */
const MAX_START_COST_RATIO: f32 = 1.1;
/**
 * The tried turn, as the tangent of half its angle. With 0.15 and then 0.05, fitting the full dragon takes 18 % longer,
 * and rays visit 0.3 % fewer nodes and 2.9 % fewer leaves; 0.08 and 0.12 instead are as good.
 */
const TURN_TANGENT: f64 = 0.1;

/** The points in the frame of `bestRotation`, laid out like `points`; and the extents of each child along its axes. */
const rotatedPoints: usize = memory.data(MAX_POINTS * <i32>POINT_BYTES, 16);
const extents: usize = memory.data(3 * VECTOR_BYTES, 16);

/** Maps the points to the frame of `bestRotation`. */
function rotatePoints(): void {
  setRotation(rotation, <f32>bestRotation.x, <f32>bestRotation.y, <f32>bestRotation.z, <f32>bestRotation.w);
  let to = rotatedPoints;
  const end = points + pointCount * POINT_BYTES;
  for (let point = points; point < end; point += POINT_BYTES) {
    const px = v128.load(point), py = v128.load(point, 16), pz = v128.load(point, 32);
    v128.store(to, dot(px, py, pz, rotation.xx, rotation.xy, rotation.xz));
    v128.store(to, dot(px, py, pz, rotation.yx, rotation.yy, rotation.yz), 16);
    v128.store(to, dot(px, py, pz, rotation.zx, rotation.zy, rotation.zz), 32);
    to += POINT_BYTES;
  }
  for (let axis: usize = 0; axis < 48; axis += 16) measureExtents(axis);
}

// @ts-ignore: decorator
@inline
function dot(px: v128, py: v128, pz: v128, x: f32, y: f32, z: f32): v128 {
  const two = f32x4.add(f32x4.mul(f32x4.splat(x), px), f32x4.mul(f32x4.splat(y), py));
  return f32x4.add(two, f32x4.mul(f32x4.splat(z), pz));
}

/** Computes the extents along an axis, given by its byte offset. */
function measureExtents(axis: usize): void {
  let minValue = emptyMin(), maxValue = emptyMax();
  const end = rotatedPoints + pointCount * POINT_BYTES;
  for (let point = rotatedPoints + axis; point < end; point += POINT_BYTES) {
    const value = v128.load(point);
    minValue = f32x4.pmin(minValue, value);
    maxValue = f32x4.pmax(maxValue, value);
  }
  v128.store(extents + axis, f32x4.sub(maxValue, minValue));
}

// The results of tryTurns.
let forwardCost: f32 = 0, backwardCost: f32 = 0;

/**
 * Computes the cost of the boxes for both turns of the frame of `bestRotation` about one of its axes, by 2·atan(t) and back.
 * Coordinates along that axis are unchanged, and those along the other two use the same products for both directions.
 */
function tryTurns(axis: i32, t: f64): void {
  const c = f32x4.splat(<f32>((1.0 - t * t) / (1.0 + t * t))), s = f32x4.splat(<f32>((2.0 * t) / (1.0 + t * t)));
  const u: usize = axis == 0 ? 16 : axis == 1 ? 32 : 0, v: usize = axis == 0 ? 32 : axis == 1 ? 0 : 16;
  let minU = emptyMin(), minV = minU, backMinU = minU, backMinV = minU;
  let maxU = emptyMax(), maxV = maxU, backMaxU = maxU, backMaxV = maxU;
  const end = rotatedPoints + pointCount * POINT_BYTES;
  for (let point = rotatedPoints; point < end; point += POINT_BYTES) {
    const pu = v128.load(point + u), pv = v128.load(point + v);
    const cu = f32x4.mul(c, pu), cv = f32x4.mul(c, pv), su = f32x4.mul(s, pu), sv = f32x4.mul(s, pv);
    const forwardU = f32x4.sub(cu, sv), forwardV = f32x4.add(cv, su);
    const backU = f32x4.add(cu, sv), backV = f32x4.sub(cv, su);
    minU = f32x4.pmin(minU, forwardU); maxU = f32x4.pmax(maxU, forwardU);
    minV = f32x4.pmin(minV, forwardV); maxV = f32x4.pmax(maxV, forwardV);
    backMinU = f32x4.pmin(backMinU, backU); backMaxU = f32x4.pmax(backMaxU, backU);
    backMinV = f32x4.pmin(backMinV, backV); backMaxV = f32x4.pmax(backMaxV, backV);
  }
  const axisExtents = v128.load(extents + (<usize>axis << 4));
  forwardCost = sumOfAreas(axisExtents, f32x4.sub(maxU, minU), f32x4.sub(maxV, minV));
  backwardCost = sumOfAreas(axisExtents, f32x4.sub(backMaxU, backMinU), f32x4.sub(backMaxV, backMinV));
}

/** Turns the points by 2·atan(t) about an axis of the frame. */
function applyTurn(axis: i32, t: f64): void {
  const c = f32x4.splat(<f32>((1.0 - t * t) / (1.0 + t * t))), s = f32x4.splat(<f32>((2.0 * t) / (1.0 + t * t)));
  const u: usize = axis == 0 ? 16 : axis == 1 ? 32 : 0, v: usize = axis == 0 ? 32 : axis == 1 ? 0 : 16;
  const end = rotatedPoints + pointCount * POINT_BYTES;
  for (let point = rotatedPoints; point < end; point += POINT_BYTES) {
    const pu = v128.load(point + u), pv = v128.load(point + v);
    v128.store(point + u, f32x4.sub(f32x4.mul(c, pu), f32x4.mul(s, pv)));
    v128.store(point + v, f32x4.add(f32x4.mul(c, pv), f32x4.mul(s, pu)));
  }
  measureExtents(u);
  measureExtents(v);
}

/** Returns half the total area of the children's boxes under `trialRotation`, estimated from the points. */
function trialCost(): f32 {
  setRotation(rotation, <f32>trialRotation.x, <f32>trialRotation.y, <f32>trialRotation.z, <f32>trialRotation.w);
  boundRotatedPoints(rotation, trialBoxes);
  return areaOfBoxes(trialBoxes);
}

function copyQuaternion(to: Quaternion, from: Quaternion): void {
  to.x = from.x; to.y = from.y; to.z = from.z; to.w = from.w;
}

/** Sets `trialRotation` to the principal axes of the points, relative to the centre of the node. */
function principalAxes(s: Subtree): void {
  const half = f32x4.splat(0.5);
  const center = f32x4.add(f32x4.mul(s.min, half), f32x4.mul(s.max, half));
  const mx = f32x4.splat(f32x4.extract_lane(center, 0)), my = f32x4.splat(f32x4.extract_lane(center, 1));
  const mz = f32x4.splat(f32x4.extract_lane(center, 2));
  let sx = f32x4.splat(0), sy = sx, sz = sx, sxx = sx, sxy = sx, sxz = sx, syy = sx, syz = sx, szz = sx;
  const end = points + pointCount * POINT_BYTES;
  for (let point = points; point < end; point += POINT_BYTES) {
    const x = f32x4.sub(v128.load(point), mx), y = f32x4.sub(v128.load(point, 16), my);
    const z = f32x4.sub(v128.load(point, 32), mz);
    sx = f32x4.add(sx, x); sy = f32x4.add(sy, y); sz = f32x4.add(sz, z);
    sxx = f32x4.add(sxx, f32x4.mul(x, x)); sxy = f32x4.add(sxy, f32x4.mul(x, y));
    sxz = f32x4.add(sxz, f32x4.mul(x, z)); syy = f32x4.add(syy, f32x4.mul(y, y));
    syz = f32x4.add(syz, f32x4.mul(y, z)); szz = f32x4.add(szz, f32x4.mul(z, z));
  }
  const inverse = 1.0 / <f64>sumCount();
  const x = inverse * <f64>laneSum(sx), y = inverse * <f64>laneSum(sy), z = inverse * <f64>laneSum(sz);
  diagonalise(
    inverse * <f64>laneSum(sxx) - x * x, inverse * <f64>laneSum(sxy) - x * y, inverse * <f64>laneSum(sxz) - x * z,
    inverse * <f64>laneSum(syy) - y * y, inverse * <f64>laneSum(syz) - y * z, inverse * <f64>laneSum(szz) - z * z,
    AXIS_TOLERANCE,
  );
  const ax = eigenvector(0, 0), ay = eigenvector(1, 0), az = eigenvector(2, 0);
  const bx = eigenvector(0, 1), by = eigenvector(1, 1), bz = eigenvector(2, 1);
  // The third row is the cross product, so the frame is right-handed.
  setFromRows(trialRotation, ax, ay, az, bx, by, bz, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
}
