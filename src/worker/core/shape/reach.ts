// What an object reaches beyond its shape: its clearance, and the way on which it came, of one that is continuous. Few
// objects have either, so this is a record of its own.

import { FLAG_CLEARANCE, FLAG_CONTINUOUS } from '../../../shared/layout';
import { Affine, between, copy } from '../math/affine';
import { angle, findMotion, startMap } from '../math/rigid-motion';
import { Item, setBoundsUnder, worldOf } from './item';

@unmanaged
export class Reach {
  /** Where it was in the last answered frame: its world matrix. */
  fromXx: f64; fromXy: f64; fromXz: f64;
  fromYx: f64; fromYy: f64; fromYz: f64;
  fromZx: f64; fromZy: f64; fromZz: f64;
  fromTx: f64; fromTy: f64; fromTz: f64;
  /** Its oriented bounds at the start of its way, where it has one: those that it has, moved back. */
  startXx: f64; startXy: f64; startXz: f64;
  startYx: f64; startYy: f64; startYz: f64;
  startZx: f64; startZy: f64; startZz: f64;
  startTx: f64; startTy: f64; startTz: f64;
  clearance: f64;
  /** How far any of its points is on the way from where it is at last, and from the chord between both ends, at most. */
  travel: f64;
  sagitta: f64;
  /** By how much it turns at most, in radians; and how far a corner of its bounds is from their middle, at most. */
  angle: f64;
  radius: f64;
  /** 1 once a frame was answered that had it: before, there is no way. */
  isPlaced: u32;
  /** The round of frames in which its bounds were set. */
  round: u32;
  /** 1 while a pair of it waits, so that its way begins where it did. */
  isHeld: u32;
  pad: u32;
}

export const REACH_BYTES: usize = offsetof<Reach>();
/** Flags of those that reach beyond their shape, and the same in a proxy's second byte. */
export const REACHING: u32 = FLAG_CLEARANCE | FLAG_CONTINUOUS;
export const REACHING_BYTE: u32 = REACHING >> 8;

// @ts-ignore: decorator
@inline
export function fromOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach));
}

// @ts-ignore: decorator
@inline
export function startOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach) + offsetof<Reach>('startXx'));
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

/** World bounds of all that it reaches: x and y in the lanes of a vector. */
export let lowXY: v128 = i32x4.splat(0), highXY: v128 = i32x4.splat(0);
export let lowZ: f64 = 0, highZ: f64 = 0;

/**
 * Finds how far an object reaches with these oriented bounds: those at both ends of its way, and, as a point that turns by
 * an angle is no farther from its chord than its arm times 1 - cos of a half of it, by so much more.
 */
export function findReach(reach: Reach, item: Item, bounds: Affine): void {
  lowXY = f64x2.splat(Infinity); highXY = f64x2.splat(-Infinity);
  lowZ = Infinity; highZ = -Infinity;
  include(bounds);
  reach.travel = reach.sagitta = 0;
  if (item.flags & FLAG_CONTINUOUS) {
    if (reach.isPlaced) {
      findStart(reach, item, bounds);
      findWay(reach, worldOf(item), bounds);
      include(startOf(reach));
    } else beginWay(reach, item);
  }
  const more = reach.clearance + reach.sagitta;
  lowXY = f64x2.sub(lowXY, f64x2.splat(more)); highXY = f64x2.add(highXY, f64x2.splat(more));
  lowZ -= more; highZ += more;
}

/** Sets the oriented bounds at the start of the way; what changes its form has its last one all the way. */
function findStart(reach: Reach, item: Item, bounds: Affine): void {
  const out = startOf(reach), from = fromOf(reach);
  setBoundsUnder(out, item, from);
  compare(out, bounds);
  if (areAlike) return;
  findMotion(from, worldOf(item));
  startMap(out, bounds, from, worldOf(item));
  compare(out, bounds);
}

/** Whether two boxes have right angles and differ by a motion and a rotation alone; and if so, the trace of that. */
let areAlike: bool = false;
let trace: f64 = 0;
/** The squares of half the lengths of the second one's edges, summed up. */
let squares: f64 = 0;

