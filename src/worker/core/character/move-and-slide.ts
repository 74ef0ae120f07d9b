// Moves a capsule as a character moves: along walls and corners (the planes of what it meets, as Quake's players are
// clipped; Fauerby, "Improved Collision Detection and Response", 2003), up and down steps, along slopes that it may stand
// on and off those that it may not, and out of what has come over it. All in the character's frame, in which the capsule's
// axis is along z; float64.

import {
  awayX, awayY, awayZ, cast, half, heightOver, hitNormalX, hitNormalY, hitNormalZ, hitObstacle, hitTime, hitX, hitY, hitZ,
  measure, reach, setCastCapsule, touchX, touchY, touchZ,
} from './capsule-cast';
import { BLOCK, Obstacle, TRIANGLE, obstacleAt, obstacleCount } from './obstacles';

// The character; its axis, and how near that may come to anything, are the cast's.
let radius: f64 = 0;
let skin: f64 = 0;
let upX: f64 = 0, upY: f64 = 0, upZ: f64 = 1;
let steepest: f64 = 0;
let stepHeight: f64 = 0;
let snap: f64 = 0;

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
let isSqueezed: bool = false;
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

/**
 * Moves by a way across the way up, and then by a height. What stands and does not jump follows the ground, climbs steps
 * and stays down.
 */
export function moveBy(sideX: f64, sideY: f64, sideZ: f64, height: f64): void {
  const isWalking = isStanding && height <= 0;
  isStanding = false;
  isHeld = false;
  if (isWalking) walk(sideX, sideY, sideZ);
  else slide(sideX, sideY, sideZ);
  if (height > 0) {
    rise(height);
    return;
  }
  fall(-height);
  if (!isStanding) land(isWalking);
}

/** Answers how far a way leads up. */
// @ts-ignore: decorator
@inline
function alongUp(vx: f64, vy: f64, vz: f64): f64 {
  return vx * upX + vy * upY + vz * upZ;
}

/** Casts the capsule from where it is, and moves it to where it meets something, or to the way's end. */
function advance(wayX: f64, wayY: f64, wayZ: f64): bool {
  const isMet = cast(x, y, z, wayX, wayY, wayZ, upX, upY, upZ);
  x += wayX * hitTime;
  y += wayY * hitTime;
  z += wayZ * hitTime;
  return isMet;
}

/** Tells whether what was met faces so much up that a character may stand on it. */
// @ts-ignore: decorator
@inline
function isLevel(): bool {
  return alongUp(hitNormalX, hitNormalY, hitNormalZ) >= steepest;
}

/**
 * Tells whether a character may stand on what was met: that is level, or it is the edge of a face that is, no higher than
 * a step above the capsule's foot.
 */
function carries(): bool {
  if (isLevel()) return true;
  const o = obstacleAt(hitObstacle);
  if (o.kind != TRIANGLE || !(alongUp(hitNormalX, hitNormalY, hitNormalZ) > 0)) return false;
  if (abs(alongUp(o.normalX, o.normalY, o.normalZ)) < steepest) return false;
  const foot = alongUp(x, y, z) - half * abs(upZ) - reach;
  return alongUp(hitX, hitY, hitZ) - foot <= stepHeight + skin;
}

