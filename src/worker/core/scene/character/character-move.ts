// Moves one character: its ground carries it, it is pushed out of objects that it penetrates, and then it moves
// (core/character/move-and-slide.ts) among the gathered obstacles.

import { CHARACTER_IS_BLOCKED, CHARACTER_IS_STANDING, PUSH_BYTES, PUSH_NORMAL, PUSH_OBJECT, PUSH_POINT, PUSH_TRIANGLE } from '../../../../shared/layout';
import { moveBy, slide } from '../../character/move-and-slide';
import {
  MOST_PUSHES, beginMove, depth, groundNormalX, groundNormalY, groundNormalZ, groundObject, groundTriangle, groundX, groundY,
  groundZ, isBlockedAbove, isHeld, isStanding, pushAt, pushCount, recentre, setMover, undoPushes, x, y, z,
} from '../../character/mover';
import { setGather } from '../../character/obstacles';
import { measureDepth, pushOut } from '../../character/push-out';
import { Affine, invert } from '../../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { reserve } from '../../memory';
import { worldOf } from '../../shape/item';
import { isAlive, itemAt, slotOf } from '../objects';
import { Character, storePlace } from './character-table';
import { gather } from './gather';

/** What characters pushed against in this frame: PUSH_BYTES each. */
export let pushes: usize = 0;
export let pushTotal: u32 = 0;

const frame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Discards the pushes of the last frame. */
export function beginPushes(): void {
  pushTotal = 0;
}

/**
 * A way is split into parts of at most this many sizes of the character, since all obstacles near a part are gathered at once.
 */
const SIZES_AT_ONCE: f64 = 8;
const MOST_PARTS: f64 = 64;

/** Moves a character once: carries it, pushes it out, and moves it by a vector of the world. Throws OUT_OF_MEMORY. */
export function moveCharacter(c: Character, wayX: f64, wayY: f64, wayZ: f64): void {
  const reach = c.radius + c.skin;
  setBasis(c.axisX, c.axisY, c.axisZ);
  frame.xx = firstX; frame.xy = firstY; frame.xz = firstZ;
  frame.yx = secondX; frame.yy = secondY; frame.yz = secondZ;
  frame.zx = c.axisX; frame.zy = c.axisY; frame.zz = c.axisZ;
  setMover(
    c.half, c.radius, c.skin, toFrameX(c.upX, c.upY, c.upZ), toFrameY(c.upX, c.upY, c.upZ), toFrameZ(c.upX, c.upY, c.upZ),
    c.slope, c.stepHeight, c.snap,
  );
  // The movement of its ground.
  let carryX: f64 = 0, carryY: f64 = 0, carryZ: f64 = 0;
  if (c.ground != 0 && isAlive(c.ground)) {
    const world = worldOf(itemAt(slotOf(c.ground)));
    const lx = c.groundLocalX, ly = c.groundLocalY, lz = c.groundLocalZ;
    carryX = world.xx * lx + world.yx * ly + world.zx * lz + world.tx - c.groundX;
    carryY = world.xy * lx + world.yy * ly + world.zy * lz + world.ty - c.groundY;
    carryZ = world.xz * lx + world.yz * ly + world.zz * lz + world.tz - c.groundZ;
    // Ground that has not moved carries nobody.
    const still = (abs(c.groundX) + abs(c.groundY) + abs(c.groundZ) + reach) * CARRY_ROUNDING;
    if (abs(carryX) + abs(carryY) + abs(carryZ) <= still) carryX = carryY = carryZ = 0;
  }
  const margin = reach;
  const length = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ);
  const parts = min(max(ceil(length / (SIZES_AT_ONCE * (reach + c.half))), 1.0), MOST_PARTS);
  const part = 1.0 / parts;
  const carry = sqrt(carryX * carryX + carryY * carryY + carryZ * carryZ);
  // Across: as far as it looks ahead for a step. Up and down: the step height and the snap distance.
  const least = reach + 2 * c.skin + length * part;
  const across = least + margin;
  const extra = max(max(c.stepHeight, c.snap) + 2 * c.skin, margin) - margin;
  beginMove((c.flags & CHARACTER_IS_STANDING) != 0);
  setWide(c, across + carry, extra);
  if (parts > 1 || carry > 0 || !staysNear(c, least)) {
    gatherAbout(c, wideX, wideY, wideZ);
    if (carry > 0) slide(toFrameX(carryX, carryY, carryZ), toFrameY(carryX, carryY, carryZ), toFrameZ(carryX, carryY, carryZ));
    setWide(c, across, extra);
    for (let round = 0; round < MOST_PUSH_ROUNDS; round++) {
      if (pushOut() <= margin) break;
      // It was pushed beyond the reach of the gathered obstacles.
      settle(c);
      gatherAbout(c, wideX, wideY, wideZ);
    }
  }
  const up = wayX * c.upX + wayY * c.upY + wayZ * c.upZ;
  const height = up > 0 && up < ACROSS * length ? 0 : up * part;
  const sideX = (wayX - up * c.upX) * part, sideY = (wayY - up * c.upY) * part, sideZ = (wayZ - up * c.upZ) * part;
  const sx = toFrameX(sideX, sideY, sideZ), sy = toFrameY(sideX, sideY, sideZ), sz = toFrameZ(sideX, sideY, sideZ);
  for (let i: f64 = 0; i < parts; i++) {
    if (i > 0 || carry > 0) {
      settle(c);
      gatherAbout(c, wideX, wideY, wideZ);
    }
    moveBy(sx, sy, sz, height);
  }
  measureDepth();
  keepGround(c);
  settle(c);
  keepPushes(c);
  c.depth = depth;
  c.flags = (isStanding ? CHARACTER_IS_STANDING : 0) | (isBlockedAbove ? CHARACTER_IS_BLOCKED : 0);
}

