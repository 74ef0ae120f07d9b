// The test of obb-sat-f32.ts for four pairs of boxes at once, a lane each. It needs no shuffles and no unpredictable branches.
// One bound on rounding for all axes of a kind is enough, because undecided pairs are compared again there.

import { minus, plus, times, transpose } from './lanes';
import { Form } from './obb-sat-f32';

// In rows of four lanes: a's inverse as in the Form, b's edges, the vector from a's position to b's; then b's position and its
// edges in the space in which a is the cube.
const INVERSE: usize = 0, EDGES: usize = 9, OFFSET: usize = 18, LOCAL_POSITION: usize = 21, LOCAL_EDGES: usize = 24;
// Then the gap of the two along each axis (obb-axes.ts), in the units of `compareObbsX4`, and its rounding errors.
const GAPS: usize = 33, ERRORS: usize = 48, ROWS: i32 = 51;
const rowData: usize = memory.data(ROWS * 16, 16);

/** Rounding error bound, relative to a bound of the terms of a comparison, as in obb-sat-f32.ts. */
const ROUNDING: f32 = 1.9073486328125e-6; // 2^-19
/** Pairs with smaller edges are compared in float64, because their products may underflow. */
const MIN_EDGE: f32 = 1e-12;

// @ts-ignore: decorator
@inline
function row(i: usize): v128 { return v128.load(rowData + (i << 4)); }
// @ts-ignore: decorator
@inline
function setRow(i: usize, v: v128): void { v128.store(rowData + (i << 4), v); }
// @ts-ignore: decorator
@inline
function magnitude(i: usize): v128 { return f32x4.abs(row(i)); }
/** Returns the next of the three axes. */
// @ts-ignore: decorator
@inline
function nextAxis(i: usize): usize { return i == 2 ? 0 : i + 1; }

/** Reads component i of b's position in the space in which a is the cube. */
// @ts-ignore: decorator
@inline
export function localPosition(i: usize): v128 { return row(LOCAL_POSITION + i); }
/** Reads component i of b's edge j in the space in which a is the cube. */
// @ts-ignore: decorator
@inline
export function localEdge(j: usize, i: usize): v128 { return row(LOCAL_EDGES + 3 * j + i); }
/** Reads component k of b's edge j in the world. */
// @ts-ignore: decorator
@inline
export function worldEdge(j: usize, k: usize): v128 { return row(EDGES + 3 * j + k); }
/** Reads row i of a's inverse, component k. */
// @ts-ignore: decorator
@inline
export function inverseEntry(i: usize, k: usize): v128 { return row(INVERSE + 3 * k + i); }
/** Returns component i of the cross product of the two edges of b other than j. */
// @ts-ignore: decorator
@inline
export function cofactor(j: usize, i: usize): v128 {
  const p = nextAxis(j), q = nextAxis(p), k = nextAxis(i), l = nextAxis(k);
  return minus(times(localEdge(p, k), localEdge(q, l)), times(localEdge(p, l), localEdge(q, k)));
}

/** Transposes nine contiguous float32 of each of four Forms, at `offset`, to nine rows of four at `to`. */
export function gatherNine(forms: usize, offset: usize, to: usize): void {
  const p0 = <usize>load<u32>(forms) + offset, p1 = <usize>load<u32>(forms, 4) + offset;
  const p2 = <usize>load<u32>(forms, 8) + offset, p3 = <usize>load<u32>(forms, 12) + offset;
  transposeAt(p0, p1, p2, p3, to);
  transposeAt(p0 + 16, p1 + 16, p2 + 16, p3 + 16, to + 64);
  let last = v128.load32_zero(p0, 32);
  last = v128.load32_lane(p1, last, 1, 32);
  last = v128.load32_lane(p2, last, 2, 32);
  v128.store(to, v128.load32_lane(p3, last, 3, 32), 128);
}

// @ts-ignore: decorator
@inline
function transposeAt(p0: usize, p1: usize, p2: usize, p3: usize, to: usize): void {
  transpose(to, v128.load(p0), v128.load(p1), v128.load(p2), v128.load(p3));
}

