// Reduces the points of a contact to at most four that span a large area perpendicular to its normal. The first 16
// points that are offered are kept as they are. If there are more, the points that reach farthest in one of 16
// directions are kept, which is as many as are compared with each other. Of the kept points, the reduction chooses the
// two that are farthest apart, and on each side of the line through them the point farthest from that line: for a convex
// polygon, the four have at least half of the area.
//
// All contacts are reduced here. Boxes in frames, which are clipped in float32, used to have a reduction of their own
// that compared all corners with the first one only; a frame of 10,000 boxes takes 1.01 of the time with this one, and
// took 1.03 with branches in it.

import { F64_BYTES, WORD_BYTES } from '../../sizes';

/** An offered point: its coordinates in the plane perpendicular to the normal, and its position in space. */
@unmanaged
class Point {
  u: f64; v: f64;
  x: f64; y: f64; z: f64;
}

const POINT_BYTES: usize = offsetof<Point>();
/** How many points are kept, and in how many directions the farthest points are determined if more are offered. */
const MAX_KEPT: u32 = 16;
const KEPT_BYTES: usize = <usize>MAX_KEPT * POINT_BYTES;
/** Number of directions where a direction and its opposite count once. */
const LINE_COUNT: usize = 8;
const points: usize = memory.data(16 * <i32>offsetof<Point>(), 16);
/** Copy of the kept points, while the farthest ones are determined. */
const pointCopies: usize = memory.data(16 * <i32>offsetof<Point>(), 16);
/** The cosines and sines of 0, π / 8, … 7 π / 8. */
const cosines = memory.data<f64>([
  1, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0, -0.3826834323650898, -0.7071067811865476,
  -0.9238795325112867,
], 16);
const sines = memory.data<f64>([
  0, 0.3826834323650898, 0.7071067811865476, 0.9238795325112867, 1, 0.9238795325112867, 0.7071067811865476,
  0.3826834323650898,
], 16);
/** The greatest and the least projection onto each line, of points i and i + 8: f64 each. */
const maxProjections: usize = memory.data(<i32>LINE_COUNT * F64_BYTES, 16);
const minProjections: usize = memory.data(<i32>LINE_COUNT * F64_BYTES, 16);

/** How many points are kept at present. */
let keptCount: u32 = 0;
/** Whether more points were offered than are kept, so that point i is the farthest one in direction i. */
let hasOverflowed: bool = false;
/** The indices of the chosen points, u32 each. */
const chosenIndices: usize = memory.data(4 * WORD_BYTES, 16);
/** How many points remain after the reduction. */
export let reducedCount: u32 = 0;

// @ts-ignore: decorator
@inline
function pointAt(i: usize): Point {
  return changetype<Point>(points + i * POINT_BYTES);
}

// @ts-ignore: decorator
@inline
function chosenAt(i: usize): Point {
  return pointAt(load<u32>(chosenIndices + (i << 2)));
}

export function reducedX(i: u32): f64 { return chosenAt(i).x; }
export function reducedY(i: u32): f64 { return chosenAt(i).y; }
export function reducedZ(i: u32): f64 { return chosenAt(i).z; }

/** Returns how many points were offered before chosen point i: its index in the order of the offers. */
// @ts-ignore: decorator
@inline
export function reducedIndex(i: u32): u32 {
  return load<u32>(chosenIndices + (<usize>i << 2));
}

/** Discards all offered points. */
export function beginReduction(): void {
  keptCount = 0;
  hasOverflowed = false;
}

/** Returns whether no point was offered. */
export function isReductionEmpty(): bool {
  return keptCount == 0;
}

/**
 * Offers a point by its coordinates in the plane only; the chosen points are then read by `reducedIndex`. At most 16 may
 * be offered.
 */
// @ts-ignore: decorator
@inline
export function offerPlanePoint(u: f64, v: f64): void {
  const point = pointAt(keptCount++);
  point.u = u;
  point.v = v;
}

/** Offers a point, by its coordinates in the plane and its position in space. */
export function offerPoint(u: f64, v: f64, x: f64, y: f64, z: f64): void {
  if (keptCount < MAX_KEPT) {
    setPoint(keptCount++, u, v, x, y, z);
    return;
  }
  if (!hasOverflowed) startOverflow();
  keepFarthest(u, v, x, y, z);
}

