// Character movement of a capsule: slides along walls and in corners, goes up and down steps, along slopes that it may stand on,
// and off slopes that it may not.

import {
  castCapsule, halfHeight, hitNormalX, hitNormalY, hitNormalZ, hitObstacle, hitTime, hitX, hitY, hitZ, castRadius,
} from './capsule-cast';
import { obstacleAt } from './obstacles';
import {
  alongUp, canStandOnHit, groundNormalX, groundNormalY, groundNormalZ, isHitCeiling, isHitLevel, isStanding, leaveGround,
  moveTo, recordPush, recordHitPush, setBlockedAbove, setWedged, setStanding, shiftBy, skin, snapDistance, setGroundFromHit,
  stepHeight, upX, upY, upZ, x, y, z,
} from './mover';
import {
  addPlane, clearPlanes, clipMotion, isUnobstructed, planeCount, setMotion, motionX, motionY, motionZ,
} from './motion-planes';

/**
 * Moves by a horizontal motion (perpendicular to up), and then by a height. A character that stands and does not jump follows the
 * ground, climbs steps and stays on the ground.
 */
export function moveBy(horizontalX: f64, horizontalY: f64, horizontalZ: f64, height: f64): void {
  const isWalking = isStanding && height <= 0;
  leaveGround();
  if (isWalking) walk(horizontalX, horizontalY, horizontalZ);
  else slide(horizontalX, horizontalY, horizontalZ);
  if (height > 0) {
    rise(height);
    return;
  }
  fall(-height);
  if (!isStanding) snapToGround(isWalking);
}

/** Casts the capsule from its position, and moves it to the first hit, or to the end of the motion. */
function advance(dx: f64, dy: f64, dz: f64): bool {
  const isHit = castCapsule(x, y, z, dx, dy, dz, upX, upY, upZ);
  shiftBy(dx * hitTime, dy * hitTime, dz * hitTime);
  return isHit;
}

/** Number of times that a motion is clipped at most. */
const MAX_SLIDES: i32 = 8;

/** Returns whether the rest of the motion is too short for another cast. */
// @ts-ignore: decorator
@inline
function isMotionSpent(): bool {
  return !(motionX * motionX + motionY * motionY + motionZ * motionZ > castRadius * castRadius * 1e-18);
}

/** Continues along the surface that was hit. */
function deflect(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  const remaining = 1 - hitTime;
  setMotion(motionX * remaining, motionY * remaining, motionZ * remaining);
  addPlane(hitNormalX, hitNormalY, hitNormalZ);
  clipMotion(forwardX, forwardY, forwardZ);
}

/** Moves by a motion, sliding along everything that it hits. */
export function slide(horizontalX: f64, horizontalY: f64, horizontalZ: f64): void {
  clearPlanes();
  setMotion(horizontalX, horizontalY, horizontalZ);
  for (let i = 0; i < MAX_SLIDES && !isMotionSpent(); i++) {
    if (!advance(motionX, motionY, motionZ)) return;
    recordHitPush();
    deflect(horizontalX, horizontalY, horizontalZ);
  }
}

// --- walking ---

/** Sets the motion to the given horizontal one plus the rise that follows a plane up or down. */
function followSlope(horizontalX: f64, horizontalY: f64, horizontalZ: f64, nx: f64, ny: f64, nz: f64): void {
  const rise = -(horizontalX * nx + horizontalY * ny + horizontalZ * nz) / alongUp(nx, ny, nz);
  setMotion(horizontalX + rise * upX, horizontalY + rise * upY, horizontalZ + rise * upZ);
}

