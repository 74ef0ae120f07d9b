// Exact numbers of slices when each ends as soon as it may: how much work is done between two checks of the clock, and how much
// in total, is the same as before. A change that skips less work shows here, although no result changes. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  ExactRandom,
  frameAnswer,
  onClock,
  randomPrimitive,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { heightField, hills, meshKinds } from '../../fixtures/exact-meshes.js';
import { ALL_FILTER, ANY_TRANSFORM } from '../../fixtures/near-scene.js';
import { icosphere, rods, soup } from '../../oracle/meshes.js';

/** Counts slices with a clock on which every check is late. */
function slicesOf(begin: () => unknown, resume: () => unknown): number {
  return onClock('late', () => {
    let slices = 1;
    for (let answer = begin(); answer === undefined; answer = resume()) slices++;
    return slices;
  });
}

function larger(world: World): [string, PlacedDescription][] {
  const random = new ExactRandom(131);
  const meshes = [
    ...meshKinds(random).slice(2, 19),
    ['a large ball', icosphere(1, 12)],
    ['many rods', rods(random, 120, 1)],
    ['a large soup', soup(random, 1500, 0.1, 1)],
    ['more hills', heightField(30, hills)],
  ] as const;
  return meshes.map(([name, mesh], i) => [name, (i % 2 ? solid : surface)(world.mesh(mesh))]);
}

test('of contacts and distances', async () => {
  const random = new ExactRandom(132);
  const answers = new Answers();
  const world = await World.create();
  const { pairs } = world.core;
  const shapes = larger(world);
  for (const [name, shape] of shapes) {
    for (let i = 0; i < 12; i++) {
      const other = i % 3 === 0 ? randomPrimitive(random) : random.pick(shapes)[1];
      const away = random.direction().multiplyScalar([0.6, 1.2, 3][i % 3]!);
      const a = world.add(shape, random.placement(new Vector3(), i % 2 === 0 ? {} : ANY_TRANSFORM));
      const b = world.add(other, random.placement(away));
      for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD, layout.CONTACTS_TRIANGLES]) {
        const slices = slicesOf(
          () => pairs.beginContact(a, b, detail, 0),
          () => pairs.resumeContact(a, b, 0),
        );
        answers.add(`${name}: contacts`, slices);
      }
      const slices = slicesOf(
        () => pairs.beginDistance(a, b, Number.POSITIVE_INFINITY, 0),
        () => pairs.resumeDistance(a, b, 0),
      );
      answers.add(`${name}: distances`, slices);
      world.core.removeObject(a);
      world.core.removeObject(b);
    }
  }
  answers.check();
});

test('of sweeps', async () => {
  const random = new ExactRandom(133);
  const answers = new Answers();
  const world = await World.create();
  const { sweeps } = world.core;
  const shapes = larger(world);
  for (const [i, [name, shape]] of shapes.entries()) {
    const id = world.add(shape, random.placement(new Vector3(), ANY_TRANSFORM));
    for (let k = 0; k < 6; k++) {
      const from = random.direction().multiplyScalar(5);
      const moving = k % 3 === 0 ? shapes[(3 * i + k) % shapes.length]![1] : randomPrimitive(random);
      const rotation =
        k % 2 === 0 ? ([0, 0, 0, 1] as const) : (random.rotation().toArray() as [number, number, number, number]);
      const motion = { way: random.point(1).sub(from).toArray(), rotation, tolerance: 0 };
      const kept = sweeps.keepSweep(
        { ...moving, matrix: world.there(random.placement(from)) },
        motion,
        ALL_FILTER,
        k > 2,
      );
      const slices = slicesOf(
        () => sweeps.beginKeptSweep(kept, 0),
        () => sweeps.resumeSweep(0),
      );
      answers.add(`${name}: ${k % 2 === 0 ? 'straight' : 'turning'}`, slices);
    }
    world.core.removeObject(id);
  }
  answers.check();
});

test('of queries', async () => {
  const random = new ExactRandom(134);
  const answers = new Answers();
  const world = await World.create();
  const shapes = larger(world);
  for (let i = 0; i < 150; i++) {
    const shape = i % 2 === 0 ? randomPrimitive(random) : random.pick(shapes)[1];
    world.add(shape, random.placement(random.point(4), ANY_TRANSFORM), { layers: 1 << (i % 3) });
  }
  const count = (steps: Generator<void, unknown>): [number, unknown] =>
    onClock('late', () => {
      let slices = 1;
      let step = steps.next();
      for (; !step.done; slices++) step = steps.next();
      return [slices, step.value];
    });
  const { volumes, sections } = world.core;
  for (let i = 0; i < 40; i++) {
    const point = random.point(5).toArray();
    const filter = { ...ALL_FILTER, precision: 1 + (i % 4) };
    answers.add('closest points', count(volumes.closestPoint(point, Number.POSITIVE_INFINITY, filter)));
    answers.add('around', count(volumes.containing(point, filter)));
    const query = { ...random.pick(shapes)[1], matrix: world.there(random.placement(random.point(4), ANY_TRANSFORM)) };
    answers.add('met', count(volumes.overlap(query, filter)));
    if (i % 8 > 0) continue;
    let slices = 0;
    const ids = sections.candidates(Float64Array.of(...random.direction().toArray(), 0.1), ALL_FILTER, 4, undefined);
    onClock('late', () => {
      for (const id of ids) {
        sections.begin(id);
        do slices++;
        while (!sections.step(0));
      }
    });
    sections.end();
    answers.add('sections', [ids, slices]);
  }
  answers.check();
});

