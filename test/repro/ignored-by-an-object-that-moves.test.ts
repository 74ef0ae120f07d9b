// An object that was swept, or placed, with more than some 120,000 others to ignore ended in a RangeError: the stack was full.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';

const MANY = 150_000;

test('an object that is swept and placed ignores very many others', async () => {
  const service = await createCollisionService();
  const crowd = Array.from(service.addInstances({ shape: { type: 'sphere', radius: 1 } }, MANY));
  const from = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const to = from.with(12, 9);
  const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  const wall = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1], center: [6, 0, 0] } });
  expect((await service.sweep(ball, from, to, { ignore: crowd }))?.object).toBe(wall);
  const { objects } = await service.place(ball, to.with(12, 4.5), { ignore: crowd });
  expect(Array.from(objects)).toEqual([wall]);
  service.dispose();
});
