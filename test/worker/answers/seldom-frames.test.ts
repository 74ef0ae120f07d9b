// Exact answers of rare frames and views: boxes that stand for meshes, objects that move far or leave a crowded place, unusual
// cameras. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { checkRegion } from '../../../src/client/query/query-options.js';
import { UNBOUND } from '../../../src/client/skin/pose-table.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
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
  solid,
  surface,
  VISIBLE_FLAGS,
  World,
} from '../../fixtures/exact-answers.js';
import { cylinder, heightField, ring, withoutLast } from '../../fixtures/exact-meshes.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, ANY_TRANSFORM } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup } from '../../oracle/meshes.js';

const FAR = Number.POSITIVE_INFINITY;

const records = (random: ExactRandom, count: number) =>
  Float64Array.from(
    Array.from({ length: count }, () => {
      const half = [random.range(0.1, 0.5), random.range(0.1, 0.5), random.range(0.1, 0.5)];
      return [...random.point(0.6).toArray(), ...half, ...random.rotation().toArray()];
    }).flat(),
  );

test('frames of what boxes stand for, with clearances and on its way', async () => {
  const random = new ExactRandom(158);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(icosphere(0.8, 2)));
  const ids = Array.from({ length: 36 }, (_, i) => {
    const isBoxed = i % 3 < 2;
    const count = 1 + (i % 4);
    const reach = [0, layout.FLAG_CONTINUOUS, layout.FLAG_CLEARANCE, layout.FLAG_CONTINUOUS | layout.FLAG_CLEARANCE][
      i % 4
    ]!;
    const flags = VISIBLE_FLAGS | reach | (isBoxed ? layout.FLAG_BOXES : 0);
    const names = Array.from({ length: count }, (_, k) => `${k}`);
    return world.add(isBoxed ? mesh : i % 2 ? randomPrimitive(random) : mesh, random.placement(random.point(3)), {
      flags,
      clearance: reach & layout.FLAG_CLEARANCE ? 0.15 : 0,
      contacts: [
        layout.CONTACTS_BONES,
        layout.CONTACTS_BOUNDS,
        layout.CONTACTS_BONES,
        layout.CONTACTS_ANY,
        layout.CONTACTS_FULL,
      ][i % 5]!,
      ...(isBoxed && { boxes: { names, records: records(random, count) } }),
    });
  });
  for (let frame = 0; frame < 5; frame++) {
    for (const id of ids) if (random.chance(0.7)) world.move(id, random.placement(random.point(4)));
    answers.add('frames', frameAnswer(world.frame()));
  }
  for (let i = 0; i + 1 < ids.length; i++) {
    for (const detail of [layout.CONTACTS_BOUNDS, layout.CONTACTS_BONES]) {
      answers.add('contacts', world.core.pairs.contact(ids[i]!, ids[i + 1]!, detail));
    }
    answers.try('apart', () => world.core.pairs.beginDistance(ids[i]!, ids[i + 1]!, FAR, FAR));
  }
  answers.check();
  expect(world.core.check()).toBeNull();
});

test('objects without a matrix, and that are set without one', async () => {
  const answers = new Answers();
  const world = await World.create();
  const ids = [0, 1, 2, 3].map((i) => makeId(i, 1));
  for (const [i, id] of ids.entries()) {
    const described = [block([1, 2, 1]), ball(1.2), capsule(0.4, [0, 0, 0], [1, 1, 0]), ball(0.2)][i]!;
    world.core.addObjects(Uint32Array.of(id), {
      ...described,
      flags: VISIBLE_FLAGS | (i % 2 ? layout.FLAG_CONTINUOUS : 0),
    });
  }
  for (let frame = 0; frame < 3; frame++) {
    answers.add('frames', frameAnswer(world.frame()));
    if (frame === 0) world.move(ids[1]!, new Matrix4().makeTranslation(0.5, 0, 0));
    if (frame === 1) for (const id of ids) world.core.setObject(id, { ...ball(0.7), contacts: 4 });
    answers.add('around', runToEnd(world.core.volumes.containing([0.5, 0.1, 0], ALL_FILTER)));
  }
  answers.check();
});