describe('of frames', () => {
  test('with no time for all contacts, and changes in their midst', async () => {
    const random = new ExactRandom(135);
    const answers = new Answers();
    const world = await World.create();
    const shapes = larger(world);
    const placed = () => random.placement(random.point(3), random.chance(0.5) ? {} : ANY_TRANSFORM);
    const put = (slot: number, generation: number) => {
      const shape = slot % 3 === 0 ? randomPrimitive(random) : random.pick(shapes)[1];
      const contacts = [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD, layout.CONTACTS_FULL][slot % 3]!;
      const reaching = [0, 0, layout.FLAG_CONTINUOUS, layout.FLAG_CLEARANCE][slot % 4]!;
      world.put(makeId(slot, generation), shape, placed(), {
        ...{ contacts: slot % 11 === 10 ? layout.CONTACTS_NONE : contacts, layers: 1 << (slot % 4) },
        ...{ flags: shape.flags | reaching, clearance: slot % 4 === 3 ? 0.1 : 0 },
      });
    };
    const alive = Array.from({ length: 50 }, () => 1);
    for (const slot of alive.keys()) put(slot, 1);
    for (let frame = 0; frame < 8; frame++) {
      for (const [slot, generation] of alive.entries()) {
        if (random.chance(0.4)) world.move(makeId(slot, generation), placed());
      }
      const budget = [0, 20_000, 200_000, 1000][frame % 4]!;
      const input = world.staging.seal(100 + frame, 1, budget);
      const told = onClock('late', () => {
        world.core.beginFrame(input);
        let slices = 1;
        let isAhead = false;
        let out = world.core.stepFrame(0, undefined);
        for (; !out; slices++) {
          if (!isAhead && world.core.goAhead()) {
            isAhead = true;
            const slot = random.integer(alive.length);
            world.core.removeObject(makeId(slot, alive[slot]!));
            put(slot, ++alive[slot]!);
            world.core.setLayers(makeId((slot + 1) % 50, alive[(slot + 1) % 50]!), 3);
          }
          out = world.core.stepFrame(0, undefined, slices % 5 > 0);
        }
        return [slices, isAhead, world.core.interruptions, world.core.considered, frameAnswer(world.read(out))];
      });
      world.staging.restart(input);
      answers.add('frames', told);
      expect(world.core.check()).toBeNull();
    }
    answers.check();
  });

  test('after the answers of another core', async () => {
    const random = new ExactRandom(136);
    const answers = new Answers();
    const [world, next] = [await World.create(), await World.create()];
    const matrices = Array.from({ length: 60 }, () => random.placement(random.point(3)));
    for (const each of [world, next]) {
      random.restart(137);
      for (const [i, matrix] of matrices.entries()) each.add(randomPrimitive(random), matrix, { group: i % 3 });
    }
    const { contacts } = world.frame();
    const { a, b, groupA, groupB } = contacts;
    next.core.setBaseline({
      a,
      b,
      groupA,
      groupB,
      seen: [{ slot: 0, ids: Uint32Array.of(makeId(3, 1), makeId(5, 1)) }],
    });
    for (let i = 0; i < 60; i += 4) next.move(makeId(i, 1), new Matrix4().setPosition(random.point(3)));
    answers.add('frames', frameAnswer(next.frame()));
    const input = next.staging.seal(9, 1);
    next.core.place(input);
    next.staging.restart(input);
    answers.add('frames', frameAnswer(next.frame()));
    answers.check();
  });
});

test('memory in use, after the same is done', async () => {
  const random = new ExactRandom(138);
  const world = await World.create();
  const { core } = world;
  const lines: string[] = [];
  const { usedBytes } = core;
  const note = (what: string) => lines.push(`${what}: ${core.usedBytes - usedBytes} bytes`);
  const shapes = larger(world);
  note('meshes');
  const ids = Array.from({ length: 3000 }, (_, i) => {
    const shape = i % 20 === 0 ? random.pick(shapes)[1] : randomPrimitive(random);
    return world.add(shape, random.placement(random.point(30)), {
      contacts: i % 9 === 0 ? 4 : 1,
      clipSet: i === 2000 ? 1 : 0,
    });
  });
  note('objects');
  for (let frame = 0; frame < 3; frame++) {
    for (const id of ids) if (random.chance(0.3)) world.move(id, random.placement(random.point(30)));
    world.frame();
    note('a frame');
  }
  for (let i = 0; i < 20; i++) {
    const ray = { origin: random.point(40).toArray(), direction: random.point(1).toArray() };
    const point = random.point(30).toArray();
    runToEnd(core.rays.raycastAll(ray, ALL_FILTER));
    onClock('standing', () => runToEnd(core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER)));
    const query = { ...random.pick(shapes)[1], matrix: world.there(random.placement(random.point(30))) };
    onClock('standing', () => runToEnd(core.volumes.overlap(query, ALL_FILTER)));
  }
  note('queries');
  for (const id of ids) core.removeObject(id);
  world.frame();
  note('without objects');
  expect(lines.join('\n')).toMatchSnapshot();
});
