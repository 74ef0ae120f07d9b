// No pick waits for a long call: picks asked for behind it are answered
// before it, and its result is the same as that of small parts of it.
import { type CollisionService, createCollisionService, type Hit, type SweepHit } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

/** Boxes one behind the other, so close that each ray through them hits all. */
const COUNT = 40_000;
const STEP = 1e-3;
const HALF = 0.3;
const { elements: IDENTITY } = new Matrix4();

/**
 * The worker's clock runs this much faster: the shortest call here, of
 * 5 ms, takes several slices on a machine that is ten times as fast.
 */
const SPEED = 20;

let worker: GatedWorker;
let service: CollisionService;
let ids: Uint32Array;
beforeAll(async () => {
  worker = new GatedWorker(SPEED);
  service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const camera = new PerspectiveCamera(60, 4 / 3, 0.1, 1000);
  camera.position.z = 8;
  camera.updateMatrixWorld();
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { width: 800, height: 600 },
  });
  const shape = { type: 'box', halfExtents: [HALF, HALF, HALF] } as const;
  ids = service.addInstances({ shape, contacts: 'none' }, COUNT);
  const matrices = new Float64Array(16 * COUNT);
  for (let i = 0; i < COUNT; i++) matrices.set(new Matrix4().makeTranslation(0, 0, -STEP * i).elements, 16 * i);
  service.setTransforms(ids, matrices);
  await service.update();
});
afterAll(() => service.dispose());

/**
 * Returns what a call resolves to. A pick is asked for behind it before the worker has received either, and others one after
 * another until the call is answered: at least the first one has to be answered before it.
 */
async function beside<T>(call: () => Promise<T>): Promise<T> {
  await worker.shut();
  const sent = worker.sent.length;
  let isDone = false;
  const answer = call().finally(() => {
    isDone = true;
  });
  let pick = service.pick(10, 10);
  await new Promise(setImmediate);
  expect(worker.sent.length - sent, 'messages that wait at the gate').toBeGreaterThan(1);
  worker.open();
  let picks = 0;
  for (; !isDone; pick = service.pick(10, 10)) {
    expect(await pick, `pick ${picks} in the midst of the call`).toBeNull();
    if (!isDone) picks++;
  }
  expect(picks, 'picks that were answered before the call').toBeGreaterThan(0);
  await pick;
  return answer;
}

/** Two faces of each box; those that face the ray are as far apart as the boxes. */
function expectAllOf(hits: Hit[]): void {
  expect(hits.length).toBe(2 * COUNT);
  const objects = new Map<number, number>();
  for (let i = 0; i < hits.length; i++) {
    const { object, distance, frame } = hits[i];
    if (frame !== 1) expect.fail(`hit ${i} is of frame ${frame}`);
    objects.set(object, (objects.get(object) ?? 0) + 1);
    if (i === 0) continue;
    const isInOrder =
      hits[i - 1].distance < distance || (hits[i - 1].distance === distance && hits[i - 1].object <= object);
    if (!isInOrder) expect.fail(`hit ${i} is out of order`);
  }
  expect(objects.size).toBe(COUNT);
  expect(hits[0].object).toBe(ids[0]);
}

function expectInOrder(hits: SweepHit[]): void {
  expect(hits.length).toBe(COUNT);
  expect(new Set(hits.map(({ object }) => object)).size).toBe(COUNT);
  for (let i = 1; i < COUNT; i++) {
    const [before, { time, object }] = [hits[i - 1], hits[i]];
    if (!(before.time < time || (before.time === time && before.object < object))) expect.fail(`hit ${i}`);
  }
}

