// A tracker whose service loses its worker: the scene's owner does not have to notice.
import { type CollisionService, createCollisionService } from 'collision-worker';
import {
  BoxGeometry,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  Scene,
  Vector3,
} from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Accident, causeAccident, createFragileWorker } from '../fixtures/accidents.js';
import {
  comparePickAlls,
  comparePicks,
  frontCamera,
  pickCenter,
  randomCamera,
  SIZE,
  settle,
  track,
} from '../fixtures/three-picks.js';
import { randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

const RADIUS = 6;
const ACCIDENTS: Accident[] = ['throws', 'ends itself', 'hangs', 'is killed'];

let service: CollisionService;
let workers: Worker[];
let events: string[];
beforeEach(() => start(3000));

async function start(timeout: number): Promise<void> {
  workers = [];
  events = [];
  const createWorker = () => {
    workers.push(createFragileWorker());
    return workers.at(-1)!;
  };
  service = await createCollisionService({ createWorker, timeout, builders: 0 });
  for (const type of ['lost', 'restored'] as const) service.addEventListener(type, () => events.push(type));
}
afterEach(() => service.dispose());

test.each(ACCIDENTS)(`a worker that %s: picks are three's again, seed ${SEED}`, async (accident) => {
  const random = new Random(SEED);
  const scene = randomScene(random, { objects: 30, radius: RADIUS });
  const camera = randomCamera(random, RADIUS);
  const moving = new Mesh(new IcosahedronGeometry(1, 6), new MeshBasicMaterial());
  scene.add(moving);
  const tracker = await track(service, scene, camera);
  expect((await comparePicks(tracker, scene, camera, random, 100)).faults).toEqual([]);
  const ids = tracker.idsOf(moving);

  causeAccident(workers[0], accident);
  // All of it before the loss is known: new triangles, moved ones, moved objects, and one that is removed.
  const late = new Mesh(new BoxGeometry(1, 2, 3), new MeshBasicMaterial());
  late.position.set(1, -1, 2);
  scene.add(late);
  const { position } = moving.geometry.attributes;
  for (let i = 0; i < position.count; i++) position.setX(i, 2 * position.getX(i));
  position.needsUpdate = true;
  moving.geometry.boundingSphere = moving.geometry.boundingBox = null;
  moving.position.set(-2, 1, 0);
  scene.children.find((child) => child !== moving && child !== late)?.removeFromParent();
  const frames = [0, 1, 2].map((i) => {
    moving.rotateOnAxis(new Vector3(0, 1, 0), i);
    return tracker.update(camera, SIZE);
  });
  const pick = tracker.pick(SIZE.width / 2, SIZE.height / 2);
  for (const outcome of await Promise.allSettled<unknown>(frames)) {
    if (outcome.status === 'fulfilled') expect(accident).toBe('throws');
    else expect(outcome.reason).toMatchObject({ name: 'CollisionError', code: 'WORKER_LOST' });
  }
  await pick; // which the next worker is asked

  await settle(tracker, camera);
  expect(events).toEqual(['lost', 'restored']);
  expect([...tracker.untracked.values()]).toEqual([]);
  expect(tracker.idsOf(moving)).toEqual(ids);
  for (let i = 0; i < 3; i++) {
    const picks = await comparePicks(tracker, scene, camera, random, 150);
    expect(picks.faults).toEqual([]);
    expect(picks.hits).toBeGreaterThan(5);
    expect((await comparePickAlls(tracker, scene, camera, random, 30)).faults).toEqual([]);
    moving.position.x += 1;
    await settle(tracker, camera);
  }
});

describe('instances, which are not copied for the next worker', () => {
  test(`are where the lost frame said, before any other update, seed ${SEED}`, async () => {
    service.dispose();
    await start(1000); // the kills are silent
    const random = new Random(SEED);
    const scene = new Scene();
    const clouds = Array.from({ length: 10 }, () => cloudOf(random, 8));
    scene.add(...clouds, new Mesh(new IcosahedronGeometry(1, 6), new MeshBasicMaterial()));
    const camera = randomCamera(random, RADIUS);
    const tracker = await track(service, scene, camera);
    for (let loss = 0; loss < 3; loss++) {
      for (let frame = random.integer(5); frame > 0; frame--) {
        moveSome(random, clouds);
        await tracker.update(camera, SIZE);
      }
      const restored = untilRestored();
      causeAccident(workers.at(-1)!, 'is killed');
      moveSome(random, clouds);
      const lost = tracker.update(camera, SIZE);
      if (random.chance(0.8)) moveSome(random, clouds);
      const waiting = tracker.update(camera, SIZE);
      for (const frame of [lost, waiting]) await expect(frame).rejects.toMatchObject({ code: 'WORKER_LOST' });
      await restored;
      const picks = await comparePicks(tracker, scene, camera, random, 150);
      expect(picks.faults).toEqual([]);
      expect(picks.hits).toBeGreaterThan(5);
    }
  });

  test('whose buffer was handed on come back with the next one', async () => {
    const cloud = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 2);
    cloud.setMatrixAt(0, new Matrix4());
    cloud.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
    const tracker = await track(service, cloud);
    cloud.instanceMatrix.needsUpdate = true;
    await tracker.update(frontCamera(), SIZE);
    const { array } = cloud.instanceMatrix;
    const next = new Float32Array(
      structuredClone(array.buffer as ArrayBuffer, { transfer: [array.buffer as ArrayBuffer] }),
    );
    expect(array.length).toBe(0);
    const restored = untilRestored();
    causeAccident(workers[0], 'throws');
    await restored;
    cloud.instanceMatrix.array = next;
    cloud.instanceMatrix.needsUpdate = true;
    await tracker.update(frontCamera(), SIZE);
    expect(await pickCenter(tracker)).toMatchObject({ object: cloud, instanceId: 0 });
  });

  test('that are in no place by then are not there until they have one', async () => {
    const cloud = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 2);
    cloud.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, -3));
    cloud.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
    const tracker = await track(service, cloud);
    for (let frame = 0; frame < 3; frame++) {
      cloud.instanceMatrix.needsUpdate = true;
      await tracker.update(frontCamera(), SIZE);
    }
    // Being added, and not yet confirmed.
    cloud.instanceMatrix.array.fill(Number.NaN, 0, 16);
    const restored = untilRestored();
    causeAccident(workers[0], 'throws');
    await restored;
    expect(await service.pick(SIZE.width / 2, SIZE.height / 2)).toBeNull();
    cloud.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, -3));
    cloud.instanceMatrix.needsUpdate = true;
    await tracker.update(frontCamera(), SIZE);
    expect(await service.pick(SIZE.width / 2, SIZE.height / 2)).toMatchObject({
      object: tracker.idsOf(cloud)[0],
      distance: expect.closeTo(12, 3),
    });
  });
});

function untilRestored(): Promise<unknown> {
  return new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
}

function cloudOf(random: Random, count: number): InstancedMesh {
  const cloud = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
  moveInstances(random, cloud);
  return cloud;
}

/** Moves some of them, or all of one, or none. */
function moveSome(random: Random, clouds: readonly InstancedMesh[]): void {
  for (const cloud of clouds) {
    if (random.chance(0.3)) moveInstances(random, cloud);
    if (random.chance(0.2)) cloud.position.copy(random.point(1));
  }
}

function moveInstances(random: Random, cloud: InstancedMesh): void {
  const scale = new Vector3(1, 1, 1);
  for (let i = 0; i < cloud.count; i++) {
    const turn = new Quaternion().setFromAxisAngle(random.direction(), random.range(0, 3));
    cloud.setMatrixAt(i, new Matrix4().compose(random.point(0.8 * RADIUS), turn, scale));
  }
  cloud.instanceMatrix.needsUpdate = true;
  cloud.boundingSphere = null;
}
