// Character movement of a capsule: slides along walls and in corners, goes up and down steps, along slopes that it may stand on,
// and off slopes that it may not.

import {
  cast, half, hitNormalX, hitNormalY, hitNormalZ, hitObstacle, hitTime, hitX, hitY, hitZ, reach,
} from './capsule-cast';
import { obstacleAt } from './obstacles';
import {
  alongUp, carries, groundNormalX, groundNormalY, groundNormalZ, isCeiling, isLevel, isStanding, leaveGround, moveTo, notePush,
  notePushOfHit, setBlockedAbove, setHeld, setStanding, shiftBy, skin, snap, standOn, stepHeight, upX, upY, upZ, x, y, z,
} from './mover';
import { addPlane, clearPlanes, clip, isFree, planeCount, setWay, wayX, wayY, wayZ } from './way-planes';

/**
 * Moves by a horizontal way (perpendicular to up), and then by a height. A character that stands and does not jump follows the
 * ground, climbs steps and stays on the ground.
 */
export function moveBy(sideX: f64, sideY: f64, sideZ: f64, height: f64): void {
  const isWalking = isStanding && height <= 0;
  leaveGround();
  if (isWalking) walk(sideX, sideY, sideZ);
  else slide(sideX, sideY, sideZ);
  if (height > 0) {
    rise(height);
    return;
  }
  fall(-height);
  if (!isStanding) land(isWalking);
}

/** Casts the capsule from its position, and moves it to the first hit, or to the end of the way. */
function advance(wayX: f64, wayY: f64, wayZ: f64): bool {
  const isMet = cast(x, y, z, wayX, wayY, wayZ, upX, upY, upZ);
  shiftBy(wayX * hitTime, wayY * hitTime, wayZ * hitTime);
  return isMet;
}

/** Number of times that a way is clipped at most. */
const MOST_SLIDES: i32 = 8;

/** Returns whether the rest of the way is too short for another cast. */
// @ts-ignore: decorator
@inline
function isOver(): bool {
  return !(wayX * wayX + wayY * wayY + wayZ * wayZ > reach * reach * 1e-18);
}

/** Continues along the surface that was hit. */
function deflect(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  const left = 1 - hitTime;
  setWay(wayX * left, wayY * left, wayZ * left);
  addPlane(hitNormalX, hitNormalY, hitNormalZ);
  clip(forwardX, forwardY, forwardZ);
}

/** Moves by a way, sliding along everything that it hits. */
export function slide(sideX: f64, sideY: f64, sideZ: f64): void {
  clearPlanes();
  setWay(sideX, sideY, sideZ);
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    notePushOfHit();
    deflect(sideX, sideY, sideZ);
  }
}

// --- walking ---

/** Sets the way to the given horizontal one plus the rise that follows a plane up or down. */
function follow(sideX: f64, sideY: f64, sideZ: f64, nx: f64, ny: f64, nz: f64): void {
  const rise = -(sideX * nx + sideY * ny + sideZ * nz) / alongUp(nx, ny, nz);
  setWay(sideX + rise * upX, sideY + rise * upY, sideZ + rise * upZ);
}

/** Walks: surfaces that are too steep are walls, other slopes are followed at the speed of level ground. */
function walk(sideX: f64, sideY: f64, sideZ: f64): void {
  clearPlanes();
  if (!(sideX * sideX + sideY * sideY + sideZ * sideZ > 0)) return;
  setWay(sideX, sideY, sideZ);
  let gx = upX, gy = upY, gz = upZ;
  const probe = 2 * skin;
  if (cast(x, y, z, -upX * probe, -upY * probe, -upZ * probe, upX, upY, upZ) && carries()) {
    standOn();
    gx = groundNormalX; gy = groundNormalY; gz = groundNormalZ;
    follow(sideX, sideY, sideZ, gx, gy, gz);
  }
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    const left = 1 - hitTime;
    const restX = wayX * left, restY = wayY * left, restZ = wayZ * left;
    const up = alongUp(restX, restY, restZ);
    const acrossX = restX - up * upX, acrossY = restY - up * upY, acrossZ = restZ - up * upZ;
    if (isLevel()) {
      // A new slope: it is followed, unless that leads into surfaces that were hit before.
      follow(acrossX, acrossY, acrossZ, hitNormalX, hitNormalY, hitNormalZ);
      gx = hitNormalX; gy = hitNormalY; gz = hitNormalZ;
      const isPassable = isFree(wayX, wayY, wayZ);
      addPlane(hitNormalX, hitNormalY, hitNormalZ);
      if (isPassable) continue;
      setWay(restX, restY, restZ);
      clip(sideX, sideY, sideZ);
      continue;
    }
    const wall = obstacleAt(hitObstacle).object;
    const wallTriangle = obstacleAt(hitObstacle).triangle;
    const nx = hitNormalX, ny = hitNormalY, nz = hitNormalZ;
    const px = hitX, py = hitY, pz = hitZ;
    if (stepHeight > 0 && climb(acrossX, acrossY, acrossZ)) {
      clearPlanes();
      gx = upX; gy = upY; gz = upZ;
      continue;
    }
    notePush(wall, wallTriangle, nx, ny, nz, px, py, pz);
    // A wall, however it leans: walking into it must not lift the character.
    const lift = alongUp(nx, ny, nz);
    const wx = nx - lift * upX, wy = ny - lift * upY, wz = nz - lift * upZ;
    const width = sqrt(wx * wx + wy * wy + wz * wz);
    if (width > 1e-3) addPlane(wx / width, wy / width, wz / width);
    else addPlane(nx, ny, nz);
    setWay(acrossX, acrossY, acrossZ);
    clip(sideX, sideY, sideZ);
    if (isOver()) return;
    // Along the wall, and still along the ground.
    const alongX = wayX, alongY = wayY, alongZ = wayZ;
    follow(alongX, alongY, alongZ, gx, gy, gz);
    if (wayX * nx + wayY * ny + wayZ * nz >= 0) continue;
    // If nothing else is in the way, the wall leans over the slope: the only way out is along the line where both planes
    // intersect.
    const leansOver = isFree(wayX, wayY, wayZ);
    addPlane(nx, ny, nz);
    if (leansOver) addPlane(gx, gy, gz);
    clip(sideX, sideY, sideZ);
  }
}

