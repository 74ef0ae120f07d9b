// What happens when the memory of a service's worker cannot grow any more: the call fails, and nothing else does.
import {
  type CollisionService,
  type CollisionServiceOptions,
  createCollisionService,
  type MeshId,
  type ObjectOptions,
} from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, describe, expect, test } from 'vitest';
import { bake, startCore } from '../fixtures/core.js';
import { stackOf, VIEW } from '../fixtures/full-memory.js';
import { createLimitedWorker } from '../fixtures/limited-memory.js';
import { icosphere, soup } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

describe('a service that runs out of memory', () => {
  const MEGABYTES = 16;
  const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [1, 1, 1] }, contacts: 'none' };
  const RAY = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;
  const refused = (message: RegExp) =>
    expect.objectContaining({ code: 'OUT_OF_MEMORY', message: expect.stringMatching(message) });

  const started: CollisionService[] = [];
  afterEach(() => {
    for (const service of started.splice(0)) service.dispose();
  });

  /** A service with a ball in front, and almost no memory left: `ballast` are meshes that fill it. */
  async function start(options: CollisionServiceOptions = {}) {
    const createWorker = () => createLimitedWorker((MEGABYTES * 2 ** 20) / 65536);
    const service = await createCollisionService({ ...options, createWorker });
    started.push(service);
    const ball = service.addObject({ shape: { type: 'mesh', mesh: await service.addMesh(icosphere(1, 3)) } });
    service.setView(VIEW);
    await service.update();
    const hit = await service.raycast(RAY);
    expect(hit?.object).toBe(ball);

    async function fill(triangles: number): Promise<MeshId[]> {
      const mesh = bake(await startCore(), soup(new Random(SEED), triangles, 1, 1));
      const meshes: MeshId[] = [];
      for (;;) {
        try {
          meshes.push(await service.addMesh(mesh));
        } catch (error) {
          expect(error).toEqual(refused(/^addMesh: /));
          return meshes;
        }
      }
    }
    /** Expects everything to be there still. */
    async function expectWell(frame: number) {
      expect(await service.raycast(RAY)).toEqual({ ...hit, frame });
      expect(service.stats.pending).toBe(0);
    }
    const remove = (meshes: MeshId[]) => {
      for (const mesh of meshes) service.removeMesh(mesh);
    };
    return { service, ball, fill, remove, expectWell };
  }

  test.each([0, 1])('building, with %i builders', async (builders) => {
    const { service, fill, remove, expectWell } = await start({ builders });
    const large = icosphere(1, 40);
    const ballast = await fill(builders === 0 ? 10_000 : 3000);
    await expect(service.addMesh(large)).rejects.toEqual(refused(/^addMesh: .*memory/));
    await expectWell(1);
    remove(ballast);
    expect(service.meshInfo(await service.addMesh(large)).triangles).toBe(large.indices.length / 3);
    await expectWell(1);
    // More than a builder's memory.
    await expect(service.addMesh({ positions: new Float32Array(9 * 300_000) })).rejects.toEqual(
      refused(/^addMesh: .*memory/),
    );
    await service.addMesh(icosphere(1, 5));
    await expectWell(1);
  });

  test('adding objects: the next frame tells, and they are not there', async () => {
    const { service, ball, fill, remove, expectWell } = await start();
    const ballast = await fill(3000);
    remove(ballast.splice(-1)); // a frame needs some memory
    const ids = service.addInstances(BOX, 10_000);
    await expect(service.update()).rejects.toEqual(refused(/^update: adding 10000 objects failed before: .*memory/));
    await expectWell(2);
    const { visible } = await service.update();
    expect([...visible.ids]).toEqual([ball]);
    for (const id of ids) service.removeObject(id);
    remove(ballast);
    const again = service.addInstances(BOX, 10_000);
    expect((await service.update()).visible.ids.length).toBe(10_001);
    for (const id of again) service.removeObject(id);
    await service.update();
    await expectWell(5);
  });

  test('all hits of a ray', async () => {
    const { service, fill, remove, expectWell } = await start();
    const count = 20_000;
    const mesh = await service.addMesh({ positions: stackOf(count) });
    const object = service.addObject({
      shape: { type: 'mesh', mesh },
      matrix: new Matrix4().makeTranslation(99, 0, 0).elements,
    });
    const ray = { origin: [99, 0, 10], direction: [0, 0, -1] } as const;
    expect(await service.raycast(ray)).toMatchObject({ object });
    const ballast = [...(await fill(3000)), ...(await fill(100))];
    await expect(service.raycastAll(ray)).rejects.toEqual(refused(/^raycastAll: .*memory/));
    await expectWell(1);
    remove(ballast);
    const hits = await service.raycastAll(ray);
    expect(hits.map(({ triangle }) => triangle)).toEqual(Array.from({ length: count }, (_, i) => i));
    await expectWell(1);
  });

  test('all that meet of the triangles of two meshes', async () => {
    const { service, fill, remove, expectWell } = await start();
    const shape = { type: 'mesh', mesh: await service.addMesh(icosphere(1, 30)) } as const;
    const place = (x: number) => new Matrix4().makeTranslation(99 + x, 0, 0).elements;
    const [a, b] = [0, 0.001].map((x) => service.addObject({ shape, matrix: place(x), contacts: 'none' }));
    expect(await service.contact(a, b, { detail: 'any' })).not.toBeNull();
    const ballast = [...(await fill(3000)), ...(await fill(100))];
    await expect(service.contact(a, b, { detail: 'full' })).rejects.toEqual(refused(/^contact: .*memory/));
    await expectWell(1);
    remove(ballast);
    const contact = (await service.contact(a, b, { detail: 'full' }))!;
    expect(contact.triangles.length).toBeGreaterThan(2000);
    expect(contact.segments.length).toBe(3 * contact.triangles.length);
    await expectWell(1);
  });

  test('what is around a point needs none, where a mesh has not been asked before', async () => {
    const { service, fill, remove, expectWell } = await start();
    const shape = { type: 'mesh', mesh: await service.addMesh(icosphere(1, 30)) } as const;
    const object = service.addObject({ shape, matrix: new Matrix4().makeTranslation(99, 0, 0).elements });
    expect(await service.closestPoint([99, 0, 10])).toMatchObject({ object });
    const ballast = [...(await fill(3000)), ...(await fill(100))];
    expect([...(await service.containing([99, 0.5, 0]))]).toEqual([object]);
    await expectWell(1);
    remove(ballast);
    expect([...(await service.containing([99, 0.5, 0]))]).toEqual([object]);
    await expectWell(1);
  });

  test('what a shape meets, where that is much', async () => {
    const { service, fill, remove, expectWell } = await start();
    const ids = service.addInstances(BOX, 5000);
    await service.update();
    const ballast = [...(await fill(3000)), ...(await fill(100))];
    const ball = { type: 'sphere', radius: 1 } as const;
    await expect(service.overlap(ball)).rejects.toEqual(refused(/^overlap: .*memory/));
    remove(ballast);
    expect((await service.overlap(ball)).length).toBe(ids.length + 1);
    for (const id of ids) service.removeObject(id);
    await service.update();
    await expectWell(3);
  });

  test('a frame: nothing that it said is lost', async () => {
    const { service, ball, fill, remove, expectWell } = await start();
    const ids = service.addInstances(BOX, 5000);
    await service.update();
    const ballast = [...(await fill(3000)), ...(await fill(100))];
    const matrices = new Float32Array(16 * ids.length);
    for (let i = 0; i < ids.length; i++) new Matrix4().makeTranslation(1000 + 4 * i, 0, 0).toArray(matrices, 16 * i);
    service.setTransforms(ids, matrices);
    service.setView({ ...VIEW, view: new Matrix4().makeTranslation(0, 0, -21).elements });
    await expect(service.update()).rejects.toEqual(refused(/^update: .*memory/));
    // The later transform wins, whether or not it fails again.
    const late = new Matrix4().makeTranslation(0, 5, 0).elements;
    service.setTransform(ids[7], late);
    await Promise.allSettled([service.update(), service.update()]);
    remove(ballast);
    const { visible } = await service.update();
    expect([...visible.ids]).toEqual([ball, ids[7]]);
    expect([...visible.left].length).toBe(ids.length - 1);
    expect(await service.raycast({ origin: [1000 + 4 * 99, 0, 10], direction: [0, 0, -1] })).toMatchObject({
      object: ids[99],
      distance: 9,
    });
    expect(await service.pick(50, 50)).toMatchObject({ object: ball, distance: expect.closeTo(20, 12) });
    for (const id of ids) service.removeObject(id);
    await expectWell(service.stats.frames);
  });
});

test('memory of meshes that were removed is used again', async () => {
  const service = await createCollisionService();
  const random = new Random(SEED);
  const core = await startCore();
  const baked = Array.from({ length: 20 }, () => bake(core, soup(random, 100 + random.integer(3000), 1, 1)));
  const [largest] = baked.toSorted((a, b) => b.byteLength - a.byteLength);
  // The first frame leaves an allocation in the midst of free
  // memory, wherever the heap begins; everything behind it has room.
  const comeAndGo = async (meshes: ArrayBuffer[]): Promise<void> => {
    for (const mesh of meshes) service.removeMesh(await service.addMesh(mesh));
    await service.update();
  };
  const many = Array.from({ length: 200 }, (_, i) => baked[i % baked.length]);
  await comeAndGo([largest, largest]);
  await comeAndGo(many);
  const { memoryBytes, usedBytes } = service.stats;
  expect(memoryBytes).toBeLessThan(2 ** 20 + 3 * largest.byteLength);
  await comeAndGo(many);
  await comeAndGo(many);
  expect(service.stats).toMatchObject({ memoryBytes, usedBytes, meshes: 0, triangles: 0 });
  service.dispose();
});