/** Returns x and y of the vector from one box's position to the other's, in the first two lanes. */
// @ts-ignore: decorator
@inline
function offsetXy(formsA: usize, formsB: usize): v128 {
  const at = offsetof<Form>('x');
  return f32x4.demote_f64x2_zero(
    f64x2.sub(v128.load(<usize>load<u32>(formsB) + at), v128.load(<usize>load<u32>(formsA) + at)),
  );
}

/** Returns z of the vectors of two pairs. */
// @ts-ignore: decorator
@inline
function offsetZ(formsA: usize, formsB: usize): v128 {
  return f32x4.demote_f64x2_zero(f64x2.sub(positionsZ(formsB), positionsZ(formsA)));
}

// @ts-ignore: decorator
@inline
function positionsZ(forms: usize): v128 {
  const at = offsetof<Form>('z');
  return v128.load64_lane(<usize>load<u32>(forms, 4) + at, v128.load64_zero(<usize>load<u32>(forms) + at), 1);
}

/** Reads four pairs of Forms, by their addresses in two lists, and transforms each b to the space in which its a is the cube. */
export function loadPairs(formsA: usize, formsB: usize): void {
  gatherNine(formsA, 0, rowData + (INVERSE << 4));
  gatherNine(formsB, offsetof<Form>('edgeXx'), rowData + (EDGES << 4));
  const offsetsXy01 = v128.shuffle<f64>(offsetXy(formsA, formsB), offsetXy(formsA + 4, formsB + 4), 0, 2);
  const offsetsXy23 = v128.shuffle<f64>(offsetXy(formsA + 8, formsB + 8), offsetXy(formsA + 12, formsB + 12), 0, 2);
  setRow(OFFSET, v128.shuffle<f32>(offsetsXy01, offsetsXy23, 0, 2, 4, 6));
  setRow(OFFSET + 1, v128.shuffle<f32>(offsetsXy01, offsetsXy23, 1, 3, 5, 7));
  setRow(OFFSET + 2, v128.shuffle<f64>(offsetZ(formsA, formsB), offsetZ(formsA + 8, formsB + 8), 0, 2));
  transformToA(OFFSET, LOCAL_POSITION);
  transformToA(EDGES, LOCAL_EDGES);
  transformToA(EDGES + 3, LOCAL_EDGES + 3);
  transformToA(EDGES + 6, LOCAL_EDGES + 6);
}

/** Transforms a vector of the world to the space in which a is the cube. */
// @ts-ignore: decorator
@inline
function transformToA(from: usize, to: usize): void {
  const x = row(from), y = row(from + 1), z = row(from + 2);
  setRow(to, plus(plus(times(inverseEntry(0, 0), x), times(inverseEntry(0, 1), y)), times(inverseEntry(0, 2), z)));
  setRow(to + 1, plus(plus(times(inverseEntry(1, 0), x), times(inverseEntry(1, 1), y)), times(inverseEntry(1, 2), z)));
  setRow(to + 2, plus(plus(times(inverseEntry(2, 0), x), times(inverseEntry(2, 1), y)), times(inverseEntry(2, 2), z)));
}

/**
 * Returns which of the current pairs are certainly apart, as four bits, and from bit 4 on which certainly overlap with neither
 * inside the other. A pair that is not finite has neither bit.
 */
