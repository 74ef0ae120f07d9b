// The characters by the slots of their ids: their parameters, and their positions.

import {
  CHARACTER_FLAGS, CHARACTER_FROM, CHARACTER_GRAVITY, CHARACTER_IGNORE, CHARACTER_IGNORE_COUNT, CHARACTER_IS_PLACED,
  CHARACTER_LAYERS, CHARACTER_OBJECT, CHARACTER_POSITION, CHARACTER_RADIUS, CHARACTER_SKIN, CHARACTER_SLOPE, CHARACTER_SNAP,
  CHARACTER_SPEED, CHARACTER_STATE, CHARACTER_STEP, CHARACTER_STEP_HEIGHT, CHARACTER_TIME, CHARACTER_TO, CHARACTER_UP,
  OUT_CHARACTER_DEPTH, OUT_CHARACTER_GROUND, OUT_CHARACTER_GROUND_LOCAL, OUT_CHARACTER_GROUND_POINT, OUT_CHARACTER_IS_TIMED,
  OUT_CHARACTER_LAST, OUT_CHARACTER_TRIANGLE,
} from '../../../../shared/layout';
import { Affine, copy } from '../../math/affine';
import { allocate, release, reserve } from '../../memory';
import { worldOf } from '../../shape/item';
import { dropMotionOf, isAlive, itemAt, slotOf } from '../objects';
import { moveObject, updateMovedObjects } from '../scene';

@unmanaged
export class Character {
  /**
   * The capsule's unit axis, and its centre relative to the character's own position; `halfHeight` is half the axis' length.
   */
  axisX: f64; axisY: f64; axisZ: f64;
  centerX: f64; centerY: f64; centerZ: f64;
  halfHeight: f64;
  radius: f64;
  upX: f64; upY: f64; upZ: f64;
  skin: f64;
  slopeCosine: f64;
  stepHeight: f64;
  snapDistance: f64;
  gravity: f64;
  step: f64;
  // The current position, and the one before its last step.
  x: f64; y: f64; z: f64;
  lastX: f64; lastY: f64; lastZ: f64;
  /** Its speed along the up direction, and the time that does not yet make a step. */
  speed: f64;
  time: f64;
  depth: f64;
  // Its ground: a point of that in the ground's own space and in the world, and the normal there.
  groundLocalX: f64; groundLocalY: f64; groundLocalZ: f64;
  groundX: f64; groundY: f64; groundZ: f64;
  groundNormalX: f64; groundNormalY: f64; groundNormalZ: f64;
  ground: u32;
  groundTriangle: i32;
  layers: u32;
  object: u32;
  /** The ids that it passes through, ascending. */
  ignored: u32;
  ignoredCount: u32;
  flags: u32;
  /** Whether it moves in time steps of its own. */
  isTimed: u32;
  steps: u32;
  /** The address of its first move of this frame; each move links to the next by MOVE_NEXT; 0 for none. */
  firstMove: u32;
  /** Its first push of this frame in the list of all pushes. */
  firstPush: u32;
  pushCount: u32;
  /** 0 if the slot is empty. */
  id: u32;
}

const CHARACTER_BYTES: usize = offsetof<Character>();

let characters: usize = 0;
export let slotCount: u32 = 0;
/** The number of characters. */
export let characterCount: u32 = 0;

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// @ts-ignore: decorator
@inline
export function characterAt(slot: u32): Character {
  return changetype<Character>(characters + <usize>slot * CHARACTER_BYTES);
}

/** The characters as they were before the moves of the current frame, and how many slots; 0 once all have moved. */
let unmoved: usize = 0;
let unmovedCount: u32 = 0;

/** Begins the moves of a frame. Throws OUT_OF_MEMORY. */
export function beginMoves(): void {
  const bytes = <usize>slotCount * CHARACTER_BYTES;
  unmoved = reserve(unmoved, 0, bytes);
  memory.copy(unmoved, characters, bytes);
  unmovedCount = slotCount;
}

/** Ends the moves of a frame: all characters have moved. */
export function endMoves(): void {
  unmovedCount = 0;
}

/** Undoes the moves of a frame that found no memory for all of them: the next frame brings them again. */
export function undoMoves(): void {
  memory.copy(characters, unmoved, <usize>unmovedCount * CHARACTER_BYTES);
  unmovedCount = 0;
}

