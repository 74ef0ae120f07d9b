// Exact signs of orientation determinants on float64 coordinates. A floating-point filter decides nearly always; if it
// cannot, the determinant is evaluated exactly as an expansion, a sum of non-overlapping doubles. Filters, products and
// sums of expansions: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates",
// 1997.

import { F64_BYTES, POSITION_BYTES } from '../sizes';
import { roundingError, twoProduct, twoSum } from './two-term';

const EPSILON: f64 = 1.1102230246251565e-16; // 2^-53
const BOUND_2D: f64 = (3.0 + 16.0 * EPSILON) * EPSILON;
export const BOUND_3D: f64 = (7.0 + 56.0 * EPSILON) * EPSILON;
/** Minimum ratio of an accurate determinant to its rounding error: 2³⁷. */
export const ACCURACY_RATIO: f64 = 137438953472.0;

// Expansions are in static memory: components of increasing magnitude, without zeros. Functions return their lengths.
/** A difference has up to two components. */
const DIFFERENCE_BYTES: i32 = 2 * F64_BYTES;
/** A minor is the sum of two products of differences, which have up to 2 · 2 · 2 components. */
const MINOR_BYTES: i32 = 16 * F64_BYTES;
/** A determinant is the sum of three products of a minor and a difference, which have up to 2 · 16 · 2 components. */
const DETERMINANT_BYTES: i32 = 3 * 64 * F64_BYTES;
const differences: usize = memory.data(9 * DIFFERENCE_BYTES, 16);
const scratchA: usize = memory.data(DETERMINANT_BYTES, 16);
const scratchB: usize = memory.data(DETERMINANT_BYTES, 16);
const termA: usize = memory.data(DETERMINANT_BYTES, 16);
const termB: usize = memory.data(DETERMINANT_BYTES, 16);
const minors: usize = memory.data(3 * MINOR_BYTES, 16);

/** Sets h = e + f. Returns the length of h. */
function sum(e: usize, eCount: i32, f: usize, fCount: i32, h: usize): i32 {
  let i = 0;
  let j = 0;
  let count = 0;
  let q: f64 = 0;
  while (i < eCount || j < fCount) {
    let next: f64;
    if (j >= fCount || (i < eCount && abs(load<f64>(e + (i << 3))) < abs(load<f64>(f + (j << 3))))) {
      next = load<f64>(e + (i++ << 3));
    } else {
      next = load<f64>(f + (j++ << 3));
    }
    q = twoSum(q, next);
    if (roundingError != 0.0) store<f64>(h + (count++ << 3), roundingError);
  }
  if (q != 0.0) store<f64>(h + (count++ << 3), q);
  return count;
}

/** Sets h = b · e. Returns the length of h. */
function scale(e: usize, eCount: i32, b: f64, h: usize): i32 {
  let count = 0;
  let q: f64 = 0;
  for (let i = 0; i < eCount; i++) {
    const product = twoProduct(load<f64>(e + (i << 3)), b);
    const productLow = roundingError;
    q = twoSum(q, productLow);
    if (roundingError != 0.0) store<f64>(h + (count++ << 3), roundingError);
    q = twoSum(product, q);
    if (roundingError != 0.0) store<f64>(h + (count++ << 3), roundingError);
  }
  if (q != 0.0) store<f64>(h + (count++ << 3), q);
  return count;
}

/** Sets h = e · f, where f has at most two components. Returns the length of h. */
function multiply(e: usize, eCount: i32, f: usize, fCount: i32, h: usize): i32 {
  if (fCount == 0) return 0;
  if (fCount == 1) return scale(e, eCount, load<f64>(f), h);
  const a = scale(e, eCount, load<f64>(f), scratchA);
  const b = scale(e, eCount, load<f64>(f + 8), scratchB);
  return sum(scratchA, a, scratchB, b, h);
}

/** Sets h to the exact a - b as an expansion. Returns the length of h. */
function difference(a: f64, b: f64, h: usize): i32 {
  const highPart = twoSum(a, -b);
  const lowPart = roundingError;
  let count = 0;
  if (lowPart != 0.0) store<f64>(h + (count++ << 3), lowPart);
  if (highPart != 0.0) store<f64>(h + (count++ << 3), highPart);
  return count;
}

