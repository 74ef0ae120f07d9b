import * as layout from '../../shared/layout.js';
import type { ObjectDescription } from '../../shared/protocol.js';
import type { CoreMemory } from './memory.js';

/** Address of a baked mesh in the core's memory. */
export type MeshAddress = number;

/** A description with its mesh's address for `mesh`, and perhaps a matrix. */
export interface PlacedDescription extends ObjectDescription {
  mesh: MeshAddress;
  /** 16 numbers, column-major. Absent: the identity for a new object, its own for a set one. */
  matrix?: ArrayLike<number> | undefined;
}

/** Writes a description as layout.ts's record (OBJECT_*) at `at`, but for OBJECT_FACE_SIDES. */
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
  if (matrix) memory.setAffine(at + layout.OBJECT_MATRIX, matrix);
}
