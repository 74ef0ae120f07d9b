// Exact answers about rare cases that no other scene contains. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import type { CharacterDescription } from '../../../src/shared/commands.js';
import * as layout from '../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  ball,
  block,
  capsule,
  ExactRandom,
  onClock,
  randomPrimitive,
  solid,
  surface,
  VISIBLE_FLAGS,
  World,
} from '../../fixtures/exact-answers.js';
import { cylinder, heightField, hills, lumpyBall, meshKinds, ring } from '../../fixtures/exact-meshes.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, ANY_TRANSFORM } from '../../fixtures/near-scene.js';
import { comb } from '../../oracle/lumps.js';
import { boxMesh, icosphere, merged, rods, soup, type Triangles, transformed } from '../../oracle/meshes.js';

const FAR = Number.POSITIVE_INFINITY;
const NO_TURN = [0, 0, 0, 1] as const;
const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

const WALKER: CharacterDescription = {
  ...{ from: [0, 0.3, 0], to: [0, 1.5, 0], radius: 0.3, up: [0, 1, 0], skin: 0.006, slope: 0.71, stepHeight: 0.3 },
  ...{ snap: 0.3, gravity: 9.81, step: 1 / 64, position: [0, 0, 0], speed: 0, time: 0, layers: 0xffffffff, object: 0 },
  ...{ ignore: new Uint32Array(), flags: layout.CHARACTER_IS_PLACED },
};

test('rays from very far away, at things of all kinds', async () => {
  const answers = new Answers();
  const random = new ExactRandom(151);
  const world = await World.create();
  const meshes = meshKinds(random)
    .slice(0, 12)
    .map(([, mesh]) => surface(world.mesh(mesh)));
  for (const topology of ['points', 'lines'] as const) {
    meshes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology })));
  }
  for (let i = 0; i < 48; i++) {
    const described = i % 2 === 0 ? meshes[(i / 2) % meshes.length]! : randomPrimitive(random);
    world.add(described, random.placement(random.point(3), i % 3 === 0 ? ANY_TRANSFORM : {}));
  }
  const numbers: number[] = [];
  for (let i = 0; i < 160; i++) {
    const from = random.direction().multiplyScalar(random.logRange(1e4, 1e12));
    const origin = from.clone().add(random.point(2));
    const axis = AXES[i % 3]!.clone().multiplyScalar(i % 2 ? 1 : -1);
    const isAlong = i % 5 === 0;
    const start = isAlong ? random.point(2).addScaledVector(axis, -random.logRange(1e4, 1e9)) : origin;
    const ray = { origin: start.toArray(), direction: (isAlong ? axis : from.negate()).toArray() };
    const filter = {
      ...ALL_FILTER,
      threshold: 0.1,
      precision: i % 4 === 3 ? layout.PRECISION_OBB : layout.PRECISION_MESH,
    };
    answers.add('nearest', world.core.rays.raycast(ray, filter));
    answers.add('all', runToEnd(world.core.rays.raycastAll(ray, filter)));
    answers.add('any', world.core.rays.anyHit(ray, filter));
    numbers.push(...ray.origin, 0, ...ray.direction, FAR);
  }
  for (const threshold of [0, 0.2]) {
    answers.add('many', world.core.rays.raycastMany(Float32Array.from(numbers), { ...ALL_FILTER, threshold }));
  }
  answers.check();
});

test('rays far away at few meshes, many at a time', async () => {
  const answers = new Answers();
  const random = new ExactRandom(152);
  const world = await World.create();
  world.add(surface(world.mesh(icosphere(1, 4))), new Matrix4().makeScale(2, 1, 1));
  world.add(surface(world.mesh(boxMesh(1, 2, 3))), random.placement(random.point(3)));
  const numbers = Array.from({ length: 128 }, (_, i) => {
    const from = random.direction().multiplyScalar(i % 2 ? 5 : random.logRange(1e3, 1e7));
    return [...from.toArray(), 0, ...random.point(1.5).sub(from).toArray(), FAR];
  });
  answers.add('many', world.core.rays.raycastMany(Float32Array.from(numbers.flat()), ALL_FILTER));
  answers.check();
});

