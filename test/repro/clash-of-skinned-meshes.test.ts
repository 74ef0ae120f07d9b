// Skins and morph targets of a part's mesh were transferred to the first worker that loaded it: the caller's own arrays were
// detached, and parts with that mesh could not be read in any other tile.
import { clash } from 'collision-worker/clash';
import { BoxGeometry } from 'three';
import { expect, test } from 'vitest';
import { trianglesOf } from '../oracle/meshes.js';

test('parts whose mesh has a skin and morph targets clash as they are at rest, in all tiles', async () => {
  const box = trianglesOf(new BoxGeometry());
  const vertices = box.positions.length / 3;
  const skin = {
    bones: new Uint8Array(4 * vertices),
    weights: new Float32Array(4 * vertices).fill(0.25),
    boneCount: 1,
  };
  const morphs = { targets: [new Float32Array(3 * vertices).fill(5)], relative: true };
  const row = (mesh: object) =>
    Array.from({ length: 600 }, (_, i) => {
      const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.75 * i, 0, 0, 1];
      return { id: `${i}`, mesh: { ...box, ...mesh }, matrix };
    });
  const rules = [{ name: 'hard', kind: 'hard' }] as const;
  const plain = await clash(row({}), null, rules);
  const shared = row({ skin, morphs });
  const posed = await clash(
    shared.map((part) => ({ ...part, mesh: shared[0].mesh })),
    null,
    rules,
    { workers: 2 },
  );
  expect(posed.unread).toEqual([]);
  expect(posed.clashes).toHaveLength(599);
  expect(posed).toEqual(plain);
  expect([skin.bones, skin.weights, morphs.targets[0]].every(({ length }) => length > 0)).toBe(true);
});
