// A frame that was refused before it began took the moves of its characters along, if they had moved in the frame before it.
import { createCollisionService, type MeshId, type WorkerLike } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { createLimitedWorker } from '../fixtures/limited-memory.js';
import { icosphere } from '../oracle/meshes.js';

const capsule = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;
const unseen = { layers: 0, collidesWith: 0, contacts: 'none', cullable: false } as const;

test('a character makes the moves of a frame that was behind a command without memory', async () => {
  const createWorker = () => createLimitedWorker(100) as unknown as WorkerLike;
  const service = await createCollisionService({ createWorker, builders: 0 });
  onTestFinished(() => service.dispose());
  const hero = service.createCharacter({ shape: capsule });
  hero.move([1, 0, 0]);
  await service.update();
  expect(hero.state.position[0]).toBeCloseTo(1);
  const crowd = service.addInstances({ shape: { type: 'sphere', radius: 1 }, ...unseen }, 40_000);
  hero.move([1, 0, 0]);
  await expect(service.update()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  service.removeObjects(crowd);
  await service.update();
  expect(hero.state.position[0]).toBeCloseTo(2);
});

test('a character makes the moves of a frame that was larger than the memory', async () => {
  const createWorker = () => createLimitedWorker(150) as unknown as WorkerLike;
  const service = await createCollisionService({ createWorker, builders: 1 });
  onTestFinished(() => service.dispose());
  const hero = service.createCharacter({ shape: capsule });
  const meshes: MeshId[] = [];
  while (service.stats.usedBytes < 7e6) {
    meshes.push(await service.addMesh(icosphere(1, 25)));
    await service.update();
  }
  const box = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, ...unseen });
  hero.move([1, 0, 0]);
  await service.update();
  const copies = 30_000;
  const matrices = new Float64Array(16 * copies);
  for (let i = 0; i < copies; i++) new Matrix4().makeTranslation(0, 50, 0).toArray(matrices, 16 * i);
  service.setTransforms(new Uint32Array(copies).fill(box), matrices);
  hero.move([1, 0, 0]);
  await expect(service.update()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  for (const mesh of meshes) service.removeMesh(mesh);
  await service.update();
  expect(hero.state.position[0]).toBeCloseTo(2);
});
