// Exact results of contacts of solids: points, normals and depths are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { Answers, block, capsule, ExactRandom, World } from '../../fixtures/exact-answers.js';
import { addContacts, PLACEMENTS, PRIMITIVES } from '../../fixtures/exact-contacts.js';
import { PLACES } from '../../fixtures/near-scene.js';

describe.each(PLACES)('%s', (_, place) => {
  const random = new ExactRandom(31);
  beforeEach(() => random.restart(31));

  test('of solids', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    for (const [name, form] of PLACEMENTS) {
      for (const [i, [first, a]] of PRIMITIVES.entries()) {
        for (const [second, b] of PRIMITIVES.slice(i)) {
          for (let k = 0; k < 20; k++) {
            const away = random.direction().multiplyScalar(k % 7 === 0 ? 0 : random.range(0, 2));
            const other = k % 5 === 0 ? away.round() : away;
            const pair = [[a(random), form(random, new Vector3())] as const, [b(random), form(random, other)] as const];
            addContacts(answers, world, `${first} and ${second} ${name}`, pair[0]!, pair[1]!);
          }
        }
      }
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });

  test('of boxes that lie nearly flat on each other, and round things on edges', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    for (let i = 0; i < 240; i++) {
      const [tilt, other] = [random.logRange(1e-5, 0.05), random.logRange(1e-5, 0.05)];
      const turn = random
        .rotation()
        .set(tilt, other * random.pick([-1, 0, 1]), i % 3 === 0 ? random.next() : 0, 1)
        .normalize();
      const depth = random.logRange(1e-6, 0.02);
      const thick = random.pick([0.01, 0.3, 1]);
      const small = [random.range(0.2, 2), random.range(0.2, 2), thick];
      const at = new Vector3(random.range(-2, 2), random.range(-2, 2), 1 + thick - depth);
      const b = i % 4 === 3 ? capsule(thick, [-0.5, 0, 0], [0.5, 0, 0]) : block(small);
      const to = new Matrix4().compose(at, turn, new Vector3(1, 1, 1));
      const both = i % 2 === 0 ? new Matrix4() : random.placement(new Vector3());
      addContacts(
        answers,
        world,
        i % 4 === 3 ? 'a capsule' : 'boxes',
        [block([1.5, 1.2, 1]), both],
        [b, both.clone().multiply(to)],
      );
    }
    answers.check();
  });

  test('of boxes that touch along faces, edges and corners', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    const sizes = [1, 0.5, 0.25];
    const turns = [new Matrix4(), new Matrix4().set(0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)];
    turns.push(new Matrix4().set(0.6, -0.8, 0, 0, 0.8, 0.6, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
    for (let i = 0; i < 160; i++) {
      const [a, b] = [block([1, 1, 1]), block([random.pick(sizes), random.pick(sizes), random.pick(sizes)])];
      const at = new Vector3(random.integer(5) - 2, random.integer(5) - 2, random.integer(5) - 2).multiplyScalar(0.75);
      const hair = random.pick([0, 0, 1e-7, -1e-7, 1e-3, -1e-3]);
      const to = random.pick(turns).clone().setPosition(at.addScalar(hair));
      addContacts(answers, world, 'boxes', [a, new Matrix4()], [b, to]);
    }
    answers.check();
  });
});
