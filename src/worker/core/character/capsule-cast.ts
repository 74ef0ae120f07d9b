// Casts a capsule at obstacles, along a segment and without rotation: conservative advancement by the distance of the
// capsule's axis from the obstacle (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996), each step up
// to the plane through the closest points, which no convex body crosses (van den Bergen, "Ray Casting against General
// Convex Objects", 2004). Distances are float64 and in closed form, so that a cast is never late, and early by TOLERANCE
// at most. The axis is along z; everything is in the character's frame.

import {
  nearestPointToSegment, pointX as nearestPointX, pointY as nearestPointY, pointZ as nearestPointZ,
} from '../contact/primitive/segment-triangle';
import { Affine } from '../math/affine';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../math/closest';
import {
  ellipsoidToParallelogram, ellipsoidToSegment, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ,
} from '../math/ellipsoid';
import { Triangle } from '../math/triangles';
import { Obstacle, TRIANGLE, ensureGathered, obstacleAt, obstacleCount, lanesNearBox, setQueryBox } from './obstacles';

/** Half the length of the capsule's axis. */
export let halfHeight: f64 = 0;
/** Smallest distance that the axis may have from an obstacle. */
export let castRadius: f64 = 0;

/** Sets the capsule that is cast: half the length of its axis, and how close that may come to obstacles. */
export function setCastCapsule(halfAxis: f64, radius: f64): void {
  halfHeight = halfAxis;
  castRadius = radius;
}

// The result of `measureDistance`: the unit normal from the obstacle to the axis, and the obstacle's closest point.
export let contactNormalX: f64 = 0, contactNormalY: f64 = 0, contactNormalZ: f64 = 0;
export let contactPointX: f64 = 0, contactPointY: f64 = 0, contactPointZ: f64 = 0;

const localTriangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const ellipsoidMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Measures the distance of the axis from an obstacle when its centre is at a position. Sets the closest point of the
 * obstacle and the normal; if the axis crosses a triangle, the distance is 0 and the normal is that of the triangle,
 * towards the side that the centre is on, or towards its front.
 */
export function measureDistance(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  // Push-out, ground test and slide often measure at the same position.
  if (o.isMeasured != 0 && o.measuredX == x && o.measuredY == y && o.measuredZ == z) {
    contactNormalX = o.contactNormalX; contactNormalY = o.contactNormalY; contactNormalZ = o.contactNormalZ;
    contactPointX = o.contactPointX; contactPointY = o.contactPointY; contactPointZ = o.contactPointZ;
    return o.distance;
  }
  const distance = o.kind == TRIANGLE ? measureTriangle(o, x, y, z) : measureRound(o, x, y, z);
  o.isMeasured = 1;
  o.measuredX = x; o.measuredY = y; o.measuredZ = z;
  o.distance = distance;
  o.contactNormalX = contactNormalX; o.contactNormalY = contactNormalY; o.contactNormalZ = contactNormalZ;
  o.contactPointX = contactPointX; o.contactPointY = contactPointY; o.contactPointZ = contactPointZ;
  return distance;
}

function measureTriangle(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  localTriangle.ax = o.ax - x; localTriangle.ay = o.ay - y; localTriangle.az = o.az - z;
  localTriangle.bx = o.bx - x; localTriangle.by = o.by - y; localTriangle.bz = o.bz - z;
  localTriangle.cx = o.cx - x; localTriangle.cy = o.cy - y; localTriangle.cz = o.cz - z;
  let distanceSquared: f64 = 0, pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
  const isBelow = o.maxZ <= z - halfHeight;
  if (isBelow || o.minZ >= z + halfHeight) {
    // The closest point of the axis is one of its ends, as for nearly all triangles under a character's feet.
    const end = isBelow ? -halfHeight : halfHeight;
    localTriangle.az -= end; localTriangle.bz -= end; localTriangle.cz -= end;
    distanceSquared = nearestOfTriangle(localTriangle, Infinity);
    pointX = nearestX; pointY = nearestY; pointZ = nearestZ + end;
  } else {
    distanceSquared = nearestPointToSegment(halfHeight, localTriangle, Infinity);
    pointX = nearestPointX; pointY = nearestPointY; pointZ = nearestPointZ;
  }
  contactPointX = x + pointX;
  contactPointY = y + pointY;
  contactPointZ = z + pointZ;
  const dz = max(min(pointZ, halfHeight), -halfHeight) - pointZ;
  const length = sqrt(pointX * pointX + pointY * pointY + dz * dz);
  if (length > 0) {
    contactNormalX = -pointX / length;
    contactNormalY = -pointY / length;
    contactNormalZ = dz / length;
    return sqrt(distanceSquared);
  }
  const side: f64 = !o.isOneSided && heightAbove(o, x, y, z) < 0 ? -1 : 1;
  contactNormalX = side * o.normalX;
  contactNormalY = side * o.normalY;
  contactNormalZ = side * o.normalZ;
  return 0;
}