test('rays along the axes of capsules, and in the planes of boxes', async () => {
  const answers = new Answers();
  const random = new ExactRandom(153);
  const world = await World.create();
  for (const [i, axis] of AXES.entries()) {
    const at = new Matrix4().setPosition(6 * i, 0, 0);
    world.add(capsule(0.5, axis.clone().negate().toArray(), axis.toArray()), at);
    world.add(block([1, 1, 1]), new Matrix4().setPosition(6 * i, 5, 0));
  }
  for (let i = 0; i < 240; i++) {
    const axis = AXES[i % 3]!;
    const place = new Vector3(6 * Math.floor(random.next() * 3), i % 2 ? 5 : 0, 0);
    const beside = random.point(0.7).sub(new Vector3());
    if (i % 4 === 0)
      beside.set(Math.sign(beside.x), Math.sign(beside.y), Math.sign(beside.z)).multiplyScalar(i % 8 ? 1 : 0.5);
    const origin = place.add(beside).addScaledVector(axis, i % 5 ? -4 : 0);
    const ray = { origin: origin.toArray(), direction: axis.toArray() };
    answers.add('nearest', world.core.rays.raycast(ray, { ...ALL_FILTER, side: i % 4 }));
    answers.add('all', runToEnd(world.core.rays.raycastAll(ray, ALL_FILTER)));
  }
  answers.check();
});

/** A square perpendicular to a way. */
const sheet = (across: Vector3): Triangles =>
  transformed(boxMesh(2, 2, 2), (v) => v.addScaledVector(across, -v.dot(across) / across.lengthSq()));
const TILTED = sheet(new Vector3(1, 2, 3));

/** Obstacles that a walker may start inside of. */
const THICKETS: [string, (world: World, random: ExactRandom) => PlacedDescription][] = [
  ['a sheet', (world) => surface(world.mesh(heightField(6, () => 0)))],
  ['hills', (world) => surface(world.mesh(heightField(12, hills)))],
  ['a ring', (world) => surface(world.mesh(ring(1, 0.4, 12, 6)))],
  ['rods', (world, random) => surface(world.mesh(rods(random, 12, 1)))],
  ['crossed sheets', (world) => surface(world.mesh(merged([TILTED, ...AXES.map((axis) => sheet(axis))])))],
  ['a soup', (world, random) => surface(world.mesh(soup(random, 30, 1, 1)))],
  ['a ball', () => ball(1)],
  ['a long capsule', () => capsule(0.5, [0, -1, 0], [0.2, 1, 0])],
  ['a flat capsule', () => capsule(0.4, [-1, 0, 0], [1, 0, 0])],
  ['a box', () => block([0.7, 0.2, 0.7])],
];

test('walkers that begin across something', async () => {
  const random = new ExactRandom(154);
  const answers = new Answers();
  const world = await World.create();
  for (const [i, [, make]] of THICKETS.entries()) {
    for (let k = 0; k < 3; k++) {
      const place = new Vector3(20 * i, 0, 20 * k);
      const side = [layout.SIDE_DOUBLE, layout.SIDE_FRONT, layout.SIDE_BACK][k]!;
      const form = k === 0 ? new Matrix4().setPosition(place) : random.placement(place, { low: 0.8, high: 1.3 });
      world.add(make(world, random), form, { flags: VISIBLE_FLAGS | (side * layout.FLAG_SIDE) });
      const offset = k === 1 ? new Vector3() : random.point(0.5);
      world.core.putCharacter(3 * i + k, {
        ...WALKER,
        gravity: k === 2 ? 9.81 : 0,
        position: place.add(offset).toArray(),
        from: [0, -0.6, 0],
        to: [0, 0.6, 0],
        radius: 0.2 + 0.1 * k,
      });
    }
  }
  for (let frame = 0; frame < 6; frame++) {
    for (let i = 0; i < 3 * THICKETS.length; i++) {
      world.staging.moves.add(i, layout.MOVE_TIMED, random.point(frame < 3 ? 0.2 : 2).toArray(), 1 / 60);
    }
    world.frame();
    answers.add('frames', world.characters());
  }
  answers.check();
});

