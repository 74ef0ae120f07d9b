// sweepAll of a sphere or capsule skipped hits behind the first object, because oriented bounds were only compared as far as the
// path led to that one; and in another tree, whatever the shape was.
import { createCollisionService, type Shape } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, onTestFinished, test } from 'vitest';

const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const box = { type: 'box', halfExtents: [0.5, 0.5, 0.5] } as const;
const shapes: Record<string, Shape> = {
  'a sphere': { type: 'sphere', radius: 0.5 },
  'a capsule': { type: 'capsule', radius: 0.5, from: [0, -1, 0], to: [0, 1, 0] },
  'a box': box,
};

test.each(Object.entries(shapes))('%s meets moving and static boxes in a row', async (_, shape) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const ids = [2, 4, 6, 8, 10, 12].map((x, i) => {
    return service.addObject({ shape: box, matrix: at(x), motion: i % 2 === 0 ? 'static' : 'moving' });
  });
  await service.update();
  const hits = await service.sweepAll(shape, at(0), at(20));
  expect(hits.map(({ object }) => object)).toEqual(ids);
  for (const [i, { time, depth }] of hits.entries()) {
    expect(time).toBeCloseTo((2 * i + 1) / 20, 9);
    expect(depth).toBe(0);
  }
});
