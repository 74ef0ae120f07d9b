// Casts a capsule at obstacles, along a segment and without rotation: conservative advancement by the distance of the
// capsule's axis from the obstacle (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996), each step up
// to the plane through the closest points, which no convex body crosses (van den Bergen, "Ray Casting against General
// Convex Objects", 2004). Distances are float64 and in closed form, so that a cast is never late, and early by TOLERANCE
// at most. The axis is along z; everything is in the character's frame.

import {
  nearestPlace, placeX as nearestPlaceX, placeY as nearestPlaceY, placeZ as nearestPlaceZ,
} from '../contact/primitive/segment-triangle';
import { Affine } from '../math/affine';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../math/closest';
import {
  ellipsoidToParallelogram, ellipsoidToSegment, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ,
} from '../math/ellipsoid';
import { Triangle } from '../math/triangles';
import { Obstacle, TRIANGLE, cover, obstacleAt, obstacleCount, reaching, setBox } from './obstacles';

/** Half the length of the capsule's axis. */
export let half: f64 = 0;
/** Smallest distance that the axis may have from an obstacle. */
export let reach: f64 = 0;

/** Sets the capsule that is cast: half the length of its axis, and how close that may come to obstacles. */
export function setCastCapsule(halfAxis: f64, nearest: f64): void {
  half = halfAxis;
  reach = nearest;
}

// The result of `measure`: the unit normal from the obstacle to the axis, and the obstacle's closest point.
export let awayX: f64 = 0, awayY: f64 = 0, awayZ: f64 = 0;
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

const moved = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const ball = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Measures the distance of the axis from an obstacle when its middle is at a position. Sets the closest point of the
 * obstacle and the normal; if the axis crosses a triangle, the distance is 0 and the normal is that of the triangle,
 * towards the side that the middle is on, or towards its front.
 */
export function measure(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  // Push-out, ground test and slide often measure at the same position.
  if (o.isMeasured != 0 && o.placeX == x && o.placeY == y && o.placeZ == z) {
    awayX = o.awayX; awayY = o.awayY; awayZ = o.awayZ;
    touchX = o.touchX; touchY = o.touchY; touchZ = o.touchZ;
    return o.distance;
  }
  const distance = o.kind == TRIANGLE ? measureTriangle(o, x, y, z) : measureRound(o, x, y, z);
  o.isMeasured = 1;
  o.placeX = x; o.placeY = y; o.placeZ = z;
  o.distance = distance;
  o.awayX = awayX; o.awayY = awayY; o.awayZ = awayZ;
  o.touchX = touchX; o.touchY = touchY; o.touchZ = touchZ;
  return distance;
}

function measureTriangle(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  moved.ax = o.ax - x; moved.ay = o.ay - y; moved.az = o.az - z;
  moved.bx = o.bx - x; moved.by = o.by - y; moved.bz = o.bz - z;
  moved.cx = o.cx - x; moved.cy = o.cy - y; moved.cz = o.cz - z;
  let square: f64 = 0, placeX: f64 = 0, placeY: f64 = 0, placeZ: f64 = 0;
  const isBelow = o.highZ <= z - half;
  if (isBelow || o.lowZ >= z + half) {
    // The closest point of the axis is one of its ends, as for nearly all triangles under a character's feet.
    const end = isBelow ? -half : half;
    moved.az -= end; moved.bz -= end; moved.cz -= end;
    square = nearestOfTriangle(moved, Infinity);
    placeX = nearestX; placeY = nearestY; placeZ = nearestZ + end;
  } else {
    square = nearestPlace(half, moved, Infinity);
    placeX = nearestPlaceX; placeY = nearestPlaceY; placeZ = nearestPlaceZ;
  }
  touchX = x + placeX;
  touchY = y + placeY;
  touchZ = z + placeZ;
  const dz = max(min(placeZ, half), -half) - placeZ;
  const length = sqrt(placeX * placeX + placeY * placeY + dz * dz);
  if (length > 0) {
    awayX = -placeX / length;
    awayY = -placeY / length;
    awayZ = dz / length;
    return sqrt(square);
  }
  const side: f64 = !o.isOneSided && heightOver(o, x, y, z) < 0 ? -1 : 1;
  awayX = side * o.normalX;
  awayY = side * o.normalY;
  awayZ = side * o.normalZ;
  return 0;
}

