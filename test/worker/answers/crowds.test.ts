// Exact answers about crowds that are added, moved and removed: how the octrees grow and shrink, and which pairs are found during
// changes. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  ball,
  block,
  capsule,
  ExactRandom,
  frameAnswer,
  onClock,
  randomPrimitive,
  surface,
  VISIBLE_FLAGS,
  World,
} from '../../fixtures/exact-answers.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup } from '../../oracle/meshes.js';

/** Adds the cells of the octrees, and the answers of queries for a few of the objects in them. */
function addStructure(answers: Answers, world: World, random: ExactRandom, halfSize: number): void {
  const { inspector, rays, volumes } = world.core;
  answers.add('scene', inspector.scene());
  answers.add('cells', runToEnd(inspector.cells(1e5)));
  inspector.end();
  for (let i = 0; i < 6; i++) {
    const [from, to] = [random.point(2 * halfSize), random.point(halfSize)];
    const ray = { origin: from.toArray(), direction: to.clone().sub(from).toArray() };
    const filter = { ...ALL_FILTER, precision: 1 + (i % 4) };
    answers.add('hits', rays.raycast(ray, filter));
    answers.add('all hits', runToEnd(rays.raycastAll(ray, filter)));
    answers.add('closest', runToEnd(volumes.closestPoint(to.toArray(), Number.POSITIVE_INFINITY, filter)));
    answers.add('around', runToEnd(volumes.containing(to.toArray(), filter)));
    const matrix = world.there(random.placement(to, { low: 0.5, high: 2 }));
    answers.add('met', runToEnd(volumes.overlap({ ...block([1, 1, 1]), matrix }, filter)));
  }
}

const PLACING: [string, (random: ExactRandom, i: number) => Vector3][] = [
  ['in space', (random) => random.point(20)],
  ['row after row', (_, i) => new Vector3(i % 50, Math.floor(i / 50), 0)],
  ['in heaps', (random, i) => random.point(0.02).addScalar([0, 5, 90][i % 3]!)],
  ['from very near to very far', (random) => random.direction().multiplyScalar(random.logRange(1e-3, 1e5))],
];

const TREES: [string, number, number][] = [
  ['static', layout.FLAG_STATIC, layout.CONTACTS_ANY],
  ['static and collide with nothing', layout.FLAG_STATIC, layout.CONTACTS_NONE],
  ['moving', 0, layout.CONTACTS_NONE],
];

describe.each(TREES)('of objects that are %s', (_, flag, contacts) => {
  test.each(PLACING)('%s', async (_, position) => {
    const random = new ExactRandom(141);
    const answers = new Answers();
    const world = await World.create();
    const options = { flags: VISIBLE_FLAGS | flag, contacts };
    const add = (i: number) => world.add(i % 7 === 0 ? block([0.6, 0.2, 0.3]) : ball(0.1), at(i), options);
    const at = (i: number) => new Matrix4().setPosition(position(random, i));
    const ids: number[] = [];
    for (let i = 0; i < 1100; i++) ids.push(add(i));
    for (let frame = 0; frame < 6; frame++) {
      world.frame();
      addStructure(answers, world, random, 20);
      if (frame === 4) for (const id of ids.splice(0, ids.length - 9)) world.core.removeObject(id);
      for (let i = 0; i < 150 && frame !== 1; i++) {
        const k = random.integer(ids.length);
        if (i % 3 === 0 && ids.length > 9) world.core.removeObject(ids.splice(k, 1)[0]!);
        else if (i % 3 === 1) world.move(ids[k]!, at(random.integer(1000)));
        else if (frame < 4) ids.push(add(1100 + 150 * frame + i));
      }
      expect(world.core.check()).toBeNull();
    }
    // Few objects are left, and others are added outside of the earlier bounds.
    for (let i = 0; i < 90; i++)
      ids.push(world.add(ball(0.1), new Matrix4().setPosition(random.point(3).addScalar(500)), options));
    world.frame();
    addStructure(answers, world, random, 20);
    for (const id of ids) world.core.removeObject(id);
    world.frame();
    addStructure(answers, world, random, 20);
    answers.check();
    expect(world.core.check()).toBeNull();
  });
});

