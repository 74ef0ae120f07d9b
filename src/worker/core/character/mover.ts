// The moving character: its position, what it stands on, and what it pushed against. Everything is in the character's
// frame, in which the capsule's axis is along z; float64.

import {
  halfHeight, hitNormalX, hitNormalY, hitNormalZ, hitObstacle, hitX, hitY, hitZ, castRadius, setCastCapsule,
} from './capsule-cast';
import { TRIANGLE, obstacleAt } from './obstacles';

// The character's parameters; its axis, and how close that may come to obstacles, belong to the cast.
export let radius: f64 = 0;
export let skin: f64 = 0;
export let upX: f64 = 0, upY: f64 = 0, upZ: f64 = 1;
let maxSlopeCosine: f64 = 0;
export let stepHeight: f64 = 0;
export let snapDistance: f64 = 0;

/** Position of the capsule's centre. */
export let x: f64 = 0;
export let y: f64 = 0;
export let z: f64 = 0;
/** Whether it stands on a surface that is not too steep. */
export let isStanding: bool = false;
/** Whether it is wedged between surfaces each of which is too steep to stand on. */
export let isWedged: bool = false;
/** Whether it hit something above. */
export let isBlockedAbove: bool = false;
/** Whether obstacles left no free position to push it to. */
export let isSqueezed: bool = false;
/** Penetration depth of the capsule itself that remained after pushing. */
export let depth: f64 = 0;

// What it stands on, or is wedged by.
export let groundObject: u32 = 0;
export let groundTriangle: i32 = 0;
export let groundNormalX: f64 = 0, groundNormalY: f64 = 0, groundNormalZ: f64 = 1;
export let groundX: f64 = 0, groundY: f64 = 0, groundZ: f64 = 0;

/** What it pushed against, or was pushed by: at most this many contacts are recorded. */
export const MAX_PUSHES: u32 = 8;
export let pushCount: u32 = 0;

@unmanaged
export class Push {
  x: f64; y: f64; z: f64;
  normalX: f64; normalY: f64; normalZ: f64;
  object: u32;
  triangle: i32;
}

const pushes: usize = memory.data(<i32>MAX_PUSHES * <i32>offsetof<Push>(), 16);

// @ts-ignore: decorator
@inline
export function pushAt(i: u32): Push {
  return changetype<Push>(pushes + <usize>i * offsetof<Push>());
}

/**
 * Sets the character: half of its axis, its radius, the gap (skin) that it keeps, the up direction, the cosine of the
 * steepest slope that it stands on, the highest step that it climbs, and how far it snaps down to keep standing.
 */
export function setMover(
  halfAxis: f64, capsuleRadius: f64, gap: f64, ux: f64, uy: f64, uz: f64, cosine: f64, step: f64, down: f64,
): void {
  radius = capsuleRadius;
  skin = gap;
  upX = ux;
  upY = uy;
  upZ = uz;
  maxSlopeCosine = cosine;
  stepHeight = step;
  snapDistance = down;
  setCastCapsule(halfAxis, capsuleRadius + gap);
}

/** Begins a step of a character at the origin of its frame. */
export function beginMove(wasStanding: bool): void {
  x = y = z = 0;
  isStanding = wasStanding;
  isWedged = false;
  isBlockedAbove = false;
  isSqueezed = false;
  depth = 0;
  pushCount = 0;
}

/** Returns to the position at the beginning of a step in which the character was only pushed. */
export function undoPushes(): void {
  x = y = z = 0;
  isSqueezed = false;
  pushCount = 0;
}

/** Moves the origin of the frame to the character; its obstacles must then be gathered again. */
export function recentre(): void {
  groundX -= x; groundY -= y; groundZ -= z;
  for (let i: u32 = 0; i < pushCount; i++) {
    const push = pushAt(i);
    push.x -= x; push.y -= y; push.z -= z;
  }
  x = y = z = 0;
}

/** Returns the component of a vector along up. */
// @ts-ignore: decorator
@inline
export function alongUp(vx: f64, vy: f64, vz: f64): f64 {
  return vx * upX + vy * upY + vz * upZ;
}

/** Returns whether the hit surface faces up enough for a character to stand on it. */
// @ts-ignore: decorator
@inline
export function isHitLevel(): bool {
  return alongUp(hitNormalX, hitNormalY, hitNormalZ) >= maxSlopeCosine;
}

/** Returns whether the hit surface faces down as much as ground faces up. */
// @ts-ignore: decorator
@inline
export function isHitCeiling(): bool {
  return alongUp(hitNormalX, hitNormalY, hitNormalZ) <= -maxSlopeCosine;
}

/**
 * Returns whether the hit carries a character: its normal is level enough, or it is on the edge of a face that is, no
 * higher than a step above the capsule's foot.
 */
export function canStandOnHit(): bool {
  if (isHitLevel()) return true;
  const o = obstacleAt(hitObstacle);
  if (o.kind != TRIANGLE || !(alongUp(hitNormalX, hitNormalY, hitNormalZ) > 0)) return false;
  if (abs(alongUp(o.normalX, o.normalY, o.normalZ)) < maxSlopeCosine) return false;
  const footHeight = alongUp(x, y, z) - halfHeight * abs(upZ) - castRadius;
  return alongUp(hitX, hitY, hitZ) - footHeight <= stepHeight + skin;
}

/** Records the hit as the ground; if the hit is on an edge that carries, the ground normal is that of its face. */
export function setGroundFromHit(): void {
  const o = obstacleAt(hitObstacle);
  groundObject = o.object;
  groundTriangle = o.triangle;
  groundNormalX = hitNormalX;
  groundNormalY = hitNormalY;
  groundNormalZ = hitNormalZ;
  if (!isHitLevel() && o.kind == TRIANGLE) {
    const up = alongUp(o.normalX, o.normalY, o.normalZ);
    const side: f64 = up < 0 ? -1 : 1;
    if (side * up >= maxSlopeCosine) {
      groundNormalX = side * o.normalX;
      groundNormalY = side * o.normalY;
      groundNormalZ = side * o.normalZ;
    }
  }
  groundX = hitX;
  groundY = hitY;
  groundZ = hitZ;
}

/** Records a push against an obstacle. */
export function recordPush(object: u32, triangle: i32, nx: f64, ny: f64, nz: f64, px: f64, py: f64, pz: f64): void {
  for (let i: u32 = 0; i < pushCount; i++) {
    const existing = pushAt(i);
    if (existing.object == object && existing.triangle == triangle) return;
  }
  if (pushCount == MAX_PUSHES) return;
  const push = pushAt(pushCount++);
  push.x = px; push.y = py; push.z = pz;
  push.normalX = nx; push.normalY = ny; push.normalZ = nz;
  push.object = object;
  push.triangle = triangle;
}

export function recordHitPush(): void {
  const o = obstacleAt(hitObstacle);
  recordPush(o.object, o.triangle, hitNormalX, hitNormalY, hitNormalZ, hitX, hitY, hitZ);
}

// Setters for values that other modules decide.

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

/** Resets the standing and wedged states before a move. */
// @ts-ignore: decorator
@inline
export function leaveGround(): void {
  isStanding = false;
  isWedged = false;
}

// @ts-ignore: decorator
@inline
export function setStanding(): void {
  isStanding = true;
}

// @ts-ignore: decorator
@inline
export function setWedged(wedged: bool): void {
  isWedged = wedged;
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
export function setDepth(newDepth: f64): void {
  depth = newDepth;
}
