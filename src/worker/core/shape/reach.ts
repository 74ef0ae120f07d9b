// How far an object reaches beyond its shape: its clearance, and the motion that led to its pose if its collision detection is
// continuous. Few objects have either, so this is a record of its own.

import { FLAG_CLEARANCE, FLAG_CONTINUOUS } from '../../../shared/layout';
import { AFFINE_BYTES, Affine, middleLanes, copy } from '../math/affine';
import { sumOfThree } from '../math/obb-axes';
import { angle, findMotion, setStartMap } from '../math/rigid-motion';
import { Item, setBoundsUnder, worldOf } from './item';

@unmanaged
export class Reach {
  // One cache line for pairs that may be in reach.
  /** Its oriented bounds at the start of its motion minus those at the end, if it has a motion. */
  deltaXx: f32; deltaXy: f32; deltaXz: f32;
  deltaYx: f32; deltaYy: f32; deltaYz: f32;
  deltaZx: f32; deltaZy: f32; deltaZz: f32;
  deltaTx: f32; deltaTy: f32; deltaTz: f32;
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
  hasWaitingPair: u32;
  /** The frame in whose answer its start was held last (motion-rounds.ts), and the matrix at which it begins after that. */
  heldIn: u32;
  pad: u32;
  nextXx: f64; nextXy: f64; nextXz: f64;
  nextYx: f64; nextYy: f64; nextYz: f64;
  nextZx: f64; nextZy: f64; nextZz: f64;
  nextTx: f64; nextTy: f64; nextTz: f64;
}

export const REACH_BYTES: usize = offsetof<Reach>();
/** The part of it that a frame reads. */
export const REACH_COPY_BYTES: usize = offsetof<Reach>('nextXx');
/** Flags of objects that reach beyond their shape, and the same bits in a proxy's second flag byte. */
export const REACHING: u32 = FLAG_CLEARANCE | FLAG_CONTINUOUS;
export const REACHING_BYTE: u32 = REACHING >> 8;
export const CLEARANCE_BYTE: u32 = FLAG_CLEARANCE >> 8;

// @ts-ignore: decorator
@inline
export function fromOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach) + offsetof<Reach>('fromXx'));
}

// @ts-ignore: decorator
@inline
export function nextOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach) + offsetof<Reach>('nextXx'));
}

/** Returns an upper bound of how far beyond its pose an object may come into contact; it may be 0. */
export function reachLength(reach: Reach): f64 {
  return reach.clearance + reach.travel;
}

/** Starts the motion at the object's present pose. */
export function beginMotion(reach: Reach, item: Item): void {
  copy(fromOf(reach), worldOf(item));
}

/** Sets the oriented bounds at the start of a motion, from those at its end. */
export function setStartBounds(out: Affine, reach: Reach, bounds: Affine): void {
  const at = changetype<usize>(bounds), delta = changetype<usize>(reach), to = changetype<usize>(out);
  for (let i: usize = 0; i < 6; i++) {
    v128.store(to + (i << 4), f64x2.add(v128.load(at + (i << 4)), f64x2.promote_low_f32x4(v128.load64_zero(delta + (i << 3)))));
  }
}

const startBounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Extent of an object and its reach, relative to the centre of its bounds: x and y in the lanes, then both ends of z. */
export let minXY: v128 = i32x4.splat(0), maxXY: v128 = i32x4.splat(0);
export let boundsZ: v128 = i32x4.splat(0);

/**
 * Finds the extent of an object with these oriented bounds: that of the bounds at both ends of its motion, enlarged by the
 * sagitta. A point that turns by an angle is no farther from its chord than its arm times 1 - cos of half the angle.
 */
export function updateReach(reach: Reach, item: Item, bounds: Affine): void {
  const p = changetype<usize>(bounds), half = halfExtentXY(p), halfZ = f64x2.splat(halfExtentZ(p));
  reach.travel = reach.sagitta = 0;
  let marginLength = reach.clearance;
  let lower = f64x2.neg(half), upper = half, extentsZ = halfZ; // of z downwards and upwards
  if (item.flags & FLAG_CONTINUOUS) {
    // An object at rest has no motion: it sleeps.
    if (reach.isPlaced && memory.compare(changetype<usize>(fromOf(reach)), changetype<usize>(worldOf(item)), AFFINE_BYTES) != 0) {
      setMotionExtent(reach, item, bounds);
      marginLength += reach.sagitta;
      const q = changetype<usize>(startBounds), startHalf = halfExtentXY(q);
      const offset = f64x2.sub(translationXY(q), translationXY(p)), offsetZ = startBounds.tz - bounds.tz;
      lower = f64x2.pmin(lower, f64x2.sub(offset, startHalf));
      upper = f64x2.pmax(upper, f64x2.add(offset, startHalf));
      extentsZ = f64x2.pmax(extentsZ, f64x2.add(f64x2(-offsetZ, offsetZ), f64x2.splat(halfExtentZ(q))));
    } else beginMotion(reach, item);
  }
  const margin = f64x2.splat(marginLength);
  minXY = f64x2.sub(lower, margin);
  maxXY = f64x2.add(upper, margin);
  boundsZ = f64x2.mul(f64x2.add(extentsZ, margin), f64x2(-1, 1));
}