export function compareObbsX4(): u32 {
  // Upper bounds of the sums of magnitudes in t, and in m.
  const maxRowSum = f32x4.max(f32x4.max(rowSum(0), rowSum(1)), rowSum(2));
  const n = f32x4.pmax(times(maxRowSum, f32x4.pmax(f32x4.pmax(maxEdgeComponent(0), maxEdgeComponent(1)),
    maxEdgeComponent(2))), f32x4.splat(MIN_EDGE));
  const maxOffset = f32x4.pmax(f32x4.pmax(magnitude(OFFSET), magnitude(OFFSET + 1)), magnitude(OFFSET + 2));
  const t = plus(times(maxRowSum, maxOffset), f32x4.splat(1));
  const rounding = f32x4.splat(ROUNDING), one = f32x4.splat(1);

  // Faces of a.
  const radius0 = projectedRadius(0), radius1 = projectedRadius(1), radius2 = projectedRadius(2);
  const distance0 = magnitude(LOCAL_POSITION), distance1 = magnitude(LOCAL_POSITION + 1),
    distance2 = magnitude(LOCAL_POSITION + 2);
  let gap = f32x4.pmax(
    f32x4.pmax(storeGap(0, minus(distance0, plus(one, radius0))), storeGap(1, minus(distance1, plus(one, radius1)))),
    storeGap(2, minus(distance2, plus(one, radius2))),
  );
  let error = times(rounding, plus(t, times(n, f32x4.splat(3))));
  setRow(ERRORS, error);
  let apartMask = f32x4.gt(gap, error);
  let overlapMask = f32x4.lt(gap, f32x4.neg(error));
  const maxExtentA = f32x4.pmax(f32x4.pmax(plus(distance0, radius0), plus(distance1, radius1)), plus(distance2, radius2));
  overlapMask = v128.and(overlapMask, f32x4.gt(maxExtentA, plus(one, error)));

  // Faces of b, by cofactors.
  const c00 = cofactor(0, 0), c01 = cofactor(0, 1), c02 = cofactor(0, 2);
  const c10 = cofactor(1, 0), c11 = cofactor(1, 1), c12 = cofactor(1, 2);
  const c20 = cofactor(2, 0), c21 = cofactor(2, 1), c22 = cofactor(2, 2);
  const q00 = f32x4.abs(c00), q01 = f32x4.abs(c01), q02 = f32x4.abs(c02);
  const q10 = f32x4.abs(c10), q11 = f32x4.abs(c11), q12 = f32x4.abs(c12);
  const q20 = f32x4.abs(c20), q21 = f32x4.abs(c21), q22 = f32x4.abs(c22);
  const volume = f32x4.abs(
    plus(plus(times(localEdge(0, 0), c00), times(localEdge(0, 1), c01)), times(localEdge(0, 2), c02)),
  );
  const p0 = distanceAlong(c00, c01, c02), p1 = distanceAlong(c10, c11, c12), p2 = distanceAlong(c20, c21, c22);
  const q0 = plus(plus(q00, q01), q02), q1 = plus(plus(q10, q11), q12), q2 = plus(plus(q20, q21), q22);
  gap = f32x4.pmax(
    f32x4.pmax(storeGap(3, minus(p0, plus(q0, volume))), storeGap(4, minus(p1, plus(q1, volume)))),
    storeGap(5, minus(p2, plus(q2, volume))),
  );
  error = times(rounding, times(times(times(n, n), f32x4.splat(6)), plus(t, n)));
  setRow(ERRORS + 1, error);
  apartMask = v128.or(apartMask, f32x4.gt(gap, error));
  overlapMask = v128.and(overlapMask, f32x4.lt(gap, f32x4.neg(error)));
  const maxExtentB = f32x4.pmax(f32x4.pmax(plus(p0, q0), plus(p1, q1)), plus(p2, q2));
  overlapMask = v128.and(overlapMask, f32x4.gt(maxExtentB, plus(volume, error)));

  // Edge i of a with edge j of b.
  gap = edgeGap(0, 0, plus(q10, q20));
  gap = f32x4.pmax(gap, edgeGap(0, 1, plus(q11, q21)));
  gap = f32x4.pmax(gap, edgeGap(0, 2, plus(q12, q22)));
  gap = f32x4.pmax(gap, edgeGap(1, 0, plus(q00, q20)));
  gap = f32x4.pmax(gap, edgeGap(1, 1, plus(q01, q21)));
  gap = f32x4.pmax(gap, edgeGap(1, 2, plus(q02, q22)));
  gap = f32x4.pmax(gap, edgeGap(2, 0, plus(q00, q10)));
  gap = f32x4.pmax(gap, edgeGap(2, 1, plus(q01, q11)));
  gap = f32x4.pmax(gap, edgeGap(2, 2, plus(q02, q12)));
  error = times(rounding, times(plus(n, n), plus(t, plus(n, n))));
  setRow(ERRORS + 2, error);
  apartMask = v128.or(apartMask, f32x4.gt(gap, error));
  overlapMask = v128.and(overlapMask, f32x4.lt(gap, f32x4.neg(error)));
  return i32x4.bitmask(apartMask) | (i32x4.bitmask(overlapMask) << 4);
}

