import { type CollisionService, createCollisionService } from 'collision-worker';
import {
  boxFromGeometry,
  meshDataFromGeometry,
  type SceneFrame,
  type SceneTracker,
  trackScene,
  viewFromCamera,
} from 'collision-worker/three';
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import type { Call } from './calls.js';
import { SCENE_FRAME_CALLS } from './frame-calls.js';

const SIZE = { x: 0, y: 0, width: 100, height: 100 };

export function camera(): PerspectiveCamera {
  const made = new PerspectiveCamera(60, 1, 0.1, 100);
  made.position.z = 10;
  return made;
}

/** A scene of a box and two instances beside it, tracked. */
export class TrackedWorld {
  readonly service: CollisionService;
  readonly tracker: SceneTracker;
  readonly scene: Scene;
  readonly box: Mesh;
  readonly instances: InstancedMesh;
  /** The newest one. */
  frame: SceneFrame | undefined;

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
    const world = new TrackedWorld(service, await trackScene(service, scene), scene);
    await world.restock();
    return world;
  }

  async restock(): Promise<void> {
    this.frame = await this.tracker.update(camera(), SIZE);
  }

  async complaint(): Promise<string> {
    const { tracker, service, box } = this;
    const frame = await tracker.update(camera(), SIZE);
    this.frame = frame;
    const hit = await tracker.pick(50, 50);
    const { objects, meshes, pending } = service.stats;
    const seen = frame.result.visible.ids.length;
    const distance = hit?.distance.toFixed(6);
    const found = [hit?.object === box, distance, seen, objects, meshes, pending].join();
    return found === 'true,9.000000,3,3,1,0' ? '' : found;
  }
}

type W = TrackedWorld;
type Any = (...args: unknown[]) => unknown;
const options = () => ({ margin: 0, minPixels: 0 });
const query = () => ({
  view: 'main',
  layers: 1,
  ignore: [new Object3D()],
  side: 'double',
  precision: 'mesh',
  latest: false,
});
const pick = () => ({ ...query(), method: 'ray', radius: 10 });
const triangle = () =>
  new BufferGeometry().setAttribute('position', new BufferAttribute(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), 3));

/** Every method of the tracker. `dispose` is the end. */
export const TRACKER_METHODS: Record<
  Exclude<keyof SceneTracker, 'pending' | 'untracked'>,
  Omit<Call<W>, 'name' | 'run'>
> = {
  update: { args: () => [camera(), { ...SIZE }, options()], isDull: true },
  setView: {
    args: () => [camera(), { ...SIZE }, 'other', options()],
    undo: ({ tracker }, _, [, , name]) => {
      if (name !== 'main') tracker.removeView(name as string);
    },
  },
  removeView: { args: () => ['main'] },
  pick: { args: () => [50, 50, pick()], isDull: true },
  pickAll: { args: () => [50, 50, pick()], isDull: true },
  pickRegion: { args: () => [{ ...SIZE }, { ...query(), mode: 'touch' }], isDull: true },
  idsOf: { args: ({ box }) => [box], isDull: true },
  objectOf: { args: ({ tracker, box }) => [tracker.idsOf(box)[0]], isDull: true },
  dispose: { args: () => [] },
};

export const THREE_CALLS: Call<W>[] = [
  {
    name: 'viewFromCamera',
    args: () => [camera(), { ...SIZE }, options()],
    // What it answers is for the service to take or to refuse.
    run: ({ service }, ...args: [never, never, never]) => service.frustum(viewFromCamera(...args)),
    isDull: true,
  },
  {
    name: 'meshDataFromGeometry',
    args: () => [triangle()],
    run: ({ service }, ...args: [never]) => service.addMesh(meshDataFromGeometry(...args)),
    undo: ({ service }, id: number) => service.removeMesh(id),
    isDull: true,
  },
  {
    name: 'boxFromGeometry',
    args: () => [triangle()],
    run: ({ service }, ...args: [never]) => service.overlap(boxFromGeometry(...args)),
    isDull: true,
  },
  {
    name: 'trackScene',
    args: ({ service }) => [
      service,
      new Scene().add(new Mesh(triangle())),
      {
        onProgress: () => {},
        view: 'tracked',
        updateMatrixWorld: true,
        shapeOf: () => undefined,
        objectOptions: () => ({}),
      },
    ],
    run: (_, ...args: [never, never, never]) => trackScene(...args),
    undo: (_, tracker: SceneTracker) => tracker.dispose(),
    isDull: true,
  },
  ...Object.entries(TRACKER_METHODS)
    .filter(([name]) => name !== 'dispose')
    .map(
      ([name, each]): Call<W> => ({
        name: `tracker.${name}`,
        run: ({ tracker }, ...args) => (tracker[name as 'update'] as Any).apply(tracker, args),
        ...each,
      }),
    ),
  ...SCENE_FRAME_CALLS,
];
