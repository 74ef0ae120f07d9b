// Pairs of which at least one object reaches beyond its shape, by a clearance or a way (shape/reach.ts): whether their
// bounds may come as near as that, and what the narrow phase is told of it.

import { Affine } from '../../math/affine';
import { areBeyond, arePartedByTurningFaces, arePartedOnWay } from '../../math/obb-gap';
import { compareObbsF32 } from '../../math/obb-sat-f32';
import { APART } from '../../math/obb-sat-f64';
import { Proxy, boundsOf } from '../../shape/proxy';
import { PAIR_REACH_BYTES, PairReach, REACHING_BYTE, joinReach, startOf } from '../../shape/reach';
import { itemOf, reachOfFrame } from '../frame-snapshot';

const first = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const second = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const joined = changetype<PairReach>(memory.data(<i32>PAIR_REACH_BYTES, 16));

// @ts-ignore: decorator
@inline
export function isReaching(a: Proxy, b: Proxy): bool {
  return ((a.moreFlags | b.moreFlags) & <u8>REACHING_BYTE) != 0;
}

/** Tests whether two objects may be in contact, by their bounds, in float32 or by how far they reach. */
// @ts-ignore: decorator
@inline
export function mayMeet(a: Proxy, b: Proxy): bool {
  return isReaching(a, b) ? mayReach(a, b) : compareObbsF32(a.form(), b.form()) != APART;
}

/**
 * Tests whether the bounds of two objects are no farther apart than their clearances, or may have met on the way on which the
 * objects came.
 */
export function mayReach(a: Proxy, b: Proxy): bool {
  boundsOf(a, first);
  boundsOf(b, second);
  const p = reachOfFrame(a.id), q = reachOfFrame(b.id);
  const isA = changetype<usize>(p) != 0, isB = changetype<usize>(q) != 0;
  const clearance = (isA ? p.clearance : 0) + (isB ? q.clearance : 0);
  const hasWayA = isA && p.travel > 0, hasWayB = isB && q.travel > 0;
  if ((clearance > 0 || !(hasWayA || hasWayB)) && !areBeyond(first, second, clearance)) return true;
  if (!hasWayA && !hasWayB) return false;
  const sagitta = (hasWayA ? p.sagitta : 0) + (hasWayB ? q.sagitta : 0);
  if (arePartedOnWay(hasWayA ? startOf(p) : first, first, hasWayB ? startOf(q) : second, second, sagitta)) return false;
  const travel = (hasWayA ? p.travel : 0) + (hasWayB ? q.travel : 0);
  const a2 = hasWayA ? squaredAngle(p.sagitta, first) : 0, b2 = hasWayB ? squaredAngle(q.sagitta, second) : 0;
  const x = first.tx - second.tx, y = first.ty - second.ty, z = first.tz - second.tz;
  const far = sqrt(x * x + y * y + z * z) + travel;
  return !arePartedByTurningFaces(
    bendOver(a2, far + diagonalOf(second), travel, sagitta), bendOver(b2, far + diagonalOf(first), travel, sagitta),
  );
}

// What bounds the second derivative of a height over a face that turns, n · d, where n is its normal and d leads to a point of
// the other box: n'' · d + 2 n' · d' + n · d''. Time is 0 … 1, so speeds are lengths of ways.

/** An angle to the square, at most half a turn, times its arm is at most so many times its sagitta. */
const SQUARE_PER_SAGITTA: f64 = 10;
/** An arc is at most so many times as long as its chord. */
const ARC_PER_CHORD: f64 = 1.5708;

/** Bounds the square of the angle by which a box turns whose points are no farther than that from their chords. */
function squaredAngle(sagitta: f64, box: Affine): f64 {
  const size = diagonalOf(box);
  return size > 0 ? SQUARE_PER_SAGITTA * sagitta / size : Infinity;
}

function bendOver(squared: f64, far: f64, travel: f64, sagitta: f64): f64 {
  return squared * far + 2.0 * sqrt(squared) * ARC_PER_CHORD * travel + SQUARE_PER_SAGITTA * sagitta;
}

/** Answers how far a corner of a box with right angles is from its middle. */
function diagonalOf(b: Affine): f64 {
  return sqrt(
    b.xx * b.xx + b.xy * b.xy + b.xz * b.xz + b.yx * b.yx + b.yy * b.yy + b.yz * b.yz + b.zx * b.zx + b.zy * b.zy + b.zz * b.zz,
  );
}

/** Answers what two objects reach as the frame has them, 0 where that is no more than their shapes; the next call reuses it. */
export function pairReach(a: Proxy, b: Proxy): usize {
  if (!isReaching(a, b)) return 0;
  joinReach(joined, reachOfFrame(a.id), itemOf(a.id), reachOfFrame(b.id), itemOf(b.id));
  return joined.clearance > 0 || joined.hasWay ? changetype<usize>(joined) : 0;
}