/** Notes what was met as the ground; of an edge that carries, its face is what it stands on. */
function standOn(): void {
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
function notePush(object: u32, triangle: i32, nx: f64, ny: f64, nz: f64, px: f64, py: f64, pz: f64): void {
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

function notePushOfHit(): void {
  const o = obstacleAt(hitObstacle);
  notePush(o.object, o.triangle, hitNormalX, hitNormalY, hitNormalZ, hitX, hitY, hitZ);
}

// --- planes ---

/** The normals of the planes that the way is clipped by: xyz each. */
const MOST_PLANES: u32 = 6;
const PLANE_BYTES: usize = 24;
const planes: usize = memory.data(<i32>MOST_PLANES * <i32>PLANE_BYTES, 16);
let planeCount: u32 = 0;

function addPlane(nx: f64, ny: f64, nz: f64): void {
  if (planeCount == MOST_PLANES) return;
  const at = planes + <usize>planeCount * PLANE_BYTES;
  planeCount++;
  store<f64>(at, nx);
  store<f64>(at, ny, 8);
  store<f64>(at, nz, 16);
}

// The way that is left.
let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;

/** What goes into a plane by less than this, relative to the way, goes along it. */
const ALONG: f64 = 1e-10;

/** Tells whether a way goes into none of the planes. */
function isFree(vx: f64, vy: f64, vz: f64): bool {
  const most = -ALONG * sqrt(vx * vx + vy * vy + vz * vz);
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    if (vx * load<f64>(at) + vy * load<f64>(at, 8) + vz * load<f64>(at, 16) < most) return false;
  }
  return true;
}

/**
 * Clips the way that is left by the planes: to one of them, or to where two of them cross, or to nothing. A way that leads
 * back is nothing, so that nobody trembles in a corner.
 */
function clip(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  if (!isFree(wayX, wayY, wayZ)) clipToPlanes();
  if (!(wayX * forwardX + wayY * forwardY + wayZ * forwardZ > 0)) wayX = wayY = wayZ = 0;
}

function clipToPlanes(): void {
  const vx = wayX, vy = wayY, vz = wayZ;
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    const nx = load<f64>(at), ny = load<f64>(at, 8), nz = load<f64>(at, 16);
    const into = vx * nx + vy * ny + vz * nz;
    if (into >= 0) continue;
    const px = vx - into * nx, py = vy - into * ny, pz = vz - into * nz;
    if (isFree(px, py, pz)) {
      wayX = px; wayY = py; wayZ = pz;
      return;
    }
  }
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + <usize>i * PLANE_BYTES;
    const nx = load<f64>(at), ny = load<f64>(at, 8), nz = load<f64>(at, 16);
    for (let k: u32 = i + 1; k < planeCount; k++) {
      const other = planes + <usize>k * PLANE_BYTES;
      const mx = load<f64>(other), my = load<f64>(other, 8), mz = load<f64>(other, 16);
      const cx = ny * mz - nz * my, cy = nz * mx - nx * mz, cz = nx * my - ny * mx;
      const square = cx * cx + cy * cy + cz * cz;
      if (!(square > 1e-12)) continue;
      const along = (vx * cx + vy * cy + vz * cz) / square;
      const px = along * cx, py = along * cy, pz = along * cz;
      if (isFree(px, py, pz)) {
        wayX = px; wayY = py; wayZ = pz;
        return;
      }
    }
  }
  wayX = wayY = wayZ = 0;
}

/** How often a way is clipped at most. */
const MOST_SLIDES: i32 = 8;

/** Tells whether what is left of the way is worth another cast. */
// @ts-ignore: decorator
@inline
function isOver(): bool {
  return !(wayX * wayX + wayY * wayY + wayZ * wayZ > reach * reach * 1e-18);
}

/** Goes on along what was met. */
function deflect(forwardX: f64, forwardY: f64, forwardZ: f64): void {
  const left = 1 - hitTime;
  wayX *= left; wayY *= left; wayZ *= left;
  addPlane(hitNormalX, hitNormalY, hitNormalZ);
  clip(forwardX, forwardY, forwardZ);
}

/** Moves by a way, along whatever it meets. */
export function slide(sideX: f64, sideY: f64, sideZ: f64): void {
  planeCount = 0;
  wayX = sideX; wayY = sideY; wayZ = sideZ;
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    notePushOfHit();
    deflect(sideX, sideY, sideZ);
  }
}

// --- walking ---

/** Sets the way that goes across as given and follows a plane up or down. */
function follow(sideX: f64, sideY: f64, sideZ: f64, nx: f64, ny: f64, nz: f64): void {
  const rise = -(sideX * nx + sideY * ny + sideZ * nz) / alongUp(nx, ny, nz);
  wayX = sideX + rise * upX;
  wayY = sideY + rise * upY;
  wayZ = sideZ + rise * upZ;
}

