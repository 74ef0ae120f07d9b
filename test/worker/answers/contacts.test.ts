// Exact answers of contacts: points, normals, depths and triangles are the same to the bit as they were. See README.md.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import {
  Answers,
  anyRound,
  ball,
  block,
  capsule,
  ExactRandom,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { kinds } from '../../fixtures/exact-meshes.js';
import { ANY_FORM, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere } from '../../oracle/meshes.js';

const DETAILS = [
  layout.CONTACTS_BOUNDS,
  layout.CONTACTS_ANY,
  layout.CONTACTS_MANIFOLD,
  layout.CONTACTS_TRIANGLES,
  layout.CONTACTS_FULL,
];

type Form = (random: ExactRandom, position: Vector3) => Matrix4;

const FORMS: [string, Form][] = [
  ['as they are', (_, position) => new Matrix4().setPosition(position)],
  ['turned', (random, position) => random.placement(position)],
  ['of any form', (random, position) => random.placement(position, ANY_FORM)],
  [
    'of extreme forms',
    (random, position) => random.placement(position, { low: 0.02, high: 20, mirrored: 0.3, sheared: 0.3 }),
  ],
];

function ask(
  answers: Answers,
  world: World,
  kind: string,
  [a, from]: readonly [PlacedDescription, Matrix4],
  [b, to]: readonly [PlacedDescription, Matrix4],
): void {
  const [p, q] = [world.add(a, from), world.add(b, to)];
  const contacts = DETAILS.map((detail) => world.core.pairs.contact(p, q, detail));
  if (contacts.every((contact) => contact === null)) answers.add(kind, null);
  else answers.add(kind, [...contacts, world.core.pairs.contact(q, p, layout.CONTACTS_FULL)]);
  world.core.removeObject(p);
  world.core.removeObject(q);
}

const ROUND: [string, (random: ExactRandom) => PlacedDescription][] = [
  ['a ball', (random) => ball(random.range(0.3, 1.2), random.point(0.3).toArray())],
  [
    'a box',
    (random) =>
      block([random.range(0.2, 1.2), random.range(0.2, 1.2), random.range(0.2, 1.2)], random.point(0.3).toArray()),
  ],
  ['a capsule', (random) => capsule(random.range(0.1, 0.8), random.point(0.6).toArray(), random.point(1).toArray())],
  ['anything round', anyRound],
];

describe.each(PLACES)('%s', (_, place) => {
  const random = new ExactRandom(31);
  beforeEach(() => random.restart(31));

  test('of solids', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    for (const [name, form] of FORMS) {
      for (const [i, [first, a]] of ROUND.entries()) {
        for (const [second, b] of ROUND.slice(i)) {
          for (let k = 0; k < 20; k++) {
            const away = random.direction().multiplyScalar(k % 7 === 0 ? 0 : random.range(0, 2));
            const other = k % 5 === 0 ? away.round() : away;
            const pair = [[a(random), form(random, new Vector3())] as const, [b(random), form(random, other)] as const];
            ask(answers, world, `${first} and ${second} ${name}`, pair[0]!, pair[1]!);
          }
        }
      }
    }
    answers.check();
    expect(world.core.check()).toBeNull();
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
      ask(answers, world, 'boxes', [a, new Matrix4()], [b, to]);
    }
    answers.check();
  });
});

describe('of meshes', () => {
  const random = new ExactRandom(32);
  beforeEach(() => random.restart(32));
  const all = kinds(random).slice(0, 20);

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
      for (const [other, b] of ROUND.slice(0, 3)) {
        for (let k = 0; k < 5; k++) {
          const form = FORMS[k % FORMS.length]![1];
          const to = form(own, own.point(k === 0 ? 0.1 : 0.9));
          ask(answers, world, `${name} and ${other}`, [shape, form(own, new Vector3())], [b(own), to]);
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
        const form = FORMS[k % FORMS.length]![1];
        const to = form(own, own.point(k === 0 ? 0 : 0.9));
        const other = meshes[k === 1 ? i : own.integer(meshes.length)]!;
        ask(answers, world, name, [first(meshes[i]!), form(own, new Vector3())], [second(other), to]);
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
          ask(
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