/** A step that would gain less than this fraction of the way is not worth climbing. */
const LEAST_GAIN: f64 = 0.01;

/** The greatest height of a surface that may carry the climbing character. */
let highest: f64 = 0;

/**
 * Climbs a step: moves up, forward and down onto a surface that carries it. If there is none, returns false and stays in place.
 * Sets the rest of the way.
 */
function climb(sideX: f64, sideY: f64, sideZ: f64): bool {
  const length = sqrt(sideX * sideX + sideY * sideY + sideZ * sideZ);
  if (!(length > reach * 1e-9)) return false;
  const startX = x, startY = y, startZ = z;
  highest = alongUp(x, y, z) - half * abs(upZ) - reach + stepHeight + 2 * skin;
  advance(upX * stepHeight, upY * stepHeight, upZ * stepHeight);
  const raised = stepHeight * hitTime;
  if (raised > skin) {
    advance(sideX, sideY, sideZ);
    const gained = hitTime;
    if (gained > LEAST_GAIN && comeDown(raised, sideX / length, sideY / length, sideZ / length)) {
      const left = 1 - gained;
      setWay(sideX * left, sideY * left, sideZ * left);
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
  return alongUp(hitX, hitY, hitZ) > highest;
}

/**
 * Moves down by at most a height onto a surface that carries. A capsule that is not yet over the step touches its edge: then the
 * surface a little ahead must carry it.
 */
function comeDown(height: f64, forwardX: f64, forwardY: f64, forwardZ: f64): bool {
  const topX = x, topY = y, topZ = z;
  const downX = -upX * height, downY = -upY * height, downZ = -upZ * height;
  if (!advance(downX, downY, downZ) || isTooHigh()) return false;
  const isEdge = alongUp(hitNormalX, hitNormalY, hitNormalZ) > 0;
  if (carries()) {
    standOn();
    return true;
  }
  if (!isEdge) return false;
  const edgeX = x, edgeY = y, edgeZ = z;
  moveTo(topX, topY, topZ);
  advance(forwardX * reach, forwardY * reach, forwardZ * reach);
  const isStep = advance(downX, downY, downZ) && isLevel() && !isTooHigh();
  if (isStep) standOn();
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
  setWay(upX * height, upY * height, upZ * height);
  const start = alongUp(x, y, z);
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    notePushOfHit();
    if (isCeiling()) setBlockedAbove();
    deflect(upX, upY, upZ);
  }
  if (planeCount > 0 && alongUp(x, y, z) - start < 1e-3 * height) setBlockedAbove();
}

/** Falls until something carries it; slides off surfaces that are too steep. */
function fall(height: f64): void {
  clearPlanes();
  setWay(-upX * height, -upY * height, -upZ * height);
  const start = alongUp(x, y, z);
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    if (carries()) {
      standOn();
      setStanding();
      return;
    }
    standOn();
    notePushOfHit();
    deflect(-upX, -upY, -upZ);
  }
  // A character that does not get lower is wedged between surfaces each of which is too steep.
  setHeld(height > 0 && start - alongUp(x, y, z) < 1e-3 * height && planeCount > 0);
}

/** Looks for ground below to stand on, and moves down to it if the character walked. */
function land(hasWalked: bool): void {
  const height = hasWalked ? max(snap, 2 * skin) : 2 * skin;
  if (!cast(x, y, z, -upX * height, -upY * height, -upZ * height, upX, upY, upZ)) return;
  const time = hitTime;
  // Places the foot where it will be.
  const startX = x, startY = y, startZ = z;
  moveTo(x - upX * height * time, y - upY * height * time, z - upZ * height * time);
  if (carries()) {
    standOn();
    setStanding();
    if (hasWalked) return;
  }
  moveTo(startX, startY, startZ);
}
