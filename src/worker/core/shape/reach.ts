// How far an object reaches beyond its shape: its clearance, and the motion that led to its pose if its collision detection is
// continuous. Few objects have either, so this is a record of its own.

import { FLAG_CLEARANCE, FLAG_CONTINUOUS } from '../../../shared/layout';
import { Affine, between, copy } from '../math/affine';
import { sumOfThree } from '../math/obb-axes';
import { angle, findMotion, startMap } from '../math/rigid-motion';
import { Item, setBoundsUnder, worldOf } from './item';

@unmanaged
export class Reach {
  // One cache line for pairs that may be in reach.
  /** Its oriented bounds at the start of its motion minus those at the end, if it has a motion. */
  moreXx: f32; moreXy: f32; moreXz: f32;
  moreYx: f32; moreYy: f32; moreYz: f32;
  moreZx: f32; moreZy: f32; moreZz: f32;
  moreTx: f32; moreTy: f32; moreTz: f32;
  /** Maximum distance of any of its points during the motion from the final position, and from the chord between both ends. */
  travel: f32;
  sagitta: f32;
  /** Upper bound of its rotation angle, in radians; and the maximum distance of a corner of its bounds from their centre. */
  angle: f32;
  radius: f32;
  /** World matrix in the last frame with a result, that is, in the round of motions in which it was recorded last. */
  fromXx: f64; fromXy: f64; fromXz: f64;
  fromYx: f64; fromYy: f64; fromYz: f64;
  fromZx: f64; fromZy: f64; fromZz: f64;
  fromTx: f64; fromTy: f64; fromTz: f64;
  clearance: f64;
  begun: u32;
  /** 1 once a frame that contained it had a result: before, it has no motion. */
  isPlaced: u32;
  /** The round of frames in which its bounds were set. */
  round: u32;
  /** 1 while one of its pairs waits, so that its motion keeps its start. */
  isHeld: u32;
  pad: f64;
}

export const REACH_BYTES: usize = offsetof<Reach>();
/** Flags of objects that reach beyond their shape, and the same bits in a proxy's second flag byte. */
export const REACHING: u32 = FLAG_CLEARANCE | FLAG_CONTINUOUS;
export const REACHING_BYTE: u32 = REACHING >> 8;
export const CLEARANCE_BYTE: u32 = FLAG_CLEARANCE >> 8;

// @ts-ignore: decorator
@inline
export function fromOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach) + offsetof<Reach>('fromXx'));
}

/** Returns an upper bound of how far beyond its pose an object may come into contact; it may be 0. */
export function lengthOf(reach: Reach): f64 {
  return reach.clearance + reach.travel;
}

/** Starts the motion at the object's present pose. */
export function beginWay(reach: Reach, item: Item): void {
  copy(fromOf(reach), worldOf(item));
}

/** Starts the motion where another one starts. */
export function takeStart(reach: Reach, from: Reach): void {
  copy(fromOf(reach), fromOf(from));
}

/** Sets the oriented bounds at the start of a motion, from those at its end. */
export function setStart(out: Affine, reach: Reach, bounds: Affine): void {
  const at = changetype<usize>(bounds), more = changetype<usize>(reach), to = changetype<usize>(out);
  for (let i: usize = 0; i < 6; i++) {
    v128.store(to + (i << 4), f64x2.add(v128.load(at + (i << 4)), f64x2.promote_low_f32x4(v128.load64_zero(more + (i << 3)))));
  }
}

const start = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Extent of an object and its reach, relative to the centre of its bounds: x and y in the lanes, then both ends of z. */
export let lowXY: v128 = i32x4.splat(0), highXY: v128 = i32x4.splat(0);
export let endsZ: v128 = i32x4.splat(0);

/**
 * Finds the extent of an object with these oriented bounds: that of the bounds at both ends of its motion, enlarged by the
 * sagitta. A point that turns by an angle is no farther from its chord than its arm times 1 - cos of half the angle.
 */
