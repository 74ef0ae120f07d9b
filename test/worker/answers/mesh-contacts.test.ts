// Exact results of contacts of meshes: points, normals, depths and triangles are bit-identical to before. See README.md.
import { Vector3 } from 'three';
import { beforeEach, describe, test } from 'vitest';
import { Answers, ball, block, capsule, ExactRandom, solid, surface, World } from '../../fixtures/exact-answers.js';
import { addContacts, PLACEMENTS, PRIMITIVES } from '../../fixtures/exact-contacts.js';
import { meshKinds } from '../../fixtures/exact-meshes.js';
import { PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere } from '../../oracle/meshes.js';

describe('of meshes', () => {
  const random = new ExactRandom(32);
  beforeEach(() => random.restart(32));
  const all = meshKinds(random).slice(0, 20);

  test.each([
    ['surfaces', 0, surface, 1],
    ['solid meshes', 1, solid, 1],
    ['surfaces far away', 2, surface, 0],
  ] as const)('that are %s with solids', async (_, seed, make, isNear) => {
    const own = new ExactRandom(33 + seed);
    const answers = new Answers();
    const world = await World.create(isNear ? new Vector3() : PLACES[1][1]);
    for (const [name, mesh] of all) {
      const shape = make(world.mesh(mesh));
      for (const [other, b] of PRIMITIVES.slice(0, 3)) {
        for (let k = 0; k < 5; k++) {
          const form = PLACEMENTS[k % PLACEMENTS.length]![1];
          const to = form(own, own.point(k === 0 ? 0.1 : 0.9));
          addContacts(answers, world, `${name} and ${other}`, [shape, form(own, new Vector3())], [b(own), to]);
        }
      }
    }
    answers.check();
  });

  test.each([
    ['surfaces', 0, surface, surface],
    ['solid', 1, solid, solid],
    ['a surface and a solid one', 2, surface, solid],
  ] as const)('that are both %s', async (_, seed, first, second) => {
    const own = new ExactRandom(43 + seed);
    const answers = new Answers();
    const world = await World.create(seed === 1 ? PLACES[1][1] : new Vector3());
    const meshes = all.map(([, mesh]) => world.mesh(mesh));
    for (const [i, [name]] of all.entries()) {
      for (let k = 0; k < 4; k++) {
        const form = PLACEMENTS[k % PLACEMENTS.length]![1];
        const to = form(own, own.point(k === 0 ? 0 : 0.9));
        const other = meshes[k === 1 ? i : own.integer(meshes.length)]!;
        addContacts(answers, world, name, [first(meshes[i]!), form(own, new Vector3())], [second(other), to]);
      }
    }
    answers.check();
  });

  test('one in the other, and hulls', async () => {
    const answers = new Answers();
    const world = await World.create();
    const [large, small] = [world.mesh(icosphere(2, 6)), world.mesh(icosphere(0.4, 3))];
    const [room, cube] = [world.mesh(boxMesh(5, 4, 3)), world.mesh(boxMesh(0.5, 0.7, 0.9))];
    const inner = [
      solid(small),
      solid(cube),
      surface(small),
      ball(0.3),
      block([0.2, 0.4, 0.3]),
      capsule(0.2, [0, 0, 0], [0.3, 0.2, 0.1]),
    ];
    for (const outer of [solid(large), solid(room), surface(large), surface(room), block([2, 2, 2]), ball(2)]) {
      for (const thing of inner) {
        for (let k = 0; k < 6; k++) {
          const to = random.placement(random.point(k < 3 ? 0.8 : 2.2));
          addContacts(
            answers,
            world,
            k < 3 ? 'inside' : 'about the border',
            [outer, random.placement(new Vector3())],
            [thing, to],
          );
        }
      }
    }
    answers.check();
  });
});