function measureRound(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  memory.copy(changetype<usize>(ellipsoidMap), changetype<usize>(o), 72);
  setEllipsoid(ellipsoidMap);
  const px = x - o.centerX, py = y - o.centerY, pz = z - o.centerZ;
  const isSwept = o.halfSegmentX != 0 || o.halfSegmentY != 0 || o.halfSegmentZ != 0;
  const distanceSquared = isSwept
    ? ellipsoidToParallelogram(px, py, pz, o.halfSegmentX, o.halfSegmentY, o.halfSegmentZ, 0, 0, halfHeight)
    : ellipsoidToSegment(px, py, pz, 0, 0, halfHeight);
  let dx = footX - surfaceX, dy = footY - surfaceY, dz = footZ - surfaceZ;
  let length = sqrt(dx * dx + dy * dy + dz * dz);
  const distance = sqrt(distanceSquared);
  if (!(length > 0)) {
    // The axis intersects it: the normal points away from its centre, and leads out of it eventually.
    dx = px; dy = py; dz = pz;
    length = sqrt(dx * dx + dy * dy + dz * dz);
    if (!(length > 0)) {
      dz = length = 1;
    }
  }
  contactNormalX = dx / length;
  contactNormalY = dy / length;
  contactNormalZ = dz / length;
  // The closer end of the axis, or the point beside the obstacle's centre.
  const end = abs(contactNormalZ) > 1e-9 ? (contactNormalZ > 0 ? -halfHeight : halfHeight)
    : max(min(-pz, halfHeight), -halfHeight);
  contactPointX = x - contactNormalX * distance;
  contactPointY = y - contactNormalY * distance;
  contactPointZ = z + end - contactNormalZ * distance;
  return distance;
}

/** Returns the height of the axis' centre above the plane of a triangle. */
// @ts-ignore: decorator
@inline
export function heightAbove(o: Obstacle, x: f64, y: f64, z: f64): f64 {
  return (x - o.ax) * o.normalX + (y - o.ay) * o.normalY + (z - o.az) * o.normalZ;
}

/** A cast ends when the distance exceeds `castRadius` by no more than this, relative to `castRadius`. */
const TOLERANCE: f64 = 1e-9;
/** A motion that approaches an obstacle by less than this, relative to its length, counts as parallel. */
const PARALLEL: f64 = 1e-10;
/** If a motion only grazes an obstacle, each step halves the rest: this many steps get below TOLERANCE. */
const MAX_STEPS: i32 = 48;
/** Obstacles that are hit within this distance of each other, relative to `castRadius`, count as hit at the same time. */
const SIMULTANEOUS_DISTANCE: f64 = 1e-6;

// The result of the last cast.
export let hitTime: f64 = 0;
export let hitObstacle: u32 = 0;
export let hitNormalX: f64 = 0, hitNormalY: f64 = 0, hitNormalZ: f64 = 0;
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;

/**
 * Casts the capsule from a position along a motion. Returns whether it hits something before the end; of simultaneous
 * hits, the most level one counts: the one whose normal, or else whose face's normal, is closest to (upX, upY, upZ).
 */
export function castCapsule(
  x: f64, y: f64, z: f64, motionX: f64, motionY: f64, motionZ: f64, upX: f64, upY: f64, upZ: f64,
): bool {
  hitTime = 1;
  const length = sqrt(motionX * motionX + motionY * motionY + motionZ * motionZ);
  if (!(length > 0)) return false;
  const margin = castRadius * (1 + SIMULTANEOUS_DISTANCE);
  const minX = min(x, x + motionX), maxX = max(x, x + motionX);
  const minY = min(y, y + motionY), maxY = max(y, y + motionY);
  const minZ = min(z, z + motionZ) - halfHeight, maxZ = max(z, z + motionZ) + halfHeight;
  ensureGathered(max(-minX, maxX) + margin, max(-minY, maxY) + margin, max(-minZ, maxZ) + margin);
  setQueryBox(minX, minY, minZ, maxX, maxY, maxZ, margin);
  let isHit = false;
  for (let first: u32 = 0; first < obstacleCount; first += 4) {
    for (let bits = lanesNearBox(first); bits != 0; bits &= bits - 1) {
      if (castAtObstacle(first + ctz(bits), isHit, x, y, z, motionX, motionY, motionZ, upX, upY, upZ, length, margin))
        isHit = true;
    }
  }
  return isHit;
}

