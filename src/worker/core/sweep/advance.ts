// Conservative advancement of one convex body towards another (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems",
// 1996): each step leads to where a separating plane between the two would be touched, by their distance from GJK (Gilbert,
// Johnson and Keerthi, 1988). Without a rotation that is Newton's method for a convex function, from the side on which it never
// overshoots (as van den Bergen, "Ray Casting against General Convex Objects", 2004, does with supports). With a rotation, the
// plane is kept and the body turned in front of it: its support function bounds, to second order in time, how long all of it
// stays in front (as in bilateral advancement, but with a bound instead of a search). World units about a common origin, float64.

import { commonX, commonY, commonZ, distanceBetween, nearestX, nearestY, nearestZ, setCommonPoint } from '../contact/convex/gjk';
import { SUPPORT_BYTES, Support, copyBody, extentOf, findSupportPoint, supportX, supportY, supportZ } from '../contact/convex/support';
import {
  separationX, separationY, separationZ, axisToBox, nearestOnBoxX, nearestOnBoxY, nearestOnBoxZ, setBoxFrame,
} from './round-box';
import {
  angle, arm, moveBody, pivotX, pivotY, pivotZ, spinX, spinY, spinZ, translationLength, translationX, translationY, translationZ,
} from './motion';
import { TRIANGLE_BYTES } from '../sizes';

/** The moving body, at time 0 and at the current time; and the body at rest. */
export const start = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const movedBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
export const resting = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
/** The corners of these bodies if they are triangles, nine f64 each. */
export const startCorners: usize = memory.data(TRIANGLE_BYTES, 16);
const movedCorners: usize = memory.data(TRIANGLE_BYTES, 16);
export const restingCorners: usize = memory.data(TRIANGLE_BYTES, 16);

/** Makes a body a triangle with the corners at an address. */
export function setTriangleBody(body: Support, corners: usize): void {
  body.mesh = body.edgeCount = body.hasBall = body.isBox = 0;
  body.x = body.y = body.z = body.half = body.radius = 0;
  body.triangle = <u32>corners;
}

/** Returned if the two overlap at the start. */
export const OVERLAP_AT_START: f64 = -1;

// The result of the last advancement: the unit normal from the body at rest to the moving one, and the penetration depth if only
// their balls overlap at the start; 0 if GJK does not know it.
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
export let ballDepth: f64 = 0;

/** Distance at which the two count as touching, relative to the size of the moving body, if nothing turns. */
export const TOUCHING_TOLERANCE: f64 = 1e-9;
/** The same if no ball keeps the distance that GJK measures away from 0: the normal's error is rounding divided by distance. */
const CORE_TOUCHING_TOLERANCE: f64 = 1e-7;
/** A motion that approaches by less than this, relative to its length, slides along the contact. */
export const SLIDING_TOLERANCE: f64 = 1e-9;
/** Rounding error of a difference of supports, relative to the size of both. */
export const ROUNDING: f64 = 1e-15;
/** Steps without a rotation: if the motion only grazes, each step halves the rest. */
export const MAX_STEPS: i32 = 64;
/** Steps with a rotation: each gains at least a quarter of the tolerance. */
const MAX_ROTATING_STEPS: i32 = 1 << 18;

let isCoreOnly: bool = false;
/** Whether a sphere or capsule moves towards a box, for which the distance has a closed form. */
export let isRoundAtBox: bool = false;
let radiusSum: f64 = 0;
let size: f64 = 0;

/**
 * Finds when the moving body comes within `tolerance` of the other, between two times; `tolerance` is 0 if nothing turns.
 * Returns Infinity if that is not before `limit`, and OVERLAP_AT_START if the two overlap at time 0.
 */
export function advance(from: f64, limit: f64, tolerance: f64): f64 {
  prepareBodies();
  // GJK runs on bodies without their balls, if these remain balls under their maps.
  const movingExtent = bodyExtent(start);
  const isRound = isCoreOnly && radiusSum > 0;
  const touchDistance = tolerance > 0 ? tolerance
    : max((isRound ? TOUCHING_TOLERANCE : CORE_TOUCHING_TOLERANCE) * min(movingExtent, size - movingExtent),
    ROUNDING * 64 * size);
  let targetGap = 0.5 * touchDistance;
  let time = from;
  const maxSteps = angle == 0 ? MAX_STEPS : MAX_ROTATING_STEPS;
  for (let step = 0; step < maxSteps; step++) {
    moveBody(movedBody, start, time);
    const distance = isRoundAtBox ? axisToBox(movedBody) : distanceBetween(movedBody, resting, size, isCoreOnly);
    const gap = distance - radiusSum;
    if (!(distance > 0) || gap < -touchDistance) {
      if (step == 0 && from == 0) return recordOverlapAtStart(distance);
      if (step == 0) setFallbackNormal();
      return time;
    }
    setNormal(distance);
    if (step == 0 && gap < targetGap) targetGap = 0.5 * max(gap, 0.0);
    const freeDuration = angle == 0 ? timeWithoutRotation(distance, targetGap, touchDistance)
      : timeWithRotation(time, limit - time, gap, targetGap, touchDistance);
    if (!(freeDuration > 0)) return time;
    time += freeDuration;
    if (!(time < limit)) return Infinity;
  }
  return time;
}

