// Sweeps a sphere or capsule that does not turn against a box: starts where the slabs of the box's faces allow the first contact,
// and continues with Newton's method, as advance.ts does, with the distance in closed form (round-box.ts). Most hit a face, where
// the slab is exact and one distance decides. 10,000 capsules among 10,000 boxes took 23 ms with bodies that were copied and
// moved, and separating axes by cross products, and take 15 with this (processor time of the core).

import { Support } from '../contact/convex/support';
import { clipInlined, intervalStart, interval, intervalEnd } from '../math/interval';
import { SLIDING_TOLERANCE, TOUCHING_TOLERANCE, MAX_STEPS, OVERLAP_AT_START, ROUNDING } from './advance';
import { translationLength, translationX, translationY, translationZ } from './motion';
import {
  separationX, separationY, separationZ, c0, c1, c2, d0, d1, d2, distanceAt, h0, h1, h2, setAxisInBox, setCoordinates, skew,
} from './round-box';

// The result: the unit normal from the box, and the penetration depth of the balls alone at the start; 0 if the axis intersects
// the box.
export let boxNormalX: f64 = 0, boxNormalY: f64 = 0, boxNormalZ: f64 = 0;
export let boxDepth: f64 = 0;

/** Relative rounding error of a slab. */
const SLAB_ROUNDING: f64 = 1e-12;

/**
 * Finds when a sphere or capsule of size `roundSize` hits the box that was set last (`setBoxFrame`). Returns Infinity if that
 * is not before `limit`, and OVERLAP_AT_START if the two overlap at the start.
 */
export function sweepRoundAtBox(round: Support, box: Support, roundSize: f64, limit: f64): f64 {
  const radius = round.radius;
  setAxisInBox(round);
  setCoordinates(translationX, translationY, translationZ);
  const w0 = c0, w1 = c1, w2 = c2;
  setCoordinates(round.x - box.x, round.y - box.y, round.z - box.z);
  const p0 = c0, p1 = c1, p2 = c2;
  // Coordinates are off by the square of the skew, and so are the lengths of normals.
  const maxCoordinate = abs(p0) + abs(p1) + abs(p2) + translationLength + h0 + h1 + h2 + radius;
  const maxRadius = radius + (SLAB_ROUNDING + 8.0 * skew * skew) * maxCoordinate;
  const halfWidth0 = abs(d0) + h0 + maxRadius, halfWidth1 = abs(d1) + h1 + maxRadius, halfWidth2 = abs(d2) + h2 + maxRadius;
  let part = interval(0, limit);
  part = clipInlined(part, p0, w0, -halfWidth0, halfWidth0);
  part = clipInlined(part, p1, w1, -halfWidth1, halfWidth1);
  part = clipInlined(part, p2, w2, -halfWidth2, halfWidth2);
  if (!(intervalStart(part) <= intervalEnd(part))) return Infinity;
  const startTime = intervalStart(part) * (1.0 - SLAB_ROUNDING);
  const boxSize = h0 + h1 + h2;
  const touchDistance = max(TOUCHING_TOLERANCE * min(roundSize, boxSize), ROUNDING * 64 * (roundSize + boxSize));
  let targetGap = 0.5 * touchDistance;
  let time = startTime;
  // Normal for a shape that is in the box at a later time than 0, by rounding alone.
  boxNormalX = -translationX / translationLength;
  boxNormalY = -translationY / translationLength; boxNormalZ = -translationZ / translationLength;
  for (let step = 0; step < MAX_STEPS; step++) {
    const distance = distanceAt(p0 + time * w0, p1 + time * w1, p2 + time * w2);
    const gap = distance - radius;
    if (!(distance > 0) || gap < -touchDistance) {
      if (time == 0) {
        boxDepth = distance > 0 ? -gap : 0;
        if (distance > 0) setNormal(distance);
        return OVERLAP_AT_START;
      }
      return time;
    }
    setNormal(distance);
    if (step == 0 && gap < targetGap) targetGap = 0.5 * max(gap, 0.0);
    const closingSpeed = -(translationX * boxNormalX + translationY * boxNormalY + translationZ * boxNormalZ);
    if (gap <= touchDistance)
      return closingSpeed > max(SLIDING_TOLERANCE, ROUNDING * (roundSize + boxSize) / distance) * translationLength ? time
        : Infinity;
    if (!(closingSpeed > 0)) return Infinity;
    time += (gap - targetGap) / closingSpeed;
    if (!(time < limit)) return Infinity;
  }
  return time;
}

// @ts-ignore: decorator
@inline
function setNormal(distance: f64): void {
  const scale = 1.0 / distance;
  boxNormalX = separationX * scale;
  boxNormalY = separationY * scale;
  boxNormalZ = separationZ * scale;
}