test('walkers that go far at once, and stand on what is moved, turned and removed', async () => {
  const random = new ExactRandom(155);
  const answers = new Answers();
  const world = await World.create();
  world.add(block([60, 1, 60], [0, -1, 0]));
  for (let i = 0; i < 30; i++) world.add(block([0.5, 0.3, 0.5]), random.placement(random.point(20).setY(0)));
  const lifts = Array.from({ length: 6 }, (_, i) =>
    world.add(i % 2 ? block([1, 0.2, 1]) : capsule(0.4, [-1, 0, 0], [1, 0, 0]), new Matrix4().setPosition(4 * i, 1, 0)),
  );
  for (let i = 0; i < 12; i++) {
    const position = i < 6 ? [4 * i, 1.5, 0] : random.point(15).setY(0.01).toArray();
    world.core.putCharacter(i, { ...WALKER, position: position as [number, number, number] });
  }
  for (let frame = 0; frame < 24; frame++) {
    for (const [i, id] of lifts.entries()) {
      if (frame === 18) world.core.removeObject(id);
      if (frame >= 18 || frame % 3 === 2) continue;
      const turn = random
        .rotation()
        .set(0, 0.02 * frame * (i % 3), 0, 1)
        .normalize();
      const at = new Vector3(4 * i + 0.05 * frame, 1 + 0.03 * frame * (i % 2), 0.02 * frame);
      world.move(id, new Matrix4().compose(at, turn, new Vector3(1, 1, 1)));
    }
    for (let i = 0; i < 12; i++) {
      const way = random.direction().setY(0);
      if (i < 6) world.staging.moves.add(i, layout.MOVE_TIMED, [0, 0, 0], 1 / 60);
      else world.staging.moves.add(i, layout.MOVE_BY, way.multiplyScalar([0.01, 3, 40][i % 3]!).toArray(), 0);
    }
    world.frame();
    answers.add('frames', world.characters());
  }
  answers.check();
});

test('walkers of all kinds, up and down', async () => {
  const random = new ExactRandom(174);
  const answers = new Answers();
  const world = await World.create();
  const ground = transformed(heightField(16, hills), (v) => v.set(9 * v.x, 9 * v.z, -9 * v.y));
  world.add(surface(world.mesh(ground)));
  for (let i = 0; i < 40; i++) {
    const described = i % 3 ? block([0.6, random.range(0.1, 1), 0.6]) : capsule(0.3, [0, -1, 0], [0, 2, 0]);
    world.add(described, random.placement(new Vector3(random.range(-8, 8), random.range(-1, 4), random.range(-8, 8))));
  }
  for (let i = 0; i < 14; i++) {
    const up = i % 3 === 2 ? new Vector3(0, 0.8, 0.6) : new Vector3(0, 1, 0);
    const tall = random.range(0, 1.5);
    world.core.putCharacter(i, {
      ...WALKER,
      ...{ position: [random.range(-7, 7), random.range(1, 7), random.range(-7, 7)], up: up.toArray() },
      ...{
        from: [0, 0.3, 0],
        to: up
          .clone()
          .multiplyScalar(tall)
          .add(new Vector3(0, 0.3, 0))
          .toArray(),
      },
      ...{ radius: random.range(0.1, 0.6), skin: random.pick([0.001, 0.02, 0.1]), slope: random.range(0, 1) },
      ...{
        stepHeight: random.pick([0, 0.3, 1.5]),
        snap: random.pick([0, 0.2, 2]),
        gravity: random.pick([0, 9.81, 60]),
      },
      ...{ step: random.pick([1 / 64, 1 / 8]) },
    });
  }
  for (let frame = 0; frame < 20; frame++) {
    for (let i = 0; i < 14; i++) {
      const way = random.point(i % 2 ? 3 : 15).toArray();
      world.staging.moves.add(i, layout.MOVE_TIMED, way, random.pick([0.01, 0.05, 0.4]));
      if (random.chance(0.1)) world.staging.moves.add(i, layout.MOVE_JUMP, [0, 0, 0], random.range(2, 20));
    }
    world.frame();
    answers.add('frames', world.characters());
  }
  answers.check();
});

