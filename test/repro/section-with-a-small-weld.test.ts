// With a tolerance that is small relative to the object, there were too many cells to number, and those beyond a million were
// one: each open end of 200,000 triangles was compared with a quarter of them all, for minutes, and in pieces of a second.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

test(`open ends are few in a cell, however small the tolerance is, seed ${SEED}`, async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const random = new Random(SEED);
  const COUNT = 130_000;
  const positions = new Float32Array(9 * COUNT);
  for (let i = 0; i < 9 * COUNT; i += 9) {
    const [x, y] = [random.range(-5, 5), random.range(-5, 5)];
    positions.set([x, y, -1, x + 0.01, y, 1, x, y + 0.01, 1], i);
  }
  const indices = Uint32Array.from({ length: 3 * COUNT }, (_, i) => i);
  const mesh = await service.addMesh({ positions, indices }, { quality: 'fast' });
  service.addObject({ shape: { type: 'mesh', mesh } });
  for (const weld of [1e-9, 1e-300]) {
    const { closed } = await service.section([0, 0, 1, 0], { weld });
    expect(closed.length).toBe(COUNT);
  }
});