export function findReach(reach: Reach, item: Item, bounds: Affine): void {
  const p = changetype<usize>(bounds), half = halfXY(p), halfZ = f64x2.splat(halfOfZ(p));
  reach.travel = reach.sagitta = 0;
  let more = reach.clearance;
  let low = f64x2.neg(half), high = half, ends = halfZ; // of z downwards and upwards
  if (item.flags & FLAG_CONTINUOUS) {
    if (reach.isPlaced) {
      findWay(reach, item, bounds);
      more += reach.sagitta;
      const q = changetype<usize>(start), startHalf = halfXY(q);
      const way = f64x2.sub(placeXY(q), placeXY(p)), wayZ = start.tz - bounds.tz;
      low = f64x2.pmin(low, f64x2.sub(way, startHalf));
      high = f64x2.pmax(high, f64x2.add(way, startHalf));
      ends = f64x2.pmax(ends, f64x2.add(f64x2(-wayZ, wayZ), f64x2.splat(halfOfZ(q))));
    } else beginWay(reach, item);
  }
  const margin = f64x2.splat(more);
  lowXY = f64x2.sub(low, margin);
  highXY = f64x2.add(high, margin);
  endsZ = f64x2.mul(f64x2.add(ends, margin), f64x2(-1, 1));
}

/** Reads x and y of a map's translation with the same vectors with which it was written. */
// @ts-ignore: decorator
@inline
export function placeXY(at: usize): v128 {
  return between(v128.load(at, 64), v128.load(at, 80));
}

/** Returns how far oriented bounds reach from their centre along x and y. */
// @ts-ignore: decorator
@inline
export function halfXY(at: usize): v128 {
  const y = between(v128.load(at, 16), v128.load(at, 32));
  return f64x2.add(f64x2.add(f64x2.abs(v128.load(at)), f64x2.abs(y)), f64x2.abs(v128.load(at, 48)));
}

/** Returns how far oriented bounds reach from their centre along z. */
// @ts-ignore: decorator
@inline
function halfOfZ(at: usize): f64 {
  return abs(load<f64>(at, 16)) + abs(load<f64>(at, 40)) + abs(load<f64>(at, 64));
}

/** Relative difference of squares below which two lengths are the same but for float32's rounding. */
const ALIKE: f64 = 1e-6;
/**
 * Perpendicular edges span a volume equal to the product of their lengths; with rounding, its square is at least this share of
 * the product's.
 */
const SQUARED: f64 = 1.0 - 1e-12;
/** Exceeds the relative error of rounding to float32; and a length that still has full precision there. */
const ROUNDED_UP: f64 = 1.00001;
const LEAST_LENGTH: f64 = 1e-36;
/** Bound of the position error of the bounds that rounding `more` to float32 causes, relative to `travel`. */
const BLUR: f64 = 2.4e-7;
const HALF_PI: f64 = 1.5707963267948968;
/** Up to this square of a sine, the first terms of the power series are used as bounds. */
const SMALL_SQUARE: f64 = 0.25;
/** Beyond these, a product of squares counts as underflow or overflow. */
const LEAST_PRODUCT: f64 = 1e-200;
const MOST_PRODUCT: f64 = 1e200;

/**
 * Sets the oriented bounds at the start of the motion, and the motion's extent; an object that changes its shape keeps its last
 * one all the way. If the boxes at both ends differ only by a translation and a rotation, because their edges are perpendicular
 * and of the same lengths (which the volume shows, by Hadamard's inequality), the chords of the edges give the angle; else the
 * axes of the object's matrices do.
 */
