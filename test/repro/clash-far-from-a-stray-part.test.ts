// The points of hard clashes were off by decimetres where a stray part, as at the origin of a map, was thousands of
// kilometres away: points of contact are float32, relative to the middle between the parts and the stray one.
import { clash, type Part } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';

const cube = boxMesh(1, 1, 1);
const FAR = 5e6;

test('a stray part moves no points of the clashes of others', async () => {
  const at = (id: string, x: number): Part => {
    return { id, mesh: cube, matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1] };
  };
  const parts = [at('a', FAR), at('b', FAR + 0.9), at('stray', 0)];
  const { clashes } = await clash(parts, null, [{ name: 'hard', kind: 'hard' }]);
  expect(clashes).toMatchObject([{ a: { id: 'a' }, b: { id: 'b' } }]);
  const [{ point, depth }] = clashes;
  expect(point[0] - FAR).toBeCloseTo(0.45, 6);
  expect(depth).toBeCloseTo(0.1, 6);
});