test('of so many static objects that no more is kept of each than must be', async () => {
  const random = new ExactRandom(142);
  const answers = new Answers();
  const world = await World.create();
  const count = 50_000;
  const matrices = new Float64Array(16 * count);
  for (let i = 0; i < count; i++) {
    matrices.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], 16 * i);
    if (i % 3 === 0) matrices.set([0.6, 0.8, 0, 0, -0.8, 0.6], 16 * i);
    matrices.set([random.range(-30, 30), random.range(-30, 30), random.range(-30, 30)], 16 * i + 12);
  }
  const flags = VISIBLE_FLAGS | layout.FLAG_STATIC;
  const parts = [block([0.4, 0.1, 0.2]), ball(0.2), capsule(0.1, [-0.3, 0, 0], [0.3, 0.1, 0])];
  for (const [k, described] of parts.entries()) {
    const [from, to] = [k, k + 1].map((n) => Math.floor((n * count) / parts.length)) as [number, number];
    world.core.addObjects(
      Uint32Array.from({ length: to - from }, (_, i) => makeId(from + i, 1)),
      { ...described, flags, contacts: layout.CONTACTS_NONE, matrix: matrices.subarray(16 * from, 16 * to) },
    );
  }
  for (let i = 0; i < 40; i++) {
    const [from, to] = [random.point(60), random.point(30)];
    const ray = { origin: from.toArray(), direction: to.clone().sub(from).toArray() };
    const filter = { ...ALL_FILTER, precision: 1 + (i % 4) };
    answers.add('hits', world.core.rays.raycast(ray, filter));
    answers.add('all hits', runToEnd(world.core.rays.raycastAll(ray, filter)));
    answers.add('any', world.core.rays.anyHit({ ...ray, tMax: 1 }, filter));
    answers.add('closest', runToEnd(world.core.volumes.closestPoint(to.toArray(), 2, filter)));
    const query = { ...block([0.5, 1, 0.5]), matrix: world.there(random.placement(to)) };
    answers.add('met', runToEnd(world.core.volumes.overlap(query, filter)));
    if (i % 8 > 0) continue;
    const eye = { at: random.point(30), to: random.point(30), near: 0.1, far: 20 };
    const { record } = viewRecord({ ...viewFrom(i / 8, eye, random), occlusion: i % 16 === 0 });
    answers.add('seen', runToEnd(world.core.volumes.frustum(record, ALL_FILTER)));
  }
  answers.check();
});