describe('picks are answered in the midst of', () => {
  test('all hits of a pick', async () => {
    expectAllOf(await beside(() => service.pickAll(400, 300)));
  });

  test('all hits of a ray; two at once are told apart', async () => {
    const ray = (x: number) => service.raycastAll({ origin: [x, 0, 9], direction: [0, 0, -1] });
    const answer = await beside(() => Promise.all([ray(0.1), ray(0.2)]));
    for (const [i, hits] of answer.entries()) {
      expectAllOf(hits);
      expect(hits.every(({ point }) => Math.abs(point[0] - 0.1 * (i + 1)) < 1e-6)).toBe(true);
    }
  });

  test('all centres near the cursor', async () => {
    const answer = await beside(() => service.pickAll(400, 300, { method: 'screen', radius: 50 }));
    expect(answer.map(({ object }) => object)).toEqual([...ids]);
  });

  test('all that a ball and a turning box meet', async () => {
    const [from, to] = [-100, 100].map((x) => new Matrix4().makeTranslation(x, 0, -20));
    const ball = await beside(() => service.sweepAll({ type: 'sphere', radius: 50 }, from.elements, to.elements));
    expectInOrder(ball);
    // Alone, not as one of many.
    for (const i of [0, 777, COUNT - 1]) {
      const hit = ball[i];
      const ignore = [...ids].filter((id) => id !== hit.object);
      const alone = await service.sweep({ type: 'sphere', radius: 50 }, from.elements, to.elements, { ignore });
      expect(hit).toEqual(alone);
    }
    to.multiply(new Matrix4().makeRotationZ(0.4));
    const shape = { type: 'box', halfExtents: [50, 50, 50] } as const;
    const box = await beside(() => service.sweepAll(shape, from.elements, to.elements));
    expectInOrder(box);
    const [first] = box;
    expect((await service.sweep(shape, from.elements, to.elements))?.time).toBeCloseTo(first.time, 9);
  });

  test('lines of sight to many', async () => {
    const ignore = [...ids.subarray(1)]; // the others occlude one another
    const answer = await beside(() => service.sees('main', ids, { ignore }));
    for (const first of [0, 100, 10_000]) {
      const few = await service.sees('main', ids.subarray(first, first + 100), { ignore });
      expect(answer.points.subarray(first, first + 100)).toEqual(few.points);
    }
    expect([...answer.ids]).toEqual([...ids].filter((_, i) => answer.points[i] > 0));
    expect(answer.points[0]).toBe(9);
    expect(answer.points[COUNT - 1]).toBe(0);
  });

  test('many rays and ways, of which the first ones meet nothing and the others many', async () => {
    const count = 20_000;
    const rays = new Float32Array(8 * count);
    const ways = new Float64Array(14 * count);
    for (let i = 0; i < count; i++) {
      const x = i < count / 2 ? 1000 : 0.2;
      rays.set([x, 0, 9, 0, 0, 0, -1, Number.POSITIVE_INFINITY], 8 * i);
      ways.set([x, 0, 5, 0, 0, 0, 1, x, 0, -100, 0, 0, 0, 1], 14 * i);
    }
    const hits = await beside(() => service.raycastMany(rays, { side: 'back' }));
    expect(hits.objects.every((id, i) => id === (i < count / 2 ? 0xffffffff : ids[0]))).toBe(true);
    const sweeps = await beside(() => service.sweepMany({ type: 'sphere', radius: 0.1 }, ways));
    expect(sweeps.objects.every((id, i) => id === (i < count / 2 ? 0xffffffff : ids[0]))).toBe(true);
  });

  test('all that a shape meets, that is in a region, and that is around a point; and the nearest', async () => {
    // All objects cross the surface of each shape and the border of each region: none is found without being examined.
    const shape = { type: 'box', halfExtents: [0.1, 0.1, 100] } as const;
    const lasso = Float32Array.from({ length: 2000 }, (_, i) => {
      const angle = (Math.PI * (i >> 1)) / 500;
      return i % 2 ? 300 + 20 * Math.sin(angle) : 400 + 20 * Math.cos(angle);
    });
    const asked: Record<string, (options: { ignore?: number[] }) => Promise<Uint32Array | object | null>> = {
      box: (options) => service.overlap(shape, IDENTITY, options),
      ball: (options) => service.overlap({ type: 'sphere', radius: 60 }, IDENTITY, options),
      lasso: (options) => service.pickRegion(lasso, options),
      nearest: (options) => service.closestPoint([0, 0, 1e9], options),
    };
    for (const [name, ask] of Object.entries(asked)) {
      const answer = await beside(() => ask({}));
      if (!(answer instanceof Uint32Array)) {
        expect(answer).toMatchObject({ object: ids[0], distance: 1e9 - HALF, frame: 1 });
        continue;
      }
      expect(answer.length, name).toBeGreaterThan(COUNT / 2);
      // The same, as parts that take one slice each.
      const found: number[] = [];
      for (let first = 0; first < COUNT; first += COUNT / 4) {
        const end = first + COUNT / 4;
        const some = (await ask({ ignore: [...ids.subarray(0, first), ...ids.subarray(end)] })) as Uint32Array;
        found.push(...some);
      }
      const firstOther = answer.findIndex((id, i) => id !== found[i]);
      expect(firstOther, `${name}: ${answer.length} ids, in parts ${found.length}, the first other at`).toBe(-1);
      expect(answer.length, name).toBe(found.length);
    }
  });

  test('the pairs of triangles of two meshes in the same place, either way round', async () => {
    const mesh = await service.addMesh(icosphere(1, 25));
    const at = new Matrix4().makeTranslation(1000, 0, 0).elements;
    const [a, b] = [0, 1].map(() => service.addObject({ shape: { type: 'mesh', mesh }, matrix: at, contacts: 'none' }));
    const one = await beside(() => service.contact(a, b, { detail: 'triangles' }));
    const { triangles, segments } = one!;
    // Each box with itself, with the three at its edges and with the others at its corners.
    expect(triangles.length / 2).toBeGreaterThan(12 * 20 * 25 * 25);
    const other = (await service.contact(b, a, { detail: 'triangles' }))!;
    expect(other.triangles.length).toBe(triangles.length);
    // The same pairs, sorted by first and then by second triangle.
    const order = Array.from({ length: triangles.length / 2 }, (_, i) => i).sort(
      (i, j) => triangles[2 * i + 1] - triangles[2 * j + 1] || triangles[2 * i] - triangles[2 * j],
    );
    for (const [to, from] of order.entries()) {
      const isSame =
        other.triangles[2 * to] === triangles[2 * from + 1] && other.triangles[2 * to + 1] === triangles[2 * from];
      if (!isSame) expect.fail(`pair ${to}`);
      if (other.segments[6 * to] !== segments[6 * from]) expect.fail(`segment ${to}`);
    }
    for (let i = 2; i < triangles.length; i += 2) {
      const isInOrder =
        triangles[i - 2] < triangles[i] || (triangles[i - 2] === triangles[i] && triangles[i - 1] < triangles[i + 1]);
      if (!isInOrder) expect.fail(`pair ${i / 2} is out of order`);
    }
    service.removeObject(a);
    service.removeObject(b);
  });
});