function compare(a: Affine, b: Affine): void {
  const xx = dot(b.xx, b.xy, b.xz, b.xx, b.xy, b.xz), yy = dot(b.yx, b.yy, b.yz, b.yx, b.yy, b.yz);
  const zz = dot(b.zx, b.zy, b.zz, b.zx, b.zy, b.zz);
  const xy = dot(b.xx, b.xy, b.xz, b.yx, b.yy, b.yz), xz = dot(b.xx, b.xy, b.xz, b.zx, b.zy, b.zz);
  const yz = dot(b.yx, b.yy, b.yz, b.zx, b.zy, b.zz);
  squares = xx + yy + zz;
  areAlike =
    abs(dot(a.xx, a.xy, a.xz, a.xx, a.xy, a.xz) - xx) <= ALIKE * xx &&
    abs(dot(a.yx, a.yy, a.yz, a.yx, a.yy, a.yz) - yy) <= ALIKE * yy &&
    abs(dot(a.zx, a.zy, a.zz, a.zx, a.zy, a.zz) - zz) <= ALIKE * zz &&
    xy * xy <= ALIKE * ALIKE * (xx * yy) && xz * xz <= ALIKE * ALIKE * (xx * zz) && yz * yz <= ALIKE * ALIKE * (yy * zz);
  if (!areAlike) return;
  trace =
    dot(a.xx, a.xy, a.xz, b.xx, b.xy, b.xz) / xx + dot(a.yx, a.yy, a.yz, b.yx, b.yy, b.yz) / yy +
    dot(a.zx, a.zy, a.zz, b.zx, b.zy, b.zz) / zz;
}

const HALF_PI: f64 = 1.5707963267948968;
/** Where the cosine is greater than this, the tangent is nearer to the angle. */
const TANGENT_FROM: f64 = 0.6366;

/** What differs by less than this, relative to squares, is the same but for float32's rounding. */
const ALIKE: f64 = 1e-6;

/**
 * Finds how far the way leads from the start, after `findStart`. The trace of the rotation of a box with right angles tells its
 * angle; else the axes of the object's matrices do.
 */
function findWay(reach: Reach, to: Affine, b: Affine): void {
  const from = fromOf(reach);
  const x = to.tx - from.tx, y = to.ty - from.ty, z = to.tz - from.tz;
  const u = b.tx - to.tx, v = b.ty - to.ty, w = b.tz - to.tz;
  let square: f64 = 0; // of the sine of half of the angle
  let arm = sqrt(dot(u, v, w, u, v, w));
  if (areAlike) {
    square = min(max(0.25 * (3.0 - trace) + ALIKE * ALIKE, 0), 1);
    reach.radius = sqrt(squares);
  } else {
    findMotion(from, to);
    const sine = Math.sin(0.5 * angle);
    square = sine * sine;
    reach.radius = sqrt(3.0 * squares); // its edges may be oblique
  }
  arm += reach.radius;
  const sine = sqrt(square), cosine = sqrt(1.0 - square);
  reach.travel = sqrt(x * x + y * y + z * z) + 2.0 * sine * arm;
  reach.sagitta = arm * (square / (1.0 + cosine) + ALIKE);
  // An angle is no more than its tangent, nor than half of π times its sine.
  reach.angle = 2.0 * sine * (cosine > TANGENT_FROM ? 1.0 / cosine : HALF_PI);
}

// @ts-ignore: decorator
@inline
function dot(x: f64, y: f64, z: f64, u: f64, v: f64, w: f64): f64 {
  return x * u + y * v + z * w;
}

// @ts-ignore: decorator
@inline
function include(box: Affine): void {
  const at = changetype<usize>(box);
  const y = between(v128.load(at, 16), v128.load(at, 32)), t = between(v128.load(at, 64), v128.load(at, 80));
  const h = f64x2.add(f64x2.add(f64x2.abs(v128.load(at)), f64x2.abs(y)), f64x2.abs(v128.load(at, 48)));
  const z = abs(box.xz) + abs(box.yz) + abs(box.zz);
  lowXY = f64x2.pmin(lowXY, f64x2.sub(t, h)); highXY = f64x2.pmax(highXY, f64x2.add(t, h));
  lowZ = min(lowZ, box.tz - z); highZ = max(highZ, box.tz + z);
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