describe('of pairs', () => {
  test.each([
    ['few classes', 4],
    ['many classes', 60],
    ['more classes than are told apart', 1100],
  ])('of %s, in one place, and changes in their midst', async (_, classes) => {
    const random = new ExactRandom(143);
    const answers = new Answers();
    const world = await World.create();
    const count = Math.max(400, classes + 100);
    const options = (i: number) => ({
      layers: classes > 100 ? 1 + (i % classes) : 1 << (i % 5),
      collidesWith: i % 17 === 0 ? 0 : 1 << ((i >> 2) % 5),
      group: classes > 100 ? 0 : i % classes,
      contacts: layout.CONTACTS_ANY,
    });
    const spread = classes > 100 ? 2 : 0.5;
    const at = () => new Matrix4().setPosition(random.point(spread));
    for (let i = 0; i < count; i++) {
      world.put(makeId(i, 1), ball(0.1), at(), {
        ...options(i),
        flags: VISIBLE_FLAGS | (i % 23 === 0 ? layout.FLAG_STATIC : 0),
      });
    }
    for (let frame = 0; frame < 3; frame++) {
      for (let i = frame; i < count; i += 3) world.move(makeId(i, 1), at());
      const input = world.staging.seal(frame + 1, 1);
      const told = onClock('late', () => {
        world.core.beginFrame(input);
        let slices = 1;
        let isAhead = false;
        let out = world.core.stepFrame(0, undefined);
        for (; !out; slices++) {
          if (!isAhead && slices > frame && world.core.goAhead()) {
            isAhead = true;
            for (let i = 0; i < count; i += 4) world.core.setLayers(makeId(i, 1), i % 8 ? 0 : 32);
            for (let i = 7 + frame; i < count; i += 50) world.core.removeObject(makeId(i, 1));
            world.put(makeId(count + frame, 1), block([0.3, 0.3, 0.3]), at(), options(frame));
          }
          out = world.core.stepFrame(0, undefined);
        }
        return [slices, isAhead, world.core.considered, out.byteLength, frameAnswer(world.read(out))];
      });
      world.staging.restart(input);
      answers.add('frames', told);
      expect(world.core.check()).toBeNull();
    }
    answers.check();
  });

  test.each([255, 256, 257])('of %i in one place, of which most may not collide', async (count) => {
    const random = new ExactRandom(148);
    const answers = new Answers();
    const world = await World.create();
    for (let i = 0; i < count; i++) {
      world.add(ball(0.1), new Matrix4().setPosition(random.point(0.3)), {
        group: 1 + (i % 3),
        contacts: layout.CONTACTS_ANY,
      });
    }
    answers.add('frames', [frameAnswer(world.frame()), world.core.considered]);
    answers.check();
  });

  test('in a grid, with changes in their midst', async () => {
    const random = new ExactRandom(144);
    const answers = new Answers();
    const world = await World.create();
    const count = 3000;
    const at = () => new Matrix4().setPosition(random.point(9));
    for (let i = 0; i < count; i++) {
      const flags = VISIBLE_FLAGS | (i % 10 === 0 ? layout.FLAG_STATIC : 0);
      world.put(makeId(i, 1), i % 2 === 0 ? block([0.4, 0.3, 0.3]) : ball(0.35), at(), { flags });
    }
    for (let frame = 0; frame < 3; frame++) {
      for (let i = 0; i < count; i++) if (i % 10 > 0) world.move(makeId(i, 1), at());
      const input = world.staging.seal(frame + 1, 1, frame === 2 ? 1000 : undefined);
      const told = onClock('late', () => {
        world.core.beginFrame(input);
        let slices = 1;
        let isAhead = false;
        let out = world.core.stepFrame(0, undefined);
        for (; !out; slices++) {
          if (!isAhead && slices > 2 * frame && world.core.goAhead()) {
            isAhead = true;
            for (let i = 5; i < count; i += 500) world.core.removeObject(makeId(i + frame, 1));
            world.put(makeId(count + frame, 1), randomPrimitive(random), at());
          }
          out = world.core.stepFrame(0, undefined);
        }
        return [slices, isAhead, world.core.considered, out.byteLength, frameAnswer(world.read(out))];
      });
      world.staging.restart(input);
      answers.add('frames', told);
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });
});

test('of contacts that wait for many frames, as there is time for few', async () => {
  const random = new ExactRandom(147);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(icosphere(0.6, 3)));
  const ids = Array.from({ length: 90 }, (_, i) =>
    world.add(i % 3 ? mesh : randomPrimitive(random), random.placement(random.point(2.5)), {
      flags: VISIBLE_FLAGS | (i % 10 === 0 ? layout.FLAG_CONTINUOUS : 0),
      contacts: layout.CONTACTS_ANY,
    }),
  );
  for (let frame = 0; frame < 14; frame++) {
    for (const [i, id] of ids.entries()) if ((i + frame) % 9 === 0) world.move(id, random.placement(random.point(2.5)));
    if (frame === 5) world.core.removeObject(ids.pop()!);
    const input = world.staging.seal(frame + 1, 1, frame === 12 ? 1e9 : 12_000);
    const told = onClock('late', () => {
      world.core.beginFrame(input);
      let slices = 1;
      let out = world.core.stepFrame(0, undefined);
      for (; !out; slices++) {
        if (slices === 9 && frame % 3 === 1 && world.core.goAhead()) world.core.setLayers(ids[frame]!, 1);
        out = world.core.stepFrame(0, undefined);
      }
      return [slices, frameAnswer(world.read(out))];
    });
    world.staging.restart(input);
    answers.add('frames', told);
  }
  answers.check();
  expect(world.core.check()).toBeNull();
});

