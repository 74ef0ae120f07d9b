// The test of obb-sat-f32.ts for four pairs of boxes at once, a lane each. It needs no shuffles and no unpredictable branches.
// One bound on rounding for all axes of a kind is enough, because undecided pairs are compared again there.

import { minus, plus, times, transpose } from './lanes';
import { Form } from './obb-sat-f32';

// In rows of four lanes: a's inverse as in the Form, b's edges, the vector from a's position to b's; then b's position and its
// edges in the space in which a is the cube.
const INVERSE: usize = 0, EDGES: usize = 9, WAY: usize = 18, PLACE: usize = 21, OWN_EDGES: usize = 24;
// Then the gap of the two along each axis (obb-axes.ts), in the units of `compareObbsX4`, and its rounding errors.
const GAPS: usize = 33, ERRORS: usize = 48, ROWS: i32 = 51;
const four: usize = memory.data(ROWS * 16, 16);

/** Rounding error bound, relative to a bound of the terms of a comparison, as in obb-sat-f32.ts. */
const ROUNDING: f32 = 1.9073486328125e-6; // 2^-19
/** Pairs with smaller edges are compared in float64, because their products may underflow. */
const SMALLEST: f32 = 1e-12;

// @ts-ignore: decorator
@inline
function row(i: usize): v128 { return v128.load(four + (i << 4)); }
// @ts-ignore: decorator
@inline
function setRow(i: usize, v: v128): void { v128.store(four + (i << 4), v); }
// @ts-ignore: decorator
@inline
function size(i: usize): v128 { return f32x4.abs(row(i)); }
/** Returns the next of the three axes. */
// @ts-ignore: decorator
@inline
function next(i: usize): usize { return i == 2 ? 0 : i + 1; }

