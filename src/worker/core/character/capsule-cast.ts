// Casts a capsule at obstacles, along a segment and without turning: conservative advancement by the distance of the
// capsule's axis from the obstacle (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996), each step to
// the plane through the nearest points, which nothing convex passes (van den Bergen, "Ray Casting against General Convex
// Objects", 2004). Distances are float64 and in closed form, so that a cast is never late, and early by TOLERANCE.
// The axis is along z; all is in the character's frame.

import { nearestPlace, nearestToEnd, placeX, placeY, placeZ } from '../contact/primitive/segment-triangle';
import { Affine } from '../math/affine';
import {
  ellipsoidToParallelogram, ellipsoidToSegment, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ,
} from '../math/ellipsoid';
import { Triangle } from '../math/triangles';
import { BLOCK, Obstacle, TRIANGLE, obstacleAt, obstacleCount } from './obstacles';

/** Half of the capsule's axis. */
export let half: f64 = 0;
/** How near the axis may come to an obstacle. */
export let reach: f64 = 0;

/** Sets the capsule that is cast: half of its axis, and how near that may come. */
export function setCastCapsule(halfAxis: f64, nearest: f64): void {
  half = halfAxis;
  reach = nearest;
}

// What `measure` found: the unit normal from the obstacle to the axis, and the obstacle's nearest place.
export let awayX: f64 = 0, awayY: f64 = 0, awayZ: f64 = 0;
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

const moved = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const ball = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Measures how far the axis is from an obstacle when its middle is at a place. Sets the nearest place of the obstacle and
 * the normal; where the axis crosses a triangle, the distance is 0 and the normal that of the triangle, to the side that
 * the middle is on, or to the front.
 */
export function measure(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  return o.kind == TRIANGLE ? measureTriangle(o, x, y, z) : measureRound(o, x, y, z);
}

function measureTriangle(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  moved.ax = o.ax - x; moved.ay = o.ay - y; moved.az = o.az - z;
  moved.bx = o.bx - x; moved.by = o.by - y; moved.bz = o.bz - z;
  moved.cx = o.cx - x; moved.cy = o.cy - y; moved.cz = o.cz - z;
  // What is all below or above the axis is nearest to an end of it: of what lies under a character's feet, nearly all.
  const square = o.highZ <= z - half
    ? nearestToEnd(-half, moved)
    : o.lowZ >= z + half ? nearestToEnd(half, moved) : nearestPlace(half, moved, Infinity);
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
    // The axis is in it: away from its middle, which is out of it somewhere.
    dx = px; dy = py; dz = pz;
    length = sqrt(dx * dx + dy * dy + dz * dz);
    if (!(length > 0)) {
      dz = length = 1;
    }
  }
  awayX = dx / length;
  awayY = dy / length;
  awayZ = dz / length;
  // The axis' end that is nearer to it, or the place beside its middle.
  const end = abs(awayZ) > 1e-9 ? (awayZ > 0 ? -half : half) : max(min(-pz, half), -half);
  touchX = x - awayX * distance;
  touchY = y - awayY * distance;
  touchZ = z + end - awayZ * distance;
  return distance;
}

/** Answers how high the axis' middle is over the plane of a triangle. */
// @ts-ignore: decorator
@inline
export function heightOver(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  return (x - o.ax) * o.normalX + (y - o.ay) * o.normalY + (z - o.az) * o.normalZ;
}

/** A cast ends where the distance is this much more than it may be, relative to that. */
const TOLERANCE: f64 = 1e-9;
/** What approaches an obstacle by less than this, relative to the way, does not approach it. */
const PARALLEL: f64 = 1e-10;
/** Where a way only grazes an obstacle, each step halves what is left: so many are below TOLERANCE. */
const MOST_STEPS: i32 = 48;
/** Obstacles that are met this near to each other, relative to `reach`, are met at once. */
const AT_ONCE: f64 = 1e-6;

// What the last cast met.
export let hitTime: f64 = 0;
export let hitObstacle: u32 = 0;
export let hitNormalX: f64 = 0, hitNormalY: f64 = 0, hitNormalZ: f64 = 0;
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;

/**
 * Casts the capsule from a place along a way. Answers whether it meets something before the way's end; of what it meets
 * at once, the one that is more level counts: whose normal, or else whose face, is more along (upX, upY, upZ).
 */
export function cast(
  x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, upX: f64, upY: f64, upZ: f64,
): bool {
  hitTime = 1;
  const length = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ);
  if (!(length > 0)) return false;
  const margin = reach * (1 + AT_ONCE);
  const lowX = min(x, x + wayX) - margin, highX = max(x, x + wayX) + margin;
  const lowY = min(y, y + wayY) - margin, highY = max(y, y + wayY) + margin;
  const lowZ = min(z, z + wayZ) - margin - half, highZ = max(z, z + wayZ) + margin + half;
  const together = reach * AT_ONCE / length;
  let isMet = false;
  let level: f64 = 0, faceLevel: f64 = 0;
  for (let i: u32 = 0; i < obstacleCount; i++) {
    const o = obstacleAt(i);
    if (o.kind >= BLOCK) continue;
    if (
      o.lowX > highX || o.highX < lowX || o.lowY > highY || o.highY < lowY || o.lowZ > highZ || o.highZ < lowZ
    ) continue;
    if (o.kind == TRIANGLE && isClear(o, x, y, z, wayX, wayY, wayZ, margin)) continue;
    const time = advance(o, x, y, z, wayX, wayY, wayZ, length, isMet ? min(hitTime + together, 1.0) : 1.0);
    if (!(time < 1)) continue;
    const newLevel = awayX * upX + awayY * upY + awayZ * upZ;
    const newFaceLevel = o.kind == TRIANGLE ? abs(o.normalX * upX + o.normalY * upY + o.normalZ * upZ) : newLevel;
    if (isMet && time >= hitTime - together) {
      if (time > hitTime + together) continue;
      const isAsLevel = abs(newLevel - level) <= AT_ONCE;
      if (isAsLevel ? newFaceLevel <= faceLevel : newLevel < level) {
        hitTime = min(hitTime, time);
        continue;
      }
    }
    hitTime = isMet ? min(hitTime, time) : time;
    isMet = true;
    level = newLevel;
    faceLevel = newFaceLevel;
    hitObstacle = i;
    hitNormalX = awayX;
    hitNormalY = awayY;
    hitNormalZ = awayZ;
    hitX = touchX;
    hitY = touchY;
    hitZ = touchZ;
  }
  return isMet;
}

/** Tells whether the capsule stays on one side of a triangle's plane, or only sees the back of a one-sided one. */
// @ts-ignore: decorator
@inline
function isClear(o: Obstacle, x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, margin: f64): bool {
  const start = heightOver(o, x, y, z);
  if (o.isOneSided && start < 0) return true;
  const end = start + wayX * o.normalX + wayY * o.normalY + wayZ * o.normalZ;
  const clear = margin + half * abs(o.normalZ);
  return (start > clear && end > clear) || (start < -clear && end < -clear);
}

/** Answers when the capsule meets an obstacle; 1 or more where that is not before `limit`, or never. */
function advance(
  o: Obstacle, x: f64, y: f64, z: f64, wayX: f64, wayY: f64, wayZ: f64, length: f64, limit: f64,
): f64 {
  let time: f64 = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    const distance = measure(o, x + time * wayX, y + time * wayY, z + time * wayZ);
    // What the axis is in already is left behind by being pushed out of it.
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
