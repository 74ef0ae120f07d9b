// A weld distance that is wrong by a unit of length puts most vertices into a few cells. If two of these had no vertices near
// each other, all pairs were compared, in one step that nothing interrupts: 38 s for 300,000 triangles, and nine times that
// for three times as many.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

const COUNT = 800_000;
const random = new Random(SEED);

test.each([
  // Of cells that share a corner, few vertices are near that corner.
  ['vertices all over the mesh', 50, () => random.range(0, 100)],
  // Each cell has one place, out of reach of the other's.
  ['vertices in two places', 1, (i: number) => (i % 6 === 0 ? 1.2 : 0)],
])(`%s, seed ${SEED}`, async (_, weld, coordinate) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const positions = new Float32Array(9 * COUNT);
  for (let i = 0; i < positions.length; i++) positions[i] = coordinate(i);
  await expect(service.addMesh({ positions }, { weld, quality: 'fast' })).rejects.toMatchObject({
    code: 'BAD_DATA',
    message: expect.stringContaining(`vertices nearer than ${weld} are one`),
  });
});