test('things on long and winding ways that graze each other', async () => {
  const random = new ExactRandom(161);
  const answers = new Answers();
  const world = await World.create();
  const needle = world.mesh(cylinder(0.02, 2, 6));
  const things = [
    block([2, 0.02, 0.02]),
    capsule(0.01, [-2, 0, 0], [2, 0, 0]),
    solid(needle),
    block([1, 1, 0.01]),
    ball(0.05),
  ];
  const ids = Array.from({ length: 20 }, (_, i) =>
    world.add(things[i % things.length]!, random.placement(random.point(2)), {
      flags: VISIBLE_FLAGS | layout.FLAG_CONTINUOUS,
      contacts: i % 2 ? layout.CONTACTS_MANIFOLD : layout.CONTACTS_ANY,
    }),
  );
  for (let frame = 0; frame < 4; frame++) {
    for (const id of ids) world.move(id, random.placement(random.point(2)));
    answers.add('frames', frameAnswer(world.frame()));
  }
  answers.check();
});

test('things that leave each other, some from one place', async () => {
  const random = new ExactRandom(167);
  const answers = new Answers();
  const world = await World.create();
  const mesh = world.mesh(icosphere(0.6, 2));
  const things = [
    ball(0.5),
    block([0.5, 0.5, 0.5]),
    capsule(0.3, [0, -0.5, 0], [0, 0.5, 0]),
    solid(mesh),
    surface(mesh),
  ];
  for (const [i, a] of things.entries()) {
    for (const [k, b] of things.slice(i).entries()) {
      const place = new Vector3(20 * i, 20 * k, 0);
      const flags = VISIBLE_FLAGS | layout.FLAG_CONTINUOUS;
      const ids = [a, b].map((each) =>
        world.add(each, new Matrix4().setPosition(place), { flags: each.flags | flags }),
      );
      answers.add('apart', world.core.pairs.beginDistance(ids[0]!, ids[1]!, FAR, FAR));
      for (let step = 0; step < 6; step++) {
        const beside = step < 3 ? new Vector3() : random.point(0.3);
        for (const id of ids) world.core.setObject(id, { ...(id === ids[0] ? a : b), flags });
        world.move(ids[0]!, new Matrix4().setPosition(place));
        world.move(ids[1]!, new Matrix4().setPosition(place.clone().add(beside)));
        world.frame();
        const way = [new Vector3(3, 0, 0), new Vector3(0, 3, 0), random.direction().multiplyScalar(4)][step % 3]!;
        world.move(ids[0]!, random.placement(place.clone().sub(way)));
        world.move(ids[1]!, new Matrix4().setPosition(place.clone().add(way)));
        answers.add('frames', frameAnswer(world.frame()));
      }
      for (const id of ids) world.core.removeObject(id);
    }
  }
  answers.check();
});

test('views whose eye is not where the view matrix says', async () => {
  const random = new ExactRandom(169);
  const answers = new Answers();
  const world = await World.create();
  const shapes = [
    surface(world.mesh(icosphere(1, 5))),
    surface(world.mesh(boxMesh(1, 1, 1))),
    block([1, 1, 1]),
    ball(1),
  ];
  const ids = Array.from({ length: 60 }, (_, i) => {
    const flags = VISIBLE_FLAGS | (layout.FLAG_SIDE * (i % 4)) | (i % 3 ? layout.FLAG_NO_OCCLUDER : 0);
    return world.add(shapes[i % 4]!, random.placement(random.point(6), { low: 0.3, high: i % 3 ? 0.6 : 2 }), { flags });
  });
  for (let i = 0; i < 40; i++) {
    const eye = { at: random.direction().multiplyScalar(12), to: random.point(2), near: 0.1, far: 60 };
    const options = viewFrom(i, eye, random);
    // A projection matrix may contain a part of the camera's placement.
    const moved = new Matrix4().fromArray(Array.from(options.projection as number[]));
    const projection = moved.multiply(
      i % 3 ? random.placement(random.point(2)) : new Matrix4().makeTranslation(random.point(2)),
    ).elements;
    const view = viewRecord({ ...options, projection: [...projection], occlusion: i % 2 === 0 });
    answers.add('seen', runToEnd(world.core.volumes.frustum(view.record, ALL_FILTER)));
    answers.add('in sight', runToEnd(world.core.rays.sees(view.record, Uint32Array.from(ids), ALL_FILTER)));
    const cursor = { x: random.range(60, 320), y: random.range(60, 240), radius: random.pick([2, 30]) };
    answers.add('picked', runToEnd(world.core.rays.pickScreenAll(view.record, cursor, { ...ALL_FILTER, side: i % 4 })));
  }
  answers.check();
});