function recordOverlapAtStart(distance: f64): f64 {
  ballDepth = distance > 0 ? radiusSum - distance : 0;
  if (distance > 0) setNormal(distance);
  return OVERLAP_AT_START;
}

/**
 * Returns the time that the two take, without a rotation, until the plane between them is `targetGap` in front of the other
 * body: 0 if they touch, Infinity if they do not approach.
 */
function timeWithoutRotation(distance: f64, targetGap: f64, touchDistance: f64): f64 {
  const gap = distance - radiusSum;
  const closingSpeed = -(translationX * normalX + translationY * normalY + translationZ * normalZ);
  if (gap <= touchDistance)
    return closingSpeed > max(SLIDING_TOLERANCE, ROUNDING * size / distance) * translationLength ? 0 : Infinity;
  return closingSpeed > 0 ? (gap - targetGap) / closingSpeed : Infinity;
}

/** Returns a lower bound of that time with a rotation: 0 if they touch, or if rounding stops the advancement before. */
function timeWithRotation(time: f64, remainingTime: f64, gap: f64, targetGap: f64, touchDistance: f64): f64 {
  const freeDuration = separatedTime(time, remainingTime, gap, targetGap);
  return gap <= touchDistance && freeDuration * (translationLength + angle * arm) < 0.25 * touchDistance ? 0 : freeDuration;
}

// @ts-ignore: decorator
@inline
function setNormal(distance: f64): void {
  const scale = 1.0 / distance;
  normalX = (isRoundAtBox ? separationX : nearestX) * scale;
  normalY = (isRoundAtBox ? separationY : nearestY) * scale;
  normalZ = (isRoundAtBox ? separationZ : nearestZ) * scale;
}

/** Sets the normal against the motion, if no other is known. */
function setFallbackNormal(): void {
  let x = -translationX, y = -translationY, z = -translationZ;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 0) {
    x /= length; y /= length; z /= length;
  } else z = 1;
  normalX = x; normalY = y; normalZ = z;
}

function prepareBodies(): void {
  copyBody(movedBody, start);
  if (start.triangle != 0) {
    memory.copy(movedCorners, <usize>start.triangle, 72);
    movedBody.triangle = <u32>movedCorners;
  }
  isCoreOnly = (!start.hasBall || start.radius > 0) && (!resting.hasBall || resting.radius > 0);
  isRoundAtBox = isCoreOnly && start.hasBall != 0 && resting.isBox != 0 && setBoxFrame(resting);
  radiusSum = isCoreOnly ? start.radius + resting.radius : 0;
  size = bodyExtent(start) + bodyExtent(resting);
}

/** Bounds how far a body reaches from its position, including triangles. */
export function bodyExtent(b: Support): f64 {
  if (b.triangle == 0) return extentOf(b);
  let maxLengthSquared: f64 = 0;
  for (let corner: usize = 0; corner < 72; corner += 24) {
    const at = <usize>b.triangle + corner;
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    maxLengthSquared = max(maxLengthSquared, x * x + y * y + z * z);
  }
  return sqrt(maxLengthSquared);
}

/** Number of refinements of the lower bound of a time. */
const REFINEMENTS: i32 = 4;

/**
 * Returns for how long at least the moving body stays `targetGap` away from the plane that touches the other body along the
 * normal. A point at r from the pivot has the height n · (r + τ (ω × r + v)), with an error of at most ½ |ω|² |r| τ², after a
 * time τ; the minimum over all points is a support in the direction n + τ n × ω. It is concave in τ: a chord, minus the error, is
 * a lower bound.
 */
