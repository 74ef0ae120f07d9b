// Workers that fail in a real browser, and what their successors know.
import {
  type CollisionService,
  type CollisionServiceOptions,
  createCollisionService,
  type ObjectId,
} from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { afterEach, describe, expect, test } from 'vitest';
import { type Accident, causeAccident, createFragileWorker } from '../fixtures/accidents.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';

const ACCIDENTS: Accident[] = ['throws', 'ends itself', 'hangs', 'is killed'];
const BOX = { type: 'box', halfExtents: [0.5, 0.5, 0.5] } as const;
const SIZE = { width: 320, height: 240 };
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z).elements;
const viewFrom = (z: number) => ({
  projection: new PerspectiveCamera(60, SIZE.width / SIZE.height, 0.1, 100).projectionMatrix.elements,
  view: at(0, 0, -z),
  viewport: SIZE,
});

const services: CollisionService[] = [];
afterEach(() => {
  for (const service of services.splice(0)) service.dispose();
});

interface Fragile {
  service: CollisionService;
  events: string[];
  /** All workers created: the service's own is the first. */
  workers: Worker[];
}

async function start(pages?: number, options: CollisionServiceOptions = {}): Promise<Fragile> {
  const workers: Worker[] = [];
  const createWorker = () => {
    workers.push(createFragileWorker(pages));
    return workers.at(-1)!;
  };
  const service = await createCollisionService({ createWorker, timeout: 3000, builders: 0, ...options });
  services.push(service);
  const events: string[] = [];
  service.addEventListener('lost', ({ error }) => events.push(`lost: ${error?.message}`));
  service.addEventListener('restored', () => events.push('restored'));
  return { service, events, workers };
}

/** Adds meshes of every history, objects and instances, and two views; returns the objects' ids. */
async function furnish(service: CollisionService): Promise<ObjectId[]> {
  const ball = icosphere(0.9, 3);
  const built = await service.addMesh(ball);
  const moved = await service.addMesh(ball);
  await service.updateMesh(
    moved,
    ball.positions.map((each, i) => each * (i % 3 === 0 ? 0.4 : 0.9)),
  );
  const baked = await service.addMesh(await service.bakeMesh(moved));
  const large = await service.addMesh(icosphere(0.9, 60));
  const ids = [built, moved, baked, large].map((mesh, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(2 * i - 3, 1.5) }),
  );
  const gone = service.addObject({ shape: BOX, matrix: at(0, 0, 3) });
  const row = service.addInstances({ shape: BOX, motion: 'static' }, 6);
  const places = new Float32Array([...row].flatMap((_, i) => at(1.2 * i)));
  service.setTransforms(row, places, at(-3, -1.2));
  service.setView(viewFrom(8));
  service.setView(viewFrom(4), 'near');
  await service.update();
  service.removeObject(gone);
  service.setTransform(ids[0], at(-2.2, 1.3, 0.4));
  service.setObject(ids[1], { layers: 2 });
  await service.update();
  return [...ids, ...row];
}

/** All that can be queried about the scene, except for the number of the frame. */
async function account(service: CollisionService) {
  const pixels = Array.from({ length: 150 }, (_, i) => [21 * (i % 15) + 10, 24 * Math.floor(i / 15) + 10]);
  const picks = pixels.flatMap(([x, y]) => [service.pick(x, y), service.pick(x, y, { view: 'near' })]);
  const { contacts, views } = await service.update();
  const { start, points, normals, depths, a, b } = contacts;
  const seen = Array.from(views, ([name, { ids, inside }]) => [name, [...ids], inside]);
  const touching = [a, b, start, points, normals, depths].map((each) => [...each]);
  const hits = (await Promise.all(picks)).map((hit) => hit && { ...hit, frame: 0 });
  return { seen, touching, hits, ofLayer: await service.raycast(FORWARD, { layers: 2 }).then((hit) => hit?.object) };
}
const FORWARD = { origin: [-1, 1.5, 9], direction: [0, 0, -1] } as const;

