// Conservative advancement of one convex body towards another (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems",
// 1996): each step leads to where a separating plane between the two would be touched, by their distance from GJK (Gilbert,
// Johnson and Keerthi, 1988). Without a rotation that is Newton's method for a convex function, from the side on which it never
// overshoots (as van den Bergen, "Ray Casting against General Convex Objects", 2004, does with supports). With a rotation, the
// plane is kept and the body turned in front of it: its support function bounds, to second order in time, how long all of it
// stays in front (as in bilateral advancement, but with a bound instead of a search). World units about a common origin, float64.

import { commonX, commonY, commonZ, distanceBetween, nearestX, nearestY, nearestZ, setCommon } from '../contact/convex/gjk';
import { SUPPORT_BYTES, Support, copyBody, extentOf, findSupportPoint, supportX, supportY, supportZ } from '../contact/convex/support';
import { apartX, apartY, apartZ, axisToBox, nearestOfBoxX, nearestOfBoxY, nearestOfBoxZ, setBoxFrame } from './round-box';
import {
  angle, arm, moveBody, pivotX, pivotY, pivotZ, spinX, spinY, spinZ, wayLength, wayX, wayY, wayZ,
} from './motion';
import { TRIANGLE_BYTES } from '../sizes';

/** The moving body, at time 0 and at the current time; and the body at rest. */
export const start = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const moved = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
export const still = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
/** The corners of these bodies if they are triangles, nine f64 each. */
export const startCorners: usize = memory.data(TRIANGLE_BYTES, 16);
const movedCorners: usize = memory.data(TRIANGLE_BYTES, 16);
export const stillCorners: usize = memory.data(TRIANGLE_BYTES, 16);

/** Makes a body a triangle with the corners at an address. */
export function setTriangleBody(body: Support, corners: usize): void {
  body.mesh = body.edges = body.hasBall = body.isBox = 0;
  body.x = body.y = body.z = body.half = body.radius = 0;
  body.triangle = <u32>corners;
}

/** Returned if the two overlap at the start. */
export const OVERLAP: f64 = -1;

// The result of the last advancement: the unit normal from the body at rest to the moving one, and the penetration depth if only
// their balls overlap at the start; 0 if GJK does not know it.
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
export let ballDepth: f64 = 0;

/** Distance at which the two count as touching, relative to the size of the moving body, if nothing turns. */
export const EXACT: f64 = 1e-9;
/** The same if no ball keeps the distance that GJK measures away from 0: the normal's error is rounding divided by distance. */
const EXACT_BARE: f64 = 1e-7;
/** A motion that approaches by less than this, relative to its length, slides along the contact. */
export const ALONG: f64 = 1e-9;
/** Rounding error of a difference of supports, relative to the size of both. */
export const ROUNDING: f64 = 1e-15;
/** Steps without a rotation: if the motion only grazes, each step halves the rest. */
export const MOST_STEPS: i32 = 64;
/** Steps with a rotation: each gains at least a quarter of the tolerance. */
const MOST_TURNING_STEPS: i32 = 1 << 18;

let isBare: bool = false;
/** Whether a sphere or capsule moves towards a box, for which the distance has a closed form. */
export let isBoxed: bool = false;
let reach: f64 = 0;
let size: f64 = 0;

/**
 * Finds when the moving body comes within `near` of the other, between two times; `near` is 0 if nothing turns. Returns Infinity
 * if that is not before `limit`, and OVERLAP if the two overlap at time 0.
 */
export function advance(from: f64, limit: f64, near: f64): f64 {
  prepare();
  // GJK runs on bodies without their balls, if these remain balls under their maps.
  const sizeOfMoving = spanOf(start);
  const isRound = isBare && reach > 0;
  const touching = near > 0 ? near : max((isRound ? EXACT : EXACT_BARE) * min(sizeOfMoving, size - sizeOfMoving), ROUNDING * 64 * size);
  let aim = 0.5 * touching;
  let time = from;
  const most = angle == 0 ? MOST_STEPS : MOST_TURNING_STEPS;
  for (let step = 0; step < most; step++) {
    moveBody(moved, start, time);
    const distance = isBoxed ? axisToBox(moved) : distanceBetween(moved, still, size, isBare);
    const gap = distance - reach;
    if (!(distance > 0) || gap < -touching) {
      if (step == 0 && from == 0) return overlapAtStart(distance);
      if (step == 0) setFallback();
      return time;
    }
    setNormal(distance);
    if (step == 0 && gap < aim) aim = 0.5 * max(gap, 0.0);
    const free = angle == 0 ? straightTime(distance, aim, touching) : turningTime(time, limit - time, gap, aim, touching);
    if (!(free > 0)) return time;
    time += free;
    if (!(time < limit)) return Infinity;
  }
  return time;
}

function overlapAtStart(distance: f64): f64 {
  ballDepth = distance > 0 ? reach - distance : 0;
  if (distance > 0) setNormal(distance);
  return OVERLAP;
}

/**
 * Returns the time that the two take, without a rotation, until the plane between them is `aim` in front of the other body: 0 if
 * they touch, Infinity if they do not approach.
 */
function straightTime(distance: f64, aim: f64, touching: f64): f64 {
  const gap = distance - reach;
  const closing = -(wayX * normalX + wayY * normalY + wayZ * normalZ);
  if (gap <= touching) return closing > max(ALONG, ROUNDING * size / distance) * wayLength ? 0 : Infinity;
  return closing > 0 ? (gap - aim) / closing : Infinity;
}

