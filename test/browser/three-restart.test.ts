// A tracker whose service loses its worker: the scene's owner need not know.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { BoxGeometry, IcosahedronGeometry, Mesh, MeshBasicMaterial, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { type Accident, createFragileWorker, happen } from './accidents.js';
import { comparePickAlls, comparePicks, randomCamera, SIZE, settle, track } from './three-picks.js';
import { randomScene } from './three-scenes.js';

const RADIUS = 6;
const ACCIDENTS: Accident[] = ['throws', 'ends itself', 'hangs', 'is killed'];

let service: CollisionService;
let workers: Worker[];
let events: string[];
beforeEach(async () => {
  workers = [];
  events = [];
  const createWorker = () => {
    workers.push(createFragileWorker());
    return workers.at(-1)!;
  };
  service = await createCollisionService({ createWorker, timeout: 3000, builders: 0 });
  for (const type of ['lost', 'restored'] as const) service.addEventListener(type, () => events.push(type));
});
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

  happen(workers[0], accident);
  // All of it while nobody knows yet: new triangles, moved ones, moved objects, and one that leaves.
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
  for (const outcome of await Promise.allSettled<unknown>([...frames, pick])) {
    if (outcome.status === 'fulfilled') expect(accident).toBe('throws');
    else expect(outcome.reason).toMatchObject({ name: 'CollisionError', code: 'WORKER_LOST' });
  }

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
