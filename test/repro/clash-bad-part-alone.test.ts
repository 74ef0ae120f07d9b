// A part that could not be read was in no report if no other part was in its tile; and if a flat triangle of a part was far
// away, the part's box reached as far. What is no mesh, as Node's Buffer of a baked one, had a reason about a "length" that
// could not be read.
import { clash, type Part, type Rule } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { transformedBox } from '../../src/clash/plan/bounds.js';
import { factsOf } from '../../src/clash/tile/triangles.js';
import { boxMesh } from '../oracle/meshes.js';

const cube = boxMesh(1, 1, 1);
const flat = { positions: Float32Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2), indices: Uint32Array.of(0, 1, 2) };
const at = (x: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];
const RULES: Rule[] = [{ name: 'all', kind: 'hard' }];

test('a bad part that is the only one is in the report', async () => {
  const { unread, clashes } = await clash([{ id: 'bad', mesh: flat }], null, RULES);
  expect(unread).toMatchObject([{ set: 'a', id: 'bad', reason: expect.stringContaining('area') }]);
  expect(clashes).toEqual([]);
});

test('a bad part that has a tile for itself is in the report once', async () => {
  const rules: Rule[] = [{ name: 'bad', kind: 'hard', a: { id: 'bad' }, b: { id: 'bad*' } }];
  const parts: Part[] = [{ id: 'bad', mesh: flat, matrix: at(-1e3) }];
  for (let i = 0; i < 10; i++) parts.push({ id: `good ${i}`, mesh: cube, matrix: at(10 * i) });
  expect((await clash(parts, null, rules)).unread).toMatchObject([{ id: 'bad' }]);
  const far = Array.from({ length: 5000 }, (_, i): Part => ({ id: `good ${i}`, mesh: cube, matrix: at(2 * i) }));
  const { unread, clashes } = await clash([...far, parts[0]], null, RULES, { workers: 2 });
  expect(unread).toMatchObject([{ id: 'bad' }]);
  expect(clashes).toEqual([]);
});

test.each([
  [
    'indices',
    { positions: Float32Array.of(...cube.positions, 9, 9, 9), indices: Uint32Array.of(...cube.indices, 0, 8, 8) },
  ],
  [
    'none',
    {
      positions: Float32Array.of(
        ...Array.from(cube.indices, (vertex) => Array.from(cube.positions.slice(3 * vertex, 3 * vertex + 3))).flat(),
        ...[0, 0, 0, 9, 9, 9, 3, 3, 3],
      ),
    },
  ],
])('the vertices of a flat triangle are beyond the box of a part: %s', (_, mesh) => {
  const { points, box } = factsOf(mesh);
  expect(Array.from(box)).toEqual(Array.from(factsOf(cube).box));
  const turned = [0.6, 0.8, 0, 0, -0.8, 0.6, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  expect(transformedBox(points, box, turned)).toEqual(transformedBox(factsOf(cube).points, factsOf(cube).box, turned));
});

test('what is no mesh is in the report by its type', async () => {
  const values = [new Uint8Array(9), { attributes: {} }, { positions: null }, undefined];
  const parts = values.map((mesh, i) => ({ id: String(i), mesh }) as unknown as Part);
  const { unread } = await clash(parts, null, RULES);
  const types = ['Uint8Array', 'Object', 'Object', 'undefined'];
  expect(unread.map(({ reason }) => reason)).toEqual(
    types.map((type) => expect.stringContaining(`the mesh is ${type}, expected the arrays`)),
  );
});