/** Walks: what is too steep is a wall, what is not is followed as fast as the plain. */
function walk(sideX: f64, sideY: f64, sideZ: f64): void {
  planeCount = 0;
  if (!(sideX * sideX + sideY * sideY + sideZ * sideZ > 0)) return;
  wayX = sideX; wayY = sideY; wayZ = sideZ;
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
      // A new slope: it is followed, unless that leads into what was met before.
      follow(acrossX, acrossY, acrossZ, hitNormalX, hitNormalY, hitNormalZ);
      gx = hitNormalX; gy = hitNormalY; gz = hitNormalZ;
      const isPassable = isFree(wayX, wayY, wayZ);
      addPlane(hitNormalX, hitNormalY, hitNormalZ);
      if (isPassable) continue;
      wayX = restX; wayY = restY; wayZ = restZ;
      clip(sideX, sideY, sideZ);
      continue;
    }
    const wall = obstacleAt(hitObstacle).object;
    const wallTriangle = obstacleAt(hitObstacle).triangle;
    const nx = hitNormalX, ny = hitNormalY, nz = hitNormalZ;
    const px = hitX, py = hitY, pz = hitZ;
    if (stepHeight > 0 && climb(acrossX, acrossY, acrossZ)) {
      planeCount = 0;
      gx = upX; gy = upY; gz = upZ;
      continue;
    }
    notePush(wall, wallTriangle, nx, ny, nz, px, py, pz);
    // A wall, however it leans: nobody is lifted by walking into it.
    const lift = alongUp(nx, ny, nz);
    const wx = nx - lift * upX, wy = ny - lift * upY, wz = nz - lift * upZ;
    const width = sqrt(wx * wx + wy * wy + wz * wz);
    if (width > 1e-3) addPlane(wx / width, wy / width, wz / width);
    else addPlane(nx, ny, nz);
    wayX = acrossX; wayY = acrossY; wayZ = acrossZ;
    clip(sideX, sideY, sideZ);
    if (isOver()) return;
    // Along the wall, and still along the ground.
    const alongX = wayX, alongY = wayY, alongZ = wayZ;
    follow(alongX, alongY, alongZ, gx, gy, gz);
    if (wayX * nx + wayY * ny + wayZ * nz >= 0) continue;
    // Where nothing else is in the way, it leans over the slope: only where both cross is a way.
    const leansOver = isFree(wayX, wayY, wayZ);
    addPlane(nx, ny, nz);
    if (leansOver) addPlane(gx, gy, gz);
    clip(sideX, sideY, sideZ);
  }
}

/** Less than this of a way that a step would open is not worth climbing it. */
const LEAST_GAIN: f64 = 0.01;

/** How high what carries a character that climbs may be. */
let highest: f64 = 0;

/**
 * Climbs a step: up, across and down to something that carries it. Answers false, and stays where it is, where there is
 * none. Sets the way that is left.
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
      wayX = sideX * left; wayY = sideY * left; wayZ = sideZ * left;
      return true;
    }
  }
  x = startX; y = startY; z = startZ;
  return false;
}

/** Tells whether what was met is higher than a step. */
// @ts-ignore: decorator
@inline
function isTooHigh(): bool {
  return alongUp(hitX, hitY, hitZ) > highest;
}

/**
 * Comes down by no more than a height onto something that carries. A capsule that is not yet over the step lies on its
 * edge: then what is a little ahead has to carry it.
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
  x = topX; y = topY; z = topZ;
  advance(forwardX * reach, forwardY * reach, forwardZ * reach);
  const isStep = advance(downX, downY, downZ) && isLevel() && !isTooHigh();
  if (isStep) standOn();
  x = edgeX; y = edgeY; z = edgeZ;
  return isStep;
}

// --- up and down ---

function rise(height: f64): void {
  planeCount = 0;
  wayX = upX * height; wayY = upY * height; wayZ = upZ * height;
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    notePushOfHit();
    if (alongUp(hitNormalX, hitNormalY, hitNormalZ) < 0) isBlockedAbove = true;
    deflect(upX, upY, upZ);
  }
}

/** Falls until something carries it; slides off what is too steep. */
function fall(height: f64): void {
  planeCount = 0;
  wayX = -upX * height; wayY = -upY * height; wayZ = -upZ * height;
  const start = alongUp(x, y, z);
  for (let i = 0; i < MOST_SLIDES && !isOver(); i++) {
    if (!advance(wayX, wayY, wayZ)) return;
    if (carries()) {
      standOn();
      isStanding = true;
      return;
    }
    standOn();
    notePushOfHit();
    deflect(-upX, -upY, -upZ);
  }
  // What does not come down is held between things, too steep as each of them is.
  isHeld = height > 0 && start - alongUp(x, y, z) < 1e-3 * height && planeCount > 0;
}

/** Looks for something under it to stand on, and goes down to that if it walked. */
function land(hasWalked: bool): void {
  const height = hasWalked ? max(snap, 2 * skin) : 2 * skin;
  if (!cast(x, y, z, -upX * height, -upY * height, -upZ * height, upX, upY, upZ)) return;
  const time = hitTime;
  // The foot is where it will be.
  const startX = x, startY = y, startZ = z;
  x -= upX * height * time; y -= upY * height * time; z -= upZ * height * time;
  if (carries()) {
    standOn();
    isStanding = true;
    if (hasWalked) return;
  }
  x = startX; y = startY; z = startZ;
}

