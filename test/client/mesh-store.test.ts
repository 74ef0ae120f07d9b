// What the client keeps of meshes: their numbers, and what the next worker is sent.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';

const FORWARD = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;

let service: CollisionService;
let worker: HeldWorker;
beforeEach(async () => {
  const createWorker = () => {
    worker = new HeldWorker();
    return worker;
  };
  service = await createCollisionService({ createWorker, builders: 0 });
});
afterEach(() => service.dispose());

test('the counts are the sums over the meshes that there are', async () => {
  const meshes = [await service.addMesh(icosphere(1, 3)), await service.addMesh(boxMesh(1, 2, 3))];
  const expectSums = () => {
    const infos = meshes.map((mesh) => service.meshInfo(mesh));
    const sum = (of: 'triangles' | 'bytes') => infos.reduce((total, info) => total + info[of], 0);
    expect(service.stats).toMatchObject({
      ...{ meshes: meshes.length, triangles: sum('triangles'), meshBytes: sum('bytes') },
    });
  };
  expectSums();
  expect(service.stats.meshBytes).toBeGreaterThan(0);
  meshes.push(await service.addMesh(icosphere(2, 5)));
  expectSums();
  service.removeMesh(meshes.shift()!);
  expectSums();
  for (const mesh of meshes.splice(0)) service.removeMesh(mesh);
  expectSums();
});

test('nothing is counted after the end', async () => {
  await service.addMesh(icosphere(1, 3));
  service.dispose();
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0, triangles: 0, meshBytes: 0, bytesPerTriangle: 0 });
});

test('a mesh that is aborted while the worker loads it leaves nothing in the worker', async () => {
  const baked = await service.bakeMesh(await service.addMesh(icosphere(1, 12)));
  await service.update();
  await service.update();
  const { usedBytes } = service.stats;
  for (let i = 0; i < 3; i++) {
    const controller = new AbortController();
    const added = service.addMesh(baked, { signal: controller.signal });
    // In the message that is sent behind the call.
    while (worker.sent.at(-1) !== 'call') await Promise.resolve();
    controller.abort();
    await expect(added).rejects.toMatchObject({ code: 'ABORTED' });
    // In order: a query sees all commands before it.
    await service.raycast(FORWARD);
  }
  await service.update();
  await service.update();
  expect(service.stats).toMatchObject({ meshes: 1, usedBytes });
});

test('a baked mesh that is refused for its boxes leaves nothing in the worker', async () => {
  const positions = Float32Array.from({ length: 3000 }, (_, i) => (7919 * i) % 101);
  const baked = await service.bakeMesh(await service.addMesh({ positions, topology: 'points' }));
  await service.update();
  await service.update();
  const { usedBytes } = service.stats;
  const boxes = [{ name: 'box', center: [0, 0, 0], halfExtents: [1, 1, 1] }] as const;
  for (let i = 0; i < 3; i++) {
    await expect(service.addMesh(baked, { boxes: [...boxes] } as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/boxes .* none for a mesh of points/),
    });
  }
  await service.update();
  await service.update();
  expect(service.stats).toMatchObject({ meshes: 1, usedBytes });
});

test('what the core takes is known from the start', () => {
  expect(service.stats.memoryBytes).toBeGreaterThan(0);
  expect(service.stats.usedBytes).toBeGreaterThan(0);
});

test('what cannot be transferred is refused, and stays', async () => {
  // As browsers do for a WebAssembly memory; Node copies it instead.
  vi.stubGlobal('structuredClone', () => {
    throw new DOMException('An ArrayBuffer could not be cloned.', 'DataCloneError');
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  await expect(service.addMesh({ positions }, { transfer: true })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/cannot be transferred.*could not be cloned/),
  });
  expect(positions).toHaveLength(9);
  expect(await service.addMesh({ positions })).toBeGreaterThan(0);
});

test('a tree that was built anew is counted, and is that of the next worker', async () => {
  const mortal = await KillableService.create();
  const own = mortal.service;
  // The second triangle has an area only once it has moved: the existing tree has no place for it.
  const floor = [-2, -2, 0, 2, -2, 0, 0, 3, 0];
  const mesh = await own.addMesh({ positions: new Float32Array([...floor, -1, -1, 1, 0, 0, 1, 1, 1, 1]) });
  const object = own.addObject({ shape: { type: 'mesh', mesh } });
  expect(own.meshInfo(mesh)).toMatchObject({ rebuilds: 0, degenerate: 1 });
  for (const z of [1, 2]) {
    // The second time, the first triangle loses its area, which takes no new tree.
    const roof = [-1, -1, z, 1, -1, z, 0, 2, z];
    await own.updateMesh(mesh, new Float32Array([...(z === 1 ? floor : [0, 0, 0, 1, 1, 0, 2, 2, 0]), ...roof]));
    expect(own.meshInfo(mesh)).toMatchObject({ rebuilds: 1, degenerate: z - 1 });
    expect(await own.raycast(FORWARD)).toMatchObject({ object, distance: 10 - z, triangle: 1 });
    await mortal.kill();
    expect(await own.raycast(FORWARD)).toMatchObject({ object, distance: 10 - z, triangle: 1 });
  }
  expect(mortal.events).toEqual(['lost', 'restored', 'lost', 'restored']);
});

test('an object tells its mesh, and null where its shape is none', async () => {
  const [first, second] = [await service.addMesh(icosphere(1, 3)), await service.addMesh(boxMesh(1, 2, 3))];
  const object = service.addObject({ shape: { type: 'mesh', mesh: first } });
  const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  expect(service.meshOf(object)).toBe(first);
  expect(service.meshOf(ball)).toBe(null);
  service.setObject(object, { shape: { type: 'mesh', mesh: second } });
  expect(service.meshOf(object)).toBe(second);
  service.setObject(object, { shape: { type: 'box', halfExtents: [1, 1, 1] } });
  expect(service.meshOf(object)).toBe(null);
  service.removeObject(object);
  expect(() => service.meshOf(object)).toThrowError(expect.objectContaining({ code: 'UNKNOWN_ID' }));
});
