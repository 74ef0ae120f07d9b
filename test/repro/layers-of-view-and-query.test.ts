// The layers of a view and of a query of it were merged into one mask: an object in a layer of each was not seen.
import { createCollisionService } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';

test('an object in a layer of the view and in another one of the query is seen', async () => {
  const service = await createCollisionService();
  const projection = new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements;
  const view = { projection, view: new Matrix4().elements, viewport: { width: 1, height: 1 }, layers: 1 };
  const matrix = new Matrix4().makeTranslation(0, 0, -10).elements;
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 }, matrix, layers: 3 });
  for (const precision of ['sphere', 'aabb', 'obb', 'mesh'] as const) {
    expect([...(await service.frustum(view, { layers: 2, precision })).ids]).toEqual([id]);
    expect([...(await service.frustum(view, { layers: 4, precision })).ids]).toEqual([]);
  }
  service.dispose();
});
