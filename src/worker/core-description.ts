import * as layout from '../shared/layout.js';
import type { ObjectDescription } from '../shared/protocol.js';
import type { CoreMemory } from './core-memory.js';

/** Address of a baked mesh in the core's memory. */
export type MeshAddress = number;

/** A description with its mesh's address for `mesh`, and perhaps a matrix. */
export interface PlacedDescription extends ObjectDescription {
  mesh: MeshAddress;
  /** 16, column-major. Absent: the identity for a new object, its own for a set one. */
  matrix?: ArrayLike<number> | undefined;
}

/** As layout.ts's record at `at`. */
export function writeDescription(memory: CoreMemory, at: number, description: PlacedDescription): void {
  const { view } = memory;
  const { matrix } = description;
  view.setUint32(at + layout.OBJECT_SHAPE, description.shape, true);
  view.setUint32(at + layout.OBJECT_MESH, description.mesh, true);
  view.setUint32(at + layout.OBJECT_FLAGS, description.flags | (matrix ? layout.FLAG_MATRIX : 0), true);
  view.setUint32(at + layout.OBJECT_LAYERS, description.layers, true);
  view.setUint32(at + layout.OBJECT_COLLIDES_WITH, description.collidesWith, true);
  view.setUint32(at + layout.OBJECT_GROUP, description.group, true);
  view.setUint32(at + layout.OBJECT_CONTACTS, description.contacts, true);
  memory.setFloats(at + layout.OBJECT_CENTER, description.center, 3);
  memory.setFloats(at + layout.OBJECT_EXTENT, description.extent, 3);
  memory.setFloats(at + layout.OBJECT_ROTATION, description.rotation, 4);
  view.setFloat64(at + layout.OBJECT_RADIUS, description.radius, true);
  if (matrix) memory.setAffine(at + layout.OBJECT_MATRIX, matrix);
}