/** Sets h = a · d - b · c, where each has at most two components. Returns the length of h. */
function minor(a: usize, na: i32, b: usize, nb: i32, c: usize, nc: i32, d: usize, nd: i32, h: usize): i32 {
  const first = multiply(a, na, d, nd, termA);
  const second = multiply(b, nb, c, nc, termB);
  for (let i = 0; i < second; i++) store<f64>(termB + (i << 3), -load<f64>(termB + (i << 3)));
  return sum(termA, first, termB, second, h);
}

/**
 * Returns the value of an expansion, accurate except for a few last digits, because the smallest components are added
 * first; so it is 0 only if the expansion is.
 */
function valueOf(e: usize, count: i32): f64 {
  let value: f64 = 0;
  for (let i = 0; i < count; i++) value += load<f64>(e + (i << 3));
  return value;
}

/**
 * Returns a number that is positive if a, b, c are counter-clockwise, negative if clockwise, exactly 0 if collinear.
 */
export function orient2d(ax: f64, ay: f64, bx: f64, by: f64, cx: f64, cy: f64): f64 {
  return orient2dFiltered(BOUND_2D, ax, ay, bx, by, cx, cy);
}

/** Returns `orient2d` not only with the right sign, but accurate to eleven digits. */
export function accurateOrient2d(ax: f64, ay: f64, bx: f64, by: f64, cx: f64, cy: f64): f64 {
  return orient2dFiltered(BOUND_2D * ACCURACY_RATIO, ax, ay, bx, by, cx, cy);
}

/** Computes the determinant, exactly if it is not larger than `bound`, relative to its terms. */
// @ts-ignore: decorator
@inline
function orient2dFiltered(bound: f64, ax: f64, ay: f64, bx: f64, by: f64, cx: f64, cy: f64): f64 {
  const left = (ax - cx) * (by - cy);
  const right = (ay - cy) * (bx - cx);
  const det = left - right;
  if (abs(det) > bound * (abs(left) + abs(right))) return det;
  const acx = differences, acy = differences + 16, bcx = differences + 32, bcy = differences + 48;
  const na = difference(ax, cx, acx), nb = difference(ay, cy, acy);
  const nc = difference(bx, cx, bcx), nd = difference(by, cy, bcy);
  return valueOf(minors, minor(acx, na, acy, nb, bcx, nc, bcy, nd, minors));
}

/**
 * Returns a number that is positive if d lies below the plane of a, b, c (from where they appear clockwise), exactly 0
 * if d is on it.
 */
export function orient3d(
  ax: f64, ay: f64, az: f64,
  bx: f64, by: f64, bz: f64,
  cx: f64, cy: f64, cz: f64,
  dx: f64, dy: f64, dz: f64,
): f64 {
  return orient3dFiltered(BOUND_3D, ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz);
}

/** Returns `orient3d` not only with the right sign, but accurate to eleven digits. */
export function accurateOrient3d(
  ax: f64, ay: f64, az: f64,
  bx: f64, by: f64, bz: f64,
  cx: f64, cy: f64, cz: f64,
  dx: f64, dy: f64, dz: f64,
): f64 {
  return orient3dFiltered(BOUND_3D * ACCURACY_RATIO, ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz);
}

// @ts-ignore: decorator
@inline
function orient3dFiltered(
  bound: f64,
  ax: f64, ay: f64, az: f64,
  bx: f64, by: f64, bz: f64,
  cx: f64, cy: f64, cz: f64,
  dx: f64, dy: f64, dz: f64,
): f64 {
  const adx = ax - dx, ady = ay - dy, adz = az - dz;
  const bdx = bx - dx, bdy = by - dy, bdz = bz - dz;
  const cdx = cx - dx, cdy = cy - dy, cdz = cz - dz;
  const bc = bdx * cdy, cb = cdx * bdy;
  const ca = cdx * ady, ac = adx * cdy;
  const ab = adx * bdy, ba = bdx * ady;
  const det = adz * (bc - cb) + bdz * (ca - ac) + cdz * (ab - ba);
  const permanent =
    (abs(bc) + abs(cb)) * abs(adz) + (abs(ca) + abs(ac)) * abs(bdz) + (abs(ab) + abs(ba)) * abs(cdz);
  if (abs(det) > bound * permanent) return det;
  return orient3dExact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz);
}

