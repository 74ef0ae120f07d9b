// A tie between triangles was decided against the last hit even if that was one of another ray: a hit at exactly
// tMax was lost if the previous ray had ended at the same distance on a triangle with a lower index.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';

test('a ray that ends on a triangle hits it, whatever the ray before has hit', async () => {
  const service = await createCollisionService();
  const left = [-2, -1, 0, 0, -1, 0, -1, 1, 0];
  const right = [0, -1, 0, 2, -1, 0, 1, 1, 0];
  const mesh = await service.addMesh({ positions: new Float32Array([...left, ...right]) });
  service.addObject({ shape: { type: 'mesh', mesh } });
  const ray = (x: number) => ({ origin: [x, 0, 5], direction: [0, 0, -1], tMax: 5 }) as const;
  expect(await service.raycast(ray(-1))).toMatchObject({ triangle: 0, distance: 5 });
  expect(await service.raycast(ray(1))).toMatchObject({ triangle: 1, distance: 5 });
  service.dispose();
});