/** Walks: surfaces that are too steep are walls, other slopes are followed at the speed of level ground. */
function walk(horizontalX: f64, horizontalY: f64, horizontalZ: f64): void {
  clearPlanes();
  if (!(horizontalX * horizontalX + horizontalY * horizontalY + horizontalZ * horizontalZ > 0)) return;
  setMotion(horizontalX, horizontalY, horizontalZ);
  let gx = upX, gy = upY, gz = upZ;
  const probe = 2 * skin;
  if (castCapsule(x, y, z, -upX * probe, -upY * probe, -upZ * probe, upX, upY, upZ) && canStandOnHit()) {
    setGroundFromHit();
    gx = groundNormalX; gy = groundNormalY; gz = groundNormalZ;
    followSlope(horizontalX, horizontalY, horizontalZ, gx, gy, gz);
  }
  for (let i = 0; i < MAX_SLIDES && !isMotionSpent(); i++) {
    if (!advance(motionX, motionY, motionZ)) return;
    const remaining = 1 - hitTime;
    const restX = motionX * remaining, restY = motionY * remaining, restZ = motionZ * remaining;
    const up = alongUp(restX, restY, restZ);
    const acrossX = restX - up * upX, acrossY = restY - up * upY, acrossZ = restZ - up * upZ;
    if (isHitLevel()) {
      // A new slope: it is followed, unless that leads into surfaces that were hit before.
      followSlope(acrossX, acrossY, acrossZ, hitNormalX, hitNormalY, hitNormalZ);
      gx = hitNormalX; gy = hitNormalY; gz = hitNormalZ;
      const isPassable = isUnobstructed(motionX, motionY, motionZ);
      addPlane(hitNormalX, hitNormalY, hitNormalZ);
      if (isPassable) continue;
      setMotion(restX, restY, restZ);
      clipMotion(horizontalX, horizontalY, horizontalZ);
      continue;
    }
    const wallObject = obstacleAt(hitObstacle).object;
    const wallTriangle = obstacleAt(hitObstacle).triangle;
    const nx = hitNormalX, ny = hitNormalY, nz = hitNormalZ;
    const px = hitX, py = hitY, pz = hitZ;
    if (stepHeight > 0 && climb(acrossX, acrossY, acrossZ)) {
      clearPlanes();
      gx = upX; gy = upY; gz = upZ;
      continue;
    }
    recordPush(wallObject, wallTriangle, nx, ny, nz, px, py, pz);
    // A wall, however it leans: walking into it must not lift the character.
    const lift = alongUp(nx, ny, nz);
    const wx = nx - lift * upX, wy = ny - lift * upY, wz = nz - lift * upZ;
    const length = sqrt(wx * wx + wy * wy + wz * wz);
    if (length > 1e-3) addPlane(wx / length, wy / length, wz / length);
    else addPlane(nx, ny, nz);
    setMotion(acrossX, acrossY, acrossZ);
    clipMotion(horizontalX, horizontalY, horizontalZ);
    if (isMotionSpent()) return;
    // Along the wall, and still along the ground.
    const alongX = motionX, alongY = motionY, alongZ = motionZ;
    followSlope(alongX, alongY, alongZ, gx, gy, gz);
    if (motionX * nx + motionY * ny + motionZ * nz >= 0) continue;
    // If nothing else is in the way, the wall leans over the slope: the only way out is along the line where both planes
    // intersect.
    const leansOver = isUnobstructed(motionX, motionY, motionZ);
    addPlane(nx, ny, nz);
    if (leansOver) addPlane(gx, gy, gz);
    clipMotion(horizontalX, horizontalY, horizontalZ);
  }
}

/** A step that would gain less than this fraction of the motion is not worth climbing. */
const MIN_GAIN: f64 = 0.01;

/** The greatest height of a surface that may carry the climbing character. */
let maxSurfaceHeight: f64 = 0;

/**
 * Climbs a step: moves up, forward and down onto a surface that it can stand on. If there is none, returns false and stays in
 * place. Sets the rest of the motion.
 */