/** Reads x and y of a map's translation with the same vectors with which it was written. */
// @ts-ignore: decorator
@inline
export function translationXY(at: usize): v128 {
  return middleLanes(v128.load(at, 64), v128.load(at, 80));
}

/** Returns how far oriented bounds reach from their centre along x and y. */
// @ts-ignore: decorator
@inline
export function halfExtentXY(at: usize): v128 {
  const y = middleLanes(v128.load(at, 16), v128.load(at, 32));
  return f64x2.add(f64x2.add(f64x2.abs(v128.load(at)), f64x2.abs(y)), f64x2.abs(v128.load(at, 48)));
}

/** Returns how far oriented bounds reach from their centre along z. */
// @ts-ignore: decorator
@inline
function halfExtentZ(at: usize): f64 {
  return abs(load<f64>(at, 16)) + abs(load<f64>(at, 40)) + abs(load<f64>(at, 64));
}

/** Relative difference of squares below which two lengths are the same but for float32's rounding. */
const LENGTH_TOLERANCE: f64 = 1e-6;
/**
 * Perpendicular edges span a volume equal to the product of their lengths; with rounding, its square is at least this share of
 * the product's.
 */
const PERPENDICULAR_RATIO: f64 = 1.0 - 1e-12;
/** Exceeds the relative error of rounding to float32; and a length that still has full precision there. */
const ROUNDING_FACTOR: f64 = 1.00001;
const MIN_LENGTH: f64 = 1e-36;
/** Bound of the position error of the bounds that rounding `delta` to float32 causes, relative to `travel`. */
const POSITION_ROUNDING: f64 = 2.4e-7;
const HALF_PI: f64 = 1.5707963267948968;
/** Up to this square of a sine, the first terms of the power series are used as bounds. */
const SMALL_SINE_SQUARED: f64 = 0.25;
/** Beyond these, a product of squares counts as underflow or overflow. */
const MIN_PRODUCT: f64 = 1e-200;
const MAX_PRODUCT: f64 = 1e200;

/**
 * Sets the oriented bounds at the start of the motion, and the motion's extent; an object that changes its shape keeps its last
 * one all the way. If the boxes at both ends differ only by a translation and a rotation, because their edges are perpendicular
 * and of the same lengths (which the volume shows, by Hadamard's inequality), the chords of the edges give the angle; else the
 * axes of the object's matrices do.
 */
