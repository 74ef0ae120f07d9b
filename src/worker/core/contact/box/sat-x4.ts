// The axis of least penetration of two boxes, for four pairs at once (math/obb-sat-x4.ts).

import { cofactor, localEdge, worldEdge, gatherNine, inverseEntry, localPosition, loadPairs } from '../../math/obb-sat-x4';
import { minus, plus, times } from '../../math/lanes';
import { VECTOR_BYTES } from '../../sizes';

/**
 * The axis of two edges is only taken if its depth is less by this factor, squared, than that of a face, so that
 * rounding never selects it.
 */
const EDGE_PENALTY: f32 = 1.00006;
/** Edges at a smaller angle, as its squared sine, are left to float64; below MIN_SINE_SQUARED they give no axis. */
const SMALL_SINE_SQUARED: f32 = 1e-5;
const MIN_SINE_SQUARED: f32 = 1e-12;

/** The inverses of the four maps of b, nine vectors. */
const inverses: usize = memory.data(9 * VECTOR_BYTES, 16);

// The best so far: its squared depth, and its code.
let minDepthSquared: v128 = i32x4.splat(0);
let axisCode: v128 = i32x4.splat(0);

/**
 * Finds the axis of least penetration of four pairs that are known to overlap, by the addresses of their Forms in two
 * lists: 0 … 2 a face of a, 3 … 5 of b, 6 + i + 3 · j edge i of a with edge j of b; -1 if two edges are nearly parallel.
 * Compares squared depths in world units, which need no square root.
 */