test('a long call that is aborted answers at once, and what it has sent is forgotten', async () => {
  const abort = new AbortController();
  let aborted: Promise<Hit[]> | undefined;
  await worker.untilAnswer(() => {
    aborted = service.pickAll(400, 300, { signal: abort.signal });
    return service.pick(10, 10);
  });
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
  worker.open();
  expectAllOf(await service.pickAll(400, 300));
});

test('objects that go in the midst of long calls', async () => {
  const other = await createCollisionService();
  const some = other.addInstances({ shape: { type: 'box', halfExtents: [HALF, HALF, HALF] }, contacts: 'none' }, COUNT);
  other.setView({
    projection: new PerspectiveCamera(60, 1, 1, 100).projectionMatrix.elements,
    view: IDENTITY,
    viewport: { width: 8, height: 8 },
  });
  await other.update();
  const hits = other.raycastAll({ origin: [0, 0, 9], direction: [0, 0, -1] });
  const sweeps = other.sweepAll(
    { type: 'sphere', radius: 50 },
    new Matrix4().makeTranslation(-99, 0, 0).elements,
    IDENTITY,
  );
  const sight = other.sees('main', some);
  for (const id of some.subarray(100)) other.removeObject(id);
  await other.update();
  expect((await hits).length).toBe(2 * COUNT);
  expect((await sweeps).length).toBe(COUNT);
  expect((await sight).points.length).toBe(COUNT);
  expect((await other.raycastAll({ origin: [0, 0, 9], direction: [0, 0, -1] })).length).toBe(200);
  const ended = [
    other.raycastAll({ origin: [0, 0, 9], direction: [0, 0, -1] }),
    other.sees('main', some.slice(0, 100)),
  ];
  other.dispose();
  for (const each of ended) await expect(each).rejects.toMatchObject({ code: 'DISPOSED' });
});
