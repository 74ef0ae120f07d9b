// Float32 bounds overflowed for an object beyond the range of float32,
// and with them the root of the tree: no ray hit anything any more.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';

test.each([1e31, 1e39, 1e100])('an object %d units away leaves all others where they are', async (far) => {
  const service = await createCollisionService();
  const box = { type: 'box', halfExtents: [1, 1, 1] } as const;
  const near = service.addObject({ shape: box });
  const other = service.addObject({ shape: box, matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1.5, 0, 0, 1] });
  const away = service.addObject({ shape: box, matrix: [far, 0, 0, 0, 0, far, 0, 0, 0, 0, far, 0, 0, 0, -3 * far, 1] });
  service.setView({
    projection: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -0.2, 0],
    view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1],
    viewport: { width: 100, height: 100 },
  });
  const { contacts, visible } = await service.update();
  expect(Array.from(contacts, ({ a, b }) => [a, b])).toEqual([[near, other]]);
  expect([...visible.ids].sort((a, b) => a - b)).toEqual([near, other, away]);
  expect(await service.raycast({ origin: [0, 0, 5], direction: [0, 0, -1] })).toMatchObject({
    object: near,
    distance: 4,
  });
  const beyond = await service.raycast({ origin: [9, 0, 5], direction: [0, 0, -1] });
  expect(beyond?.object).toBe(away);
  expect(beyond?.distance).toBeCloseTo(2 * far, -Math.log10(far) + 6);
  service.dispose();
});