describe.each(ACCIDENTS)('a worker that %s', (accident) => {
  test('takes with it what is pending, and another one knows all', async () => {
    const { service, events, workers } = await start();
    const ids = await furnish(service);
    const before = await account(service);
    expect(before.hits.filter((hit) => hit).length).toBeGreaterThan(40);

    causeAccident(workers[0], accident);
    const pending = [service.update(), service.update(), service.addMesh(boxMesh(1, 1, 1))];
    const questions = [
      service.bakeMesh(1),
      service.pick(160, 120),
      service.pickRegion({ x: 0, y: 0, ...SIZE }),
      service.contact(ids[0], ids[1]),
    ];
    const outcomes = await Promise.allSettled<unknown>(pending);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled')
        expect(accident).toBe('throws'); // calls made in between are answered
      else expect(outcome.reason).toMatchObject({ name: 'CollisionError', code: 'WORKER_LOST' });
    }
    await Promise.all(questions); // which the next worker is asked
    expect(await account(service)).toEqual(before);
    expect(events).toEqual([expect.stringMatching(/^lost: the worker (threw: .*accident|was silent)/), 'restored']);
    expect(service.stats).toMatchObject({ objects: ids.length, pending: 0 });
    service.setTransform(ids[4], at(0, 0, 6));
    await service.update();
    expect(await service.pick(160, 120)).toMatchObject({ object: ids[4] });
  });

  test('leaves what is being built beside it', async () => {
    const { service, workers } = await start(undefined, { builders: 1 });
    const ball = icosphere(1, 40);
    const build = service.addMesh(ball);
    causeAccident(workers[0], accident);
    const updated = await service.update().then(
      () => 'answered',
      ({ code }) => code,
    );
    expect(['WORKER_LOST', accident === 'throws' && 'answered']).toContain(updated);
    // It may have been on its way into the worker that was lost.
    const mesh = await build.catch((error) => {
      expect(error).toMatchObject({ code: 'WORKER_LOST' });
      return service.addMesh(ball);
    });
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    expect(await service.raycast({ origin: [0.1, 0.1, 9], direction: [0, 0, -1] })).toMatchObject({ object: id });
  });

  test('and is a builder, takes its mesh with it and nothing else', async () => {
    const { service, workers, events } = await start(undefined, { builders: 1 });
    const ball = icosphere(1, 40);
    const build = service.addMesh(ball);
    causeAccident(workers[1], accident);
    await expect(build).rejects.toMatchObject({ code: 'WORKER_LOST' });
    expect(service.meshInfo(await service.addMesh(ball)).triangles).toBe(ball.indices.length / 3);
    expect(events).toEqual([]);
    expect(workers).toHaveLength(3);
  });
});

test('a worker is replaced three times in a minute, whatever happened to it', async () => {
  const { service, events, workers } = await start();
  await furnish(service);
  const before = await account(service);
  for (const accident of ['throws', 'hangs', 'is killed'] as const) {
    causeAccident(workers.at(-1)!, accident);
    // A worker that throws may answer before its error arrives.
    while (!events.at(-1)?.startsWith('lost')) await service.update().catch(() => {});
    expect(await account(service)).toEqual(before);
  }
  causeAccident(workers.at(-1)!, 'ends itself');
  await expect(service.update()).rejects.toThrow(/^update: the worker was silent.*for the 4th time within a minute/);
  expect(events.map((each) => each.split(':')[0])).toEqual([...Array(3).fill(['lost', 'restored']).flat(), 'lost']);
});

test('a core without any more memory says so, and everything goes on in the same worker', async () => {
  const { service, events } = await start(96); // 6 MB
  const ids = [service.addObject({ shape: BOX })];
  const ball = icosphere(1, 24);
  const fill = async () => {
    for (;;) {
      const mesh = await service.addMesh(ball);
      ids.push(service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(3 * ids.length) }));
      await service.update();
    }
  };
  await expect(fill()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  expect(ids.length).toBeGreaterThan(1);
  for (const [i, id] of ids.entries()) {
    const hit = await service.raycast({ origin: [3 * i + 0.1, 0.1, 9], direction: [0, 0, -1] });
    expect(hit).toMatchObject({ object: id });
  }
  for (const id of ids) service.removeObject(id);
  expect((await service.update()).contacts.count).toBe(0);
  expect(events).toEqual([]);
});