function findWay(reach: Reach, item: Item, b: Affine): void {
  const from = fromOf(reach), to = worldOf(item), p = changetype<usize>(b), q = changetype<usize>(start);
  const more = changetype<usize>(reach);
  setBoundsUnder(start, item, from);
  const p0 = v128.load(p), p1 = v128.load(p, 16), p2 = v128.load(p, 32), p3 = v128.load(p, 48), p4 = v128.load(p, 64);
  const q0 = v128.load(q), q1 = v128.load(q, 16), q2 = v128.load(q, 32), q3 = v128.load(q, 48), q4 = v128.load(q, 64);
  // The numbers of the end and of the start, a lane each.
  const xx = firsts(p0, q0), xy = seconds(p0, q0), xz = firsts(p1, q1);
  const yx = seconds(p1, q1), yy = firsts(p2, q2), yz = seconds(p2, q2);
  const zx = firsts(p3, q3), zy = seconds(p3, q3), zz = firsts(p4, q4);
  const x = sumOfThree(xx, xx, xy, xy, xz, xz), y = sumOfThree(yx, yx, yy, yy, yz, yz), z = sumOfThree(zx, zx, zy, zy, zz, zz);
  const volume = sumOfThree(
    xx, f64x2.sub(f64x2.mul(yy, zz), f64x2.mul(yz, zy)),
    yx, f64x2.sub(f64x2.mul(zy, xz), f64x2.mul(zz, xy)),
    zx, f64x2.sub(f64x2.mul(xy, yz), f64x2.mul(xz, yy)),
  );
  const xByY = f64x2.mul(x, y), products = f64x2.mul(xByY, z);
  const areSquared = v128.and(
    f64x2.ge(f64x2.mul(volume, volume), f64x2.mul(products, f64x2.splat(SQUARED))),
    v128.and(f64x2.gt(products, f64x2.splat(LEAST_PRODUCT)), f64x2.lt(products, f64x2.splat(MOST_PRODUCT))),
  );
  const lengthX = f64x2.extract_lane(x, 0), lengthY = f64x2.extract_lane(y, 0), lengthZ = f64x2.extract_lane(z, 0);
  let sine: f64 = 0; // of half the angle
  let radius = lengthX + lengthY + lengthZ;
  if (
    i64x2.bitmask(areSquared) == 3 && f64x2.extract_lane(volume, 0) * f64x2.extract_lane(volume, 1) > 0 &&
    abs(f64x2.extract_lane(x, 1) - lengthX) <= ALIKE * lengthX && abs(f64x2.extract_lane(y, 1) - lengthY) <= ALIKE * lengthY &&
    abs(f64x2.extract_lane(z, 1) - lengthZ) <= ALIKE * lengthZ
  ) {
    // The squared chords of the edges: 8 sin² of half the angle for three edges of unit length.
    const d0 = f64x2.sub(q0, p0), d1 = f64x2.sub(q1, p1), d2 = f64x2.sub(q2, p2), d3 = f64x2.sub(q3, p3), d4 = f64x2.sub(q4, p4);
    const c0 = f64x2.mul(d0, d0), c2 = f64x2.mul(d2, d2), c3 = f64x2.mul(d3, d3), chord = f64x2.extract_lane(d4, 0);
    const chords = f64x2.add(f64x2.add(firsts(c0, c2), seconds(c0, c2)), f64x2.mul(d1, d1));
    const sum =
      lengthZ * (f64x2.extract_lane(chords, 0) * lengthY + f64x2.extract_lane(chords, 1) * lengthX) +
      (f64x2.extract_lane(c3, 0) + f64x2.extract_lane(c3, 1) + chord * chord) * f64x2.extract_lane(xByY, 0);
    sine = min(sqrt(0.125 * sum / f64x2.extract_lane(products, 0)) + ALIKE, 1);
    v128.store(more, inFloat32(d0, d1));
    v128.store(more, inFloat32(d2, d3), 16);
    v128.store(more, inFloat32(d4, f64x2.sub(v128.load(q, 80), v128.load(p, 80))), 32);
  } else {
    findMotion(from, to);
    startMap(start, b, from, to);
    sine = Math.sin(0.5 * angle);
    radius *= 3.0; // its edges may be oblique
    for (let i: usize = 0; i < 3; i++) {
      const s = q + (i << 5), e = p + (i << 5);
      v128.store(
        more + (i << 4),
        inFloat32(f64x2.sub(v128.load(s), v128.load(e)), f64x2.sub(v128.load(s, 16), v128.load(e, 16))),
      );
    }
  }
  radius = sqrt(radius);
  const square = sine * sine;
  const wayX = to.tx - from.tx, wayY = to.ty - from.ty, wayZ = to.tz - from.tz;
  const u = b.tx - to.tx, v = b.ty - to.ty, w = b.tz - to.tz;
  const arm = sqrt(u * u + v * v + w * w) + radius;
  const travel = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ) + 2.0 * sine * arm;
  // 1 - cos is square / (1 + cos), and cos is at least 1 - square; an angle is at most its tangent, and at most π/2 times its
  // sine.
  const isSmall = square <= SMALL_SQUARE;
  reach.travel = roundedUp(travel);
  reach.sagitta = roundedUp(arm * (square * (isSmall ? 0.5 + 0.29 * square : 1.0) + ALIKE) + BLUR * travel);
  reach.angle = roundedUp(2.0 * sine * (isSmall ? 1.0 + 1.34 * square : HALF_PI));
  reach.radius = roundedUp(radius);
}