/** Stores the gap along an axis for `compareReachX4`, and returns it. */
// @ts-ignore: decorator
@inline
function storeGap(axis: usize, gap: v128): v128 {
  setRow(GAPS + axis, gap);
  return gap;
}

/** Exceeds the relative rounding error of a gap in the world. */
const LENGTH_ROUNDING: f32 = 1.00002;
/** If the volume in the world or in the space of a's cube is smaller, pairs are compared in float64. */
const MIN_SCALE: f32 = 1e-30;

/** The last bits of a gap hold the number of its axis (obb-axes.ts), so that the largest gap carries its axis along. */
const AXIS_BITS: i32 = 15;
const widestAxes: usize = memory.data(16, 16);

/**
 * Returns which of the pairs that `compareObbsX4` compared last are certainly farther apart than the reach of both beyond their
 * boxes, as four bits; the lists are those of `loadPairs`. An axis in the world is at most as long as the product of the
 * edges that it crosses; the edges of a's cube are at most as long as the cross products of the rows of a's inverse.
 */
export function compareReachX4(formsA: usize, formsB: usize): u32 {
  const one = f32x4.splat(1);
  const r0 = rowLength(0), r1 = rowLength(1), r2 = rowLength(2), scale = times(times(r0, r1), r2);
  // A single division by the product of all three, and one for both boxes.
  const l0 = edgeLength(0), l1 = edgeLength(1), l2 = edgeLength(2), lengths = times(times(l0, l1), l2);
  const inverseScale = f32x4.div(one, scale), volume = f32x4.div(one, lengths);
  const f0 = times(times(l1, l2), volume), f1 = times(times(l0, l2), volume), f2 = times(times(l0, l1), volume);
  const errorA = row(ERRORS), errorB = row(ERRORS + 1), error = row(ERRORS + 2);
  const e0 = times(r0, inverseScale), e1 = times(r1, inverseScale), e2 = times(r2, inverseScale);
  const a = maxOfThree(
    gapWithAxis(0, errorA, times(times(r1, r2), inverseScale)), gapWithAxis(1, errorA, times(times(r0, r2), inverseScale)),
    gapWithAxis(2, errorA, times(times(r0, r1), inverseScale)),
  );
  const b = maxOfThree(
    gapWithAxis(3, errorB, times(times(inverseScale, f1), f2)), gapWithAxis(4, errorB, times(times(inverseScale, f2), f0)),
    gapWithAxis(5, errorB, times(times(inverseScale, f0), f1)),
  );
  const c = maxOfThree(gapWithAxis(6, error, times(e0, f0)), gapWithAxis(7, error, times(e0, f1)),
    gapWithAxis(8, error, times(e0, f2)));
  const d = maxOfThree(gapWithAxis(9, error, times(e1, f0)), gapWithAxis(10, error, times(e1, f1)),
    gapWithAxis(11, error, times(e1, f2)));
  const e = maxOfThree(gapWithAxis(12, error, times(e2, f0)), gapWithAxis(13, error, times(e2, f1)),
    gapWithAxis(14, error, times(e2, f2)));
  const gap = f32x4.pmax(maxOfThree(a, b, c), f32x4.pmax(d, e));
  v128.store(widestAxes, gap);
  const reachSum = times(plus(loadReaches(formsA), loadReaches(formsB)), f32x4.splat(LENGTH_ROUNDING));
  const minScale = f32x4.pmin(scale, lengths);
  return <u32>i32x4.bitmask(v128.and(f32x4.gt(gap, reachSum), f32x4.gt(minScale, f32x4.splat(MIN_SCALE))));
}