function measureRound(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  memory.copy(changetype<usize>(ball), changetype<usize>(o), 72);
  setEllipsoid(ball);
  const px = x - o.middleX, py = y - o.middleY, pz = z - o.middleZ;
  const isSwept = o.alongX != 0 || o.alongY != 0 || o.alongZ != 0;
  const square = isSwept
    ? ellipsoidToParallelogram(px, py, pz, o.alongX, o.alongY, o.alongZ, 0, 0, half)
    : ellipsoidToSegment(px, py, pz, 0, 0, half);
  let dx = footX - surfaceX, dy = footY - surfaceY, dz = footZ - surfaceZ;
  let length = sqrt(dx * dx + dy * dy + dz * dz);
  const distance = sqrt(square);
  if (!(length > 0)) {
    // The axis intersects it: the normal points away from its centre, and leads out of it eventually.
    dx = px; dy = py; dz = pz;
    length = sqrt(dx * dx + dy * dy + dz * dz);
    if (!(length > 0)) {
      dz = length = 1;
    }
  }
  awayX = dx / length;
  awayY = dy / length;
  awayZ = dz / length;
  // The closer end of the axis, or the point beside the obstacle's centre.
  const end = abs(awayZ) > 1e-9 ? (awayZ > 0 ? -half : half) : max(min(-pz, half), -half);
  touchX = x - awayX * distance;
  touchY = y - awayY * distance;
  touchZ = z + end - awayZ * distance;
  return distance;
}

/** Returns the height of the axis' middle above the plane of a triangle. */
// @ts-ignore: decorator
@inline
export function heightOver(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  return (x - o.ax) * o.normalX + (y - o.ay) * o.normalY + (z - o.az) * o.normalZ;
}

/** A cast ends when the distance exceeds `reach` by no more than this, relative to `reach`. */
const TOLERANCE: f64 = 1e-9;
/** A motion that approaches an obstacle by less than this, relative to its length, counts as parallel. */
const PARALLEL: f64 = 1e-10;
/** If a motion only grazes an obstacle, each step halves the rest: this many steps get below TOLERANCE. */
const MOST_STEPS: i32 = 48;
/** Obstacles that are hit within this distance of each other, relative to `reach`, count as hit at the same time. */
const AT_ONCE: f64 = 1e-6;

// The result of the last cast.
export let hitTime: f64 = 0;
export let hitObstacle: u32 = 0;
export let hitNormalX: f64 = 0, hitNormalY: f64 = 0, hitNormalZ: f64 = 0;
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;

/**
 * Casts the capsule from a position along a motion. Returns whether it hits something before the end; of simultaneous
 * hits, the most level one counts: the one whose normal, or else whose face's normal, is closest to (upX, upY, upZ).
 */
export function cast(
  x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, upX: f64, upY: f64, upZ: f64,
): bool {
  hitTime = 1;
  const length = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ);
  if (!(length > 0)) return false;
  const margin = reach * (1 + AT_ONCE);
  const lowX = min(x, x + wayX), highX = max(x, x + wayX);
  const lowY = min(y, y + wayY), highY = max(y, y + wayY);
  const lowZ = min(z, z + wayZ) - half, highZ = max(z, z + wayZ) + half;
  cover(max(-lowX, highX) + margin, max(-lowY, highY) + margin, max(-lowZ, highZ) + margin);
  setBox(lowX, lowY, lowZ, highX, highY, highZ, margin);
  let isMet = false;
  for (let first: u32 = 0; first < obstacleCount; first += 4) {
    for (let bits = reaching(first); bits != 0; bits &= bits - 1) {
      if (meets(first + ctz(bits), isMet, x, y, z, wayX, wayY, wayZ, upX, upY, upZ, length, margin)) isMet = true;
    }
  }
  return isMet;
}