// How level the hit is, by its normal and by its face.
let hitLevel: f64 = 0, hitFaceLevel: f64 = 0;

/** Casts at one obstacle, and replaces the hit if this one is earlier, or simultaneous and more level. */
// @ts-ignore: decorator
@inline
function castAtObstacle(
  i: u32, isHit: bool, x: f64, y: f64, z: f64, motionX: f64, motionY: f64, motionZ: f64, upX: f64, upY: f64, upZ: f64,
  length: f64,
  margin: f64,
): bool {
  const o = obstacleAt(i);
  if (o.kind == TRIANGLE && staysClear(o, x, y, z, motionX, motionY, motionZ, margin)) return false;
  const timeTolerance = castRadius * SIMULTANEOUS_DISTANCE / length;
  const time = timeOfImpact(o, x, y, z, motionX, motionY, motionZ, length, 0, isHit ? min(hitTime + timeTolerance, 1.0) : 1.0);
  if (!(time < 1)) return false;
  const newLevel = contactNormalX * upX + contactNormalY * upY + contactNormalZ * upZ;
  const newFaceLevel = o.kind == TRIANGLE ? abs(o.normalX * upX + o.normalY * upY + o.normalZ * upZ) : newLevel;
  if (isHit && time >= hitTime - timeTolerance) {
    if (time > hitTime + timeTolerance) return true;
    const isAsLevel = abs(newLevel - hitLevel) <= SIMULTANEOUS_DISTANCE;
    if (isAsLevel ? newFaceLevel <= hitFaceLevel : newLevel < hitLevel) {
      hitTime = min(hitTime, time);
      return true;
    }
  }
  hitTime = isHit ? min(hitTime, time) : time;
  hitLevel = newLevel;
  hitFaceLevel = newFaceLevel;
  hitObstacle = i;
  hitNormalX = contactNormalX;
  hitNormalY = contactNormalY;
  hitNormalZ = contactNormalZ;
  hitX = contactPointX;
  hitY = contactPointY;
  hitZ = contactPointZ;
  return true;
}

/**
 * Returns whether the capsule stays on one side of a triangle's plane, or of the separating plane that was measured last,
 * or only sees the back of a one-sided triangle.
 */
// @ts-ignore: decorator
@inline
function staysClear(o: Obstacle, x: f64, y: f64, z: f64, motionX: f64, motionY: f64, motionZ: f64, margin: f64): bool {
  if (o.isMeasured != 0 && o.distance > 0) {
    const gap = o.distance + (x - o.measuredX) * o.contactNormalX + (y - o.measuredY) * o.contactNormalY +
      (z - o.measuredZ) * o.contactNormalZ;
    if (min(gap, gap + motionX * o.contactNormalX + motionY * o.contactNormalY + motionZ * o.contactNormalZ) > margin)
      return true;
  }
  const start = heightAbove(o, x, y, z);
  if (o.isOneSided && start < 0) return true;
  const end = start + motionX * o.normalX + motionY * o.normalY + motionZ * o.normalZ;
  const clearance = margin + halfHeight * abs(o.normalZ);
  return (start > clearance && end > clearance) || (start < -clearance && end < -clearance);
}

/**
 * Returns the time at which the capsule hits an obstacle; 1 or more if that is not before `limit`, or never. It does not
 * hit it before `from`.
 */
export function timeOfImpact(
  o: Obstacle, x: f64, y: f64, z: f64, motionX: f64, motionY: f64, motionZ: f64, length: f64, from: f64, limit: f64,
): f64 {
  let time = from;
  for (let step = 0; step < MAX_STEPS; step++) {
    const distance = measureDistance(o, x + time * motionX, y + time * motionY, z + time * motionZ);
    // Obstacles that already contain the axis are left to the push-out.
    if (distance == 0) return step == 0 ? 1.0 : time;
    const approachSpeed = -(motionX * contactNormalX + motionY * contactNormalY + motionZ * contactNormalZ);
    if (!(approachSpeed > PARALLEL * length)) return 1;
    const gap = distance - castRadius;
    if (gap <= TOLERANCE * castRadius) return time;
    time += gap / approachSpeed;
    if (!(time < limit)) return 1;
  }
  return time;
}
