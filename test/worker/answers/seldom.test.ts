// Exact answers about what is out of the way of other scenes: they are the same to the bit as they were. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { UNBOUND } from '../../../src/client/skin/pose-table.js';
import type { CharacterDescription } from '../../../src/shared/commands.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { inOnePiece } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  anyRound,
  ball,
  block,
  capsule,
  ExactRandom,
  frameAnswer,
  onClock,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { cylinder, field, hills, kinds, lumpy, ring, withoutLast } from '../../fixtures/exact-meshes.js';
import { recordOf, viewFrom } from '../../fixtures/exact-views.js';
import { ALL, ANY_FORM } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, merged, rods, soup, type Triangles, transformed } from '../../oracle/meshes.js';

/** Queries and views find what has these flags. */
const SHOWN = layout.FLAG_PICKABLE | layout.FLAG_CULLABLE;
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
  const meshes = kinds(random)
    .slice(0, 12)
    .map(([, mesh]) => surface(world.mesh(mesh)));
  for (const topology of ['points', 'lines'] as const) {
    meshes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology })));
  }
  for (let i = 0; i < 48; i++) {
    const described = i % 2 === 0 ? meshes[(i / 2) % meshes.length]! : anyRound(random);
    world.add(described, random.placement(random.point(3), i % 3 === 0 ? ANY_FORM : {}));
  }
  const numbers: number[] = [];
  for (let i = 0; i < 160; i++) {
    const from = random.direction().multiplyScalar(random.logRange(1e4, 1e12));
    const origin = from.clone().add(random.point(2));
    const axis = AXES[i % 3]!.clone().multiplyScalar(i % 2 ? 1 : -1);
    const isAlong = i % 5 === 0;
    const start = isAlong ? random.point(2).addScaledVector(axis, -random.logRange(1e4, 1e9)) : origin;
    const ray = { origin: start.toArray(), direction: (isAlong ? axis : from.negate()).toArray() };
    const filter = { ...ALL, threshold: 0.1, precision: i % 4 === 3 ? layout.PRECISION_OBB : layout.PRECISION_MESH };
    answers.add('nearest', world.core.rays.raycast(ray, filter));
    answers.add('all', inOnePiece(world.core.rays.raycastAll(ray, filter)));
    answers.add('any', world.core.rays.anyHit(ray, filter));
    numbers.push(...ray.origin, 0, ...ray.direction, FAR);
  }
  for (const threshold of [0, 0.2]) {
    answers.add('many', world.core.rays.raycastMany(Float32Array.from(numbers), { ...ALL, threshold }));
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
  answers.add('many', world.core.rays.raycastMany(Float32Array.from(numbers.flat()), ALL));
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
    answers.add('nearest', world.core.rays.raycast(ray, { ...ALL, side: i % 4 }));
    answers.add('all', inOnePiece(world.core.rays.raycastAll(ray, ALL)));
  }
  answers.check();
});

/** A square across a way. */
const sheet = (across: Vector3): Triangles =>
  transformed(boxMesh(2, 2, 2), (v) => v.addScaledVector(across, -v.dot(across) / across.lengthSq()));
const TILTED = sheet(new Vector3(1, 2, 3));

/** What a walker may begin in the midst of. */
const THICKETS: [string, (world: World, random: ExactRandom) => PlacedDescription][] = [
  ['a sheet', (world) => surface(world.mesh(field(6, () => 0)))],
  ['hills', (world) => surface(world.mesh(field(12, hills)))],
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
      world.add(make(world, random), form, { flags: SHOWN | (side * layout.FLAG_SIDE) });
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
      world.staging.addMove(i, layout.MOVE_TIMED, random.point(frame < 3 ? 0.2 : 2).toArray(), 1 / 60);
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
      if (i < 6) world.staging.addMove(i, layout.MOVE_TIMED, [0, 0, 0], 1 / 60);
      else world.staging.addMove(i, layout.MOVE_BY, way.multiplyScalar([0.01, 3, 40][i % 3]!).toArray(), 0);
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
    const flags = SHOWN | reach | (isBoxed ? layout.FLAG_BOXES : 0);
    const names = Array.from({ length: count }, (_, k) => `${k}`);
    return world.add(isBoxed ? mesh : i % 2 ? anyRound(random) : mesh, random.placement(random.point(3)), {
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
    world.core.addObjects(Uint32Array.of(id), { ...described, flags: SHOWN | (i % 2 ? layout.FLAG_CONTINUOUS : 0) });
  }
  for (let frame = 0; frame < 3; frame++) {
    answers.add('frames', frameAnswer(world.frame()));
    if (frame === 0) world.move(ids[1]!, new Matrix4().makeTranslation(0.5, 0, 0));
    if (frame === 1) for (const id of ids) world.core.setObject(id, { ...ball(0.7), contacts: 4 });
    answers.add('around', inOnePiece(world.core.volumes.containing([0.5, 0.1, 0], ALL)));
  }
  answers.check();
});

