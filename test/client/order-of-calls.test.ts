import { type CollisionService, createCollisionService, type FrameResult, type ObjectOptions } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';
import { boxMesh } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [0.4, 0.4, 0.4] } };
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

/** A view that sees everything. */
const EVERYTHING = {
  projection: new OrthographicCamera(-1e4, 1e4, 1e4, -1e4, -1e4, 1e4).projectionMatrix.elements,
  view: new Matrix4().elements,
  viewport: { width: 100, height: 100 },
};

let worker: HeldWorker;
let service: CollisionService;

beforeEach(async () => {
  worker = new HeldWorker();
  service = await createCollisionService({ createWorker: () => worker });
  service.setView(EVERYTHING);
});
afterEach(() => service.dispose());

const visible = (result: FrameResult) => [...result.visible.ids];
const frames = () => worker.sent.filter((type) => type === 'frame').length;

describe('a worker that is slow', () => {
  test('gets one frame at a time, and the newest transforms', async () => {
    const id = service.addObject(BOX);
    worker.hold();
    const results = [1, 2, 3, 4].map((x) => {
      service.setTransform(id, at(x));
      return service.update();
    });
    expect(service.stats).toMatchObject({ queueDepth: 1, pending: 2 });
    expect(frames()).toBe(1);
    await worker.letGo();
    const [first, ...others] = await Promise.all(results);
    expect(first.frame).toBe(1);
    for (const result of others) expect(result).toBe(others[0]);
    expect(frames()).toBe(2);
    expect(service.stats).toMatchObject({ queueDepth: 0, pending: 0, frames: 2 });
    expect(await service.raycast(down(4))).toMatchObject({ object: id, frame: 2 });
    expect(await service.raycast(down(1))).toBeNull();
  });

  test('answers a query with the state of every update() before it', async () => {
    const id = service.addObject({ ...BOX, matrix: at(0) });
    await service.update();
    worker.hold();
    const updates = [];
    const hits = [];
    for (const x of [1, 2, 3]) {
      service.setTransform(id, at(x));
      updates.push(service.update());
      hits.push(service.raycast(down(x)));
    }
    // The first frame is in the worker, so its query is there as well. The other queries saw the frame that waits: x = 3.
    await worker.letGo();
    expect(await Promise.all(hits)).toMatchObject([{ object: id, frame: 2 }, null, { object: id, frame: 3 }]);
    await Promise.all(updates);
  });

  test('does not see transforms before the update() that follows them', async () => {
    const id = service.addObject({ ...BOX, matrix: at(0) });
    worker.hold();
    const first = service.update();
    service.setTransform(id, at(1));
    const second = service.update();
    service.setTransform(id, at(2));
    await worker.letGo();
    await Promise.all([first, second]);
    expect(await service.raycast(down(1))).toMatchObject({ object: id });
    await service.update();
    expect(await service.raycast(down(2))).toMatchObject({ object: id });
  });

  test('gets an object before its transforms, in a frame that is joined too', async () => {
    const a = service.addObject({ ...BOX, matrix: at(0) });
    worker.hold();
    const updates = [service.update(), service.update()];
    const b = service.addObject({ ...BOX, matrix: at(100) });
    service.setTransform(b, at(5));
    updates.push(service.update());
    await worker.letGo();
    const [, , joined] = await Promise.all(updates);
    expect(visible(joined)).toEqual([a, b]);
    expect(await service.raycast(down(5))).toMatchObject({ object: b });
  });

  test('keeps a frame as it was when the commands behind it are not followed by update()', async () => {
    const a = service.addObject({ ...BOX, matrix: at(0) });
    worker.hold();
    const updates = [service.update(), service.update()];
    service.removeObject(a);
    service.addObject({ ...BOX, matrix: at(5) });
    const hit = service.raycast(down(0));
    await worker.letGo();
    const [, second] = await Promise.all(updates);
    expect(visible(second)).toEqual([a]);
    expect(await hit).toBeNull();
  });

  test('never shows a removed object under the id of a new one', async () => {
    const a = service.addObject({ ...BOX, matrix: at(0) });
    await service.update();
    worker.hold();
    const updates = [service.update()];
    service.setTransform(a, at(7));
    updates.push(service.update());
    service.removeObject(a);
    const b = service.addObject({ ...BOX, matrix: at(3) });
    expect(b).not.toBe(a);
    updates.push(service.update());
    await worker.letGo();
    expect(visible((await Promise.all(updates))[2])).toEqual([b]);
    expect(await service.raycast(down(3))).toMatchObject({ object: b });
    expect(await service.raycast(down(7))).toBeNull();
  });

  test('keeps the mesh of a question until that is answered, whatever frames are joined behind its removal', async () => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
    const mesh = await service.addMesh(boxMesh(1, 1, 1));
    const box = service.addObject(BOX);
    worker.hold();
    const results = [service.update(), service.update()];
    const asked = service.overlap({ type: 'mesh', mesh, solid: true });
    service.removeMesh(mesh);
    results.push(service.update());
    await worker.letGo();
    await Promise.all(results);
    expect([...(await asked)]).toEqual([box]);
    expect([...(await service.overlap({ type: 'sphere', radius: 1 }))]).toEqual([box]);
    service.dispose();
  });

  test('names views as they were when the frame was asked for', async () => {
    const a = service.addObject(BOX);
    service.setView(EVERYTHING, 'old');
    await service.update();
    worker.hold();
    const [first, second] = [service.update(), service.update()];
    service.removeView('old');
    for (let i = 0; i < 62; i++) service.setView(EVERYTHING, `view ${i}`);
    service.setView({ ...EVERYTHING, layers: 2 }, 'new'); // in the slot that was freed
    await worker.letGo();
    expect([...(await first).views.keys()]).toEqual(['main', 'old']);
    expect([...(await second).views.keys()]).toEqual(['main', 'old']);
    const { views } = await service.update();
    expect(views.size).toBe(64);
    expect(views.get('new')?.ids.length).toBe(0);
    expect([...(views.get('view 7')?.ids ?? [])]).toEqual([a]);
  });
});

