import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneCharacter, type SceneFrame, type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, PerspectiveCamera, Scene } from 'three';

export const SIZE = { x: 0, y: 0, width: 100, height: 100 };

export function camera(): PerspectiveCamera {
  const result = new PerspectiveCamera(60, 1, 0.1, 100);
  result.position.z = 10;
  return result;
}

/** A tracked scene of a box with two instances next to it. */
export class TrackedWorld {
  readonly service: CollisionService;
  readonly tracker: SceneTracker;
  readonly scene: Scene;
  readonly box: Mesh;
  readonly instances: InstancedMesh;
  /** The latest frame. */
  frame: SceneFrame | undefined;
  character!: SceneCharacter;

  private constructor(service: CollisionService, tracker: SceneTracker, scene: Scene) {
    this.service = service;
    this.tracker = tracker;
    this.scene = scene;
    [this.box, this.instances] = scene.children as [Mesh, InstancedMesh];
  }

  static async open(): Promise<TrackedWorld> {
    const service = await createCollisionService();
    const scene = new Scene();
    const box = new Mesh(new BoxGeometry(2, 2, 2));
    const instances = new InstancedMesh(box.geometry, box.material, 2);
    for (let i = 0; i < 2; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(1.5, i - 0.5, 0));
    scene.add(box, instances);
    const world = new TrackedWorld(service, await trackScene(service, scene, { contacts: 'manifold' }), scene);
    await world.restock();
    return world;
  }

  async restock(): Promise<void> {
    try {
      this.character.remove();
    } catch {} // a call has removed it
    this.character = this.tracker.createCharacter({
      ...{ position: [900, 900, 900], gravity: 0 },
      shape: { type: 'capsule', radius: 0.2, from: [0, 0.2, 0], to: [0, 1, 0] },
    });
    this.frame = await this.tracker.update(camera(), SIZE);
  }

  /**
   * Names those of its own objects that answer differently from when they are alone, whatever else is in the scene; '' if none
   * does.
   */
  async answers(): Promise<string> {
    await this.restock();
    const hit = await this.tracker.pick(50, 50);
    const visible = this.frame!.visibleInstances(this.instances, new Uint32Array(2));
    const [ids, [boxId]] = [this.frame!.result.visible.ids, this.tracker.idsOf(this.box)];
    const actual = [hit?.object === this.box, hit?.distance.toFixed(6), visible, ids.includes(boxId)].join();
    return actual === 'true,9.000000,2,true' ? '' : actual;
  }

  async complaint(): Promise<string> {
    const { tracker, service, box } = this;
    const frame = await tracker.update(camera(), SIZE);
    this.frame = frame;
    const hit = await tracker.pick(50, 50);
    const { objects, meshes, pending } = service.stats;
    const visibleCount = frame.result.visible.ids.length;
    const distance = hit?.distance.toFixed(6);
    const actual = [hit?.object === box, distance, visibleCount, objects, meshes, pending].join();
    return actual === 'true,9.000000,3,3,1,0' ? '' : actual;
  }
}
