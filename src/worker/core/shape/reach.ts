// What an object reaches beyond its shape: its clearance, and the way on which it came, of one that is continuous. Few
// objects have either, so this is a record of its own.

import { FLAG_CLEARANCE, FLAG_CONTINUOUS } from '../../../shared/layout';
import { Affine, copy } from '../math/affine';
import { angle, findMotion, startMap, wayX, wayY, wayZ } from '../math/rigid-motion';
import { Item, worldOf } from './item';

@unmanaged
export class Reach {
  /** Where it was in the last answered frame: its world matrix. */
  fromXx: f64; fromXy: f64; fromXz: f64;
  fromYx: f64; fromYy: f64; fromYz: f64;
  fromZx: f64; fromZy: f64; fromZz: f64;
  fromTx: f64; fromTy: f64; fromTz: f64;
  clearance: f64;
  /** How far any of its points goes on the way at most. */
  travel: f64;
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

// @ts-ignore: decorator
@inline
export function fromOf(reach: Reach): Affine {
  return changetype<Affine>(changetype<usize>(reach));
}

/** World bounds of all that it reaches. */
export let lowX: f64 = 0, lowY: f64 = 0, lowZ: f64 = 0;
export let highX: f64 = 0, highY: f64 = 0, highZ: f64 = 0;

const start = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Finds how far an object reaches with these oriented bounds: those at both ends of its way, and, as a point that turns by
 * an angle is no farther from its chord than its arm times 1 - cos of a half of it, by so much more.
 */
export function findReach(reach: Reach, item: Item, bounds: Affine): void {
  lowX = lowY = lowZ = Infinity;
  highX = highY = highZ = -Infinity;
  include(bounds);
  reach.travel = 0;
  let more = reach.clearance;
  if (item.flags & FLAG_CONTINUOUS && reach.isPlaced) {
    const to = worldOf(item), from = fromOf(reach);
    findMotion(from, to);
    startMap(start, bounds, from, to);
    include(start);
    reach.travel = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ);
    if (angle > 0) {
      const arm = armOf(bounds, bounds.tx - to.tx, bounds.ty - to.ty, bounds.tz - to.tz);
      reach.travel += angle * arm;
      const sine = Math.sin(0.25 * angle);
      more += arm * 2.0 * sine * sine;
    }
  }
  lowX -= more; lowY -= more; lowZ -= more;
  highX += more; highY += more; highZ += more;
}

/** Bounds how far a box reaches from a place, which is (x, y, z) away from its middle. */
function armOf(box: Affine, x: f64, y: f64, z: f64): f64 {
  const squares =
    box.xx * box.xx + box.xy * box.xy + box.xz * box.xz + box.yx * box.yx + box.yy * box.yy + box.yz * box.yz +
    box.zx * box.zx + box.zy * box.zy + box.zz * box.zz;
  const oblique =
    abs(box.xx * box.yx + box.xy * box.yy + box.xz * box.yz) + abs(box.xx * box.zx + box.xy * box.zy + box.xz * box.zz) +
    abs(box.yx * box.zx + box.yy * box.zy + box.yz * box.zz);
  return sqrt(x * x + y * y + z * z) + sqrt(squares + 2.0 * oblique);
}

function include(box: Affine): void {
  const x = abs(box.xx) + abs(box.yx) + abs(box.zx), y = abs(box.xy) + abs(box.yy) + abs(box.zy);
  const z = abs(box.xz) + abs(box.yz) + abs(box.zz);
  lowX = min(lowX, box.tx - x); highX = max(highX, box.tx + x);
  lowY = min(lowY, box.ty - y); highY = max(highY, box.ty + y);
  lowZ = min(lowZ, box.tz - z); highZ = max(highZ, box.tz + z);
}