test('views among balls, capsules and many meshes that hide others', async () => {
  const random = new ExactRandom(162);
  const answers = new Answers();
  const world = await World.create();
  const shapes: PlacedDescription[] = [ball(1), capsule(1, [0, 0, 0], [0, 0, 0]), capsule(0.6, [0, -1, 0], [0, 1, 0])];
  const bodies = Array.from({ length: 70 }, (_, i) => (i % 5 ? boxMesh(2, 2, 2) : withoutLast(icosphere(1, 2), i % 3)));
  const meshes = bodies.map((body) => world.mesh(body));
  const houses: number[] = [];
  for (let i = 0; i < 140; i++) {
    const described = i % 3 === 0 ? shapes[(i / 3) % 3]! : surface(meshes[i % meshes.length]!);
    const at = random.placement(random.point(25).setY(2), { low: 2, high: 4 });
    houses.push(world.add(described, at, { flags: VISIBLE_FLAGS | (random.integer(4) * layout.FLAG_SIDE) }));
    for (let k = 0; k < 2; k++) {
      const place = new Matrix4().setPosition(random.point(27).setY(2));
      world.add(block([0.3, 0.3, 0.3]), place, { flags: VISIBLE_FLAGS | layout.FLAG_NO_OCCLUDER });
    }
  }
  for (let i = 0; i < 12; i++) {
    const eye = { at: random.point(30).setY(2), to: random.point(8), near: 0.2, far: 200 };
    const view = viewRecord({ ...viewFrom(i, eye, random), occlusion: true, occlusionMargin: i % 3 === 0 ? 0.2 : 0 });
    world.staging.setView(view.record);
    answers.add('frames', frameAnswer(world.frame()));
    answers.add('seen', runToEnd(world.core.volumes.frustum(view.record, ALL_FILTER)));
    // Planes are queried after a view with occlusion, and have none.
    answers.add(
      'within planes',
      runToEnd(world.core.volumes.frustum(Float32Array.of(1, 0, 0, 9, 0, 1, 0, 9, 0, 0, -1, 9), ALL_FILTER)),
    );
    if (i % 3 > 0) continue;
    for (let k = 0; k < 6; k++) {
      const n = (5 * i + k) % meshes.length;
      if (k % 2) {
        world.core.refitMesh(
          meshes[n]!,
          bodies[n]!.positions.map((x) => 0.7 * x),
        );
      }
      const id = houses[(7 * i + k) % houses.length]!;
      if (i === 3) world.core.removeObject(id);
    }
  }
  answers.check();
});

test('lassos about slivers', async () => {
  const random = new ExactRandom(172);
  const answers = new Answers();
  const world = await World.create();
  const sliver = surface(world.mesh(soup(random, 6, 1, 0.2)));
  const needle = block([1, 0.01, 0.01]);
  for (let i = 0; i < 120; i++) {
    const at = random.placement(random.point(4), { low: 0.2, high: 0.7 });
    world.add(i % 2 ? sliver : needle, at.multiply(new Matrix4().makeScale(1, i % 4 ? 1 : 0.02, 1)));
  }
  for (let i = 0; i < 60; i++) {
    const eye = { at: random.direction().multiplyScalar(12), to: random.point(1), near: 0.05, far: 60 };
    const { record } = viewRecord(viewFrom(i, eye, random));
    const [x, y] = [random.range(80, 300), random.range(80, 230)];
    const corners = Array.from({ length: 3 + (i % 7) }, () => [x + random.range(-60, 60), y + random.range(-60, 60)]);
    for (const mode of ['touch', 'enclose'] as const) {
      const lasso = checkRegion('test', Float32Array.from(corners.flat()), mode)(record);
      if (lasso) answers.add(mode, runToEnd(world.core.volumes.pickRegion(record, lasso, ALL_FILTER)));
    }
  }
  answers.check();
});

