// Exact results for bytes that are no baked mesh, or a damaged one:
// what is refused, and why, is the same as before. See README.md.
import { expect, test } from 'vitest';
import type { MeshData } from '../../../src/shared/types.js';
import { bake, startCore } from '../../fixtures/core.js';
import { Answers, ExactRandom } from '../../fixtures/exact-answers.js';
import { degenerate, lumpyBall } from '../../fixtures/exact-meshes.js';
import { CORRUPTIONS } from '../../oracle/corruptions.js';
import { boxMesh, merged, soup } from '../../oracle/meshes.js';

/** Of each kind of damage, to each mesh. */
const TIMES = 24;

function meshes(random: ExactRandom): [string, MeshData][] {
  const body = lumpyBall(random, 2, 0.3);
  const vertices = body.positions.length / 3;
  const skin = {
    bones: Uint8Array.from({ length: 4 * vertices }, () => random.integer(5)),
    weights: new Float32Array(4 * vertices).fill(0.25),
    boneCount: 5,
  };
  const targets = [body.positions.map((x) => 0.1 * x), body.positions.map((x) => 0.2 * x * x)];
  const line = soup(random, 20, 0.3, 1).positions;
  return [
    ['a box', boxMesh(1, 2, 3)],
    ['a solid', body],
    ['a soup', merged([soup(random, 60, 0.3, 1), degenerate(random)])],
    ['a skin', { ...body, skin }],
    ['morph targets', { ...body, morphs: { targets, relative: true } }],
    ['both', { ...body, skin, morphs: { targets, relative: false } }],
    ['points', { positions: line, topology: 'points' }],
    [
      'lines',
      { positions: line, topology: 'lines', indices: Uint32Array.from({ length: 40 }, (_, i) => (7 * i) % 60) },
    ],
  ];
}

test('it is refused, or what was damaged does not matter', async () => {
  const random = new ExactRandom(121);
  const answers = new Answers();
  const core = await startCore();
  for (const [name, mesh] of meshes(random)) {
    const original = new Uint8Array(bake(core, mesh));
    for (const damage of Object.values(CORRUPTIONS)) {
      for (let i = 0; i < TIMES; i++) {
        const damaged = damage(random, original);
        answers.try(name, () => {
          const address = core.loadMesh(damaged.buffer);
          const answer = [core.meshInfo(address), core.bakeMesh(address)];
          core.freeMesh(address);
          return answer;
        });
      }
    }
  }
  answers.check();
  expect(core.check()).toBeNull();
});
