// Sweeps a sphere or capsule that does not turn against a box: starts where the slabs of the box's faces allow the first contact,
// and continues with Newton's method, as advance.ts does, with the distance in closed form (round-box.ts). Most hit a face, where
// the slab is exact and one distance decides. 10,000 capsules among 10,000 boxes took 23 ms with bodies that were copied and
// moved, and separating axes by cross products, and take 15 with this (processor time of the core).

import { Support } from '../contact/convex/support';
import { clipInlined, enter, interval, leave } from '../math/interval';
import { ALONG, EXACT, MOST_STEPS, OVERLAP, ROUNDING } from './advance';
import { wayLength, wayX, wayY, wayZ } from './motion';
import {
  apartX, apartY, apartZ, c0, c1, c2, d0, d1, d2, distanceAt, h0, h1, h2, setAxisInBox, setCoordinates, skew,
} from './round-box';

// The result: the unit normal from the box, and the penetration depth of the balls alone at the start; 0 if the axis intersects
// the box.
export let boxNormalX: f64 = 0, boxNormalY: f64 = 0, boxNormalZ: f64 = 0;
export let boxDepth: f64 = 0;

/** Relative rounding error of a slab. */
const SLAB_ROUNDING: f64 = 1e-12;

/**
 * Finds when a sphere or capsule of size `span` hits the box that was set last (`setBoxFrame`). Returns Infinity if that is not
 * before `limit`, and OVERLAP if the two overlap at the start.
 */
export function comeToBox(round: Support, box: Support, span: f64, limit: f64): f64 {
  const radius = round.radius;
  setAxisInBox(round);
  setCoordinates(wayX, wayY, wayZ);
  const w0 = c0, w1 = c1, w2 = c2;
  setCoordinates(round.x - box.x, round.y - box.y, round.z - box.z);
  const p0 = c0, p1 = c1, p2 = c2;
  // Coordinates are off by the square of the skew, and so are the lengths of normals.
  const far = abs(p0) + abs(p1) + abs(p2) + wayLength + h0 + h1 + h2 + radius;
  const more = radius + (SLAB_ROUNDING + 8.0 * skew * skew) * far;
  const reach0 = abs(d0) + h0 + more, reach1 = abs(d1) + h1 + more, reach2 = abs(d2) + h2 + more;
  let part = interval(0, limit);
  part = clipInlined(part, p0, w0, -reach0, reach0);
  part = clipInlined(part, p1, w1, -reach1, reach1);
  part = clipInlined(part, p2, w2, -reach2, reach2);
  if (!(enter(part) <= leave(part))) return Infinity;
  const from = enter(part) * (1.0 - SLAB_ROUNDING);
  const size = h0 + h1 + h2;
  const touching = max(EXACT * min(span, size), ROUNDING * 64 * (span + size));
  let aim = 0.5 * touching;
  let time = from;
  // Normal for a shape that is in the box at a later time than 0, by rounding alone.
  boxNormalX = -wayX / wayLength; boxNormalY = -wayY / wayLength; boxNormalZ = -wayZ / wayLength;
  for (let step = 0; step < MOST_STEPS; step++) {
    const distance = distanceAt(p0 + time * w0, p1 + time * w1, p2 + time * w2);
    const gap = distance - radius;
    if (!(distance > 0) || gap < -touching) {
      if (time == 0) {
        boxDepth = distance > 0 ? -gap : 0;
        if (distance > 0) setNormal(distance);
        return OVERLAP;
      }
      return time;
    }
    setNormal(distance);
    if (step == 0 && gap < aim) aim = 0.5 * max(gap, 0.0);
    const closing = -(wayX * boxNormalX + wayY * boxNormalY + wayZ * boxNormalZ);
    if (gap <= touching) return closing > max(ALONG, ROUNDING * (span + size) / distance) * wayLength ? time : Infinity;
    if (!(closing > 0)) return Infinity;
    time += (gap - aim) / closing;
    if (!(time < limit)) return Infinity;
  }
  return time;
}

// @ts-ignore: decorator
@inline
function setNormal(distance: f64): void {
  const by = 1.0 / distance;
  boxNormalX = apartX * by;
  boxNormalY = apartY * by;
  boxNormalZ = apartZ * by;
}