export function orient3dExact(
  ax: f64, ay: f64, az: f64,
  bx: f64, by: f64, bz: f64,
  cx: f64, cy: f64, cz: f64,
  dx: f64, dy: f64, dz: f64,
): f64 {
  const d = differences;
  const nax = difference(ax, dx, d), nay = difference(ay, dy, d + 16), naz = difference(az, dz, d + 32);
  const nbx = difference(bx, dx, d + 48), nby = difference(by, dy, d + 64), nbz = difference(bz, dz, d + 80);
  const ncx = difference(cx, dx, d + 96), ncy = difference(cy, dy, d + 112), ncz = difference(cz, dz, d + 128);
  const bc = minor(d + 48, nbx, d + 64, nby, d + 96, ncx, d + 112, ncy, minors);
  const ca = minor(d + 96, ncx, d + 112, ncy, d, nax, d + 16, nay, minors + MINOR_BYTES);
  const ab = minor(d, nax, d + 16, nay, d + 48, nbx, d + 64, nby, minors + 2 * MINOR_BYTES);
  const first = multiply(minors, bc, d + 32, naz, termA);
  const second = multiply(minors + MINOR_BYTES, ca, d + 80, nbz, termB);
  const both = sum(termA, first, termB, second, exactSum);
  const third = multiply(minors + 2 * MINOR_BYTES, ab, d + 128, ncz, termA);
  return valueOf(termB, sum(exactSum, both, termA, third, termB));
}

const exactSum: usize = memory.data(DETERMINANT_BYTES, 16);

/** The bytes of a corner: three contiguous f64. */
export const CORNER_BYTES: usize = POSITION_BYTES;

/** Returns orient3d of four corners at their addresses. */
export function orient3dAt(a: usize, b: usize, c: usize, d: usize): f64 {
  return orient3d(
    load<f64>(a), load<f64>(a, 8), load<f64>(a, 16), load<f64>(b), load<f64>(b, 8), load<f64>(b, 16),
    load<f64>(c), load<f64>(c, 8), load<f64>(c, 16), load<f64>(d), load<f64>(d, 8), load<f64>(d, 16),
  );
}

/** Loads two numbers at the same offset from two addresses. */
// @ts-ignore: decorator
@inline
export function loadPair(first: usize, second: usize, offset: usize): v128 {
  return v128.load64_lane(second + offset, v128.load64_splat(first + offset), 1);
}
/** Swaps the two lanes. */
// @ts-ignore: decorator
@inline
export function swapLanes(v: v128): v128 { return v128.shuffle<f64>(v, v, 1, 0); }
// @ts-ignore: decorator
@inline
export function absSum(a: v128, b: v128): v128 { return f64x2.add(f64x2.abs(a), f64x2.abs(b)); }

/** Returns orient3d of four corners at their addresses, twice: of a, b, c, d in lane 0 and of e, f, g, h in lane 1. */
export function orient3dTwice(
  a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize,
): v128 {
  const dx = loadPair(d, h, 0), dy = loadPair(d, h, 8), dz = loadPair(d, h, 16);
  const ax = f64x2.sub(loadPair(a, e, 0), dx), ay = f64x2.sub(loadPair(a, e, 8), dy), az = f64x2.sub(loadPair(a, e, 16), dz);
  const bx = f64x2.sub(loadPair(b, f, 0), dx), by = f64x2.sub(loadPair(b, f, 8), dy), bz = f64x2.sub(loadPair(b, f, 16), dz);
  const cx = f64x2.sub(loadPair(c, g, 0), dx), cy = f64x2.sub(loadPair(c, g, 8), dy), cz = f64x2.sub(loadPair(c, g, 16), dz);
  const bc = f64x2.mul(bx, cy), cb = f64x2.mul(cx, by);
  const ca = f64x2.mul(cx, ay), ac = f64x2.mul(ax, cy);
  const ab = f64x2.mul(ax, by), ba = f64x2.mul(bx, ay);
  const det = f64x2.add(
    f64x2.add(f64x2.mul(az, f64x2.sub(bc, cb)), f64x2.mul(bz, f64x2.sub(ca, ac))), f64x2.mul(cz, f64x2.sub(ab, ba)),
  );
  const permanent = f64x2.add(
    f64x2.add(f64x2.mul(absSum(bc, cb), f64x2.abs(az)), f64x2.mul(absSum(ca, ac), f64x2.abs(bz))),
    f64x2.mul(absSum(ab, ba), f64x2.abs(cz)),
  );
  const certainMask = f64x2.gt(f64x2.abs(det), f64x2.mul(f64x2.splat(BOUND_3D), permanent));
  if (i64x2.all_true(certainMask)) return det;
  return f64x2(orient3dAt(a, b, c, d), orient3dAt(e, f, g, h));
}
