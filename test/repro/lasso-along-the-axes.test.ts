// A polygon whose edges are its own bounds: on a bound that is also
// an edge nothing is inside, and whatever crossed it was missed.
import { createCollisionService } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';

test('a rectangle given as a polygon touches what crosses its edge', async () => {
  const service = await createCollisionService();
  const projection = new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements;
  const view = new Matrix4().makeTranslation(0, 0, -10).elements;
  service.setView({ projection, view, viewport: { width: 100, height: 100 } });
  const found: boolean[] = [];
  for (let i = 0; i < 40; i++) {
    const matrix = new Matrix4().makeTranslation(1.9 + i / 100, 0.37, i / 7 - 3).elements;
    const id = service.addObject({ shape: { type: 'sphere', radius: 1 }, matrix });
    // Up to x = 1.5 in the world.
    found.push((await service.pickRegion(Float32Array.of(30, 20, 65, 20, 65, 80, 30, 80))).includes(id));
    service.removeObject(id);
  }
  expect(found).toEqual(found.map(() => true));
  service.dispose();
});