/** Adds a character, or changes one, by its description (layout.ts, CHARACTER_*). Throws OUT_OF_MEMORY. */
export function putCharacter(id: u32, description: usize): void {
  undoMoves();
  const slot = slotOf(id);
  if (slot >= slotCount) {
    characters = reserve(characters, <usize>slotCount * CHARACTER_BYTES, <u64>(slot + 1) * CHARACTER_BYTES);
    memory.fill(characters + <usize>slotCount * CHARACTER_BYTES, 0, <usize>(slot + 1 - slotCount) * CHARACTER_BYTES);
    slotCount = slot + 1;
  }
  const count = load<u32>(description, CHARACTER_IGNORE_COUNT);
  const ignored: usize = count == 0 ? 0 : allocate(<u64>count << 2);
  if (count != 0) memory.copy(ignored, load<u32>(description, CHARACTER_IGNORE), <usize>count << 2);
  const c = characterAt(slot);
  if (c.ignored != 0) release(c.ignored);
  const isNew = c.id != id;
  if (isNew) {
    if (c.id == 0) characterCount++;
    memory.fill(changetype<usize>(c), 0, CHARACTER_BYTES);
    c.id = id;
  }
  c.ignored = <u32>ignored;
  c.ignoredCount = count;
  readShape(c, description);
  c.radius = load<f64>(description, CHARACTER_RADIUS);
  c.skin = load<f64>(description, CHARACTER_SKIN);
  c.slopeCosine = load<f64>(description, CHARACTER_SLOPE);
  c.stepHeight = load<f64>(description, CHARACTER_STEP_HEIGHT);
  c.snapDistance = load<f64>(description, CHARACTER_SNAP);
  c.gravity = load<f64>(description, CHARACTER_GRAVITY);
  c.step = load<f64>(description, CHARACTER_STEP);
  c.layers = load<u32>(description, CHARACTER_LAYERS);
  c.object = load<u32>(description, CHARACTER_OBJECT);
  const flags = load<u32>(description, CHARACTER_FLAGS);
  if (!isNew && !(flags & CHARACTER_IS_PLACED)) return;
  c.x = c.lastX = load<f64>(description, CHARACTER_POSITION);
  c.y = c.lastY = load<f64>(description, CHARACTER_POSITION + 8);
  c.z = c.lastZ = load<f64>(description, CHARACTER_POSITION + 16);
  c.speed = load<f64>(description, CHARACTER_SPEED);
  c.time = load<f64>(description, CHARACTER_TIME);
  c.flags = flags & ~CHARACTER_IS_PLACED;
  readState(c, description + CHARACTER_STATE - OUT_CHARACTER_DEPTH, isNew);
  if (c.object != 0 && isAlive(c.object)) {
    const slot = slotOf(c.object), world = worldOf(itemAt(slot));
    // A character that is put where it was, in the next worker, leaves its object's motion as it is.
    if (world.tx != c.x || world.ty != c.y || world.tz != c.z) dropMotionOf(slot);
  }
  moveAttachedObject(c);
}

/** Reads the rest of its state from its record in a frame of the last worker, or zeros. */
function readState(c: Character, record: usize, isNew: bool): void {
  const to = changetype<usize>(c);
  c.depth = load<f64>(record, OUT_CHARACTER_DEPTH);
  c.ground = load<u32>(record, OUT_CHARACTER_GROUND);
  c.groundTriangle = load<i32>(record, OUT_CHARACTER_TRIANGLE);
  memory.copy(to + offsetof<Character>('groundX'), record + OUT_CHARACTER_GROUND_POINT, 48); // and its normal
  memory.copy(to + offsetof<Character>('groundLocalX'), record + OUT_CHARACTER_GROUND_LOCAL, 24);
  if (!isNew || load<u32>(record, OUT_CHARACTER_IS_TIMED) == 0) return;
  c.isTimed = 1;
  memory.copy(to + offsetof<Character>('lastX'), record + OUT_CHARACTER_LAST, 24);
}

function readShape(c: Character, description: usize): void {
  const fromX = load<f64>(description, CHARACTER_FROM), toX = load<f64>(description, CHARACTER_TO);
  const fromY = load<f64>(description, CHARACTER_FROM + 8), toY = load<f64>(description, CHARACTER_TO + 8);
  const fromZ = load<f64>(description, CHARACTER_FROM + 16), toZ = load<f64>(description, CHARACTER_TO + 16);
  const dx = toX - fromX, dy = toY - fromY, dz = toZ - fromZ;
  const length = sqrt(dx * dx + dy * dy + dz * dz);
  c.centerX = 0.5 * (fromX + toX);
  c.centerY = 0.5 * (fromY + toY);
  c.centerZ = 0.5 * (fromZ + toZ);
  c.halfHeight = 0.5 * length;
  c.upX = load<f64>(description, CHARACTER_UP);
  c.upY = load<f64>(description, CHARACTER_UP + 8);
  c.upZ = load<f64>(description, CHARACTER_UP + 16);
  c.axisX = length > 0 ? dx / length : c.upX;
  c.axisY = length > 0 ? dy / length : c.upY;
  c.axisZ = length > 0 ? dz / length : c.upZ;
}

/** Removes a character. Does nothing if it does not exist because adding it ran out of memory. */
export function removeCharacter(id: u32): void {
  undoMoves();
  if (slotOf(id) >= slotCount) return;
  const c = characterAt(slotOf(id));
  if (c.id != id) return;
  if (c.ignored != 0) release(c.ignored);
  memory.fill(changetype<usize>(c), 0, CHARACTER_BYTES);
  characterCount--;
}

/** Moves the object of a character along. */
export function moveAttachedObject(c: Character): void {
  if (c.object == 0 || !isAlive(c.object)) return;
  const slot = slotOf(c.object);
  copy(map, worldOf(itemAt(slot)));
  map.tx = c.x;
  map.ty = c.y;
  map.tz = c.z;
  moveObject(slot, map);
  updateMovedObjects();
}

/** Writes xyz to an address. */
export function storePoint(at: usize, px: f64, py: f64, pz: f64): void {
  store<f64>(at, px);
  store<f64>(at, py, 8);
  store<f64>(at, pz, 16);
}
