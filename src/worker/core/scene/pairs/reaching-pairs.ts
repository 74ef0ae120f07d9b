// Pairs of which at least one object reaches beyond its shape, by a clearance or a way (shape/reach.ts): whether their
// bounds may come as near as that, and what the narrow phase is told of it.

import { Affine } from '../../math/affine';
import {
  alongAxis, axisProduct, axisX, axisY, axisZ, bendAlong, findWidestAxis, projectBoxes, reachAlong, setBoxAxis, widestAxis,
} from '../../math/obb-axes';
import { areBeyond } from '../../math/obb-gap';
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
  return isReaching(a, b) ? mayReach(a, b, -1) : compareObbsF32(a.form(), b.form()) != APART;
}

/** What differs by less than this, relative to what goes into it, is the same: so much may differ in the form at both ends of a way. */
const ALIKE: f64 = 4e-6;
/** An arc is at most so many times as long as its chord. */
const ARC_PER_CHORD: f64 = 1.5708;
/** The square of an angle, at most half a turn, times its arm is at most so many times its sagitta. */
const SQUARE_PER_SAGITTA: f64 = 10;

/**
 * Tests whether the bounds of two objects are no farther apart than their clearances, or may have met on the way on which the
 * objects came. `known` is the number of the axis (obb-axes.ts) along which the bounds are farthest apart, or -1.
 *
 * Boxes that are apart at both ends of their ways, along an axis and on one side of it, are so in between, where the gaps
 * suffice: if the axis turns with them, by how far heights along it may be from their chords; if it is that of the end all
 * the way, by the sagittas of both.
 */
export function mayReach(a: Proxy, b: Proxy, known: i32): bool {
  boundsOf(a, first);
  boundsOf(b, second);
  const p = reachOfFrame(a), q = reachOfFrame(b);
  const isA = changetype<usize>(p) != 0, isB = changetype<usize>(q) != 0;
  const clearance = (isA ? p.clearance : 0) + (isB ? q.clearance : 0);
  const hasWayA = isA && p.travel > 0, hasWayB = isB && q.travel > 0;
  if ((clearance > 0 || !(hasWayA || hasWayB)) && !areBeyond(first, second, clearance)) return true;
  if (!hasWayA && !hasWayB) return false;
  if (known < 0 && !findWidestAxis(first, second, 0)) return true;
  const which = known < 0 ? widestAxis : known;
  const fromA = hasWayA ? startOf(p) : first, fromB = hasWayB ? startOf(q) : second;
  setBoxAxis(which, fromA, fromB);
  const turned = alongAxis, turnedReach = reachAlong;
  setBoxAxis(which, first, second);
  const side: f64 = alongAxis < 0 ? -1 : 1, along = abs(alongAxis), gap = along - reachAlong;
  const rounding = ALIKE * (along + abs(turned) + reachAlong + turnedReach);
  const sagitta = (hasWayA ? p.sagitta : 0) + (hasWayB ? q.sagitta : 0);
  const travel = (hasWayA ? p.travel : 0) + (hasWayB ? q.travel : 0);
  const x = first.tx - second.tx, y = first.ty - second.ty, z = first.tz - second.tz;
  const far = sqrt(x * x + y * y + z * z) + travel + (isA ? p.radius : diagonalOf(first)) + (isB ? q.radius : diagonalOf(second));
  const bend = bendAlong(
    which, hasWayA ? p.angle : 0, hasWayB ? q.angle : 0, far, ARC_PER_CHORD * travel, SQUARE_PER_SAGITTA * sagitta,
  );
  if (min(gap, side * turned - turnedReach) - 0.125 * bend * axisProduct > rounding) return false;
  const length = sqrt(axisX * axisX + axisY * axisY + axisZ * axisZ);
  projectBoxes(fromA, fromB);
  return !(min(gap, side * alongAxis - reachAlong) - sagitta * length > rounding);
}

/** Answers how far a corner of a box is from its middle, at most. */
function diagonalOf(b: Affine): f64 {
  return sqrt(
    3.0 * (b.xx * b.xx + b.xy * b.xy + b.xz * b.xz + b.yx * b.yx + b.yy * b.yy + b.yz * b.yz + b.zx * b.zx + b.zy * b.zy + b.zz * b.zz),
  );
}

/** Answers what two objects reach as the frame has them, 0 where that is no more than their shapes; the next call reuses it. */
export function pairReach(a: Proxy, b: Proxy): usize {
  if (!isReaching(a, b)) return 0;
  joinReach(joined, reachOfFrame(a), itemOf(a.id), reachOfFrame(b), itemOf(b.id));
  return joined.clearance > 0 || joined.hasWay ? changetype<usize>(joined) : 0;
}