function setMotionExtent(reach: Reach, item: Item, b: Affine): void {
  const from = fromOf(reach), to = worldOf(item), p = changetype<usize>(b), q = changetype<usize>(startBounds);
  const delta = changetype<usize>(reach);
  setBoundsUnder(startBounds, item, from);
  const p0 = v128.load(p), p1 = v128.load(p, 16), p2 = v128.load(p, 32), p3 = v128.load(p, 48), p4 = v128.load(p, 64);
  const q0 = v128.load(q), q1 = v128.load(q, 16), q2 = v128.load(q, 32), q3 = v128.load(q, 48), q4 = v128.load(q, 64);
  // The numbers of the end and of the start, a lane each.
  const xx = firstLanes(p0, q0), xy = secondLanes(p0, q0), xz = firstLanes(p1, q1);
  const yx = secondLanes(p1, q1), yy = firstLanes(p2, q2), yz = secondLanes(p2, q2);
  const zx = firstLanes(p3, q3), zy = secondLanes(p3, q3), zz = firstLanes(p4, q4);
  const x = sumOfThree(xx, xx, xy, xy, xz, xz), y = sumOfThree(yx, yx, yy, yy, yz, yz), z = sumOfThree(zx, zx, zy, zy, zz, zz);
  const volume = sumOfThree(
    xx, f64x2.sub(f64x2.mul(yy, zz), f64x2.mul(yz, zy)),
    yx, f64x2.sub(f64x2.mul(zy, xz), f64x2.mul(zz, xy)),
    zx, f64x2.sub(f64x2.mul(xy, yz), f64x2.mul(xz, yy)),
  );
  const productXY = f64x2.mul(x, y), products = f64x2.mul(productXY, z);
  const arePerpendicular = v128.and(
    f64x2.ge(f64x2.mul(volume, volume), f64x2.mul(products, f64x2.splat(PERPENDICULAR_RATIO))),
    v128.and(f64x2.gt(products, f64x2.splat(MIN_PRODUCT)), f64x2.lt(products, f64x2.splat(MAX_PRODUCT))),
  );
  const squaredX = f64x2.extract_lane(x, 0), squaredY = f64x2.extract_lane(y, 0), squaredZ = f64x2.extract_lane(z, 0);
  let sine: f64 = 0; // of half the angle
  let radius = squaredX + squaredY + squaredZ;
  if (
    i64x2.bitmask(arePerpendicular) == 3 && f64x2.extract_lane(volume, 0) * f64x2.extract_lane(volume, 1) > 0 &&
    abs(f64x2.extract_lane(x, 1) - squaredX) <= LENGTH_TOLERANCE * squaredX &&
      abs(f64x2.extract_lane(y, 1) - squaredY) <= LENGTH_TOLERANCE * squaredY &&
    abs(f64x2.extract_lane(z, 1) - squaredZ) <= LENGTH_TOLERANCE * squaredZ
  ) {
    // The squared chords of the edges: 8 sin² of half the angle for three edges of unit length.
    const d0 = f64x2.sub(q0, p0), d1 = f64x2.sub(q1, p1), d2 = f64x2.sub(q2, p2), d3 = f64x2.sub(q3, p3), d4 = f64x2.sub(q4, p4);
    const c0 = f64x2.mul(d0, d0), c2 = f64x2.mul(d2, d2), c3 = f64x2.mul(d3, d3), chord = f64x2.extract_lane(d4, 0);
    const chords = f64x2.add(f64x2.add(firstLanes(c0, c2), secondLanes(c0, c2)), f64x2.mul(d1, d1));
    const sum =
      squaredZ * (f64x2.extract_lane(chords, 0) * squaredY + f64x2.extract_lane(chords, 1) * squaredX) +
      (f64x2.extract_lane(c3, 0) + f64x2.extract_lane(c3, 1) + chord * chord) * f64x2.extract_lane(productXY, 0);
    sine = min(sqrt(0.125 * sum / f64x2.extract_lane(products, 0)) + LENGTH_TOLERANCE, 1);
    v128.store(delta, toFloat32(d0, d1));
    v128.store(delta, toFloat32(d2, d3), 16);
    v128.store(delta, toFloat32(d4, f64x2.sub(v128.load(q, 80), v128.load(p, 80))), 32);
  } else {
    findMotion(from, to);
    setStartMap(startBounds, b, from, to);
    sine = Math.sin(0.5 * angle);
    radius *= 3.0; // its edges may be oblique
    for (let i: usize = 0; i < 3; i++) {
      const s = q + (i << 5), e = p + (i << 5);
      v128.store(
        delta + (i << 4),
        toFloat32(f64x2.sub(v128.load(s), v128.load(e)), f64x2.sub(v128.load(s, 16), v128.load(e, 16))),
      );
    }
  }
  radius = sqrt(radius);
  const sineSquared = sine * sine;
  const translationX = to.tx - from.tx, translationY = to.ty - from.ty, translationZ = to.tz - from.tz;
  const u = b.tx - to.tx, v = b.ty - to.ty, w = b.tz - to.tz;
  const arm = sqrt(u * u + v * v + w * w) + radius;
  const travel = sqrt(translationX * translationX + translationY * translationY + translationZ * translationZ) + 2.0 * sine * arm;
  // 1 - cos is sin² / (1 + cos), and cos is at least 1 - sin²; an angle is at most its tangent, and at most π/2 times its
  // sine.
  const isSmall = sineSquared <= SMALL_SINE_SQUARED;
  reach.travel = roundUp(travel);
  reach.sagitta = roundUp(arm * (sineSquared * (isSmall ? 0.5 + 0.29 * sineSquared : 1.0) + LENGTH_TOLERANCE) +
    POSITION_ROUNDING * travel);
  reach.angle = roundUp(2.0 * sine * (isSmall ? 1.0 + 1.34 * sineSquared : HALF_PI));
  reach.radius = roundUp(radius);
}

/** Rounds a length that is not 0, or an angle, up to float32. */
// @ts-ignore: decorator
@inline
function roundUp(value: f64): f32 {
  return <f32>(ROUNDING_FACTOR * value + MIN_LENGTH);
}

// @ts-ignore: decorator
@inline
function firstLanes(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 2);
}

// @ts-ignore: decorator
@inline
function secondLanes(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 3);
}

/** Rounds four float64 to float32. */
// @ts-ignore: decorator
@inline
function toFloat32(a: v128, b: v128): v128 {
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
  hasMotion: u32;
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
export function combineReach(out: PairReach, a: Reach, itemA: Item, b: Reach, itemB: Item): void {
  out.clearance = out.apartUntil = 0;
  out.hasMotion = 0;
  addReach(out, startOfA(out), a, itemA);
  addReach(out, startOfB(out), b, itemB);
}

function addReach(out: PairReach, from: Affine, reach: Reach, item: Item): void {
  const isReaching = changetype<usize>(reach) != 0;
  if (isReaching) out.clearance += reach.clearance;
  if (isReaching && reach.travel > 0) {
    out.hasMotion = 1;
    copy(from, fromOf(reach));
  } else copy(from, worldOf(item));
}