// --- out of what has come over it ---

/** A gap may be smaller than it should be by so much of the skin before it is widened. */
const SLACK: f64 = 0.25;
const MOST_ROUNDS: i32 = 16;

/**
 * Pushes the character out of everything, along the shortest way out of each, over and over (Gauss and Seidel), until each
 * keeps its distance. Answers how far it has moved. Sets how deep the capsule is in something then.
 */
export function pushOut(): f64 {
  const startX = x, startY = y, startZ = z;
  const enough = reach - SLACK * skin;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let isPushed = false;
    for (let i: u32 = 0; i < obstacleCount; i++) {
      const o = obstacleAt(i);
      if (o.kind >= BLOCK) {
        if (o.kind == BLOCK ? leaveBlock(i) : round == 0 && leaveMesh(i)) isPushed = true;
        continue;
      }
      if (isFar(o)) continue;
      const isBehind = o.kind == TRIANGLE && o.isOneSided != 0 && heightOver(o, x, y, z) < 0;
      const distance = measure(o, x, y, z);
      if (distance >= enough || (isBehind && distance > 0)) continue;
      let way = reach - distance;
      // The axis crosses it: as far as its farther end is behind it.
      if (distance == 0 && o.kind == TRIANGLE) {
        way = reach + half * abs(awayZ) - heightOver(o, x, y, z) * (awayX * o.normalX + awayY * o.normalY + awayZ * o.normalZ);
      }
      notePush(o.object, o.triangle, awayX, awayY, awayZ, touchX, touchY, touchZ);
      x += awayX * way; y += awayY * way; z += awayZ * way;
      isPushed = true;
    }
    isSqueezed = isPushed;
    if (!isPushed) break;
  }
  const dx = x - startX, dy = y - startY, dz = z - startZ;
  return sqrt(dx * dx + dy * dy + dz * dz);
}

/** Leaves a box that the axis' middle is in, through the face that is nearest. */
function leaveBlock(i: u32): bool {
  const o = obstacleAt(i);
  const px = x - o.middleX, py = y - o.middleY, pz = z - o.middleZ;
  let least = Infinity;
  let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;
  for (let row: usize = 0; row < 72; row += 24) {
    const at = changetype<usize>(o) + row;
    const rx = load<f64>(at), ry = load<f64>(at, 8), rz = load<f64>(at, 16);
    const u = rx * px + ry * py + rz * pz;
    if (!(abs(u) < 1)) return false;
    const by = (u < 0 ? -1.0 : 1.0) / sqrt(rx * rx + ry * ry + rz * rz);
    const way = (1 - abs(u)) * abs(by) + half * abs(rz * by);
    if (!(way < least)) continue;
    least = way;
    nx = rx * by; ny = ry * by; nz = rz * by;
  }
  leaveBy(o, nx, ny, nz, least);
  return true;
}

/** Leaves a solid mesh that the axis' middle was in. */
function leaveMesh(i: u32): bool {
  const o = obstacleAt(i);
  leaveBy(o, o.normalX, o.normalY, o.normalZ, o.ax + half * abs(o.normalZ));
  return true;
}

function leaveBy(o: Obstacle, nx: f64, ny: f64, nz: f64, way: f64): void {
  notePush(o.object, o.triangle, nx, ny, nz, x + nx * way, y + ny * way, z + nz * way);
  x += nx * (way + reach); y += ny * (way + reach); z += nz * (way + reach);
}

/** Measures how deep the capsule itself is in something, where it could not be pushed out of all; a cast leads into nothing. */
export function measureDepth(): void {
  depth = 0;
  if (!isSqueezed) return;
  for (let i: u32 = 0; i < obstacleCount; i++) {
    const o = obstacleAt(i);
    if (o.kind >= BLOCK || isFar(o)) continue;
    if (o.kind == TRIANGLE && o.isOneSided != 0 && heightOver(o, x, y, z) < 0) continue;
    depth = max(depth, radius - measure(o, x, y, z));
  }
}

/** Tells whether the bounds of an obstacle are out of reach. */
// @ts-ignore: decorator
@inline
function isFar(o: Obstacle): bool {
  const dx = max(max(o.lowX - x, x - o.highX), 0.0);
  const dy = max(max(o.lowY - y, y - o.highY), 0.0);
  const dz = max(max(o.lowZ - z, z - o.highZ) - half, 0.0);
  return dx * dx + dy * dy + dz * dz > reach * reach;
}
