import type { ObjectDescription } from '../shared/commands.js';
import type { PlacedDescription } from './binding/core.js';
import type { MeshTable } from './mesh-table.js';

/** Returns a description as the core takes it: with its mesh's address in it. Throws UNKNOWN_ID. */
export function placedIn(
  meshes: MeshTable,
  description: ObjectDescription,
  matrix: number[] | undefined,
): PlacedDescription {
  const mesh = description.mesh === 0 ? 0 : meshes.addressOf(description.mesh);
  const { shape, flags, layers, collidesWith, group, contacts, center, extent, rotation, radius } = description;
  const { faceSides, boxes, clipSet, clearance } = description;
  // Spread, it would be a dictionary to V8, by which to set a hundred thousand objects takes six times as long.
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
