// The oriented boxes of two meshes were compared without regard to rounding: if these only just touched, the meshes
// might touch as well, and the pair was missed.
import { createCollisionService, type Shape } from 'collision-worker';
import { expect, test } from 'vitest';

test('triangles in one plane that share a corner are in contact', async () => {
  const service = await createCollisionService();
  const triangle = async (...positions: number[]): Promise<Shape> => ({
    type: 'mesh',
    mesh: await service.addMesh({ positions: new Float32Array(positions) }),
  });
  service.addObject({ shape: await triangle(-3, -1, 1, 1, -3, 1, 4, -2, 1) });
  service.addObject({ shape: await triangle(-4, -1, 1, -3, -1, 1, -4, 1, 1) });
  expect((await service.update()).contacts.count).toBe(1);
  service.dispose();
});