test('what goes on its way while a frame looks at it', async () => {
  const random = new ExactRandom(173);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(icosphere(0.4, 2)));
  const flags = VISIBLE_FLAGS | layout.FLAG_CONTINUOUS;
  const ids = Array.from({ length: 80 }, (_, i) =>
    world.add(i % 2 ? mesh : ball(0.3), random.placement(random.point(4)), {
      flags: i % 4 === 3 ? VISIBLE_FLAGS : flags,
    }),
  );
  for (let frame = 0; frame < 6; frame++) {
    for (const id of ids) if (random.chance(0.6)) world.move(id, random.placement(random.point(4)));
    const input = world.staging.seal(frame + 1, 1, frame % 2 ? 9000 : 0);
    const told = onClock('late', () => {
      world.core.beginFrame(input);
      let slices = 1;
      let isAhead = false;
      let out = world.core.stepFrame(0, undefined);
      for (; !out; slices++) {
        if (!isAhead && slices > frame && world.core.goAhead()) {
          isAhead = true;
          for (let i = frame; i < ids.length; i += 5) {
            world.core.setObject(ids[i]!, {
              ...ball(0.3),
              flags,
              matrix: world.there(random.placement(random.point(4))),
            });
          }
        }
        out = world.core.stepFrame(0, undefined);
      }
      return [slices, isAhead, frameAnswer(world.read(out))];
    });
    world.staging.restart(input);
    answers.add('frames', told);
    expect(world.core.check()).toBeNull();
  }
  answers.check();
});

test('regions and sights of sides that show', async () => {
  const answers = new Answers();
  const random = new ExactRandom(166);
  const world = await World.create();
  const shapes = [heightField(4, () => 0), icosphere(1, 2), ring(1, 0.4, 10, 6), boxMesh(1, 1, 1)].map((mesh) =>
    surface(world.mesh(mesh)),
  );
  const ids = Array.from({ length: 40 }, (_, i) =>
    world.add(
      i % 5 === 4 ? randomPrimitive(random) : shapes[i % 4]!,
      random.placement(random.point(4), i % 2 ? ANY_TRANSFORM : {}),
      {
        flags: VISIBLE_FLAGS | (random.integer(4) * layout.FLAG_SIDE),
      },
    ),
  );
  const skin: MeshData = { ...icosphere(1, 4) };
  const vertices = skin.positions.length / 3;
  skin.skin = { bones: new Uint8Array(4 * vertices), weights: new Float32Array(4 * vertices).fill(0.25), boneCount: 1 };
  const posed = world.add(surface(world.mesh(skin)), new Matrix4().setPosition(0, 2, 0));
  world.pose(posed, {
    bones: Float32Array.from(new Matrix4().makeScale(1, 2, 1).elements),
    binds: UNBOUND,
    morphs: [],
  });
  world.frame();
  for (let i = 0; i < 40; i++) {
    const eye = { at: random.direction().multiplyScalar(9), to: random.point(1), near: 0.05, far: 60 };
    const view = viewRecord(viewFrom(i, eye, random));
    const filter = { ...ALL_FILTER, side: i % 4 };
    answers.add('in sight', runToEnd(world.core.rays.sees(view.record, Uint32Array.from([...ids, posed]), filter)));
    const cursor = { x: random.range(60, 320), y: random.range(60, 240), radius: random.pick([3, 30]) };
    answers.add('picked', world.core.rays.pickScreen(view.record, cursor, filter));
    answers.add('all picked', runToEnd(world.core.rays.pickScreenAll(view.record, cursor, filter)));
  }
  answers.check();
});
