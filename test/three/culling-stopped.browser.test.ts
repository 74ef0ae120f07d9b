// When answers stop, everything visible is drawn, however old the newest answer is: images are those that three draws on its
// own. The worker is blocked by a long task, is lost, or the service or the tracker is disposed.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
} from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { causeAccident, createFragileWorker } from '../fixtures/accidents.js';
import { renderer } from '../fixtures/each-renderer.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

const COUNT = 180;
const NOTHING = { objects: 0, instances: 0, triangles: 0, occluded: 0 };

let service: CollisionService;
let worker: Worker;
beforeEach(async () => {
  const createWorker = () => {
    worker = createFragileWorker();
    return worker;
  };
  service = await createCollisionService({ createWorker, timeout: 2000, builders: 0 });
});
afterEach(() => {
  service.dispose();
});

/** Many small objects of one kind. */
interface Crowd {
  readonly objects: readonly Object3D[];
  put(i: number, x: number, y: number, z: number): void;
  /** Adds one more at a place. */
  add(x: number, y: number, z: number): void;
  /** Moves the vertices of all. */
  lift(by: number): void;
}

const CROWDS: Record<string, () => Crowd> = {
  Mesh() {
    const box = new BoxGeometry(0.4, 0.4, 0.4);
    const parent = new Scene();
    const add = (x: number, y: number, z: number) => {
      const mesh = new Mesh(box, new MeshBasicMaterial({ color: 0x40ff80 }));
      mesh.position.set(x, y, z);
      parent.add(mesh);
    };
    for (let i = 0; i < COUNT; i++) add(0, 0, 0);
    const put = (i: number, x: number, y: number, z: number) => parent.children[i].position.set(x, y, z);
    return { objects: [parent], put, add, lift: (by) => box.translate(0, by, 0).computeBoundingSphere() };
  },
  InstancedMesh() {
    const mesh = new InstancedMesh(
      new BoxGeometry(0.4, 0.4, 0.4),
      new MeshBasicMaterial({ color: 0x40ff80 }),
      2 * COUNT,
    );
    mesh.count = COUNT;
    const put = (i: number, x: number, y: number, z: number) => {
      mesh.setMatrixAt(i, new Matrix4().makeTranslation(x, y, z));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    };
    const add = (x: number, y: number, z: number) => put(mesh.count++, x, y, z);
    const lift = (by: number) => {
      mesh.geometry.translate(0, by, 0).computeBoundingSphere();
      mesh.boundingSphere = null;
    };
    return { objects: [mesh], put, add, lift };
  },
  BatchedMesh() {
    const box = new BoxGeometry(0.4, 0.4, 0.4);
    const batch = new BatchedMesh(2 * COUNT, 64, 128, new MeshBasicMaterial({ color: 0x40ff80 }));
    const geometry = batch.addGeometry(box);
    const put = (i: number, x: number, y: number, z: number) => {
      batch.setMatrixAt(i, new Matrix4().makeTranslation(x, y, z));
      batch.boundingSphere = null;
    };
    const add = (x: number, y: number, z: number) => put(batch.addInstance(geometry), x, y, z);
    for (let i = 0; i < COUNT; i++) add(0, 0, 0);
    return { objects: [batch], put, add, lift: (by) => batch.setGeometryAt(geometry, box.translate(0, by, 0)) };
  },
};

type Stop = (tracker: SceneTracker) => Promise<void> | void;

/** Each stops the answers; `isOver`: there will never be any again. */
const STOPS: Record<string, { stop: Stop; isOver: boolean }> = {
  'the worker is blocked': { stop: () => causeAccident(worker, 'hangs'), isOver: false },
  'the worker is lost': { stop: () => causeAccident(worker, 'is killed'), isOver: false },
  'the service is disposed': { stop: () => service.dispose(), isOver: true },
  'the tracker is disposed': { stop: (tracker) => tracker.dispose(), isOver: true },
};

const CASES = Object.keys(STOPS).flatMap((stop) => Object.keys(CROWDS).map((kind) => [stop, kind] as const));

test.each(CASES)('%s: everything is drawn, of %s', async (name, kind) => {
  const crowd = CROWDS[kind]();
  const wall = new Mesh(new BoxGeometry(12, 8, 0.5), new MeshBasicMaterial({ color: 0x404080 }));
  const scene = new Scene().add(wall, ...crowd.objects);
  const camera = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 100);
  camera.position.z = 8;
  // A third each behind the wall, in front of it, and behind the camera.
  const putAll = (depths: readonly number[]) => {
    for (let i = 0; i < COUNT; i++)
      crowd.put(i, (i % 10) - 4.5, (Math.floor(i / 10) % 6) - 2.5, depths[Math.floor(i / 60)]);
  };
  putAll([-4, 1, 20]);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const settle = async () => {
    for (let frame = 0; frame < 4; frame++) {
      expect(compareCulling(renderer, scene, camera).count).toBe(0);
      await tracker.update(camera, PICTURE);
    }
    expect(compareCulling(renderer, scene, camera).count).toBe(0);
    const { objects, instances, occluded } = tracker.culled;
    expect(occluded).toBeGreaterThan(40);
    // A Mesh behind the camera is culled by three itself.
    expect(objects + instances).toBeGreaterThan(kind === 'Mesh' ? 40 : 100);
  };
  await settle();
  let answers = 0;
  const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
  const { stop, isOver } = STOPS[name];
  await stop(tracker);
  const changes: Record<string, () => void> = {
    'nothing is another': () => {},
    'the camera turns round': () => camera.rotation.set(0, Math.PI, 0),
    'and is elsewhere': () => camera.position.set(1, -1, 30),
    'and looks back': () => camera.rotation.set(0, 0, 0),
    'and goes back': () => camera.position.set(0, 0, 8),
    'what was hidden comes before the wall': () => putAll([2, 1, 20]),
    'the wall goes up': () => wall.position.setY(9),
    'the camera is elsewhere again': () => camera.position.set(1, -1, 30),
    'more come': () => {
      for (const x of [-1, 0, 1]) crowd.add(x, 0.5, 26);
    },
    'vertices are elsewhere': () => crowd.lift(3),
    'the wall comes before all, and the camera looks over it': () => {
      wall.position.set(0, -5, 25);
      putAll([24, 12, -2]);
    },
  };
  let painted = 0;
  for (const [what, change] of Object.entries(changes)) {
    change();
    const picture = compareCulling(renderer, scene, camera);
    expect([what, picture.count]).toEqual([what, 0]);
    painted += picture.painted;
    tracker.update(camera, PICTURE).then(
      () => answers++,
      () => {},
    );
    if (isOver) expect([what, tracker.culled]).toEqual([what, NOTHING]);
  }
  expect(painted).toBeGreaterThan(10_000);
  await Promise.resolve();
  expect(answers).toBe(0);
  if (isOver || kind !== 'InstancedMesh') return;
  // Once there are answers again, hidden objects are no longer drawn.
  await restored;
  wall.position.set(0, 0, 0);
  camera.position.set(0, 0, 8);
  crowd.lift(-3);
  putAll([-4, 1, 20]);
  await tracker.update(camera, PICTURE);
  await settle();
});
