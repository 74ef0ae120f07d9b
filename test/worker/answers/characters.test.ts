// Exact results of characters: where they walk, stand and are pushed is bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import type { CharacterDescription } from '../../../src/shared/commands.js';
import * as layout from '../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { Answers, ball, block, capsule, ExactRandom, solid, surface, World } from '../../fixtures/exact-answers.js';
import { heightField, hills, ring } from '../../fixtures/exact-meshes.js';
import { PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, merged, rods, transformed } from '../../oracle/meshes.js';

const WALKERS = 8;
const FRAMES = 50;
const UP = new Vector3(0, 1, 0);

const WALKER: CharacterDescription = {
  ...{ from: [0, 0.3, 0], to: [0, 1.5, 0], radius: 0.3, up: [0, 1, 0], skin: 0.006, slope: 0.71, stepHeight: 0.3 },
  ...{ snap: 0.3, gravity: 9.81, step: 1 / 64, position: [0, 0, 0], speed: 0, time: 0, layers: 0xffffffff, object: 0 },
  ...{ ignore: new Uint32Array(), flags: layout.CHARACTER_IS_PLACED },
};

const sizes = (random: ExactRandom): number[] => [
  random.range(0.2, 1.5),
  random.logRange(0.05, 1.5),
  random.range(0.2, 1.5),
];

/** Obstacles on the ground. */
const THINGS: [string, number, (world: World) => (random: ExactRandom, i: number) => PlacedDescription][] = [
  ['boxes', 40, () => (random) => block(sizes(random))],
  [
    'balls and capsules',
    40,
    () => (random, i) =>
      i % 2 === 0
        ? ball(random.range(0.2, 1.2))
        : capsule(random.range(0.1, 0.8), [0, 0, 0], random.point(1.5).toArray()),
  ],
  [
    'meshes',
    20,
    (world) => {
      const meshes = [icosphere(0.8, 3), ring(1, 0.3, 12, 6), boxMesh(1, 0.4, 2)].map((mesh) => world.mesh(mesh));
      return (random, i) => (i % 2 === 0 ? solid : surface)(random.pick(meshes));
    },
  ],
  [
    'stairs',
    8,
    (world) => {
      const steps = Array.from({ length: 6 }, (_, i) =>
        transformed(boxMesh(1.2, 0.2 * (i + 1), 0.3), (v) => v.add(new Vector3(0, 0.1 * (i + 1), 0.3 * i))),
      );
      const stairs = world.mesh(merged(steps));
      return () => surface(stairs);
    },
  ],
  [
    'hills',
    1,
    (world) => {
      const ground = transformed(heightField(24, hills), (v) => v.set(9 * v.x, 6 * v.z, -9 * v.y));
      const mesh = world.mesh(ground);
      return () => surface(mesh);
    },
  ],
  [
    'rods',
    2,
    (world) => {
      const mesh = world.mesh(rods(new ExactRandom(5), 30, 4));
      return () => surface(mesh);
    },
  ],
];

/** The up directions. */
const UPS: [string, Vector3, (v: Vector3) => Vector3][] = [
  ['along y', UP, (v) => v],
  ['along none', new Vector3(0.6, 0.8, 0), (v) => v.set(0.8 * v.x + 0.6 * v.y, -0.6 * v.x + 0.8 * v.y, v.z)],
];

