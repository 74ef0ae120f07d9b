// Picks waited until a frame had examined all of its pairs, however many triangles these had.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { dragon } from '../oracle/dragon.js';

test('rays are answered in the midst of a frame, and see its transforms', async () => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const mesh = await service.addMesh(dragon(47794));
  service.addObject({ shape: { type: 'mesh', mesh } });
  const matrix = new Matrix4();
  const boxes = Array.from({ length: 60 }, (_, i) =>
    service.addObject({
      shape: { type: 'box', halfExtents: [0.05, 0.05, 0.05], center: [-0.02, 0.12 + 1e-4 * i, 0] },
      matrix: matrix.makeTranslation(5, 0, 0).elements,
      group: 1,
    }),
  );
  await service.update();
  for (const id of boxes) service.setTransform(id, matrix.identity().elements);
  const update = () => service.update();
  const { answer, answered } = await worker.answeredWithin(60, update, async () => {
    const hit = await service.raycast({ origin: [-0.02, 0.12, 1], direction: [0, 0, -1] });
    expect(boxes).toContain(hit?.object);
    expect(hit?.frame).toBe(2);
  });
  expect(answered).toBe(60);
  expect(answer.contacts.count).toBe(boxes.length);
  const { ms } = answer;
  expect(ms.total).toBeCloseTo(ms.update + ms.cull + ms.contacts + ms.answer, 1);
  expect(ms.contacts).toBeCloseTo(ms.broadPhase + ms.narrowPhase, 6);
  service.dispose();
});

test('what changes the scene waits for the frame, and queries behind it see that', async () => {
  const service = await createCollisionService();
  const mesh = await service.addMesh(dragon(47794));
  service.addObject({ shape: { type: 'mesh', mesh } });
  const addBox = () =>
    service.addObject({
      shape: { type: 'box', halfExtents: [0.05, 0.05, 0.05], center: [-0.02, 0.12, 0] },
      group: 1,
    });
  const boxes = Array.from({ length: 60 }, addBox);
  const update = service.update();
  for (const id of boxes) service.removeObject(id);
  const last = addBox();
  const hit = await service.raycast({ origin: [-0.02, 0.12, 1], direction: [0, 0, -1] });
  expect(hit?.object).toBe(last);
  expect((await update).contacts.count).toBe(boxes.length);
  expect((await service.update()).contacts.count).toBe(1);
  service.dispose();
});
