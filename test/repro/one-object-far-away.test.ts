// One object at 10²⁰ put all others into one cell of the octree: a frame tested every pair of them.

import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';
import { Random } from '../oracle/random.js';

const COUNT = 4000;

test.each(['moving', 'static'] as const)(
  'cells of %s objects are small, however far away another one is',
  async (motion) => {
    const service = await createCollisionService();
    const random = new Random(1);
    const shape = { type: 'sphere', radius: 0.4 } as const;
    const at = (x: number, y: number, z: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
    for (const far of [1e12, 1e20, 1e25]) service.addObject({ shape, motion, matrix: at(far, 0, 0) });
    const place = () => at(random.next() * 1000, random.next() * 1000, random.next() * 1000);
    for (let i = 0; i < COUNT; i++) service.addObject({ shape, motion, matrix: place() });
    await service.update();
    const { cells } = await service.inspect({ octree: true });
    expect(Math.max(...cells!.counts)).toBeLessThan(100);
    service.dispose();
  },
);