test('contacts of what is parallel', async () => {
  const random = new ExactRandom(156);
  const answers = new Answers();
  const world = await World.create();
  const prism = solid(world.mesh(boxMesh(2, 1, 1)));
  const pole = solid(world.mesh(cylinder(0.5, 1, 8)));
  const things = [block([1, 0.5, 0.5]), capsule(0.5, [-1, 0, 0], [1, 0, 0]), prism, pole, ball(0.5)];
  const turns = [new Matrix4(), new Matrix4().set(1, 0, 0, 0, 0, 0.8, -0.6, 0, 0, 0.6, 0.8, 0, 0, 0, 0, 1)];
  for (let i = 0; i < 300; i++) {
    const [a, b] = [random.pick(things), random.pick(things)];
    const both = i % 3 === 0 ? random.placement(new Vector3()) : new Matrix4();
    const at = new Vector3(random.range(-1.8, 1.8), random.range(-1, 1), random.range(-1, 1));
    if (i % 2 === 0) at.multiplyScalar(4).round().multiplyScalar(0.25);
    const stretch = new Matrix4().makeScale(...([1, 1, i % 5 === 0 ? 1.5 : 1] as const));
    const to = both.clone().multiply(random.pick(turns).clone().setPosition(at)).multiply(stretch);
    const pair = [world.add(a, both), world.add(b, to)] as const;
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD, layout.CONTACTS_FULL]) {
      answers.add('contacts', world.core.pairs.contact(...pair, detail));
    }
    answers.add('apart', world.core.pairs.beginDistance(...pair, FAR, FAR));
    for (const id of pair) world.core.removeObject(id);
  }
  answers.check();
});

test('contacts of what is all but a ball about a place', async () => {
  const random = new ExactRandom(157);
  const answers = new Answers();
  const world = await World.create();
  const meshes = [icosphere(1, 5), icosphere(1, 16)].map((mesh) => solid(world.mesh(mesh)));
  for (let i = 0; i < 10; i++) {
    const a = i % 2 ? ball(1) : meshes[(i % 4) >> 1]!;
    const b = i % 3 ? capsule(1, [-1e-3, 0, 0], [1e-3, 0, 0]) : ball(0.9);
    const matrix = random.placement(random.point(1e-3), { low: 0.98, high: 1.02 });
    const pair = [world.add(a, new Matrix4().makeScale(1, 1.01, 0.99)), world.add(b, matrix)] as const;
    answers.add('contacts', world.core.pairs.contact(...pair, layout.CONTACTS_MANIFOLD));
    for (const id of pair) world.core.removeObject(id);
  }
  answers.check();
});