/** Reads component i of b's position in the space in which a is the cube. */
// @ts-ignore: decorator
@inline
export function placeIn(i: usize): v128 { return row(PLACE + i); }
/** Reads component i of b's edge j in the space in which a is the cube. */
// @ts-ignore: decorator
@inline
export function edgeIn(j: usize, i: usize): v128 { return row(OWN_EDGES + 3 * j + i); }
/** Reads component k of b's edge j in the world. */
// @ts-ignore: decorator
@inline
export function edgeOf(j: usize, k: usize): v128 { return row(EDGES + 3 * j + k); }
/** Reads row i of a's inverse, component k. */
// @ts-ignore: decorator
@inline
export function inverseOf(i: usize, k: usize): v128 { return row(INVERSE + 3 * k + i); }
/** Returns component i of the cross product of the two edges of b other than j. */
// @ts-ignore: decorator
@inline
export function cofactor(j: usize, i: usize): v128 {
  const p = next(j), q = next(p), k = next(i), l = next(k);
  return minus(times(edgeIn(p, k), edgeIn(q, l)), times(edgeIn(p, l), edgeIn(q, k)));
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
function wayXy(firsts: usize, seconds: usize): v128 {
  const at = offsetof<Form>('x');
  return f32x4.demote_f64x2_zero(
    f64x2.sub(v128.load(<usize>load<u32>(seconds) + at), v128.load(<usize>load<u32>(firsts) + at)),
  );
}

/** Returns z of the vectors of two pairs. */
// @ts-ignore: decorator
@inline
function wayZ(firsts: usize, seconds: usize): v128 {
  return f32x4.demote_f64x2_zero(f64x2.sub(placesZ(seconds), placesZ(firsts)));
}

// @ts-ignore: decorator
@inline
function placesZ(forms: usize): v128 {
  const at = offsetof<Form>('z');
  return v128.load64_lane(<usize>load<u32>(forms, 4) + at, v128.load64_zero(<usize>load<u32>(forms) + at), 1);
}

/** Reads four pairs of Forms, by their addresses in two lists, and transforms each b to the space in which its a is the cube. */
export function setFour(firsts: usize, seconds: usize): void {
  gatherNine(firsts, 0, four + (INVERSE << 4));
  gatherNine(seconds, offsetof<Form>('edgeXx'), four + (EDGES << 4));
  const low = v128.shuffle<f64>(wayXy(firsts, seconds), wayXy(firsts + 4, seconds + 4), 0, 2);
  const high = v128.shuffle<f64>(wayXy(firsts + 8, seconds + 8), wayXy(firsts + 12, seconds + 12), 0, 2);
  setRow(WAY, v128.shuffle<f32>(low, high, 0, 2, 4, 6));
  setRow(WAY + 1, v128.shuffle<f32>(low, high, 1, 3, 5, 7));
  setRow(WAY + 2, v128.shuffle<f64>(wayZ(firsts, seconds), wayZ(firsts + 8, seconds + 8), 0, 2));
  bring(WAY, PLACE);
  bring(EDGES, OWN_EDGES);
  bring(EDGES + 3, OWN_EDGES + 3);
  bring(EDGES + 6, OWN_EDGES + 6);
}

/** Transforms a vector of the world to the space in which a is the cube. */
// @ts-ignore: decorator
@inline
function bring(from: usize, to: usize): void {
  const x = row(from), y = row(from + 1), z = row(from + 2);
  setRow(to, plus(plus(times(inverseOf(0, 0), x), times(inverseOf(0, 1), y)), times(inverseOf(0, 2), z)));
  setRow(to + 1, plus(plus(times(inverseOf(1, 0), x), times(inverseOf(1, 1), y)), times(inverseOf(1, 2), z)));
  setRow(to + 2, plus(plus(times(inverseOf(2, 0), x), times(inverseOf(2, 1), y)), times(inverseOf(2, 2), z)));
}

/**
 * Returns which of the current pairs are certainly apart, as four bits, and from bit 4 on which certainly overlap with neither
 * inside the other. A pair that is not finite has neither bit.
 */
export function compareObbsX4(): u32 {
  // Upper bounds of the sums of magnitudes in t, and in m.
  const most = f32x4.max(f32x4.max(rowSum(0), rowSum(1)), rowSum(2));
  const n = f32x4.pmax(times(most, f32x4.pmax(f32x4.pmax(longest(0), longest(1)), longest(2))), f32x4.splat(SMALLEST));
  const far = f32x4.pmax(f32x4.pmax(size(WAY), size(WAY + 1)), size(WAY + 2));
  const t = plus(times(most, far), f32x4.splat(1));
  const rounding = f32x4.splat(ROUNDING), one = f32x4.splat(1);

  // Faces of a.
  const reach0 = reachOf(0), reach1 = reachOf(1), reach2 = reachOf(2);
  const distance0 = size(PLACE), distance1 = size(PLACE + 1), distance2 = size(PLACE + 2);
  let gap = f32x4.pmax(
    f32x4.pmax(kept(0, minus(distance0, plus(one, reach0))), kept(1, minus(distance1, plus(one, reach1)))),
    kept(2, minus(distance2, plus(one, reach2))),
  );
  let error = times(rounding, plus(t, times(n, f32x4.splat(3))));
  setRow(ERRORS, error);
  let apart = f32x4.gt(gap, error);
  let sure = f32x4.lt(gap, f32x4.neg(error));
  const passed = f32x4.pmax(f32x4.pmax(plus(distance0, reach0), plus(distance1, reach1)), plus(distance2, reach2));
  sure = v128.and(sure, f32x4.gt(passed, plus(one, error)));

  // Faces of b, by cofactors.
  const c00 = cofactor(0, 0), c01 = cofactor(0, 1), c02 = cofactor(0, 2);
  const c10 = cofactor(1, 0), c11 = cofactor(1, 1), c12 = cofactor(1, 2);
  const c20 = cofactor(2, 0), c21 = cofactor(2, 1), c22 = cofactor(2, 2);
  const q00 = f32x4.abs(c00), q01 = f32x4.abs(c01), q02 = f32x4.abs(c02);
  const q10 = f32x4.abs(c10), q11 = f32x4.abs(c11), q12 = f32x4.abs(c12);
  const q20 = f32x4.abs(c20), q21 = f32x4.abs(c21), q22 = f32x4.abs(c22);
  const volume = f32x4.abs(
    plus(plus(times(edgeIn(0, 0), c00), times(edgeIn(0, 1), c01)), times(edgeIn(0, 2), c02)),
  );
  const p0 = along(c00, c01, c02), p1 = along(c10, c11, c12), p2 = along(c20, c21, c22);
  const q0 = plus(plus(q00, q01), q02), q1 = plus(plus(q10, q11), q12), q2 = plus(plus(q20, q21), q22);
  gap = f32x4.pmax(
    f32x4.pmax(kept(3, minus(p0, plus(q0, volume))), kept(4, minus(p1, plus(q1, volume)))), kept(5, minus(p2, plus(q2, volume))),
  );
  error = times(rounding, times(times(times(n, n), f32x4.splat(6)), plus(t, n)));
  setRow(ERRORS + 1, error);
  apart = v128.or(apart, f32x4.gt(gap, error));
  sure = v128.and(sure, f32x4.lt(gap, f32x4.neg(error)));
  const passedB = f32x4.pmax(f32x4.pmax(plus(p0, q0), plus(p1, q1)), plus(p2, q2));
  sure = v128.and(sure, f32x4.gt(passedB, plus(volume, error)));

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
  apart = v128.or(apart, f32x4.gt(gap, error));
  sure = v128.and(sure, f32x4.lt(gap, f32x4.neg(error)));
  return i32x4.bitmask(apart) | (i32x4.bitmask(sure) << 4);
}

/** Stores the gap along an axis for `compareReachX4`, and returns it. */
// @ts-ignore: decorator
@inline
function kept(axis: usize, gap: v128): v128 {
  setRow(GAPS + axis, gap);
  return gap;
}

/** Exceeds the relative rounding error of a gap in the world. */
const LENGTH_ROUNDING: f32 = 1.00002;
/** If the volume in the world or in the space of a's cube is smaller, pairs are compared in float64. */
const LEAST_SCALE: f32 = 1e-30;

/** The last bits of a gap hold the number of its axis (obb-axes.ts), so that the largest gap carries its axis along. */
const NUMBER_BITS: i32 = 15;
const axes: usize = memory.data(16, 16);

/**
 * Returns which of the pairs that `compareObbsX4` compared last are certainly farther apart than the reach of both beyond their
 * boxes, as four bits; the lists are those of `setFour`. An axis in the world is at most as long as the product of the edges that
 * it crosses; the edges of a's cube are at most as long as the cross products of the rows of a's inverse.
 */
export function compareReachX4(firsts: usize, seconds: usize): u32 {
  const one = f32x4.splat(1);
  const r0 = rowLength(0), r1 = rowLength(1), r2 = rowLength(2), scale = times(times(r0, r1), r2);
  // A single division by the product of all three, and one for both boxes.
  const l0 = edgeLength(0), l1 = edgeLength(1), l2 = edgeLength(2), lengths = times(times(l0, l1), l2);
  const size = f32x4.div(one, scale), volume = f32x4.div(one, lengths);
  const f0 = times(times(l1, l2), volume), f1 = times(times(l0, l2), volume), f2 = times(times(l0, l1), volume);
  const errorA = row(ERRORS), errorB = row(ERRORS + 1), error = row(ERRORS + 2);
  const e0 = times(r0, size), e1 = times(r1, size), e2 = times(r2, size);
  const a = widest(
    numbered(0, errorA, times(times(r1, r2), size)), numbered(1, errorA, times(times(r0, r2), size)),
    numbered(2, errorA, times(times(r0, r1), size)),
  );
  const b = widest(
    numbered(3, errorB, times(times(size, f1), f2)), numbered(4, errorB, times(times(size, f2), f0)),
    numbered(5, errorB, times(times(size, f0), f1)),
  );
  const c = widest(numbered(6, error, times(e0, f0)), numbered(7, error, times(e0, f1)), numbered(8, error, times(e0, f2)));
  const d = widest(numbered(9, error, times(e1, f0)), numbered(10, error, times(e1, f1)), numbered(11, error, times(e1, f2)));
  const e = widest(numbered(12, error, times(e2, f0)), numbered(13, error, times(e2, f1)), numbered(14, error, times(e2, f2)));
  const gap = f32x4.pmax(widest(a, b, c), f32x4.pmax(d, e));
  v128.store(axes, gap);
  const reach = times(plus(reaches(firsts), reaches(seconds)), f32x4.splat(LENGTH_ROUNDING));
  const least = f32x4.pmin(scale, lengths);
  return <u32>i32x4.bitmask(v128.and(f32x4.gt(gap, reach), f32x4.gt(least, f32x4.splat(LEAST_SCALE))));
}

/** Returns the number of the axis with the largest gap of a pair, -1 if none was found. */
// @ts-ignore: decorator
@inline
export function widestAxisIn(lane: u32): i32 {
  const gap = load<f32>(axes + (<usize>lane << 2));
  return gap > 0 ? reinterpret<i32>(gap) & NUMBER_BITS : -1;
}

/**
 * Returns the gap along an axis minus its rounding error, times the inverse of a bound of the axis' length, with the axis'
 * number.
 */
// @ts-ignore: decorator
@inline
function numbered(axis: usize, error: v128, inverse: v128): v128 {
  const gap = times(minus(row(GAPS + axis), error), inverse);
  return v128.or(v128.and(gap, i32x4.splat(~NUMBER_BITS)), i32x4.splat(<i32>axis));
}

// @ts-ignore: decorator
@inline
function widest(a: v128, b: v128, c: v128): v128 {
  return f32x4.pmax(a, f32x4.pmax(b, c));
}

/** Returns the length of a row of a's inverse. */
// @ts-ignore: decorator
@inline
function rowLength(i: usize): v128 {
  return lengthOf(inverseOf(i, 0), inverseOf(i, 1), inverseOf(i, 2));
}

/** Returns the length of b's edge j. */
// @ts-ignore: decorator
@inline
function edgeLength(j: usize): v128 {
  return lengthOf(edgeOf(j, 0), edgeOf(j, 1), edgeOf(j, 2));
}

// @ts-ignore: decorator
@inline
function lengthOf(x: v128, y: v128, z: v128): v128 {
  return f32x4.sqrt(plus(plus(times(x, x), times(y, y)), times(z, z)));
}

/** Reads the reach of four Forms beyond their boxes. */
// @ts-ignore: decorator
@inline
function reaches(forms: usize): v128 {
  const at = offsetof<Form>('reach');
  let found = v128.load32_zero(<usize>load<u32>(forms) + at);
  found = v128.load32_lane(<usize>load<u32>(forms, 4) + at, found, 1);
  found = v128.load32_lane(<usize>load<u32>(forms, 8) + at, found, 2);
  return v128.load32_lane(<usize>load<u32>(forms, 12) + at, found, 3);
}

/** Sums up the magnitudes in a row of a's inverse. */
// @ts-ignore: decorator
@inline
function rowSum(i: usize): v128 {
  return plus(plus(size(INVERSE + i), size(INVERSE + 3 + i)), size(INVERSE + 6 + i));
}

/** Returns the greatest magnitude in b's edge j. */
// @ts-ignore: decorator
@inline
function longest(j: usize): v128 {
  return f32x4.pmax(f32x4.pmax(size(EDGES + 3 * j), size(EDGES + 3 * j + 1)), size(EDGES + 3 * j + 2));
}

/** Returns the extent of b along a's axis i. */
// @ts-ignore: decorator
@inline
function reachOf(i: usize): v128 {
  return plus(plus(f32x4.abs(edgeIn(0, i)), f32x4.abs(edgeIn(1, i))), f32x4.abs(edgeIn(2, i)));
}

/** Returns the distance of b's position along a vector. */
// @ts-ignore: decorator
@inline
function along(x: v128, y: v128, z: v128): v128 {
  return f32x4.abs(plus(plus(times(x, placeIn(0)), times(y, placeIn(1))), times(z, placeIn(2))));
}

// @ts-ignore: decorator
@inline
function edgeGap(j: usize, i: usize, q: v128): v128 {
  const k = next(i), l = next(k);
  const u = edgeIn(j, k), v = edgeIn(j, l);
  return kept(6 + 3 * i + j, minus(
    f32x4.abs(minus(times(u, placeIn(l)), times(v, placeIn(k)))), plus(plus(f32x4.abs(u), f32x4.abs(v)), q),
  ));
}
