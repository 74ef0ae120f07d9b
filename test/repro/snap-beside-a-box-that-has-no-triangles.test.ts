// A pick that hit nothing and snapped to a box had barycentric weights, though the box has no triangles.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { PIXEL_VIEW } from '../fixtures/pixel-view.js';
import { boxMesh } from '../oracle/meshes.js';

test('weights of corners are zeros where there is no triangle, and sum up to 1 where there is one', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  service.setView(PIXEL_VIEW);
  const beside = () => service.pick(200 + 10 + 3, 150 - 10 - 4, { snap: ['vertex'], radius: 8 });
  const box = service.addObject({ shape: { type: 'box', halfExtents: [10, 10, 10] }, contacts: 'none' });
  await service.update();
  expect(await beside()).toMatchObject({
    ...{ object: box, triangle: -1, element: -1, barycentric: [0, 0, 0], bone: -1 },
    snap: { kind: 'vertex', point: [10, 10, 10], pixels: expect.closeTo(5, 9) },
  });
  const mesh = await service.addMesh(boxMesh(20, 20, 20));
  service.setObject(box, { shape: { type: 'mesh', mesh } });
  await service.update();
  const hit = (await beside())!;
  expect(hit.triangle).toBeGreaterThanOrEqual(0);
  expect(hit.barycentric.reduce((sum, each) => sum + each)).toBeCloseTo(1, 12);
});
