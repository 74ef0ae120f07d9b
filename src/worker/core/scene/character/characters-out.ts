// Writes the positions of the characters of a frame.

import {
  OUT_CHARACTERS, OUT_CHARACTER_BETWEEN, OUT_CHARACTER_BYTES, OUT_CHARACTER_COUNT, OUT_CHARACTER_DEPTH, OUT_CHARACTER_FIRST_PUSH,
  OUT_CHARACTER_FLAGS, OUT_CHARACTER_GROUND, OUT_CHARACTER_GROUND_LOCAL, OUT_CHARACTER_GROUND_NORMAL, OUT_CHARACTER_GROUND_POINT,
  OUT_CHARACTER_ID, OUT_CHARACTER_IS_TIMED, OUT_CHARACTER_LAST, OUT_CHARACTER_POSITION, OUT_CHARACTER_PUSH_COUNT,
  OUT_CHARACTER_SPEED, OUT_CHARACTER_STEPS, OUT_CHARACTER_TIME, OUT_CHARACTER_TRIANGLE, OUT_PUSHES, OUT_PUSH_COUNT, PUSH_BYTES,
} from '../../../../shared/layout';
import { append, out } from '../frame/out';
import { pushTotal, pushes } from './character-move';
import { Character, characterAt, slotCount, storePoint, characterCount } from './character-table';

export const CHARACTERS_OUT_PARTS: u32 = 2;

export function charactersOutBytes(): u64 {
  return <u64>characterCount * OUT_CHARACTER_BYTES + <u64>pushTotal * PUSH_BYTES;
}

/** Writes all characters and their pushes. */
export function writeCharacters(): void {
  const records = append(characterCount * OUT_CHARACTER_BYTES);
  const pushList = append(pushTotal * PUSH_BYTES);
  store<u32>(out, characterCount, OUT_CHARACTER_COUNT);
  store<u32>(out, records, OUT_CHARACTERS);
  store<u32>(out, pushTotal, OUT_PUSH_COUNT);
  store<u32>(out, pushList, OUT_PUSHES);
  if (pushTotal != 0) memory.copy(out + pushList, pushes, <usize>pushTotal * PUSH_BYTES);
  let at = out + records;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const c = characterAt(slot);
    if (c.id == 0) continue;
    writeCharacter(c, at);
    at += OUT_CHARACTER_BYTES;
  }
}

function writeCharacter(c: Character, at: usize): void {
  store<u32>(at, c.id, OUT_CHARACTER_ID);
  store<u32>(at, c.flags, OUT_CHARACTER_FLAGS);
  storePoint(at + OUT_CHARACTER_POSITION, c.x, c.y, c.z);
  const fraction = c.isTimed != 0 ? c.time / c.step : 1;
  storePoint(
    at + OUT_CHARACTER_BETWEEN, c.lastX + fraction * (c.x - c.lastX), c.lastY + fraction * (c.y - c.lastY),
    c.lastZ + fraction * (c.z - c.lastZ),
  );
  store<f64>(at, c.speed, OUT_CHARACTER_SPEED);
  store<f64>(at, c.time, OUT_CHARACTER_TIME);
  store<f64>(at, max(c.depth, 0), OUT_CHARACTER_DEPTH);
  store<u32>(at, c.ground, OUT_CHARACTER_GROUND);
  store<i32>(at, c.groundTriangle, OUT_CHARACTER_TRIANGLE);
  storePoint(at + OUT_CHARACTER_GROUND_POINT, c.groundX, c.groundY, c.groundZ);
  storePoint(at + OUT_CHARACTER_GROUND_NORMAL, c.groundNormalX, c.groundNormalY, c.groundNormalZ);
  storePoint(at + OUT_CHARACTER_GROUND_LOCAL, c.groundLocalX, c.groundLocalY, c.groundLocalZ);
  store<u32>(at, c.firstPush, OUT_CHARACTER_FIRST_PUSH);
  store<u32>(at, c.pushCount, OUT_CHARACTER_PUSH_COUNT);
  store<u32>(at, c.steps, OUT_CHARACTER_STEPS);
  store<u32>(at, c.isTimed, OUT_CHARACTER_IS_TIMED);
  storePoint(at + OUT_CHARACTER_LAST, c.lastX, c.lastY, c.lastZ);
}
