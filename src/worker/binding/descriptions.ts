import type { CharacterDescription, ObjectDescription } from '../../shared/commands.js';
import * as layout from '../../shared/layout.js';
import type { CoreMemory } from './memory.js';

/** Address of a baked mesh in the core's memory. */
export type MeshAddress = number;

/** A description whose `mesh` is the mesh's address, with an optional matrix. */
export interface PlacedDescription extends ObjectDescription {
  mesh: MeshAddress;
  /**
   * 16 numbers, column-major, or 16 for each of several added objects. Absent: the identity for a new object, the present one for
   * an existing object.
   */
  matrix?: ArrayLike<number> | undefined;
}

/** Writes a description as layout.ts's record (OBJECT_*) to `at`, except for OBJECT_FACE_SIDES and OBJECT_BOXES. */
export function writeDescription(memory: CoreMemory, at: number, description: PlacedDescription): void {
  const { words, floats } = memory;
  const { matrix } = description;
  words[(at + layout.OBJECT_SHAPE) / 4] = description.shape;
  words[(at + layout.OBJECT_MESH) / 4] = description.mesh;
  words[(at + layout.OBJECT_FLAGS) / 4] = description.flags | (matrix ? layout.FLAG_MATRIX : 0);
  words[(at + layout.OBJECT_LAYERS) / 4] = description.layers;
  words[(at + layout.OBJECT_COLLIDES_WITH) / 4] = description.collidesWith;
  words[(at + layout.OBJECT_GROUP) / 4] = description.group;
  words[(at + layout.OBJECT_CONTACTS) / 4] = description.contacts;
  memory.setFloats(at + layout.OBJECT_CENTER, description.center, 3);
  memory.setFloats(at + layout.OBJECT_EXTENT, description.extent, 3);
  memory.setFloats(at + layout.OBJECT_ROTATION, description.rotation, 4);
  floats[(at + layout.OBJECT_RADIUS) / 8] = description.radius;
  words[(at + layout.OBJECT_CLIP_SET) / 4] = description.clipSet ?? 0;
  floats[(at + layout.OBJECT_CLEARANCE) / 8] = description.clearance ?? 0;
  if (matrix) memory.setAffine(at + layout.OBJECT_MATRIX, matrix);
}

const NO_STATE = new ArrayBuffer(layout.CHARACTER_STATE_BYTES);

/**
 * Writes a character's description as layout.ts's record (CHARACTER_*) to `at`; the ids of objects that it passes through are at
 * `ignore`.
 */
export function writeCharacter(
  memory: CoreMemory,
  at: number,
  description: CharacterDescription,
  ignore: number,
): void {
  const { words, floats } = memory;
  memory.setFloats(at + layout.CHARACTER_FROM, description.from, 3);
  memory.setFloats(at + layout.CHARACTER_TO, description.to, 3);
  memory.setFloats(at + layout.CHARACTER_UP, description.up, 3);
  memory.setFloats(at + layout.CHARACTER_POSITION, description.position, 3);
  floats[(at + layout.CHARACTER_RADIUS) / 8] = description.radius;
  floats[(at + layout.CHARACTER_SKIN) / 8] = description.skin;
  floats[(at + layout.CHARACTER_SLOPE) / 8] = description.slope;
  floats[(at + layout.CHARACTER_STEP_HEIGHT) / 8] = description.stepHeight;
  floats[(at + layout.CHARACTER_SNAP) / 8] = description.snap;
  floats[(at + layout.CHARACTER_GRAVITY) / 8] = description.gravity;
  floats[(at + layout.CHARACTER_STEP) / 8] = description.step;
  floats[(at + layout.CHARACTER_SPEED) / 8] = description.speed;
  floats[(at + layout.CHARACTER_TIME) / 8] = description.time;
  words[(at + layout.CHARACTER_LAYERS) / 4] = description.layers;
  words[(at + layout.CHARACTER_OBJECT) / 4] = description.object;
  words[(at + layout.CHARACTER_IGNORE) / 4] = ignore;
  words[(at + layout.CHARACTER_IGNORE_COUNT) / 4] = description.ignore.length;
  words[(at + layout.CHARACTER_FLAGS) / 4] = description.flags;
  const stateBytes = memory.bytes(at + layout.CHARACTER_STATE, layout.CHARACTER_STATE_BYTES);
  stateBytes.set(new Uint8Array(description.state ?? NO_STATE));
}
