import type { ObjectDescription } from '../shared/commands.js';
import type { PlacedDescription } from './binding/core.js';
import type { MeshTable } from './mesh-table.js';

/** Returns a description in the core's form, with its mesh's address in it. Throws UNKNOWN_ID. */
export function describePlaced(
  meshes: MeshTable,
  description: ObjectDescription,
  matrix: number[] | undefined,
): PlacedDescription {
  const mesh = description.mesh === 0 ? 0 : meshes.addressOf(description.mesh);
  const { shape, flags, layers, collidesWith, group, contacts, center, extent, rotation, radius } = description;
  const { faceSides, boxes, clipSet, clearance } = description;
  // A spread would make V8 turn it into a dictionary, and setting a hundred thousand objects would take six times as
  // long.
  return {
    shape,
    mesh,
    flags,
    layers,
    collidesWith,
    group,
    contacts,
    center,
    extent,
    rotation,
    radius,
    faceSides,
    boxes,
    clipSet,
    clearance,
    matrix,
  };
}