test('queries in slices between which objects go', async () => {
  const random = new ExactRandom(159);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(lumpyBall(random, 5, 0.3)));
  let ids: number[] = [];
  const fill = () => {
    ids = Array.from({ length: 60 }, (_, i) =>
      world.add(i % 2 ? mesh : randomPrimitive(random), random.placement(random.point(1.5))),
    );
  };
  const eye = { at: new Vector3(0, 0, 12), to: new Vector3() };
  const { rays, volumes, sections } = world.core;
  for (let round = 0; round < 4; round++) {
    fill();
    const { record } = viewRecord(viewFrom(0, eye, random));
    const query = { ...(round % 2 ? mesh : block([1, 1, 1])), matrix: world.there(random.placement(random.point(1))) };
    const ray = {
      origin: [0, 0, 9] as [number, number, number],
      direction: [0.01, 0.02, -1] as [number, number, number],
    };
    const asked: [string, () => Generator<void, unknown>][] = [
      ['closest', () => volumes.closestPoint([0.3, 0.2, 0.1], FAR, ALL_FILTER)],
      ['around', () => volumes.containing([0.3, 0.2, 0.1], ALL_FILTER)],
      ['met', () => volumes.overlap(query, ALL_FILTER)],
      ['in sight', () => rays.sees(record, Uint32Array.from(ids), ALL_FILTER)],
      ['hits', () => rays.raycastAll(ray, ALL_FILTER)],
    ];
    for (const [kind, begin] of asked) {
      const told = onClock('late', () => {
        const steps = begin();
        let slices = 1;
        let step = steps.next();
        for (; !step.done; slices++) {
          if (slices % 3 === 0 && ids.length > 5)
            world.core.removeObject(ids.splice(random.integer(ids.length), 1)[0]!);
          step = steps.next();
        }
        return [slices, step.value];
      });
      answers.add(kind, told);
    }
    const cut = sections.candidates(Float64Array.of(0, 0, 1, 0.1), ALL_FILTER, 4, undefined);
    onClock('late', () => {
      for (const [i, id] of cut.entries()) {
        if (i % 4 === 1) world.core.removeObject(id);
        sections.begin(id);
        while (!sections.step(0));
      }
    });
    answers.add('sections', sections.outlines());
    sections.end();
    for (const id of ids) world.core.removeObject(id);
  }
  answers.check();
  expect(world.core.check()).toBeNull();
});

test('sweeps against sides that show, and sides of faces', async () => {
  const random = new ExactRandom(160);
  const answers = new Answers();
  const world = await World.create();
  const meshes = meshKinds(random)
    .slice(2, 13)
    .map(([, mesh]) => surface(world.mesh(mesh)));
  for (let i = 0; i < 22; i++) {
    const faceSides = Uint32Array.from({ length: 6 }, (_, k) => ((5 * k + 2) << layout.FACE_SHIFT) | random.integer(4));
    const isMixed = i % 3 === 0;
    world.add(meshes[i % meshes.length]!, random.placement(random.point(4), i % 2 ? ANY_TRANSFORM : {}), {
      flags: VISIBLE_FLAGS | (random.integer(4) * layout.FLAG_SIDE) | (isMixed ? layout.FLAG_FACE_SIDES : 0),
      faceSides: isMixed ? faceSides : undefined,
    });
  }
  for (let i = 0; i < 40; i++) {
    const from = random.direction().multiplyScalar(6);
    const shape = i % 9 === 0 ? meshes[i % meshes.length]! : randomPrimitive(random);
    const way = random.point(2).sub(from).toArray();
    const rotation = i % 3 ? NO_TURN : (random.rotation().toArray() as [number, number, number, number]);
    const filter = { ...ALL_FILTER, side: i % 4 };
    const placed = { ...shape, matrix: world.there(random.placement(from, { low: 0.3, high: 0.8 })) };
    answers.add('first', world.core.sweeps.sweep(placed, { way, rotation, tolerance: 0 }, filter));
    answers.add('all', world.core.sweeps.sweepAll(placed, { way, rotation, tolerance: 0 }, filter));
  }
  answers.check();
});

