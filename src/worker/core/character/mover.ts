// The character that moves, where it is and what it stands on and pushed against. All in its own frame, in which the
// capsule's axis is along z; float64.

import {
  half, hitNormalX, hitNormalY, hitNormalZ, hitObstacle, hitX, hitY, hitZ, reach, setCastCapsule,
} from './capsule-cast';
import { TRIANGLE, obstacleAt } from './obstacles';

// The character; its axis, and how near that may come to anything, are the cast's.
export let radius: f64 = 0;
export let skin: f64 = 0;
export let upX: f64 = 0, upY: f64 = 0, upZ: f64 = 1;
let steepest: f64 = 0;
export let stepHeight: f64 = 0;
export let snap: f64 = 0;

/** Where the capsule's middle is. */
export let x: f64 = 0;
export let y: f64 = 0;
export let z: f64 = 0;
/** Whether it stands on something that is not too steep. */
export let isStanding: bool = false;
/** Whether it is held between things each of which is too steep to stand on. */
export let isHeld: bool = false;
/** Whether it met something above. */
export let isBlockedAbove: bool = false;
/** Whether something has left it no place to be pushed to. */
export let isSqueezed: bool = false;
/** How deep the capsule itself is still in something, after it was pushed. */
export let depth: f64 = 0;

// What it stands on, or is held by.
export let groundObject: u32 = 0;
export let groundTriangle: i32 = 0;
export let groundNormalX: f64 = 0, groundNormalY: f64 = 0, groundNormalZ: f64 = 1;
export let groundX: f64 = 0, groundY: f64 = 0, groundZ: f64 = 0;

/** What it pushed against, or was pushed by: not more than these are told apart. */
export const MOST_PUSHES: u32 = 8;
export let pushCount: u32 = 0;

@unmanaged
export class Push {
  x: f64; y: f64; z: f64;
  normalX: f64; normalY: f64; normalZ: f64;
  object: u32;
  triangle: i32;
}

const pushes: usize = memory.data(<i32>MOST_PUSHES * <i32>offsetof<Push>(), 16);

// @ts-ignore: decorator
@inline
export function pushAt(i: u32): Push {
  return changetype<Push>(pushes + <usize>i * offsetof<Push>());
}

/**
 * Sets the character: half of its axis, its radius, the gap that it keeps, the way up, the cosine of the steepest slope
 * that it stands on, the highest step that it climbs, and how far it goes down to keep standing.
 */
export function setMover(
  halfAxis: f64, ownRadius: f64, gap: f64, ux: f64, uy: f64, uz: f64, cosine: f64, step: f64, down: f64,
): void {
  radius = ownRadius;
  skin = gap;
  upX = ux;
  upY = uy;
  upZ = uz;
  steepest = cosine;
  stepHeight = step;
  snap = down;
  setCastCapsule(halfAxis, ownRadius + gap);
}

/** Begins a step of a character that is in the middle of its frame. */
export function beginMove(wasStanding: bool): void {
  x = y = z = 0;
  isStanding = wasStanding;
  isHeld = false;
  isBlockedAbove = false;
  isSqueezed = false;
  depth = 0;
  pushCount = 0;
}

/** Goes back to where the character was at the beginning of a step, in which it was but pushed. */
export function undoPushes(): void {
  x = y = z = 0;
  isSqueezed = false;
  pushCount = 0;
}

/** Begins the frame anew where the character is now; its obstacles must be gathered anew then. */
export function recentre(): void {
  groundX -= x; groundY -= y; groundZ -= z;
  for (let i: u32 = 0; i < pushCount; i++) {
    const push = pushAt(i);
    push.x -= x; push.y -= y; push.z -= z;
  }
  x = y = z = 0;
}

/** Returns how far a way leads up. */
// @ts-ignore: decorator
@inline
export function alongUp(vx: f64, vy: f64, vz: f64): f64 {
  return vx * upX + vy * upY + vz * upZ;
}