/**
 * A way that leads up by no more than this part of its length counts as horizontal: rounding to float32, of the way or of the up
 * direction, makes it lead up, and a standing character must not leave the ground for that.
 */
const ACROSS: f64 = 1e-6;
/** The possible rounding error of a point of ground that has not moved, relative to its coordinates: 2^-46. */
const CARRY_ROUNDING: f64 = 1.4210854715202004e-14;
const MOST_PUSH_ROUNDS: i32 = 4;

/** The largest push in a step that gathers only obstacles within its way, relative to the character's reach. */
const NARROW: f64 = 0.1;

/**
 * Gathers only what a step without climbing or pushing needs, and pushes the character out of that. Returns false, and leaves the
 * character where it was, if that is not enough. It suffices for most steps: 500 characters on a level of 500,000 triangles take
 * 3.1 ms instead of 4.3.
 */
function staysNear(c: Character, least: f64): bool {
  const narrow = NARROW * (c.radius + c.skin);
  const across = least + narrow;
  const extra = max(c.snap - narrow, 0.0);
  gatherAbout(c, across + extra * upX(c), across + extra * upY(c), across + extra * upZ(c) + c.half);
  if (pushOut() <= narrow) return true;
  undoPushes();
  return false;
}

// Half sizes of the box in which obstacles are gathered for a step that does not stay near, or looks farther.
let wideX: f64 = 0, wideY: f64 = 0, wideZ: f64 = 0;

/** Sets the box to all obstacles nearer than `across`, and `extra` farther along the up direction. */
function setWide(c: Character, across: f64, extra: f64): void {
  wideX = across + extra * upX(c);
  wideY = across + extra * upY(c);
  wideZ = across + extra * upZ(c) + c.half;
}

// The absolute components of the up direction in the character's frame.
function upX(c: Character): f64 { return abs(toFrameX(c.upX, c.upY, c.upZ)); }
function upY(c: Character): f64 { return abs(toFrameY(c.upX, c.upY, c.upZ)); }
function upZ(c: Character): f64 { return abs(toFrameZ(c.upX, c.upY, c.upZ)); }