test('distances of what is about one place', async () => {
  const random = new ExactRandom(168);
  const answers = new Answers();
  const world = await World.create();
  const [inner, outer, ground] = [icosphere(0.3, 2), icosphere(1, 4), ring(1, 0.2, 12, 6)].map((body) =>
    world.mesh(body),
  );
  const pairs: [PlacedDescription, PlacedDescription][] = [
    [surface(inner!), surface(outer!)],
    [surface(inner!), surface(ground!)],
    [solid(inner!), surface(ground!)],
    [ball(0.2), surface(outer!)],
    [block([0.2, 0.1, 0.1]), surface(ground!)],
    [capsule(0.1, [0, 0, -0.2], [0, 0, 0.2]), surface(ground!)],
  ];
  for (const [a, b] of pairs) {
    for (let i = 0; i < 6; i++) {
      const both = i < 2 ? new Matrix4() : random.placement(new Vector3(), i < 4 ? {} : ANY_TRANSFORM);
      const ids = [world.add(a, both), world.add(b, i % 2 ? both : new Matrix4())] as const;
      answers.try('apart', () => world.core.pairs.beginDistance(...ids, FAR, FAR));
      for (const id of ids) world.core.removeObject(id);
    }
  }
  answers.check();
});

test('rays that two sets of planes cut where they do, each for its part', async () => {
  const random = new ExactRandom(170);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(icosphere(1, 3)));
  for (let i = 0; i < 24; i++) {
    world.add(i % 2 ? mesh : randomPrimitive(random), random.placement(random.point(3)), {
      clipSet: i % 3 === 0 ? 0 : 1,
    });
  }
  for (let i = 0; i < 120; i++) {
    const origin = random.direction().multiplyScalar(6);
    const direction = random.point(2).sub(origin);
    // All sets cut out the space between two planes; both sets have the first or the last plane in common.
    const normal = direction.clone().multiplyScalar(1 / Math.sqrt(direction.lengthSq()));
    const across = (far: number): number[] => [...normal.toArray(), -normal.dot(origin) - far];
    const back = (far: number): number[] => across(far).map((x) => -x);
    const [a, b] = [random.range(4, 5), random.range(5, 8)];
    const first = [...back(a), ...across(b)];
    const second =
      i % 3 === 0 ? [...back(a), ...across(b + 0.5)] : i % 3 === 1 ? [...back(a - 0.5), ...across(b)] : first;
    const sets = Uint32Array.from([0, 0, 2, 0, 2, 0, 2, 0]);
    const clips = { sets, planes: Float64Array.from(i % 2 ? [...first, ...second] : [...second, ...first]) };
    const ray = { origin: origin.toArray(), direction: direction.toArray() };
    answers.add('nearest', world.core.rays.raycast(ray, { ...ALL_FILTER, clips }));
    answers.add('all', runToEnd(world.core.rays.raycastAll(ray, { ...ALL_FILTER, clips })));
    answers.add('any', world.core.rays.anyHit(ray, { ...ALL_FILTER, clips }));
  }
  answers.check();
});

test('contacts in many places at once', async () => {
  const random = new ExactRandom(171);
  const answers = new Answers();
  const world = await World.create();
  const spikes = heightField(14, (x, y) => (Math.round(7 * x + 7 * y) % 2 === 0 ? 0.15 : 0));
  const meshes = [surface(world.mesh(spikes)), solid(world.mesh(comb(14))), surface(world.mesh(rods(random, 30, 1)))];
  for (let i = 0; i < 45; i++) {
    const small = new Matrix4().makeScale(0.07, 0.07, 0.07);
    const form = i % 3 === 1 ? small : new Matrix4();
    const a = world.add(meshes[i % 3]!, form);
    const plate = [block([0.9, 0.9, 0.1]), capsule(0.1, [-0.9, 0, 0], [0.9, 0.2, 0]), ball(0.8)][
      Math.floor(i / 3) % 3
    ]!;
    const b = world.add(plate, random.placement(random.point(0.2).add(new Vector3(i % 3 === 1 ? 1 : 0, 0, 0.15))));
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD, layout.CONTACTS_FULL]) {
      answers.add('contacts', world.core.pairs.contact(a, b, detail));
    }
    for (const id of [a, b]) world.core.removeObject(id);
  }
  answers.check();
});
