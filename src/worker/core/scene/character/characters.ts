// The characters of a frame: capsules that are moved through the scene by displacements, or by a speed in time steps of
// their own, and not by transforms. All of them see the scene as it is in the frame before any of them has moved.

import {
  CHARACTER_IS_BLOCKED, CHARACTER_IS_STANDING, IN_MOVES, IN_MOVE_COUNT, MOVE_BY, MOVE_BYTES, MOVE_CHARACTER, MOVE_KIND,
  MOVE_NEXT, MOVE_SECONDS, MOVE_TIMED, MOVE_VECTOR,
} from '../../../../shared/layout';
import { now } from '../../host';
import { reserve } from '../../memory';
import { slotOf } from '../objects';
import { beginPushes, moveCharacter, pushTotal } from './character-move';
import {
  Character, beginMoves, characterAt, characterCount, endMoves, moveAttachedObject, slotCount, undoMoves,
} from './character-table';
import { setObstacleFilter } from './gather';

/** The moves of the current frame. */
let moves: usize = 0;
/** The next character to be moved in this frame. */
let nextSlot: u32 = 0;

/** Takes over the moves of a frame. Throws OUT_OF_MEMORY. */
export function beginCharacters(input: usize): void {
  nextSlot = 0;
  undoMoves();
  beginPushes();
  if (characterCount == 0) return;
  for (let slot: u32 = 0; slot < slotCount; slot++) characterAt(slot).firstMove = 0;
  const bytes = <usize>load<u32>(input, IN_MOVE_COUNT) * MOVE_BYTES;
  moves = reserve(moves, 0, bytes);
  memory.copy(moves, input + load<u32>(input, IN_MOVES), bytes);
  // The last one first, so that each character's list is in order.
  for (let move = moves + bytes; move != moves; ) {
    move -= MOVE_BYTES;
    const id = load<u32>(move, MOVE_CHARACTER);
    if (slotOf(id) >= slotCount || characterAt(slotOf(id)).id != id) continue; // it was removed
    const c = characterAt(slotOf(id));
    store<u32>(move, c.firstMove, MOVE_NEXT);
    c.firstMove = <u32>move;
  }
  beginMoves();
}

export function hasCharacters(): bool {
  return characterCount != 0;
}

/** How many characters are moved between two readings of the clock. */
const CHARACTERS_PER_READING: u32 = 8;

/**
 * Moves the characters until a time by the clock of `now`; the trees must be up to date. Returns whether all have moved;
 * then the objects that they take along are in their new positions, and the trees are out of date. Throws OUT_OF_MEMORY.
 */
export function moveCharacters(deadline: f64): bool {
  for (let count: u32 = 1; nextSlot < slotCount; count++) {
    const c = characterAt(nextSlot);
    if (c.id != 0) applyMoves(c);
    nextSlot++;
    if (count % CHARACTERS_PER_READING == 0 && now() >= deadline && nextSlot < slotCount) return false;
  }
  endMoves();
  for (let slot: u32 = 0; slot < slotCount; slot++) if (characterAt(slot).id != 0) moveAttachedObject(characterAt(slot));
  return true;
}

function applyMoves(c: Character): void {
  c.firstPush = pushTotal;
  c.pushCount = 0;
  setObstacleFilter(c.layers, c.ignored, c.ignoredCount, c.object);
  let motionX: f64 = 0, motionY: f64 = 0, motionZ: f64 = 0;
  for (let move: usize = c.firstMove; move != 0; move = load<u32>(move, MOVE_NEXT)) {
    const kind = load<u32>(move, MOVE_KIND);
    const mx = load<f64>(move, MOVE_VECTOR), my = load<f64>(move, MOVE_VECTOR + 8), mz = load<f64>(move, MOVE_VECTOR + 16);
    if (kind == MOVE_BY) {
      c.isTimed = 0;
      motionX += mx;
      motionY += my;
      motionZ += mz;
    } else if (kind == MOVE_TIMED) {
      if (motionX != 0 || motionY != 0 || motionZ != 0) {
        moveAtOnce(c, motionX, motionY, motionZ);
        if (c.speed > 0) c.flags &= ~CHARACTER_IS_STANDING; // it has begun to jump
      }
      motionX = motionY = motionZ = 0;
      c.isTimed = 1;
      runSteps(c, mx, my, mz, load<f64>(move, MOVE_SECONDS));
    } else if (c.flags & CHARACTER_IS_STANDING) {
      c.speed = load<f64>(move, MOVE_SECONDS);
      c.flags &= ~CHARACTER_IS_STANDING;
    }
  }
  // A character in time steps is only carried and pushed in these, so that the number of frames changes nothing.
  if (c.isTimed == 0) moveAtOnce(c, motionX, motionY, motionZ);
}

/** Moves a character outside of its time steps: it is not drawn on the way. */
function moveAtOnce(c: Character, x: f64, y: f64, z: f64): void {
  moveCharacter(c, x, y, z);
  c.lastX = c.x;
  c.lastY = c.y;
  c.lastZ = c.z;
}

/** How much of a step a time may lack, relative to the step, because its parts were rounded. */
const STEP_ROUNDING: f64 = 1e-6;
/** No more steps than these are caught up at once: a page that slept does not make its characters run. */
const MAX_STEPS: i32 = 16;

/** Makes the time steps of a character that moves for this many seconds at a velocity. */
function runSteps(c: Character, velocityX: f64, velocityY: f64, velocityZ: f64, seconds: f64): void {
  const step = c.step;
  c.time += seconds;
  for (let i = 0; i < MAX_STEPS && c.time >= step * (1 - STEP_ROUNDING); i++) {
    c.time -= step;
    c.lastX = c.x;
    c.lastY = c.y;
    c.lastZ = c.z;
    c.speed -= c.gravity * step;
    if (c.flags & CHARACTER_IS_STANDING) c.speed = min(c.speed, 0);
    const height = c.flags & CHARACTER_IS_STANDING ? 0 : c.speed * step;
    const startX = c.x, startY = c.y, startZ = c.z;
    moveCharacter(
      c, velocityX * step + c.upX * height, velocityY * step + c.upY * height, velocityZ * step + c.upZ * height,
    );
    c.steps++;
    if (c.flags & CHARACTER_IS_STANDING) c.speed = 0;
    else if (c.speed > 0 && c.flags & CHARACTER_IS_BLOCKED) c.speed = 0;
    else if (c.speed < 0) {
      // It falls no faster than it actually came down, along a slope or between obstacles.
      const heightGain = (c.x - startX) * c.upX + (c.y - startY) * c.upY + (c.z - startZ) * c.upZ;
      if (heightGain > height) c.speed = min(heightGain / step, 0);
    }
  }
  c.time = min(c.time, step);
  if (c.time < 0) c.time = 0;
}
