// What an object reaches beyond its shape: its clearance, and the way on which it came, of one that is continuous. Few
// objects have either, so this is a record of its own.

import { FLAG_CLEARANCE, FLAG_CONTINUOUS } from '../../../shared/layout';
import { Affine, between, copy } from '../math/affine';
import { angle, findMotion, startMap } from '../math/rigid-motion';
import { Item, setBoundsUnder, worldOf } from './item';

@unmanaged
export class Reach {
  // Two cache lines for pairs that may be in reach.
  /** Its oriented bounds at the start of its way, where it has one: those that it has, moved back. */
  startXx: f64; startXy: f64; startXz: f64;
  startYx: f64; startYy: f64; startYz: f64;
  startZx: f64; startZy: f64; startZz: f64;
  startTx: f64; startTy: f64; startTz: f64;
  clearance: f64;
  /** How far any of its points is on the way from where it is at last, and from the chord between both ends, at most. */
  travel: f64;
  sagitta: f64;
  /** The most that it turns, in radians; and the most that a corner of its bounds is away from their middle. */
  angle: f32;
  radius: f32;
  /** Where it was in the last answered frame, its world matrix: of the round of ways in which that was noted last. */
  fromXx: f64; fromXy: f64; fromXz: f64;
  fromYx: f64; fromYy: f64; fromYz: f64;
  fromZx: f64; fromZy: f64; fromZz: f64;
  fromTx: f64; fromTy: f64; fromTz: f64;
  begun: u32;
  /** 1 once a frame was answered that had it: before, there is no way. */
  isPlaced: u32;
  /** The round of frames in which its bounds were set. */
  round: u32;
  /** 1 while a pair of it waits, so that its way begins where it did. */
  isHeld: u32;
  pad0: f64; pad1: f64;
}

export const REACH_BYTES: usize = offsetof<Reach>();
/** Flags of those that reach beyond their shape, and the same in a proxy's second byte. */
export const REACHING: u32 = FLAG_CLEARANCE | FLAG_CONTINUOUS;
export const REACHING_BYTE: u32 = REACHING >> 8;

// @ts-ignore: decorator
@inline
export function fromOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach) + offsetof<Reach>('fromXx'));
}

// @ts-ignore: decorator
@inline
export function startOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach));
}

/** Bounds how far an object may come into contact beyond where it is; it may be 0. */
export function lengthOf(reach: Reach): f64 {
  return reach.clearance + reach.travel;
}

/** Lets the way begin where the object is. */
export function beginWay(reach: Reach, item: Item): void {
  copy(fromOf(reach), worldOf(item));
}

/** Lets the way begin where another one does. */
export function takeStart(reach: Reach, from: Reach): void {
  copy(fromOf(reach), fromOf(from));
}

/** World bounds of all that it reaches beyond its oriented bounds, x and y in the lanes of a vector; and by how much more these do. */
export let lowXY: v128 = i32x4.splat(0), highXY: v128 = i32x4.splat(0);
export let lowZ: f64 = 0, highZ: f64 = 0;
export let margin: f64 = 0;

/**
 * Finds how far an object reaches with these oriented bounds: those at both ends of its way, and, as a point that turns by
 * an angle is no farther from its chord than its arm times 1 - cos of a half of it, by so much more.
 */
export function findReach(reach: Reach, item: Item, bounds: Affine): void {
  reach.travel = reach.sagitta = 0;
  margin = reach.clearance;
  let farthest = bounds;
  if (item.flags & FLAG_CONTINUOUS) {
    if (reach.isPlaced) {
      findStart(reach, item, bounds);
      margin += reach.sagitta;
      farthest = startOf(reach);
    } else beginWay(reach, item);
  }
  const at = changetype<usize>(farthest);
  const y = between(v128.load(at, 16), v128.load(at, 32)), t = between(v128.load(at, 64), v128.load(at, 80));
  const h = f64x2.add(f64x2.add(f64x2.abs(v128.load(at)), f64x2.abs(y)), f64x2.abs(v128.load(at, 48)));
  const more = f64x2.add(h, f64x2.splat(margin));
  const z = abs(farthest.xz) + abs(farthest.yz) + abs(farthest.zz) + margin;
  lowXY = f64x2.sub(t, more); highXY = f64x2.add(t, more);
  lowZ = farthest.tz - z; highZ = farthest.tz + z;
}

/** What differs by less than this, relative to squares, is the same but for float32's rounding. */
const ALIKE: f64 = 1e-6;
/** More than rounding to float32 can take away. */
const ROUNDED_UP: f64 = 1.000001;
const HALF_PI: f64 = 1.5707963267948968;
/** Up to this square of a sine, bounds by its first powers are used. */
const SMALL_SQUARE: f64 = 0.25;