/** Rounds a length that is not 0, or an angle, up to float32. */
// @ts-ignore: decorator
@inline
function roundedUp(value: f64): f32 {
  return <f32>(ROUNDED_UP * value + LEAST_LENGTH);
}

// @ts-ignore: decorator
@inline
function firsts(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 2);
}

// @ts-ignore: decorator
@inline
function seconds(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 3);
}

/** Rounds four float64 to float32. */
// @ts-ignore: decorator
@inline
function inFloat32(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(f32x4.demote_f64x2_zero(a), f32x4.demote_f64x2_zero(b), 0, 2);
}

// --- of a pair ---

/** The combined reach of two objects: the sum of both clearances, and the world matrices at the start of their motions. */
@unmanaged
export class PairReach {
  fromAXx: f64; fromAXy: f64; fromAXz: f64;
  fromAYx: f64; fromAYy: f64; fromAYz: f64;
  fromAZx: f64; fromAZy: f64; fromAZz: f64;
  fromATx: f64; fromATy: f64; fromATz: f64;
  fromBXx: f64; fromBXy: f64; fromBXz: f64;
  fromBYx: f64; fromBYy: f64; fromBYz: f64;
  fromBZx: f64; fromBZy: f64; fromBZz: f64;
  fromBTx: f64; fromBTy: f64; fromBTz: f64;
  clearance: f64;
  /** Time until which the two are known to be apart: 0 if nothing is known, Infinity if that is the whole motion. */
  apartUntil: f64;
  /** 1 if one of the two has a motion. */
  hasWay: u32;
  pad0: u32; pad1: f64;
}

export const PAIR_REACH_BYTES: usize = offsetof<PairReach>();

// @ts-ignore: decorator
@inline
export function startOfA(pair: PairReach): Affine {
  return changetype<Affine>(changetype<usize>(pair));
}

// @ts-ignore: decorator
@inline
export function startOfB(pair: PairReach): Affine {
  return changetype<Affine>(changetype<usize>(pair) + offsetof<PairReach>('fromBXx'));
}

/** Combines the reach of two objects; 0 stands for an object that reaches no further than its shape. */
export function joinReach(out: PairReach, a: Reach, itemA: Item, b: Reach, itemB: Item): void {
  out.clearance = out.apartUntil = 0;
  out.hasWay = 0;
  joinOne(out, startOfA(out), a, itemA);
  joinOne(out, startOfB(out), b, itemB);
}

function joinOne(out: PairReach, from: Affine, reach: Reach, item: Item): void {
  const isReaching = changetype<usize>(reach) != 0;
  if (isReaching) out.clearance += reach.clearance;
  if (isReaching && reach.travel > 0) {
    out.hasWay = 1;
    copy(from, fromOf(reach));
  } else copy(from, worldOf(item));
}