/** Replaces the kept points by the farthest of them in each direction. */
function startOverflow(): void {
  hasOverflowed = true;
  memory.copy(pointCopies, points, KEPT_BYTES);
  for (let i: usize = 0; i < LINE_COUNT; i++) {
    store<f64>(maxProjections + (i << 3), -Infinity);
    store<f64>(minProjections + (i << 3), Infinity);
  }
  for (let at = pointCopies; at < pointCopies + KEPT_BYTES; at += POINT_BYTES) {
    const point = changetype<Point>(at);
    keepFarthest(point.u, point.v, point.x, point.y, point.z);
  }
}

/** Keeps a point in each direction in which it is the farthest so far; tests two directions per step. */
function keepFarthest(u: f64, v: f64, x: f64, y: f64, z: f64): void {
  const us = f64x2.splat(u), vs = f64x2.splat(v);
  for (let i: usize = 0; i < LINE_COUNT; i += 2) {
    const at = i << 3;
    const projections = f64x2.add(f64x2.mul(us, v128.load(cosines + at)), f64x2.mul(vs, v128.load(sines + at)));
    const maximum = v128.load(maxProjections + at), minimum = v128.load(minProjections + at);
    if (!v128.any_true(v128.or(f64x2.gt(projections, maximum), f64x2.lt(projections, minimum)))) continue;
    for (let k: usize = 0; k < 2; k++) {
      const projection = k == 0 ? f64x2.extract_lane(projections, 0) : f64x2.extract_lane(projections, 1);
      if (projection > load<f64>(maxProjections + at + (k << 3))) setPoint(i + k, u, v, x, y, z);
      if (projection < load<f64>(minProjections + at + (k << 3))) setPoint(i + k + LINE_COUNT, u, v, x, y, z);
    }
    v128.store(maxProjections + at, f64x2.pmax(maximum, projections));
    v128.store(minProjections + at, f64x2.pmin(minimum, projections));
  }
}

// @ts-ignore: decorator
@inline
function setPoint(i: usize, u: f64, v: f64, x: f64, y: f64, z: f64): void {
  const point = pointAt(i);
  point.u = u;
  point.v = v;
  point.x = x;
  point.y = y;
  point.z = z;
}

/**
 * Chooses at most four of the offered points, of which there must be at least one. Points that are no farther apart than
 * `tolerance` in the plane count as the same.
 */
export function reduceToFour(tolerance: f64): void {
  // Branchless, since these branches would be unpredictable. A pair is encoded by the indices of both points.
  let maxDistanceSquared = f64x2.splat(tolerance * tolerance), pair = i64x2.splat(0);
  for (let i: usize = 1; i < keptCount; i++) {
    const planePoint = v128.load(changetype<usize>(pointAt(i)));
    let pairCode = i64x2.splat(<i64>(i << 4));
    for (let j: usize = 0; j < i; j++) {
      const difference = f64x2.sub(planePoint, v128.load(changetype<usize>(pointAt(j))));
      const squares = f64x2.mul(difference, difference);
      const distanceSquared = f64x2.add(squares, v128.shuffle<f64>(squares, squares, 1, 0));
      pair = v128.bitselect(pairCode, pair, f64x2.gt(distanceSquared, maxDistanceSquared));
      maxDistanceSquared = f64x2.pmax(maxDistanceSquared, distanceSquared);
      pairCode = i64x2.add(pairCode, i64x2.splat(1));
    }
  }
  const code = <usize>i64x2.extract_lane(pair, 0), first = code & 15, second = code >> 4;
  store<u32>(chosenIndices, <u32>first);
  reducedCount = 1;
  if (first == second) return;
  // Farthest on each side of the line through both points: left of it in the first lane, right of it in the second.
  const p = pointAt(first), q = pointAt(second);
  const eu = q.u - p.u, ev = q.v - p.v;
  let maxCrossProducts = f64x2.splat(tolerance * sqrt(f64x2.extract_lane(maxDistanceSquared, 0))),
    sides = i64x2.splat(<i64>first);
  for (let i: usize = 0; i < keptCount; i++) {
    const crossProduct = eu * (pointAt(i).v - p.v) - ev * (pointAt(i).u - p.u);
    const signedCrossProducts = f64x2.mul(f64x2.splat(crossProduct), f64x2(1, -1));
    sides = v128.bitselect(i64x2.splat(<i64>i), sides, f64x2.gt(signedCrossProducts, maxCrossProducts));
    maxCrossProducts = f64x2.pmax(maxCrossProducts, signedCrossProducts);
  }
  const left = <usize>i64x2.extract_lane(sides, 0), right = <usize>i64x2.extract_lane(sides, 1);
  if (left != first) choose(left);
  choose(second);
  if (right != first) choose(right);
}

function choose(i: usize): void {
  store<u32>(chosenIndices + (<usize>reducedCount << 2), <u32>i);
  reducedCount++;
}