test('setObject with a matrix wins over an older transform, and loses to a newer one', async () => {
  const id = service.addObject(BOX);
  service.setTransform(id, at(1));
  service.setObject(id, { matrix: at(2) });
  expect(await service.raycast(down(2))).toMatchObject({ object: id });
  await service.update();
  expect(await service.raycast(down(2))).toMatchObject({ object: id });
  service.setObject(id, { matrix: at(3) });
  service.setTransforms(Uint32Array.of(id), new Float32Array(at(4)));
  await service.update();
  expect(await service.raycast(down(4))).toMatchObject({ object: id });
});

test('many objects that are added one by one, some alike, keep their places and options', async () => {
  const ids = Array.from({ length: 300 }, (_, i) =>
    service.addObject({ ...BOX, matrix: at(i), layers: i % 7 === 0 ? 2 : 1 }),
  );
  const unplaced = service.addObject(BOX);
  service.setTransform(unplaced, at(-5));
  service.addInstances({ ...BOX, matrix: at(0, 50) }, 10);
  await service.update();
  for (const i of [0, 1, 6, 7, 8, 250, 252, 299]) {
    const hit = await service.raycast(down(i), { layers: i % 7 === 0 ? 2 : 1 });
    expect(hit?.object).toBe(ids[i]);
  }
  expect(await service.raycast(down(-5))).toMatchObject({ object: unplaced });
  const { visible } = await service.update();
  expect(visible.ids.length).toBe(311);
});

describe('frame buffers', () => {
  test('are recycled, both ways', async () => {
    const ids = service.addInstances(BOX, 2000);
    const matrices = new Float32Array(16 * ids.length);
    for (let i = 0; i < ids.length; i++) matrices.set(at(2 * i), 16 * i);
    let warm = 0;
    for (let frame = 0; frame < 200; frame++) {
      service.setTransforms(ids, matrices);
      for (let i = 0; i < 100; i++) service.setTransform(ids[i], at(2 * i, 0, frame));
      if (frame % 3 === 0) service.update().catch(() => {});
      await service.update();
      if (frame === 10) warm = service.stats.frameBuffers;
    }
    expect(service.stats.frameBuffers).toBe(warm);
    expect(warm).toBeLessThan(16);
  });

  test('a result holds until the next one, and its copy for ever', async () => {
    const id = service.addObject(BOX);
    const first = await service.update();
    const { visible } = first;
    const copy = first.copy();
    const second = await service.update();
    expect([...visible.ids]).toEqual([id]); // not sent yet
    await service.update();
    expect(visible.ids.length).toBe(0);
    expect(() => first.rejected).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
    expect([...copy.visible.ids]).toEqual([id]);
    expect([copy.frame, second.frame]).toEqual([1, 2]);
    expect(copy.contacts.count).toBe(0);
    expect([...copy.contacts]).toEqual([]);
  });
});

test(`random structure and random delays: each frame shows what was alive when it was asked for, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const alive = new Map<number, number>();
  let place = 0;
  const sorted = () => [...alive.keys()].sort((a, b) => a - b);
  const shown = async (update: Promise<FrameResult>) => {
    const result = await update;
    return { frame: result.frame, ids: visible(result) };
  };
  const asked: { shown: ReturnType<typeof shown>; alive: number[] }[] = [];
  for (let step = 0; step < 3000; step++) {
    const roll = random.next();
    if (roll < 0.3) {
      alive.set(service.addObject({ ...BOX, matrix: at(place) }), place++);
    } else if (roll < 0.45 && alive.size > 0) {
      const id = random.pick([...alive.keys()]);
      service.removeObject(id);
      alive.delete(id);
    } else if (roll < 0.65 && alive.size > 0) {
      const id = random.pick([...alive.keys()]);
      service.setTransform(id, at(place));
      alive.set(id, place++);
    } else if (roll < 0.85) {
      asked.push({ shown: shown(service.update()), alive: sorted() });
    } else if (roll < 0.95) {
      service.raycast(down(random.integer(place + 1))).catch(() => {});
    } else if (random.chance(0.5)) {
      worker.hold();
    } else {
      await worker.letGo();
      await service.raycast(down(0)); // waits for all frames before it
    }
  }
  await worker.letGo();
  const newest = new Map<number, { shown: number[]; alive: number[] }>();
  for (const { shown, alive } of asked) newest.set((await shown).frame, { shown: (await shown).ids, alive });
  expect(newest.size).toBeGreaterThan(50);
  for (const { shown, alive } of newest.values()) expect(shown).toEqual(alive);
  const final = await service.update();
  expect(visible(final)).toEqual(sorted());
  for (const [id, x] of alive) expect(await service.raycast(down(x))).toMatchObject({ object: id });
  expect(service.stats).toMatchObject({ objects: alive.size, pending: 0, queueDepth: 0 });
});
