import type { ObjectDescription } from '../shared/protocol.js';
import type { PlacedDescription } from './binding/core.js';
import type { MeshTable } from './mesh-table.js';

/** Answers a description as the core takes it: with its mesh's address in it. Throws UNKNOWN_ID. */
export function placedIn(
  meshes: MeshTable,
  description: ObjectDescription,
  matrix: number[] | undefined,
): PlacedDescription {
  const mesh = description.mesh === 0 ? 0 : meshes.addressOf(description.mesh);
  return { ...description, mesh, matrix };
}