describe.each(PLACES)('%s', (_, place) => {
  describe.each(UPS)('the way up is %s', (_, up, turn) => {
    test.each(THINGS)('among %s', async (_, count, make) => {
      const random = new ExactRandom(81);
      const answers = new Answers();
      const world = await World.create(place);
      const basis = new Matrix4().makeBasis(
        turn(new Vector3(1, 0, 0)),
        turn(new Vector3(0, 1, 0)),
        turn(new Vector3(0, 0, 1)),
      );
      world.add(block([12, 1, 12], [0, -1, 0]), basis);
      const things: number[] = [];
      const thing = make(world);
      for (let i = 0; i < count; i++) {
        const at =
          count === 1 ? new Vector3() : new Vector3(random.range(-7, 7), random.range(0, 0.7), random.range(-7, 7));
        const form = i % 3 === 0 ? new Matrix4() : random.placement(new Vector3(), { low: 0.6, high: 1.5 });
        things.push(world.add(thing(random, i), basis.clone().multiply(form.setPosition(at))));
      }
      for (let i = 0; i < WALKERS; i++) {
        const own = i % 4 === 3 ? world.add(capsule(0.3, [0, 0.3, 0], [0, 1.5, 0])) : 0;
        world.core.putCharacter(i, {
          ...WALKER,
          position: world.point(turn(new Vector3(random.range(-7, 7), random.range(0, 3), random.range(-7, 7)))),
          from: turn(new Vector3(0, 0.3, 0)).toArray(),
          to: turn(new Vector3(0, i % 3 === 0 ? 0.3 : 1.5, 0)).toArray(),
          up: up.toArray(),
          object: own,
          ...(i % 5 === 2 && { ignore: Uint32Array.from(things.slice(0, 3)) }),
          ...(i === 1 && { stepHeight: 0, snap: 0 }),
          ...(i === 6 && { slope: 0, skin: 0.05, step: 0.05 }),
        });
      }
      const ways = Array.from({ length: WALKERS }, () => turn(random.direction().setY(0)));
      for (let frame = 0; frame < FRAMES; frame++) {
        for (let i = 0; i < WALKERS; i++) {
          if (frame % 16 === 15) ways[i] = turn(random.direction().setY(0));
          const way = ways[i]!.clone()
            .multiplyScalar(i % 2 === 0 ? 5 : 2)
            .toArray();
          if (i === 5) world.staging.moves.add(i, layout.MOVE_BY, [0.05 * way[0]!, 0.05 * way[1]!, 0.05 * way[2]!], 0);
          else world.staging.moves.add(i, layout.MOVE_TIMED, way, frame % 10 === 9 ? 0.1 : 1 / 60);
          if (random.chance(0.03)) world.staging.moves.add(i, layout.MOVE_JUMP, [0, 0, 0], random.range(2, 7));
        }
        if (frame % 5 === 4) {
          const at = turn(new Vector3(random.range(-7, 7), random.range(0, 0.7), random.range(-7, 7)));
          world.move(random.pick(things), basis.clone().setPosition(at));
        }
        if (frame === 30) world.core.removeCharacter(2);
        world.frame();
        answers.add('frames', world.characters());
      }
      answers.check();
      expect(world.core.check()).toBeNull();
    });
  });
});

test('a box that is turned and moved through them pushes', async () => {
  const random = new ExactRandom(82);
  const answers = new Answers();
  const world = await World.create();
  world.add(block([12, 1, 12], [0, -1, 0]));
  const pusher = world.add(block([1, 2, 0.2]));
  for (let i = 0; i < WALKERS; i++) {
    world.core.putCharacter(i, { ...WALKER, position: random.point(3).setY(0.006).toArray() });
  }
  for (let frame = 0; frame < 40; frame++) {
    const turn = random
      .rotation()
      .set(0, 0.1 * frame - 2, 0, 1)
      .normalize();
    world.move(pusher, new Matrix4().compose(new Vector3(0.15 * frame - 3, 0, 0), turn, new Vector3(1, 1, 1)));
    for (let i = 0; i < WALKERS; i++) world.staging.moves.add(i, layout.MOVE_TIMED, [0, 0, 0], 1 / 60);
    world.frame();
    answers.add('frames', world.characters());
  }
  answers.check();
});

test('who begins in the midst of solid meshes goes out of them', async () => {
  const random = new ExactRandom(83);
  const answers = new Answers();
  const world = await World.create();
  const meshes = [icosphere(3, 6), boxMesh(6, 7, 5)].map((mesh) => world.mesh(mesh));
  for (let i = 0; i < WALKERS; i++) {
    const middle = new Vector3(20 * i, 0, 0);
    const [, up, turn] = UPS[i % 2]!;
    world.add(solid(meshes[(i >> 1) % 2]!), random.placement(middle, { low: 0.9, high: 1.2 }));
    world.core.putCharacter(i, {
      ...WALKER,
      position: middle.add(random.point(1.2)).toArray(),
      from: turn(new Vector3(0, -0.3, 0)).toArray(),
      to: turn(new Vector3(0, 0.3, 0)).toArray(),
      up: up.toArray(),
    });
  }
  for (let frame = 0; frame < 12; frame++) {
    for (let i = 0; i < WALKERS; i++) world.staging.moves.add(i, layout.MOVE_TIMED, random.point(1).toArray(), 1 / 60);
    world.frame();
    answers.add('frames', world.characters());
  }
  answers.check();
});

test('capsules that lie along each of the axes are in the way', async () => {
  const random = new ExactRandom(84);
  const answers = new Answers();
  const world = await World.create();
  const ends = [0, 1, 2].map((axis) => new Vector3().setComponent(axis, 1.5));
  for (let i = 0; i < WALKERS; i++) {
    const end = ends[i % 3]!;
    const at = new Matrix4().setPosition(10 * i, 0.9, 0);
    world.add(capsule(0.4, end.clone().negate().toArray(), end.toArray()), at);
    const from = random.direction().setY(0).setLength(2.5);
    world.core.putCharacter(i, { ...WALKER, gravity: 0, position: [10 * i + from.x, 0, from.z] });
    for (let frame = 0; frame < 20; frame++) {
      world.staging.moves.add(i, layout.MOVE_BY, [-0.2 * from.x, 0, -0.2 * from.z], 0);
      world.frame();
      answers.add('frames', world.characters());
    }
  }
  answers.check();
});