// How level the hit is, by its normal and by its face.
let level: f64 = 0, faceLevel: f64 = 0;

/** Casts at one obstacle, and replaces the hit if this one is earlier, or simultaneous and more level. */
// @ts-ignore: decorator
@inline
function meets(
  i: u32, isMet: bool, x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, upX: f64, upY: f64, upZ: f64, length: f64,
  margin: f64,
): bool {
  const o = obstacleAt(i);
  if (o.kind == TRIANGLE && isClear(o, x, y, z, wayX, wayY, wayZ, margin)) return false;
  const together = reach * AT_ONCE / length;
  const time = advance(o, x, y, z, wayX, wayY, wayZ, length, 0, isMet ? min(hitTime + together, 1.0) : 1.0);
  if (!(time < 1)) return false;
  const newLevel = awayX * upX + awayY * upY + awayZ * upZ;
  const newFaceLevel = o.kind == TRIANGLE ? abs(o.normalX * upX + o.normalY * upY + o.normalZ * upZ) : newLevel;
  if (isMet && time >= hitTime - together) {
    if (time > hitTime + together) return true;
    const isAsLevel = abs(newLevel - level) <= AT_ONCE;
    if (isAsLevel ? newFaceLevel <= faceLevel : newLevel < level) {
      hitTime = min(hitTime, time);
      return true;
    }
  }
  hitTime = isMet ? min(hitTime, time) : time;
  level = newLevel;
  faceLevel = newFaceLevel;
  hitObstacle = i;
  hitNormalX = awayX;
  hitNormalY = awayY;
  hitNormalZ = awayZ;
  hitX = touchX;
  hitY = touchY;
  hitZ = touchZ;
  return true;
}

/**
 * Returns whether the capsule stays on one side of a triangle's plane, or of the separating plane that was measured last,
 * or only sees the back of a one-sided triangle.
 */
// @ts-ignore: decorator
@inline
export function isClear(o: Obstacle, x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, margin: f64): bool {
  if (o.isMeasured != 0 && o.distance > 0) {
    const gap = o.distance + (x - o.placeX) * o.awayX + (y - o.placeY) * o.awayY + (z - o.placeZ) * o.awayZ;
    if (min(gap, gap + wayX * o.awayX + wayY * o.awayY + wayZ * o.awayZ) > margin) return true;
  }
  const start = heightOver(o, x, y, z);
  if (o.isOneSided && start < 0) return true;
  const end = start + wayX * o.normalX + wayY * o.normalY + wayZ * o.normalZ;
  const clear = margin + half * abs(o.normalZ);
  return (start > clear && end > clear) || (start < -clear && end < -clear);
}

/**
 * Returns the time at which the capsule hits an obstacle; 1 or more if that is not before `limit`, or never. It does not
 * hit it before `from`.
 */
export function advance(
  o: Obstacle, x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, length: f64, from: f64, limit: f64,
): f64 {
  let time = from;
  for (let step = 0; step < MOST_STEPS; step++) {
    const distance = measure(o, x + time * wayX, y + time * wayY, z + time * wayZ);
    // Obstacles that already contain the axis are left to the push-out.
    if (distance == 0) return step == 0 ? 1.0 : time;
    const approach = -(wayX * awayX + wayY * awayY + wayZ * awayZ);
    if (!(approach > PARALLEL * length)) return 1;
    const gap = distance - reach;
    if (gap <= TOLERANCE * reach) return time;
    time += gap / approach;
    if (!(time < limit)) return 1;
  }
  return time;
}