/** Returns a lower bound of that time with a rotation: 0 if they touch, or if rounding stops the advancement before. */
function turningTime(time: f64, rest: f64, gap: f64, aim: f64, touching: f64): f64 {
  const free = freeTime(time, rest, gap, aim);
  return gap <= touching && free * (wayLength + angle * arm) < 0.25 * touching ? 0 : free;
}

// @ts-ignore: decorator
@inline
function setNormal(distance: f64): void {
  const by = 1.0 / distance;
  normalX = (isBoxed ? apartX : nearestX) * by;
  normalY = (isBoxed ? apartY : nearestY) * by;
  normalZ = (isBoxed ? apartZ : nearestZ) * by;
}

/** Sets the normal against the motion, if no other is known. */
function setFallback(): void {
  let x = -wayX, y = -wayY, z = -wayZ;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 0) {
    x /= length; y /= length; z /= length;
  } else z = 1;
  normalX = x; normalY = y; normalZ = z;
}

function prepare(): void {
  copyBody(moved, start);
  if (start.triangle != 0) {
    memory.copy(movedCorners, <usize>start.triangle, 72);
    moved.triangle = <u32>movedCorners;
  }
  isBare = (!start.hasBall || start.radius > 0) && (!still.hasBall || still.radius > 0);
  isBoxed = isBare && start.hasBall != 0 && still.isBox != 0 && setBoxFrame(still);
  reach = isBare ? start.radius + still.radius : 0;
  size = spanOf(start) + spanOf(still);
}

/** Bounds how far a body reaches from its position, including triangles. */
export function spanOf(b: Support): f64 {
  if (b.triangle == 0) return extentOf(b);
  let most: f64 = 0;
  for (let corner: usize = 0; corner < 72; corner += 24) {
    const at = <usize>b.triangle + corner;
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    most = max(most, x * x + y * y + z * z);
  }
  return sqrt(most);
}

/** Number of refinements of the lower bound of a time. */
const REFINEMENTS: i32 = 4;

/**
 * Returns for how long at least the moving body stays `aim` away from the plane that touches the other body along the normal. A
 * point at r from the pivot has the height n · (r + τ (ω × r + v)), with an error of at most ½ |ω|² |r| τ², after a time τ; the
 * minimum over all points is a support in the direction n + τ n × ω. It is concave in τ: a chord from the left is a lower bound.
 */
function freeTime(time: f64, rest: f64, gap: f64, aim: f64): f64 {
  if (!(gap > aim)) return 0;
  findSupportPoint(still, normalX, normalY, normalZ, isBare);
  const floor = supportX * normalX + supportY * normalY + supportZ * normalZ + (isBare ? still.radius : 0) + aim;
  const px = pivotX + time * wayX, py = pivotY + time * wayY, pz = pivotZ + time * wayZ;
  let left: f64 = 0, atLeft = heightAt(0, px, py, pz) - floor;
  if (!(atLeft > 0)) return 0;
  let right = rest, atRight = heightAt(rest, px, py, pz) - floor;
  if (atRight >= 0) return rest;
  for (let i = 0; i < REFINEMENTS; i++) {
    const next = left + (right - left) * (atLeft / (atLeft - atRight));
    const height = heightAt(next, px, py, pz) - floor;
    // By rounding alone it may be behind.
    if (height > 0) {
      left = next;
      atLeft = height;
    } else {
      right = next;
      atRight = height;
    }
    // Also tightens from the right: at the midpoint, if it is in front.
    const middle = 0.5 * (left + right);
    const other = heightAt(middle, px, py, pz) - floor;
    if (other > 0) {
      left = middle;
      atLeft = other;
    } else {
      right = middle;
      atRight = other;
    }
  }
  return left;
}

/** Returns a lower bound of the moving body's height above the origin along the normal after a time. */
function heightAt(tau: f64, px: f64, py: f64, pz: f64): f64 {
  const x = normalX + tau * (normalY * spinZ - normalZ * spinY);
  const y = normalY + tau * (normalZ * spinX - normalX * spinZ);
  const z = normalZ + tau * (normalX * spinY - normalY * spinX);
  findSupportPoint(moved, -x, -y, -z, isBare);
  const length = isBare && moved.radius > 0 ? moved.radius * sqrt(x * x + y * y + z * z) : 0;
  return (
    x * (supportX - px) + y * (supportY - py) + z * (supportZ - pz) - length +
    normalX * (px + tau * wayX) + normalY * (py + tau * wayY) + normalZ * (pz + tau * wayZ) -
    0.5 * angle * angle * arm * tau * tau
  );
}

// The contact point that `findTouch` finds.
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

/** Distance by which bodies are separated to find their contact point, relative to the size of the smaller. */
const DRAWN_APART: f64 = 1e-6;

/**
 * Finds the point of the resting body's surface that is closest to the moving body at a time, when the latter is moved away along
 * a unit normal by a length.
 */
export function findTouch(time: f64, nx: f64, ny: f64, nz: f64, length: f64): void {
  prepare();
  moveBody(moved, start, time);
  const small = min(spanOf(start), spanOf(still));
  const by = length + DRAWN_APART * small;
  moved.x += nx * by;
  moved.y += ny * by;
  moved.z += nz * by;
  if (isBoxed && axisToBox(moved) > 0) {
    touchX = nearestOfBoxX(); touchY = nearestOfBoxY(); touchZ = nearestOfBoxZ();
    return;
  }
  const distance = distanceBetween(moved, still, size, isBare);
  setCommon();
  const back = distance > 0 ? (isBare ? still.radius : 0) / distance : 0;
  touchX = commonX - nearestX * (1.0 - back);
  touchY = commonY - nearestY * (1.0 - back);
  touchZ = commonZ - nearestZ * (1.0 - back);
}
