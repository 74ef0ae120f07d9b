// Calls the core directly in this thread, below the public API: for rows whose name says so.
import {
  CONTACTS_NONE,
  FLAG_CULLABLE,
  FLAG_PICKABLE,
  GENERATION_BITS,
  PRECISION_MESH,
  SHAPE_BOX,
  SHAPE_MESH,
  SIDE_DOUBLE,
} from '../../src/shared/layout.js';
import type { Filter } from '../../src/shared/protocol.js';
import type { MeshData } from '../../src/shared/types.js';
import type { Core, PlacedDescription } from '../../src/worker/binding/core.js';
import { bake, startCore } from '../fixtures/core.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Creates a core that holds one object, a mesh at the origin. */
export async function coreWithMesh(data: MeshData): Promise<Core> {
  const core = await startCore();
  addMeshObject(core, core.loadMesh(bake(core, data)));
  return core;
}

export function addMeshObject(core: Core, mesh: number): void {
  core.addObjects(Uint32Array.of((0 << GENERATION_BITS) | 1), describe({ shape: SHAPE_MESH, mesh }));
}

export function filterOf(side = SIDE_DOUBLE): Filter {
  return { layers: -1, side, precision: PRECISION_MESH, ignore: new Uint32Array(0) };
}

/** Completes a description with defaults; the object is at the origin. */
export function describe(description: Partial<PlacedDescription>): PlacedDescription {
  return { ...OBJECT, ...description, matrix: IDENTITY };
}

const OBJECT: PlacedDescription = {
  shape: SHAPE_BOX,
  mesh: 0,
  flags: FLAG_PICKABLE | FLAG_CULLABLE,
  layers: 1,
  collidesWith: -1,
  group: 0,
  contacts: CONTACTS_NONE,
  center: [0, 0, 0],
  extent: [0.5, 0.5, 0.5],
  rotation: [0, 0, 0, 1],
  radius: 0,
};