test('queries in slices between which objects go', async () => {
  const random = new ExactRandom(159);
  const answers = new Answers();
  const world = await World.create();
  const mesh = surface(world.mesh(lumpy(random, 5, 0.3)));
  let ids: number[] = [];
  const fill = () => {
    ids = Array.from({ length: 60 }, (_, i) =>
      world.add(i % 2 ? mesh : anyRound(random), random.placement(random.point(1.5))),
    );
  };
  const eye = { at: new Vector3(0, 0, 12), to: new Vector3() };
  const { rays, volumes, sections } = world.core;
  for (let round = 0; round < 4; round++) {
    fill();
    const { record } = recordOf(viewFrom(0, eye, random));
    const query = { ...(round % 2 ? mesh : block([1, 1, 1])), matrix: world.there(random.placement(random.point(1))) };
    const ray = {
      origin: [0, 0, 9] as [number, number, number],
      direction: [0.01, 0.02, -1] as [number, number, number],
    };
    const asked: [string, () => Generator<void, unknown>][] = [
      ['closest', () => volumes.closestPoint([0.3, 0.2, 0.1], FAR, ALL)],
      ['around', () => volumes.containing([0.3, 0.2, 0.1], ALL)],
      ['met', () => volumes.overlap(query, ALL)],
      ['in sight', () => rays.sees(record, Uint32Array.from(ids), ALL)],
      ['hits', () => rays.raycastAll(ray, ALL)],
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
    const cut = sections.candidates(Float64Array.of(0, 0, 1, 0.1), ALL, 4, undefined);
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
  const meshes = kinds(random)
    .slice(2, 13)
    .map(([, mesh]) => surface(world.mesh(mesh)));
  for (let i = 0; i < 22; i++) {
    const faceSides = Uint32Array.from({ length: 6 }, (_, k) => ((5 * k + 2) << layout.FACE_SHIFT) | random.integer(4));
    const isMixed = i % 3 === 0;
    world.add(meshes[i % meshes.length]!, random.placement(random.point(4), i % 2 ? ANY_FORM : {}), {
      flags: SHOWN | (random.integer(4) * layout.FLAG_SIDE) | (isMixed ? layout.FLAG_FACE_SIDES : 0),
      faceSides: isMixed ? faceSides : undefined,
    });
  }
  for (let i = 0; i < 40; i++) {
    const from = random.direction().multiplyScalar(6);
    const shape = i % 9 === 0 ? meshes[i % meshes.length]! : anyRound(random);
    const way = random.point(2).sub(from).toArray();
    const rotation = i % 3 ? NO_TURN : (random.rotation().toArray() as [number, number, number, number]);
    const filter = { ...ALL, side: i % 4 };
    const placed = { ...shape, matrix: world.there(random.placement(from, { low: 0.3, high: 0.8 })) };
    answers.add('first', world.core.sweeps.sweep(placed, { way, rotation, tolerance: 0 }, filter));
    answers.add('all', world.core.sweeps.sweepAll(placed, { way, rotation, tolerance: 0 }, filter));
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
      flags: SHOWN | layout.FLAG_CONTINUOUS,
      contacts: i % 2 ? layout.CONTACTS_MANIFOLD : layout.CONTACTS_ANY,
    }),
  );
  for (let frame = 0; frame < 4; frame++) {
    for (const id of ids) world.move(id, random.placement(random.point(2)));
    answers.add('frames', frameAnswer(world.frame()));
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
    houses.push(world.add(described, at, { flags: SHOWN | (random.integer(4) * layout.FLAG_SIDE) }));
    for (let k = 0; k < 2; k++) {
      const place = new Matrix4().setPosition(random.point(27).setY(2));
      world.add(block([0.3, 0.3, 0.3]), place, { flags: SHOWN | layout.FLAG_NO_OCCLUDER });
    }
  }
  for (let i = 0; i < 12; i++) {
    const eye = { at: random.point(30).setY(2), to: random.point(8), near: 0.2, far: 200 };
    const view = recordOf({ ...viewFrom(i, eye, random), occlusion: true, occlusionMargin: i % 3 === 0 ? 0.2 : 0 });
    world.staging.setView(view.record);
    answers.add('frames', frameAnswer(world.frame()));
    answers.add('seen', world.core.volumes.frustum(view.record, ALL));
    // Planes follow a view with occlusion, and know none.
    answers.add('within planes', world.core.volumes.frustum(Float32Array.of(1, 0, 0, 9, 0, 1, 0, 9, 0, 0, -1, 9), ALL));
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

test('regions and sights of sides that show', async () => {
  const answers = new Answers();
  const random = new ExactRandom(166);
  const world = await World.create();
  const shapes = [field(4, () => 0), icosphere(1, 2), ring(1, 0.4, 10, 6), boxMesh(1, 1, 1)].map((mesh) =>
    surface(world.mesh(mesh)),
  );
  const ids = Array.from({ length: 40 }, (_, i) =>
    world.add(
      i % 5 === 4 ? anyRound(random) : shapes[i % 4]!,
      random.placement(random.point(4), i % 2 ? ANY_FORM : {}),
      {
        flags: SHOWN | (random.integer(4) * layout.FLAG_SIDE),
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
    const view = recordOf(viewFrom(i, eye, random));
    const filter = { ...ALL, side: i % 4 };
    answers.add('in sight', inOnePiece(world.core.rays.sees(view.record, Uint32Array.from([...ids, posed]), filter)));
    const cursor = { x: random.range(60, 320), y: random.range(60, 240), radius: random.pick([3, 30]) };
    answers.add('picked', world.core.rays.pickScreen(view.record, cursor, filter));
    answers.add('all picked', inOnePiece(world.core.rays.pickScreenAll(view.record, cursor, filter)));
  }
  answers.check();
});
