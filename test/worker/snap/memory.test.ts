// What picks and features take in the core is given back, and features that go are kept for the picks that read them.
import { type CollisionService, createCollisionService, type MeshHandle } from 'collision-worker';
import { BoxGeometry, Matrix4, OrthographicCamera } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { trianglesOf } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const OBJECTS = 20_000;
const CUBE = trianglesOf(new BoxGeometry(1, 1, 1, 3, 3, 3));

/** Objects about the cursor that hide one another: so many that a pick rests. `mesh`: of which they are; else boxes. */
function pile(service: CollisionService, mesh?: MeshHandle): Uint32Array {
  const camera = new OrthographicCamera(-200, 200, 150, -150, 1, 100);
  camera.position.set(0, 0, 50);
  camera.updateMatrixWorld();
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { x: 0, y: 0, width: 400, height: 300 },
  });
  const random = new Random(SEED);
  const shape = mesh ? ({ type: 'mesh', mesh } as const) : ({ type: 'box', halfExtents: [0.5, 0.5, 0.5] } as const);
  return Uint32Array.from({ length: OBJECTS }, () =>
    service.addObject({ shape, matrix: new Matrix4().setPosition(random.point(9)).elements, contacts: 'none' }),
  );
}

async function start(): Promise<CollisionService> {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  return service;
}

const snapOf = (service: CollisionService, signal = new AbortController().signal) =>
  service.pick(200, 150, { snap: ['vertex', 'edge'], radius: 10, signal });

const addCube = (service: CollisionService) =>
  service.addMesh({ positions: CUBE.positions.slice(), indices: CUBE.indices.slice() }, { features: true });

async function usedBytes(service: CollisionService): Promise<number> {
  await service.update();
  return service.stats.usedBytes;
}

test(`picks that are dropped in the midst of their slices take nothing for good, seed ${SEED}`, async () => {
  const service = await start();
  pile(service);
  await service.update();
  await Promise.all([snapOf(service), snapOf(service)]);
  const before = await usedBytes(service);
  for (let i = 0; i < 10; i++) {
    const controller = new AbortController();
    const gone = snapOf(service, controller.signal);
    await service.pick(10, 10); // which is answered while the other one rests
    controller.abort();
    await expect(gone).rejects.toMatchObject({ code: 'ABORTED' });
  }
  await snapOf(service);
  expect(await usedBytes(service)).toBe(before);
});

test('features go with their mesh', async () => {
  const service = await start();
  const ids = pile(service, await addCube(service));
  await service.update();
  await snapOf(service);
  service.removeObjects(ids.subarray(1));
  const before = await usedBytes(service);
  for (let i = 0; i < 5; i++) {
    const mesh = await addCube(service);
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    expect((await snapOf(service))?.snap).toBeTruthy();
    service.removeObject(id);
    service.removeMesh(mesh);
  }
  expect(await usedBytes(service)).toBe(before);
});

test(`a pick snaps to what it saw, where the mesh goes meanwhile and others come, seed ${SEED}`, async () => {
  const service = await start();
  const mesh = await addCube(service);
  const ids = pile(service, mesh);
  await service.update();
  const alone = await snapOf(service);
  expect(alone?.snap).toBeTruthy();
  const last = snapOf(service);
  await service.pick(10, 10);
  service.removeObjects(ids);
  service.removeMesh(mesh);
  const others = await Promise.all(Array.from({ length: 20 }, () => addCube(service)));
  expect(others).toHaveLength(20);
  const { snap, frame } = (await last)!;
  expect(ids).toContain(snap!.object);
  expect(snap!.kind).toBe(alone!.snap!.kind);
  expect(frame).toBe(alone!.frame);
});