/** Gathers obstacles in a box around the character, given by its half sizes; the character's frame begins there. */
function gatherAbout(c: Character, hx: f64, hy: f64, hz: f64): void {
  frame.tx = c.x + c.middleX;
  frame.ty = c.y + c.middleY;
  frame.tz = c.z + c.middleZ;
  gather(frame, hx, hy, hz);
}

setGather((hx: f64, hy: f64, hz: f64): void => gather(frame, max(hx, wideX), max(hy, wideY), max(hz, wideZ)));

/** Applies the movement in its frame to the character; the frame is recentred at its new position. */
function settle(c: Character): void {
  c.x += x * frame.xx + y * frame.yx + z * frame.zx;
  c.y += x * frame.xy + y * frame.yy + z * frame.zy;
  c.z += x * frame.xz + y * frame.yz + z * frame.zz;
  recentre();
}

function keepGround(c: Character): void {
  if (!isStanding && !isHeld) {
    c.ground = 0;
    return;
  }
  c.ground = groundObject;
  c.groundTriangle = groundTriangle;
  c.groundX = toWorldX(groundX, groundY, groundZ) + frame.tx;
  c.groundY = toWorldY(groundX, groundY, groundZ) + frame.ty;
  c.groundZ = toWorldZ(groundX, groundY, groundZ) + frame.tz;
  c.groundNormalX = toWorldX(groundNormalX, groundNormalY, groundNormalZ);
  c.groundNormalY = toWorldY(groundNormalX, groundNormalY, groundNormalZ);
  c.groundNormalZ = toWorldZ(groundNormalX, groundNormalY, groundNormalZ);
  const world = worldOf(itemAt(slotOf(groundObject)));
  invert(map, world);
  const dx = c.groundX - world.tx, dy = c.groundY - world.ty, dz = c.groundZ - world.tz;
  c.groundLocalX = map.xx * dx + map.yx * dy + map.zx * dz;
  c.groundLocalY = map.xy * dx + map.yy * dy + map.zy * dz;
  c.groundLocalZ = map.xz * dx + map.yz * dy + map.zz * dz;
}

/** Keeps the character's pushes for the frame's answer, once its move is settled. Throws OUT_OF_MEMORY. */
function keepPushes(c: Character): void {
  for (let i: u32 = 0; i < pushCount && c.pushCount < MOST_PUSHES; i++) {
    const push = pushAt(i);
    pushes = reserve(pushes, <usize>pushTotal * PUSH_BYTES, <u64>(pushTotal + 1) * PUSH_BYTES);
    const at = pushes + <usize>pushTotal * PUSH_BYTES;
    store<u32>(at, push.object, PUSH_OBJECT);
    store<i32>(at, push.triangle, PUSH_TRIANGLE);
    storePlace(
      at + PUSH_POINT, toWorldX(push.x, push.y, push.z) + c.x + c.middleX, toWorldY(push.x, push.y, push.z) + c.y + c.middleY,
      toWorldZ(push.x, push.y, push.z) + c.z + c.middleZ,
    );
    storePlace(
      at + PUSH_NORMAL, toWorldX(push.normalX, push.normalY, push.normalZ),
      toWorldY(push.normalX, push.normalY, push.normalZ), toWorldZ(push.normalX, push.normalY, push.normalZ),
    );
    pushTotal++;
    c.pushCount++;
  }
}

// @ts-ignore: decorator
@inline
function toFrameX(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.xx + vy * frame.xy + vz * frame.xz; }
// @ts-ignore: decorator
@inline
function toFrameY(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.yx + vy * frame.yy + vz * frame.yz; }
// @ts-ignore: decorator
@inline
function toFrameZ(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.zx + vy * frame.zy + vz * frame.zz; }
// @ts-ignore: decorator
@inline
function toWorldX(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.xx + vy * frame.yx + vz * frame.zx; }
// @ts-ignore: decorator
@inline
function toWorldY(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.xy + vy * frame.yy + vz * frame.zy; }
// @ts-ignore: decorator
@inline
function toWorldZ(vx: f64, vy: f64, vz: f64): f64 { return vx * frame.xz + vy * frame.yz + vz * frame.zz; }