function separatedTime(time: f64, remainingTime: f64, gap: f64, targetGap: f64): f64 {
  if (!(gap > targetGap)) return 0;
  findSupportPoint(resting, normalX, normalY, normalZ, isCoreOnly);
  const planeHeight = supportX * normalX + supportY * normalY + supportZ * normalZ + (isCoreOnly ? resting.radius : 0) +
    targetGap;
  const px = pivotX + time * translationX, py = pivotY + time * translationY, pz = pivotZ + time * translationZ;
  let lowerTime: f64 = 0, lowerHeight = heightAt(0, px, py, pz) - planeHeight;
  if (!(lowerHeight > 0)) return 0;
  if (heightAt(remainingTime, px, py, pz) >= planeHeight) return remainingTime;
  // The limit must not change the steps: a hit has the same time whatever was hit before.
  let upperTime = (gap - targetGap) / (translationLength + angle * arm), upperHeight: f64 = 0;
  for (;;) {
    upperTime = min(max(2.0 * upperTime, ROUNDING), 1.0 - time);
    upperHeight = heightAt(upperTime, px, py, pz) - planeHeight;
    if (upperHeight < 0) break;
    if (!(upperTime < remainingTime)) return upperTime;
    lowerTime = upperTime;
    lowerHeight = upperHeight;
  }
  for (let i = 0; i < REFINEMENTS; i++) {
    const next = min(lowerTime + timeToZero(lowerHeight, upperHeight, upperTime - lowerTime), upperTime);
    const height = heightAt(next, px, py, pz) - planeHeight;
    // By rounding alone it may be behind.
    if (height > 0) {
      lowerTime = next;
      lowerHeight = height;
    } else {
      upperTime = next;
      upperHeight = height;
    }
    // Also tightens from the right: at the midpoint, if it is in front.
    const midTime = 0.5 * (lowerTime + upperTime);
    const midHeight = heightAt(midTime, px, py, pz) - planeHeight;
    if (midHeight > 0) {
      lowerTime = midTime;
      lowerHeight = midHeight;
    } else {
      upperTime = midTime;
      upperHeight = midHeight;
    }
  }
  return lowerTime;
}

/**
 * Returns when a lower bound of the height vanishes: the parabola through its ends that bends as the error of `heightAt` does.
 * With a chord, a body far from its pivot would need hundreds of times the steps.
 */
function timeToZero(height: f64, endHeight: f64, duration: f64): f64 {
  const bend = 0.5 * angle * angle * arm, slope = (endHeight - height) / duration + bend * duration;
  return 2.0 * height / (sqrt(slope * slope + 4.0 * bend * height) - slope);
}

/** Returns a lower bound of the moving body's height above the origin along the normal after a time. */
function heightAt(tau: f64, px: f64, py: f64, pz: f64): f64 {
  const x = normalX + tau * (normalY * spinZ - normalZ * spinY);
  const y = normalY + tau * (normalZ * spinX - normalX * spinZ);
  const z = normalZ + tau * (normalX * spinY - normalY * spinX);
  findSupportPoint(movedBody, -x, -y, -z, isCoreOnly);
  const ballExtent = isCoreOnly && movedBody.radius > 0 ? movedBody.radius * sqrt(x * x + y * y + z * z) : 0;
  return (
    x * (supportX - px) + y * (supportY - py) + z * (supportZ - pz) - ballExtent +
    normalX * (px + tau * translationX) + normalY * (py + tau * translationY) + normalZ * (pz + tau * translationZ) -
    0.5 * angle * angle * arm * tau * tau
  );
}

// The contact point that `findTouchPoint` finds.
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

/** Distance by which bodies are separated to find their contact point, relative to the size of the smaller. */
const SEPARATION_RATIO: f64 = 1e-6;

/**
 * Finds the point of the resting body's surface that is closest to the moving body at a time, when the latter is moved away along
 * a unit normal by a length.
 */
export function findTouchPoint(time: f64, nx: f64, ny: f64, nz: f64, length: f64): void {
  prepareBodies();
  moveBody(movedBody, start, time);
  const smallerExtent = min(bodyExtent(start), bodyExtent(resting));
  const offset = length + SEPARATION_RATIO * smallerExtent;
  movedBody.x += nx * offset;
  movedBody.y += ny * offset;
  movedBody.z += nz * offset;
  if (isRoundAtBox && axisToBox(movedBody) > 0) {
    touchX = nearestOnBoxX(); touchY = nearestOnBoxY(); touchZ = nearestOnBoxZ();
    return;
  }
  const distance = distanceBetween(movedBody, resting, size, isCoreOnly);
  setCommonPoint();
  const fraction = distance > 0 ? (isCoreOnly ? resting.radius : 0) / distance : 0;
  touchX = commonX - nearestX * (1.0 - fraction);
  touchY = commonY - nearestY * (1.0 - fraction);
  touchZ = commonZ - nearestZ * (1.0 - fraction);
}