test.each(['x', 'y', 'z'])('of what lies far away in the plane where %s is 0', async (axis) => {
  const random = new ExactRandom(149);
  const answers = new Answers();
  const world = await World.create();
  const across = 'xyz'.indexOf(axis);
  const sheet = boxMesh(2, 2, 2);
  const flat = surface(world.mesh({ ...sheet, positions: sheet.positions.map((x, i) => (i % 3 === across ? 0 : x)) }));
  for (let i = 0; i < 70; i++) {
    const at = random.point(30).addScalar(1e5).setComponent(across, 0);
    world.add(flat, new Matrix4().setPosition(at), { flags: VISIBLE_FLAGS | (i % 2 ? layout.FLAG_STATIC : 0) });
  }
  for (let frame = 0; frame < 2; frame++) {
    answers.add('frames', frameAnswer(world.frame()));
    addStructure(answers, world, random, 20);
  }
  answers.check();
});

test('of what sleeps and is seen, as inspectors are told', async () => {
  const random = new ExactRandom(145);
  const answers = new Answers();
  const world = await World.create();
  const ids = Array.from({ length: 60 }, (_, i) =>
    world.add(randomPrimitive(random), random.placement(random.point(8)), {
      flags: VISIBLE_FLAGS | (i % 4 ? 0 : layout.FLAG_STATIC),
    }),
  );
  for (let frame = 0; frame < 80; frame++) {
    for (const [i, id] of ids.entries())
      if (i % 3 === 0 && frame % 20 < i % 9) world.move(id, random.placement(random.point(8)));
    world.frame();
    if (frame % 20 > 0) continue;
    const { inspector } = world.core;
    const eye = { at: random.point(20), to: random.point(4) };
    const views = [0, 1].map((i) => viewRecord({ ...viewFrom(i, eye, random), occlusion: i === 1 }).record);
    answers.add('bounds', runToEnd(inspector.bounds(1000, views)));
    inspector.end();
  }
  answers.check();
});

test('of meshes whose memory is given back and taken again', async () => {
  const random = new ExactRandom(146);
  const world = await World.create();
  const { core } = world;
  const sizes = [3, 40, 9, 200, 25, 1, 600];
  const alive: number[] = [];
  const lines: string[] = [];
  for (let i = 0; i < 90; i++) {
    if (alive.length > 0 && random.chance(i > 70 ? 1 : 0.45)) {
      core.freeMesh(alive.splice(random.integer(alive.length), 1)[0]!);
    } else {
      const mesh = i % 5 === 0 ? icosphere(1, 1 + (i % 4)) : soup(random, random.pick(sizes), 0.3, 1);
      alive.push(world.mesh(i % 11 === 0 ? boxMesh(1, 2, 3) : mesh));
    }
    lines.push(
      `${alive.length} meshes, the last one at ${(alive.at(-1) ?? 0) - (alive[0] ?? 0)}, ${core.usedBytes} bytes`,
    );
  }
  const answers = new Answers();
  answers.add('where they are', lines.join('\n'));
  answers.add(
    'what is in them',
    alive.map((mesh) => core.bakeMesh(mesh)),
  );
  answers.add(
    'surfaces',
    alive.map((mesh) => core.meshInfo(mesh)),
  );
  const ids = alive.map((mesh) => world.add(surface(mesh), random.placement(random.point(2))));
  answers.add('frames', [frameAnswer(world.frame()), ids]);
  answers.check();
});
