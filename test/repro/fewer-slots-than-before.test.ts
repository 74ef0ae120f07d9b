// A query of a view kept bits of more objects than it cleared: if a lost worker had far more objects than the next one,
// `frustum` with occlusion returned ids that never existed, read from behind a bitmap.
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { icosphere } from '../oracle/meshes.js';

test('what a view sees and what is occluded in a worker that has fewer objects than the last one had', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const camera = new OrthographicCamera(-50, 50, 50, -50, 0.1, 100);
  camera.position.z = 10;
  camera.updateMatrixWorld();
  const view = {
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { width: 100, height: 100 },
  };
  service.setView(view);
  const add = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      service.addObject({
        shape: { type: 'box', halfExtents: [0.2, 0.2, 0.2] },
        matrix: new Matrix4().makeTranslation((i % 80) - 40, Math.floor(i / 80) - 30, 0).elements,
        contacts: 'none',
      }),
    );
  const ids = add(4000);
  expect((await service.update()).views.get('main')!.ids.length).toBe(ids.length);
  const restored = mortal.kill();
  for (const id of ids) service.removeObject(id);
  await restored;
  // Reused memory is not cleared.
  const { positions, indices } = icosphere(1, 5);
  const meshes = await Promise.all(Array.from({ length: 4 }, () => service.addMesh({ positions, indices })));
  for (const mesh of meshes) service.removeMesh(mesh);
  const left = new Set(add(1100));
  expect((await service.frustum('main')).ids.length).toBe(left.size);
  for (const precision of ['mesh', 'obb'] as const) {
    const seen = await service.frustum({ ...view, occlusion: true }, { precision });
    expect(seen.ids.length + seen.occluded.length, precision).toBe(left.size);
    const others = [...seen.ids, ...seen.occluded, ...seen.occluders].filter((id) => !left.has(id));
    expect(others, precision).toEqual([]);
  }
  service.dispose();
});