/** Returns the number of the axis with the largest gap of a pair, -1 if none was found. */
// @ts-ignore: decorator
@inline
export function widestAxisIn(lane: u32): i32 {
  const gap = load<f32>(widestAxes + (<usize>lane << 2));
  return gap > 0 ? reinterpret<i32>(gap) & AXIS_BITS : -1;
}

/**
 * Returns the gap along an axis minus its rounding error, times the inverse of a bound of the axis' length, with the axis'
 * number.
 */
// @ts-ignore: decorator
@inline
function gapWithAxis(axis: usize, error: v128, inverse: v128): v128 {
  const gap = times(minus(row(GAPS + axis), error), inverse);
  return v128.or(v128.and(gap, i32x4.splat(~AXIS_BITS)), i32x4.splat(<i32>axis));
}

// @ts-ignore: decorator
@inline
function maxOfThree(a: v128, b: v128, c: v128): v128 {
  return f32x4.pmax(a, f32x4.pmax(b, c));
}

/** Returns the length of a row of a's inverse. */
// @ts-ignore: decorator
@inline
function rowLength(i: usize): v128 {
  return lengthOf(inverseEntry(i, 0), inverseEntry(i, 1), inverseEntry(i, 2));
}

/** Returns the length of b's edge j. */
// @ts-ignore: decorator
@inline
function edgeLength(j: usize): v128 {
  return lengthOf(worldEdge(j, 0), worldEdge(j, 1), worldEdge(j, 2));
}

// @ts-ignore: decorator
@inline
function lengthOf(x: v128, y: v128, z: v128): v128 {
  return f32x4.sqrt(plus(plus(times(x, x), times(y, y)), times(z, z)));
}

/** Reads the reach of four Forms beyond their boxes. */
// @ts-ignore: decorator
@inline
function loadReaches(forms: usize): v128 {
  const at = offsetof<Form>('reach');
  let reach = v128.load32_zero(<usize>load<u32>(forms) + at);
  reach = v128.load32_lane(<usize>load<u32>(forms, 4) + at, reach, 1);
  reach = v128.load32_lane(<usize>load<u32>(forms, 8) + at, reach, 2);
  return v128.load32_lane(<usize>load<u32>(forms, 12) + at, reach, 3);
}

/** Sums up the magnitudes in a row of a's inverse. */
// @ts-ignore: decorator
@inline
function rowSum(i: usize): v128 {
  return plus(plus(magnitude(INVERSE + i), magnitude(INVERSE + 3 + i)), magnitude(INVERSE + 6 + i));
}

/** Returns the greatest magnitude in b's edge j. */
// @ts-ignore: decorator
@inline
function maxEdgeComponent(j: usize): v128 {
  return f32x4.pmax(f32x4.pmax(magnitude(EDGES + 3 * j), magnitude(EDGES + 3 * j + 1)), magnitude(EDGES + 3 * j + 2));
}

/** Returns the extent of b along a's axis i. */
// @ts-ignore: decorator
@inline
function projectedRadius(i: usize): v128 {
  return plus(plus(f32x4.abs(localEdge(0, i)), f32x4.abs(localEdge(1, i))), f32x4.abs(localEdge(2, i)));
}

/** Returns the distance of b's position along a vector. */
// @ts-ignore: decorator
@inline
function distanceAlong(x: v128, y: v128, z: v128): v128 {
  return f32x4.abs(plus(plus(times(x, localPosition(0)), times(y, localPosition(1))), times(z, localPosition(2))));
}

// @ts-ignore: decorator
@inline
function edgeGap(j: usize, i: usize, q: v128): v128 {
  const k = nextAxis(i), l = nextAxis(k);
  const u = localEdge(j, k), v = localEdge(j, l);
  return storeGap(6 + 3 * i + j, minus(
    f32x4.abs(minus(times(u, localPosition(l)), times(v, localPosition(k)))), plus(plus(f32x4.abs(u), f32x4.abs(v)), q),
  ));
}
