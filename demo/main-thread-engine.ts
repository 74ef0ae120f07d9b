import {
  Box3,
  type BufferGeometry,
  Frustum,
  type Intersection,
  Matrix4,
  Raycaster,
  Sphere,
  Vector2,
  Vector3,
} from 'three';
import { acceleratedRaycast, MeshBVH, type SerializedBVH } from 'three-mesh-bvh';
import { askWorker } from './ask-worker.js';
import type { Engine, Viewer } from './engine.js';
import { MainThreadContacts } from './main-thread-contacts.js';
import { Outcome } from './outcome.js';
import type { World } from './world.js';

/**
 * Does the same work on the main thread, for comparison, with three.js and three-mesh-bvh at their best: trees by SAH, and rays
 * that end at the first hit. three tests the boxes one by one: among 5,000 that all move, a ray takes 0.7 ms this way, and 2.2 ms
 * with an ObjectBVH, which has to be refitted in every frame (Node 20).
 */
export class MainThreadEngine implements Engine {
  readonly outcome = new Outcome();
  readonly #world: World;
  readonly #contacts: MainThreadContacts;
  readonly #raycaster = new Raycaster();
  readonly #frustum = new Frustum();
  readonly #matrix = new Matrix4();
  readonly #box = new Box3();
  #viewer: Viewer | null = null;

  /** Builds the trees in a worker first, which three-mesh-bvh supports. */
  static async create(world: World): Promise<MainThreadEngine> {
    const geometries = new Set(world.dragons.map(({ geometry }) => geometry));
    await Promise.all([...geometries].map(buildTree));
    return new MainThreadEngine(world);
  }

  private constructor(world: World) {
    this.#world = world;
    for (const dragon of world.dragons) dragon.raycast = acceleratedRaycast;
    this.#contacts = new MainThreadContacts(
      world,
      world.dragons.map(({ geometry }) => geometry.boundsTree as MeshBVH),
    );
    this.#raycaster.firstHitOnly = true;
    // A single sphere around all orbits saves three from computing a new one whenever a box moves.
    world.boxes.boundingSphere = new Sphere(new Vector3(0, 4, 0), 30);
  }

  step(viewer: Viewer): void {
    this.#viewer = viewer;
    this.#world.root.updateMatrixWorld();
    this.outcome.clear();
    this.#cull(viewer);
    this.#contacts.find(this.outcome);
  }

  async pick(x: number, y: number): Promise<Intersection | null> {
    if (this.#viewer === null) return null;
    const { camera, size } = this.#viewer;
    this.#raycaster.setFromCamera(new Vector2((x / size.width) * 2 - 1, 1 - (y / size.height) * 2), camera);
    const [nearest = null] = this.#raycaster.intersectObject(this.#world.root);
    return nearest;
  }

  #cull({ culler }: Viewer): void {
    const { outcome } = this;
    const { boxes, dragons } = this.#world;
    culler.updateWorldMatrix(true, false);
    this.#matrix.multiplyMatrices(culler.projectionMatrix, culler.matrixWorldInverse);
    this.#frustum.setFromProjectionMatrix(this.#matrix);
    const bounds = boxes.geometry.boundingBox ?? new Box3();
    if (boxes.geometry.boundingBox === null) boxes.geometry.computeBoundingBox();
    for (let i = 0; i < boxes.count; i++) {
      boxes.getMatrixAt(i, this.#matrix);
      if (this.#frustum.intersectsBox(this.#box.copy(bounds).applyMatrix4(this.#matrix))) {
        outcome.visible[outcome.visibleCount++] = i;
      }
    }
    dragons.forEach(({ geometry, matrixWorld }, i) => {
      this.#box.copy(geometry.boundingBox!).applyMatrix4(matrixWorld);
      outcome.visibleDragons[i] = this.#frustum.intersectsBox(this.#box);
    });
  }
}

/** Building the tree reorders the triangles. */
async function buildTree(geometry: BufferGeometry): Promise<void> {
  const worker = new Worker(new URL('./tree-worker.ts', import.meta.url), { type: 'module' });
  const serialized = await askWorker<SerializedBVH>(worker, 'builds a tree', {
    positions: geometry.attributes.position.array,
    indices: geometry.index!.array,
  });
  geometry.boundsTree = MeshBVH.deserialize(serialized, geometry, { setIndex: true });
}