/** Returns whether what was met faces so much up that a character may stand on it. */
// @ts-ignore: decorator
@inline
export function isLevel(): bool {
  return alongUp(hitNormalX, hitNormalY, hitNormalZ) >= steepest;
}

/** Returns whether what was met faces as much down as faces up what a character may stand on. */
// @ts-ignore: decorator
@inline
export function isCeiling(): bool {
  return alongUp(hitNormalX, hitNormalY, hitNormalZ) <= -steepest;
}

/**
 * Returns whether a character may stand on what was met: that is level, or it is the edge of a face that is, no higher than
 * a step above the capsule's foot.
 */
export function carries(): bool {
  if (isLevel()) return true;
  const o = obstacleAt(hitObstacle);
  if (o.kind != TRIANGLE || !(alongUp(hitNormalX, hitNormalY, hitNormalZ) > 0)) return false;
  if (abs(alongUp(o.normalX, o.normalY, o.normalZ)) < steepest) return false;
  const foot = alongUp(x, y, z) - half * abs(upZ) - reach;
  return alongUp(hitX, hitY, hitZ) - foot <= stepHeight + skin;
}

/** Notes what was met as the ground; of an edge that carries, its face is what it stands on. */
export function standOn(): void {
  const o = obstacleAt(hitObstacle);
  groundObject = o.object;
  groundTriangle = o.triangle;
  groundNormalX = hitNormalX;
  groundNormalY = hitNormalY;
  groundNormalZ = hitNormalZ;
  if (!isLevel() && o.kind == TRIANGLE) {
    const up = alongUp(o.normalX, o.normalY, o.normalZ);
    const side: f64 = up < 0 ? -1 : 1;
    if (side * up >= steepest) {
      groundNormalX = side * o.normalX;
      groundNormalY = side * o.normalY;
      groundNormalZ = side * o.normalZ;
    }
  }
  groundX = hitX;
  groundY = hitY;
  groundZ = hitZ;
}

/** Notes that what was met was pushed against. */
export function notePush(object: u32, triangle: i32, nx: f64, ny: f64, nz: f64, px: f64, py: f64, pz: f64): void {
  for (let i: u32 = 0; i < pushCount; i++) {
    const known = pushAt(i);
    if (known.object == object && known.triangle == triangle) return;
  }
  if (pushCount == MOST_PUSHES) return;
  const push = pushAt(pushCount++);
  push.x = px; push.y = py; push.z = pz;
  push.normalX = nx; push.normalY = ny; push.normalZ = nz;
  push.object = object;
  push.triangle = triangle;
}

export function notePushOfHit(): void {
  const o = obstacleAt(hitObstacle);
  notePush(o.object, o.triangle, hitNormalX, hitNormalY, hitNormalZ, hitX, hitY, hitZ);
}

// The setters of what others decide.

// @ts-ignore: decorator
@inline
export function moveTo(px: f64, py: f64, pz: f64): void {
  x = px; y = py; z = pz;
}

// @ts-ignore: decorator
@inline
export function shiftBy(dx: f64, dy: f64, dz: f64): void {
  x += dx; y += dy; z += dz;
}

/** Says that it stands on nothing, and is held by nothing, before a move. */
// @ts-ignore: decorator
@inline
export function leaveGround(): void {
  isStanding = false;
  isHeld = false;
}

// @ts-ignore: decorator
@inline
export function setStanding(): void {
  isStanding = true;
}

// @ts-ignore: decorator
@inline
export function setHeld(held: bool): void {
  isHeld = held;
}

// @ts-ignore: decorator
@inline
export function setBlockedAbove(): void {
  isBlockedAbove = true;
}

// @ts-ignore: decorator
@inline
export function setSqueezed(squeezed: bool): void {
  isSqueezed = squeezed;
}

// @ts-ignore: decorator
@inline
export function setDepth(least: f64): void {
  depth = least;
}
