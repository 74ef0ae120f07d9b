import type { CollisionService, MeshId } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { icosphere } from '../oracle/meshes.js';
import type { Random } from '../oracle/random.js';

const OBJECTS = 600;
const MOVED_OBJECTS = 150;
const REPLACED_OBJECTS = 10;
const HALF_SIZE = 40;
/** Frames after which a mesh is replaced by another. */
const MESH_INTERVAL = 100;

export class SoakScene {
  readonly random: Random;
  readonly #service: CollisionService;
  readonly #ids: number[] = [];
  readonly #camera = new PerspectiveCamera(60, 4 / 3, 0.1, 200);
  readonly #meshOf = new Map<number, MeshId>();
  #meshes: MeshId[] = [];
  #frame = 0;

  constructor(service: CollisionService, random: Random) {
    this.#service = service;
    this.random = random;
  }

  async fill(): Promise<void> {
    for (let i = 0; i < 4; i++) this.#meshes.push(await this.#service.addMesh(icosphere(1, 2)));
    while (this.#ids.length < OBJECTS) this.#add();
  }

  async change(): Promise<void> {
    const { random } = this;
    for (let i = 0; i < MOVED_OBJECTS; i++) this.#service.setTransform(random.pick(this.#ids), this.#randomMatrix());
    for (let i = 0; i < REPLACED_OBJECTS; i++) {
      const index = random.integer(this.#ids.length);
      this.#service.removeObject(this.#ids[index]);
      this.#meshOf.delete(this.#ids[index]);
      this.#ids[index] = this.#ids[this.#ids.length - 1];
      this.#ids.pop();
      this.#add();
    }
    const { position, projectionMatrix, matrixWorldInverse } = this.#camera;
    position.set(60 * Math.sin(this.#frame / 200), 10, 60 * Math.cos(this.#frame / 200));
    this.#camera.lookAt(0, 0, 0);
    this.#camera.updateMatrixWorld();
    const viewport = { width: 800, height: 600 };
    this.#service.setView({ projection: projectionMatrix.elements, view: matrixWorldInverse.elements, viewport });
    if (++this.#frame % MESH_INTERVAL === 0) await this.#renewMesh();
  }

  /** Adds a mesh that has moved, and removes one that no object uses. */
  async #renewMesh(): Promise<void> {
    const { positions, indices } = icosphere(1, 2);
    const mesh = await this.#service.addMesh({ positions, indices });
    await this.#service.updateMesh(
      mesh,
      positions.map((each) => each * this.random.range(0.9, 1.1)),
    );
    const [oldMesh] = this.#meshes.splice(0, 1);
    this.#meshes.push(mesh);
    for (const id of this.#ids) {
      if (this.#meshOf.get(id) !== oldMesh) continue;
      this.#service.setObject(id, { shape: { type: 'mesh', mesh } });
      this.#meshOf.set(id, mesh);
    }
    this.#service.removeMesh(oldMesh);
  }

  #add(): void {
    const { random } = this;
    const kind = random.integer(4);
    const mesh = random.pick(this.#meshes);
    const shape =
      kind === 0
        ? ({ type: 'mesh', mesh } as const)
        : kind === 1
          ? ({ type: 'sphere', radius: 1 } as const)
          : ({ type: 'box', halfExtents: [1, 0.7, 0.5] } as const);
    const id = this.#service.addObject({ shape, matrix: this.#randomMatrix() });
    if (kind === 0) this.#meshOf.set(id, mesh);
    this.#ids.push(id);
  }

  #randomMatrix(): number[] {
    const { random } = this;
    return new Matrix4().makeRotationFromQuaternion(random.rotation()).setPosition(random.point(HALF_SIZE)).elements;
  }
}
