// Pairs of which at least one object reaches beyond its shape, by a clearance or a way (shape/reach.ts): whether their
// bounds may come as near as that, and what the narrow phase is told of it.

import { Affine } from '../../math/affine';
import { areBeyond, arePartedOnWay } from '../../math/obb-gap';
import { compareObbsF32 } from '../../math/obb-sat-f32';
import { APART } from '../../math/obb-sat-f64';
import { Proxy, boundsOf } from '../../shape/proxy';
import { PAIR_REACH_BYTES, PairReach, REACHING_BYTE, findStart, joinReach } from '../../shape/reach';
import { itemOf, reachOfFrame } from '../frame-snapshot';

const first = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const second = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const startA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const startB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
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
  if (hasWayA) findStart(startA, p, itemOf(a.id), first);
  if (hasWayB) findStart(startB, q, itemOf(b.id), second);
  return !arePartedOnWay(hasWayA ? startA : first, first, hasWayB ? startB : second, second, sagitta);
}

/** Answers what two objects reach as the frame has them, 0 where that is no more than their shapes; the next call reuses it. */
export function pairReach(a: Proxy, b: Proxy): usize {
  if (!isReaching(a, b)) return 0;
  joinReach(joined, reachOfFrame(a.id), itemOf(a.id), reachOfFrame(b.id), itemOf(b.id));
  return joined.clearance > 0 || joined.hasWay ? changetype<usize>(joined) : 0;
}