/**
 * Sets the oriented bounds at the start of the way, and how far that leads; what changes its form has its last one all the way.
 * The trace of the rotation of a box with right angles tells its angle, where both boxes differ by a motion and a rotation
 * alone; else the axes of the object's matrices do.
 */
function findStart(reach: Reach, item: Item, b: Affine): void {
  const a = startOf(reach), from = fromOf(reach), to = worldOf(item);
  setBoundsUnder(a, item, from);
  const xx = dot(b.xx, b.xy, b.xz, b.xx, b.xy, b.xz), yy = dot(b.yx, b.yy, b.yz, b.yx, b.yy, b.yz);
  const zz = dot(b.zx, b.zy, b.zz, b.zx, b.zy, b.zz);
  const xy = dot(b.xx, b.xy, b.xz, b.yx, b.yy, b.yz), xz = dot(b.xx, b.xy, b.xz, b.zx, b.zy, b.zz);
  const yz = dot(b.yx, b.yy, b.yz, b.zx, b.zy, b.zz);
  const squares = xx + yy + zz, product = xx * yy * zz;
  // Where the product vanishes or overflows, the boxes are not compared.
  const areAlike =
    product > LEAST_PRODUCT && product < MOST_PRODUCT &&
    abs(dot(a.xx, a.xy, a.xz, a.xx, a.xy, a.xz) - xx) <= ALIKE * xx &&
    abs(dot(a.yx, a.yy, a.yz, a.yx, a.yy, a.yz) - yy) <= ALIKE * yy &&
    abs(dot(a.zx, a.zy, a.zz, a.zx, a.zy, a.zz) - zz) <= ALIKE * zz &&
    xy * xy <= ALIKE * ALIKE * (xx * yy) && xz * xz <= ALIKE * ALIKE * (xx * zz) && yz * yz <= ALIKE * ALIKE * (yy * zz);
  let square: f64 = 0; // of the sine of half of the angle
  let radius: f64 = 0;
  if (areAlike) {
    const trace =
      dot(a.xx, a.xy, a.xz, b.xx, b.xy, b.xz) * (yy * zz) + dot(a.yx, a.yy, a.yz, b.yx, b.yy, b.yz) * (xx * zz) +
      dot(a.zx, a.zy, a.zz, b.zx, b.zy, b.zz) * (xx * yy);
    square = min(max(0.25 * (3.0 - trace / product) + ALIKE * ALIKE, 0), 1);
    radius = sqrt(squares);
  } else {
    findMotion(from, to);
    startMap(a, b, from, to);
    const sine = Math.sin(0.5 * angle);
    square = sine * sine;
    radius = sqrt(3.0 * squares); // its edges may be oblique
  }
  const x = to.tx - from.tx, y = to.ty - from.ty, z = to.tz - from.tz;
  const u = b.tx - to.tx, v = b.ty - to.ty, w = b.tz - to.tz;
  const arm = sqrt(dot(u, v, w, u, v, w)) + radius, sine = sqrt(square);
  reach.travel = sqrt(dot(x, y, z, x, y, z)) + 2.0 * sine * arm;
  // 1 - cos is square / (1 + cos), and cos is 1 - square at least; an angle is no more than its tangent, and than π/2 times its sine.
  const isSmall = square <= SMALL_SQUARE;
  reach.sagitta = arm * (square * (isSmall ? 0.5 + 0.29 * square : 1.0) + ALIKE);
  reach.angle = <f32>(ROUNDED_UP * 2.0 * sine * (isSmall ? 1.0 + 1.34 * square : HALF_PI));
  reach.radius = <f32>(ROUNDED_UP * radius);
}
const LEAST_PRODUCT: f64 = 1e-200;
const MOST_PRODUCT: f64 = 1e200;

// @ts-ignore: decorator
@inline
function dot(x: f64, y: f64, z: f64, u: f64, v: f64, w: f64): f64 {
  return x * u + y * v + z * w;
}

// --- of a pair ---

/** What two objects reach beyond their shapes: the sum of both clearances, and where each was, its world matrix then. */
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
  /** 1 where one of the two came on a way. */
  hasWay: u32;
  pad: u32;
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

/** Joins what two objects reach; 0 stands for one that reaches no further than its shape. */
export function joinReach(out: PairReach, a: Reach, itemA: Item, b: Reach, itemB: Item): void {
  out.clearance = 0;
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