export function bestAxes(formsA: usize, formsB: usize): v128 {
  loadPairs(formsA, formsB);
  gatherNine(formsB, 0, inverses);
  const c00 = cofactor(0, 0), c01 = cofactor(0, 1), c02 = cofactor(0, 2);
  const c10 = cofactor(1, 0), c11 = cofactor(1, 1), c12 = cofactor(1, 2);
  const c20 = cofactor(2, 0), c21 = cofactor(2, 1), c22 = cofactor(2, 2);
  const q00 = f32x4.abs(c00), q01 = f32x4.abs(c01), q02 = f32x4.abs(c02);
  const q10 = f32x4.abs(c10), q11 = f32x4.abs(c11), q12 = f32x4.abs(c12);
  const q20 = f32x4.abs(c20), q21 = f32x4.abs(c21), q22 = f32x4.abs(c22);
  const volume = f32x4.abs(dot(localEdge(0, 0), localEdge(0, 1), localEdge(0, 2), c00, c01, c02));

  const depthSquaredB0 = depthSquaredOfB(0, c00, c01, c02, plus(plus(q00, q01), q02), volume);
  const depthSquaredB1 = depthSquaredOfB(1, c10, c11, c12, plus(plus(q10, q11), q12), volume);
  const depthSquaredB2 = depthSquaredOfB(2, c20, c21, c22, plus(plus(q20, q21), q22), volume);
  const lengthSquared0 = lengthSquaredOf(0), lengthSquared1 = lengthSquaredOf(1), lengthSquared2 = lengthSquaredOf(2);
  minDepthSquared = f32x4.splat(Infinity);
  // The order is such that of two equal axes the first of a's axes is taken.
  offerAxis(0, depthSquaredOfA(0, lengthSquared0));
  offerAxis(3, depthSquaredB0);
  offerEdges(0, lengthSquared1, lengthSquared2, plus(q10, q20), plus(q00, q20), plus(q00, q10));
  offerAxis(1, depthSquaredOfA(1, lengthSquared1));
  offerAxis(4, depthSquaredB1);
  offerEdges(1, lengthSquared2, lengthSquared0, plus(q11, q21), plus(q01, q21), plus(q01, q11));
  offerAxis(2, depthSquaredOfA(2, lengthSquared2));
  offerAxis(5, depthSquaredB2);
  offerEdges(2, lengthSquared0, lengthSquared1, plus(q12, q22), plus(q02, q22), plus(q02, q12));
  return v128.or(axisCode, f32x4.lt(minDepthSquared, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function offerAxis(axis: i32, depthsSquared: v128): void {
  axisCode = v128.bitselect(i32x4.splat(axis), axisCode, f32x4.lt(depthsSquared, minDepthSquared));
  minDepthSquared = f32x4.pmin(minDepthSquared, depthsSquared);
}

// @ts-ignore: decorator
@inline
function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return plus(plus(times(ax, bx), times(ay, by)), times(az, bz));
}

/** Computes the squared length of a row of a's inverse. */
// @ts-ignore: decorator
@inline
function lengthSquaredOf(i: usize): v128 {
  const x = inverseEntry(i, 0), y = inverseEntry(i, 1), z = inverseEntry(i, 2);
  return dot(x, y, z, x, y, z);
}

/**
 * Computes the squared depth along the normal of a's face i. `lengthSquared` is the squared length of the row of a's inverse.
 */
// @ts-ignore: decorator
@inline
function depthSquaredOfA(i: usize, lengthSquared: v128): v128 {
  const radius = plus(plus(f32x4.abs(localEdge(0, i)), f32x4.abs(localEdge(1, i))), f32x4.abs(localEdge(2, i)));
  const gap = minus(f32x4.abs(localPosition(i)), plus(f32x4.splat(1), radius));
  return f32x4.div(times(gap, gap), lengthSquared);
}

/**
 * Computes the squared depth along the normal of b's face j. `c0` to `c2` are cofactors of b's edges in a's space, `q`
 * is the sum of their magnitudes, `volume` the magnitude of the determinant.
 */
// @ts-ignore: decorator
@inline
function depthSquaredOfB(j: usize, c0: v128, c1: v128, c2: v128, q: v128, volume: v128): v128 {
  const p = f32x4.abs(dot(c0, c1, c2, localPosition(0), localPosition(1), localPosition(2)));
  const gap = f32x4.div(minus(p, plus(q, volume)), volume);
  const at = inverses + (j << 4);
  const x = v128.load(at), y = v128.load(at, 48), z = v128.load(at, 96);
  return f32x4.div(times(gap, gap), dot(x, y, z, x, y, z));
}

/**
 * Offers the axes of edge i of a with the three edges of b. In a's space the cross product is perpendicular to axis i,
 * so its length in the world, divided by a's volume, follows from the other two rows of the inverse: from their squared
 * lengths and their dot product.
 */
// @ts-ignore: decorator
@inline
function offerEdges(i: usize, lengthSquaredY: v128, lengthSquaredZ: v128, q0: v128, q1: v128, q2: v128): void {
  const k: usize = i == 2 ? 0 : i + 1, l: usize = i == 0 ? 2 : i - 1;
  const product = dot(
    inverseEntry(k, 0), inverseEntry(k, 1), inverseEntry(k, 2), inverseEntry(l, 0), inverseEntry(l, 1), inverseEntry(l, 2),
  );
  const twice = plus(product, product);
  offerAxis(6 + <i32>i, edgeDepthsSquared(0, k, l, lengthSquaredY, lengthSquaredZ, twice, q0));
  offerAxis(9 + <i32>i, edgeDepthsSquared(1, k, l, lengthSquaredY, lengthSquaredZ, twice, q1));
  offerAxis(12 + <i32>i, edgeDepthsSquared(2, k, l, lengthSquaredY, lengthSquaredZ, twice, q2));
}

/**
 * Computes the squared depths along the cross product of two edges: Infinity if the edges are parallel, negative if only
 * float64 can decide. `q`: b's reach along it through its two other edges.
 */
// @ts-ignore: decorator
@inline
function edgeDepthsSquared(j: usize, k: usize, l: usize, lengthSquaredY: v128, lengthSquaredZ: v128, twice: v128, q: v128): v128 {
  const ex = worldEdge(j, 0), ey = worldEdge(j, 1), ez = worldEdge(j, 2);
  const u = localEdge(j, k), v = localEdge(j, l);
  const lengthSquared = minus(plus(times(lengthSquaredY, times(v, v)), times(lengthSquaredZ, times(u, u))),
    times(twice, times(u, v)));
  const maxLengthSquared = times(lengthSquaredY, times(lengthSquaredZ, dot(ex, ey, ez, ex, ey, ez)));
  const radius = plus(plus(f32x4.abs(u), f32x4.abs(v)), q);
  const gap = minus(f32x4.abs(minus(times(u, localPosition(l)), times(v, localPosition(k)))), radius);
  const depthsSquared = f32x4.div(times(times(gap, gap), f32x4.splat(EDGE_PENALTY)), lengthSquared);
  const checkedDepthsSquared = v128.bitselect(depthsSquared, f32x4.splat(-1),
    f32x4.ge(lengthSquared, times(maxLengthSquared, f32x4.splat(SMALL_SINE_SQUARED))));
  return v128.bitselect(checkedDepthsSquared, f32x4.splat(Infinity),
    f32x4.ge(lengthSquared, times(maxLengthSquared, f32x4.splat(MIN_SINE_SQUARED))));
}

const pairs: usize = memory.data(2 * VECTOR_BYTES, 16);

/** Finds the axis of least penetration of one pair, as `bestAxes` does for four. */
export function bestAxis(a: usize, b: usize): i32 {
  v128.store(pairs, i32x4.splat(<i32>a));
  v128.store(pairs, i32x4.splat(<i32>b), 16);
  return i32x4.extract_lane(bestAxes(pairs, pairs + 16), 0);
}