function climb(horizontalX: f64, horizontalY: f64, horizontalZ: f64): bool {
  const length = sqrt(horizontalX * horizontalX + horizontalY * horizontalY + horizontalZ * horizontalZ);
  if (!(length > castRadius * 1e-9)) return false;
  const startX = x, startY = y, startZ = z;
  maxSurfaceHeight = alongUp(x, y, z) - halfHeight * abs(upZ) - castRadius + stepHeight + 2 * skin;
  advance(upX * stepHeight, upY * stepHeight, upZ * stepHeight);
  const raised = stepHeight * hitTime;
  if (raised > skin) {
    advance(horizontalX, horizontalY, horizontalZ);
    const gain = hitTime;
    if (gain > MIN_GAIN && stepDown(raised, horizontalX / length, horizontalY / length, horizontalZ / length)) {
      const remaining = 1 - gain;
      setMotion(horizontalX * remaining, horizontalY * remaining, horizontalZ * remaining);
      return true;
    }
  }
  moveTo(startX, startY, startZ);
  return false;
}

/** Returns whether the hit is higher than a step. */
// @ts-ignore: decorator
@inline
function isTooHigh(): bool {
  return alongUp(hitX, hitY, hitZ) > maxSurfaceHeight;
}

/**
 * Moves down by at most a height onto a surface that carries. A capsule that is not yet over the step touches its edge: then the
 * surface a little ahead must carry it.
 */
function stepDown(height: f64, forwardX: f64, forwardY: f64, forwardZ: f64): bool {
  const topX = x, topY = y, topZ = z;
  const downX = -upX * height, downY = -upY * height, downZ = -upZ * height;
  if (!advance(downX, downY, downZ) || isTooHigh()) return false;
  const isEdge = alongUp(hitNormalX, hitNormalY, hitNormalZ) > 0;
  if (canStandOnHit()) {
    setGroundFromHit();
    return true;
  }
  if (!isEdge) return false;
  const edgeX = x, edgeY = y, edgeZ = z;
  moveTo(topX, topY, topZ);
  advance(forwardX * castRadius, forwardY * castRadius, forwardZ * castRadius);
  const isStep = advance(downX, downY, downZ) && isHitLevel() && !isTooHigh();
  if (isStep) setGroundFromHit();
  moveTo(edgeX, edgeY, edgeZ);
  return isStep;
}

// --- up and down ---

/**
 * Moves up, and slides along walls that lean over it, be it by rounding alone. It is blocked by a ceiling, or if it does not gain
 * height.
 */
function rise(height: f64): void {
  clearPlanes();
  setMotion(upX * height, upY * height, upZ * height);
  const start = alongUp(x, y, z);
  for (let i = 0; i < MAX_SLIDES && !isMotionSpent(); i++) {
    if (!advance(motionX, motionY, motionZ)) return;
    recordHitPush();
    if (isHitCeiling()) setBlockedAbove();
    deflect(upX, upY, upZ);
  }
  if (planeCount > 0 && alongUp(x, y, z) - start < 1e-3 * height) setBlockedAbove();
}

/** Falls until something carries it; slides off surfaces that are too steep. */
function fall(height: f64): void {
  clearPlanes();
  setMotion(-upX * height, -upY * height, -upZ * height);
  const start = alongUp(x, y, z);
  for (let i = 0; i < MAX_SLIDES && !isMotionSpent(); i++) {
    if (!advance(motionX, motionY, motionZ)) return;
    if (canStandOnHit()) {
      setGroundFromHit();
      setStanding();
      return;
    }
    setGroundFromHit();
    recordHitPush();
    deflect(-upX, -upY, -upZ);
  }
  // A character that does not get lower is wedged between surfaces each of which is too steep.
  setWedged(height > 0 && start - alongUp(x, y, z) < 1e-3 * height && planeCount > 0);
}

/** Looks for ground below to stand on, and moves down to it if the character walked. */
function snapToGround(hasWalked: bool): void {
  const height = hasWalked ? max(snapDistance, 2 * skin) : 2 * skin;
  if (!castCapsule(x, y, z, -upX * height, -upY * height, -upZ * height, upX, upY, upZ)) return;
  const time = hitTime;
  // Places the foot where it will be.
  const startX = x, startY = y, startZ = z;
  moveTo(x - upX * height * time, y - upY * height * time, z - upZ * height * time);
  if (canStandOnHit()) {
    setGroundFromHit();
    setStanding();
    if (hasWalked) return;
  }
  moveTo(startX, startY, startZ);
}
