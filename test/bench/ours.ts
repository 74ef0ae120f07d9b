import { Staging } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import {
  CONTACTS_ANY,
  FLAG_CULLABLE,
  FLAG_PICKABLE,
  GENERATION_BITS,
  PRECISION_MESH,
  SHAPE_BOX,
  SHAPE_MESH,
  SIDE_DOUBLE,
} from '../../src/shared/layout.js';
import type { Filter } from '../../src/shared/protocol.js';
import type { MeshData, ViewOptions } from '../../src/shared/types.js';
import type { Core, PlacedDescription } from '../../src/worker/binding/core.js';
import { bake, startCore } from '../fixtures/core.js';

export const OURS = 'collision-worker';
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** A core that holds one object: a mesh where it was made. */
export async function coreWithMesh(data: MeshData): Promise<Core> {
  const core = await startCore();
  addMeshObject(core, core.loadMesh(bake(core, data)));
  return core;
}

export function addMeshObject(core: Core, mesh: number): void {
  core.addObjects(idsOf(1), describe({ shape: SHAPE_MESH, mesh }));
}

/** Of the only object. */
export const OBJECT_ID = idsOf(1)[0];

export function filterOf(side = SIDE_DOUBLE): Filter {
  return { layers: -1, side, precision: PRECISION_MESH, ignore: new Uint32Array(0) };
}

/** What is not as by default; where it was made. */
export function describe(description: Partial<PlacedDescription>): PlacedDescription {
  return { ...OBJECT, ...description, matrix: IDENTITY };
}

/** Both sides of the service in one thread: what the client writes, the core reads, and the other way around. */
export class Scene {
  readonly core: Core;
  readonly ids: Uint32Array;
  readonly #staging = new Staging();
  readonly #views = new ViewTable();
  #out: ArrayBuffer | undefined;
  #frame = 0;

  /** Unit boxes. `description` says what is not as by default. */
  static async ofBoxes(count: number, description: Partial<PlacedDescription> = {}): Promise<Scene> {
    const scene = new Scene(await startCore(), count);
    scene.core.addObjects(scene.ids, describe(description));
    return scene;
  }

  /** The same of one mesh. */
  static async ofMeshes(count: number, data: MeshData, description: Partial<PlacedDescription> = {}): Promise<Scene> {
    const scene = new Scene(await startCore(), count);
    const mesh = scene.core.loadMesh(bake(scene.core, data));
    scene.core.addObjects(scene.ids, describe({ shape: SHAPE_MESH, mesh, ...description }));
    return scene;
  }

  private constructor(core: Core, count: number) {
    this.core = core;
    this.ids = idsOf(count);
  }

  indexOf(id: number): number {
    return id >>> GENERATION_BITS;
  }

  setTransforms(ids: Uint32Array, matrices: Float32Array): void {
    this.#staging.setBlock(ids, matrices);
  }

  setView(view: ViewOptions): void {
    this.#views.set('setView', 'main', view);
  }

  /** What it answers is valid until the next one. */
  update(): FrameView {
    this.#views.stage(this.#staging);
    const input = this.#staging.seal(++this.#frame, 0);
    this.#out = this.core.frame(input, this.#out);
    this.#staging.restart(input);
    return new FrameView(this.#out, this.#views.names);
  }
}

const OBJECT: PlacedDescription = {
  shape: SHAPE_BOX,
  mesh: 0,
  flags: FLAG_PICKABLE | FLAG_CULLABLE,
  layers: 1,
  collidesWith: -1,
  group: 0,
  contacts: CONTACTS_ANY,
  center: [0, 0, 0],
  extent: [0.5, 0.5, 0.5],
  rotation: [0, 0, 0, 1],
  radius: 0,
};

function idsOf(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, slot) => (slot << GENERATION_BITS) | 1);
}
