// Two contact curves on the same large triangles were taken for one if neighbouring triangles of the other mesh were
// cut too, each by its own curve and far from their common edge.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { lShape } from '../oracle/lumps.js';
import { boxMesh } from '../oracle/meshes.js';

test('each leg of an angle that stands in a plate is a region', async () => {
  const service = await createCollisionService();
  const plate = await service.addMesh(boxMesh(20, 2, 20));
  const legs = await service.addMesh(lShape(2));
  service.addObject({ shape: { type: 'mesh', mesh: plate }, contacts: 'manifold' });
  // Relative to its centre, the ends of the legs are at (1, 0) and (0, 1).
  const down = new Matrix4().makeRotationZ((-3 * Math.PI) / 4);
  const matrix = new Matrix4().makeTranslation(-3, 1 + Math.SQRT1_2 - 0.1, 4).multiply(down);
  service.addObject({ shape: { type: 'mesh', mesh: legs }, matrix: matrix.elements, contacts: 'manifold' });
  const [{ depths, points }] = (await service.update()).contacts;
  expect(depths.length).toBe(8);
  for (const depth of depths) expect(depth).toBeCloseTo(0.1, 5);
  const across = Array.from(depths, (_, i) => points[3 * i] + 3);
  expect(across.slice(0, 4).every((x) => x < 0) || across.slice(0, 4).every((x) => x > 0)).toBe(true);
  expect(across.filter((x) => x > 0).length).toBe(4);
  service.dispose();
});
