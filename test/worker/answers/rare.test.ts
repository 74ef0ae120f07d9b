// Exact results of cases that are rare in other scenes: they are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { MeshData } from '../../../src/shared/types.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { bake, startCore } from '../../fixtures/core.js';
import {
  Answers,
  ball,
  block,
  capsule,
  ExactRandom,
  frameAnswer,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup, type Triangles } from '../../oracle/meshes.js';

const FAR = Number.POSITIVE_INFINITY;

test('meshes that deform, of which one triangle or two have no area, of many sizes', async () => {
  const answers = new Answers();
  const core = await startCore();
  for (const size of [1, 1e-20, 1e20]) {
    for (const flat of [1, 2]) {
      const { positions, indices } = soup(new ExactRandom(1), 30, 0.3, 1);
      const data = { positions: positions.map((x) => size * x), indices: indices.slice() };
      for (let i = 0; i < flat; i++) data.indices[3 * i + 1] = data.indices[3 * i]!;
      const targets = [data.positions.map((x) => 0.1 * x)];
      answers.add('baked', bake(core, { ...data, morphs: { targets, relative: true } }));
    }
  }
  answers.check();
});

test('lines of which a later one has a bad end', async () => {
  const core = await startCore();
  const positions = new Float32Array(9);
  for (const indices of [
    [0, 1, 1, 7],
    [0, 1, 1, 2, 7, 0],
  ]) {
    expect(() => bake(core, { positions, indices: Uint32Array.from(indices), topology: 'lines' })).toThrow(
      `indices[${indices.indexOf(7)}]`,
    );
  }
});

/** A skin whose vertices follow one of two bones, both or none. */
function skinOf({ positions, indices }: Triangles): MeshData {
  const count = positions.length / 3;
  const weights = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    const y = positions[3 * i + 1]!;
    if (y > -0.5) weights.set([Math.min(1, y + 0.5), 1 - Math.min(1, y + 0.5)], 4 * i);
  }
  return { positions, indices, skin: { bones: new Uint8Array(4 * count).map((_, i) => i % 2), weights, boneCount: 2 } };
}

test('skins of many vertices, some of which no bone moves', async () => {
  const answers = new Answers();
  const random = new ExactRandom(2);
  const world = await World.create();
  const mesh = world.mesh(skinOf(icosphere(1, 21)));
  world.add(surface(mesh));
  answers.add('bounds', world.core.meshInfo(mesh));
  world.frame();
  for (let i = 0; i < 60; i++) {
    const origin = random.direction().multiplyScalar(3);
    const direction = origin.clone().negate().add(random.point(0.4)).toArray();
    answers.add('hits', world.core.rays.raycast({ origin: origin.toArray(), direction }, ALL_FILTER));
  }
  answers.check();
});

/** Coordinates whose first component is along the given axis. */
function along(axis: number, x: number, y: number, z: number): [number, number, number] {
  return [[x, y, z] as const, [z, x, y] as const, [y, z, x] as const].map(
    (each) => [...each] as [number, number, number],
  )[axis]!;
}

test('round shapes whose axes are those of a box, over its edges', async () => {
  const answers = new Answers();
  const world = await World.create();
  world.add(block([1, 1, 1]));
  for (const axis of [0, 1, 2]) {
    for (const side of [-1, 1]) {
      for (const beyond of [-2, -1.5, -1, 0, 1, 1.5, 2]) {
        for (const shape of [capsule(0.25, along(axis, -1.25, 0, 0), along(axis, 1.25, 0, 0)), ball(0.25)]) {
          const place = (height: number) =>
            world.there(new Matrix4().setPosition(...along(axis, beyond, height * side, 0.5)));
          const motion = { way: along(axis, 0, -4 * side, 0), rotation: [0, 0, 0, 1] as const, tolerance: 0 };
          answers.add('swept', world.core.sweeps.sweepAll({ ...shape, matrix: place(3) }, motion, ALL_FILTER));
          answers.add('meets', runToEnd(world.core.volumes.overlap({ ...shape, matrix: place(1) }, ALL_FILTER)));
        }
      }
    }
  }
  answers.check();
});

test('closed meshes with a dent in one of their faces', async () => {
  const answers = new Answers();
  const { positions, indices } = boxMesh(2, 2, 2);
  const corners = positions.length / 3;
  for (let face = 0; face < indices.length; face += 3) {
    for (const depth of [0.9, 1, 1.1]) {
      const world = await World.create();
      const own = [...indices.subarray(face, face + 3)];
      const middle = new Vector3();
      for (const k of own) middle.add(new Vector3().fromArray(positions, 3 * k));
      const dented = [...positions, ...middle.multiplyScalar(depth / 3).toArray()];
      const faces = [...indices.subarray(0, face), ...indices.subarray(face + 3)];
      const around = own.flatMap((k, i) => [k, own[(i + 1) % 3]!, corners]);
      const data = { positions: Float32Array.from(dented), indices: Uint32Array.from([...faces, ...around]) };
      const mesh = world.mesh(data);
      answers.add('baked', world.core.bakeMesh(mesh));
      answers.add('info', world.core.meshInfo(mesh));
    }
  }
  answers.check();
});

test('behind closed meshes beside their origins', async () => {
  const answers = new Answers();
  const random = new ExactRandom(3);
  const world = await World.create();
  const shapes = [icosphere(1, 12), boxMesh(2, 2, 2)].map(({ positions, indices }) =>
    surface(world.mesh({ positions: positions.map((x, i) => x + [5, -3, 7][i % 3]!), indices })),
  );
  for (let i = 0; i < 60; i++) {
    const at = new Matrix4().setPosition(random.point(20)).multiply(new Matrix4().makeScale(3, 3, 3));
    world.add(shapes[i % 2]!, at.multiply(new Matrix4().makeTranslation(-5, 3, -7)));
    world.add(block([0.3, 0.3, 0.3]), random.placement(random.point(20)), { flags: 7 | layout.FLAG_NO_OCCLUDER });
  }
  for (let i = 0; i < 10; i++) {
    const eye = { at: random.direction().multiplyScalar(40), to: random.point(5), near: 0.1, far: 500 };
    const options = viewFrom(i, eye, random);
    const { record } = viewRecord({ ...options, occlusion: true });
    answers.add('seen', runToEnd(world.core.volumes.frustum(record, ALL_FILTER)));
    // A view that no longer asks for occlusion.
    for (const occlusion of [true, false]) {
      world.staging.setView(viewRecord({ ...options, occlusion }, 0).record);
      answers.add('frames', frameAnswer(world.frame()));
    }
  }
  answers.check();
});

test('capsules beside each other that are no longer round', async () => {
  const answers = new Answers();
  const world = await World.create();
  world.add(capsule(0.5, [0, 0, -1], [0, 0, 1]), new Matrix4().makeScale(1, 2, 1));
  for (let i = 0; i < 40; i++) {
    const at = new Matrix4().makeTranslation((i % 5) / 4, Math.floor(i / 5) / 3 - 1, (i % 7) / 2 - 1.5);
    for (const form of [new Matrix4(), new Matrix4().makeScale(1, 1, 2), new Matrix4().makeScale(2, 1, 1)]) {
      for (const shape of [capsule(0.5, [0, 0, -1], [0, 0, 1]), capsule(0.5, [-1, 0, 0], [1, 0, 0]), ball(0.5)]) {
        const query = { ...shape, matrix: world.there(at.clone().multiply(form)) };
        answers.add('meets', runToEnd(world.core.volumes.overlap(query, ALL_FILTER)));
        answers.add('closest', runToEnd(world.core.volumes.closestPoint([0.2, i / 20, 0.1], FAR, ALL_FILTER)));
      }
    }
  }
  answers.check();
});

test('what is refused, removed and added anew among many', async () => {
  const answers = new Answers();
  const random = new ExactRandom(5);
  const world = await World.create();
  const ids = Array.from({ length: 300 }, () => world.add(ball(0.3), new Matrix4().setPosition(random.point(4))));
  const eye = { at: new Vector3(0, 0, 20), to: new Vector3(), near: 0.1, far: 100 };
  for (let frame = 0; frame < 6; frame++) {
    if (frame < 2) world.staging.setView(viewRecord(viewFrom(0, eye, random), 0).record);
    for (const slot of [40, 70, 299]) world.move(ids[slot]!, new Matrix4().makeScale(frame % 2 ? 1 : 0, 1, 1));
    for (const slot of [35, 120]) {
      if (frame % 2 === 0) world.core.removeObject(ids[slot]!);
      else world.put(ids[slot]!, ball(0.5), new Matrix4().setPosition(random.point(4)));
    }
    answers.add('frames', frameAnswer(world.frame()));
    expect(world.core.check()).toBeNull();
  }
  answers.check();
});

test('solid meshes that are swept around what is in them', async () => {
  const answers = new Answers();
  const random = new ExactRandom(6);
  const world = await World.create();
  const meshes = [icosphere(3, 6), boxMesh(6, 6, 6)].map((mesh) => world.mesh(mesh));
  const inner = surface(world.mesh(boxMesh(0.4, 0.4, 0.4)));
  for (let i = 0; i < 12; i++) {
    const described = [ball(0.2), block([0.2, 0.1, 0.3]), capsule(0.1, [0, 0, 0], [0.3, 0, 0]), inner][i % 4]!;
    world.add(described, random.placement(random.point(6), { low: 0.5, high: 2 }));
  }
  for (let i = 0; i < 40; i++) {
    const moving = (i % 3 === 0 ? surface : solid)(meshes[i % 2]!);
    const matrix = world.there(random.placement(random.point(5), { low: 0.5, high: 1.5 }));
    const way = random.point(i % 4 === 0 ? 8 : 0.5).toArray() as [number, number, number];
    const turn = (i % 5 === 0 ? random.rotation().toArray() : [0, 0, 0, 1]) as [number, number, number, number];
    const motion = { way, rotation: turn, tolerance: 0 };
    answers.try('swept', () => world.core.sweeps.sweepAll({ ...moving, matrix }, motion, ALL_FILTER));
  }
  answers.check();
});

test('round shapes of any form over triangles along the axes, and through them', async () => {
  const answers = new Answers();
  const world = await World.create();
  // Right triangles of unit legs: twice their area is 1.
  const cube = world.add(surface(world.mesh(boxMesh(1, 1, 1))));
  const forms = [
    [1, 1, 1],
    [2, 1, 0.5],
    [0.5, 2, 1],
    [1, 0.5, 2],
    [1, 1, 3],
  ].map((scale) => new Matrix4().makeScale(...(scale as [number, number, number])));
  const random = new ExactRandom(7);
  for (let i = 0; i < 90; i++) {
    const axis = i % 3;
    const place = new Matrix4().setPosition(...along(axis, i % 2 ? 1.1 : 0.4, random.range(-0.5, 0.5), i / 90 - 0.5));
    const form = place.multiply(forms[i % forms.length]!);
    const round =
      i % 4 === 0 ? ball(0.1) : capsule(0.05 + (i % 2) / 10, along(axis, -0.4, 0, 0), along(axis, 0.4, 0, 0));
    const id = world.add(round, form);
    answers.try('apart', () => world.core.pairs.beginDistance(cube, id, FAR, FAR));
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_FULL]) {
      answers.add('contacts', world.core.pairs.contact(cube, id, detail));
    }
    answers.add('closest', runToEnd(world.core.volumes.closestPoint(world.point(random.point(2)), FAR, ALL_FILTER)));
    world.core.removeObject(id);
  }
  answers.check();
});

test('round shapes deep in each other, nearly about one place', async () => {
  const answers = new Answers();
  const random = new ExactRandom(8);
  const world = await World.create();
  for (let i = 0; i < 160; i++) {
    const [a, b] = [0, 1].map(() => {
      const described = random.chance(0.5) ? ball(1) : capsule(1, [0, 0, -0.2], [0, 0, 0.2]);
      const form = random.placement(random.point(i % 2 ? 0.01 : 0.2), { low: 0.3, high: 3, sheared: i % 3 ? 0 : 1 });
      return world.add(described, form);
    }) as [number, number];
    answers.add('contacts', world.core.pairs.contact(a, b, layout.CONTACTS_FULL));
    for (const id of [a, b]) world.core.removeObject(id);
  }
  answers.check();
});

test('contacts of what was put by, with a clearance', async () => {
  const answers = new Answers();
  const random = new ExactRandom(9);
  const world = await World.create();
  const meshes = [icosphere(1, 8), boxMesh(2, 2, 2), soup(random, 60, 0.4, 1)].map((mesh) => surface(world.mesh(mesh)));
  for (let i = 0; i < 40; i++) {
    const clearance = i % 4 === 0 ? 0 : random.range(0, 0.5);
    const [a, b] = [0, 1].map((side) => {
      const flags = 7 | (clearance > 0 ? layout.FLAG_CLEARANCE : 0);
      const matrix = random.placement(random.direction().multiplyScalar(side * random.range(0.5, 2.6)));
      return world.add(meshes[(i + side) % 3]!, matrix, { clearance, flags });
    }) as [number, number];
    world.frame();
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_MANIFOLD]) {
      const { pairs } = world.core;
      const kept = pairs.keepContact(a, b, detail);
      world.put(makeId(900, 1), ball(1), new Matrix4());
      let steps = pairs.beginKeptContact(a, b, kept, FAR);
      while (steps === undefined) steps = pairs.resumeContact(a, b, FAR);
      answers.add('contacts', runToEnd(steps));
      world.core.removeObject(makeId(900, 1));
    }
    for (const id of [a, b]) world.core.removeObject(id);
  }
  answers.check();
});

test('what touches walls from behind, in pictures without perspective too', async () => {
  const answers = new Answers();
  const random = new ExactRandom(10);
  const world = await World.create();
  for (let i = 0; i < 12; i++) {
    const wall = random.placement(random.point(6), { low: 1, high: 1 });
    world.add(block([3, 3, 0.05]), wall, { flags: 7 });
    for (let k = 0; k < 12; k++) {
      const gap = [0, 1e-6, 1e-4, 1e-2][k % 4]!;
      const at = new Matrix4().makeTranslation(
        random.range(-2, 2),
        random.range(-2, 2),
        (k % 2 ? 1 : -1) * (0.15 + gap),
      );
      world.add(block([0.2, 0.2, 0.1]), wall.clone().multiply(at), { flags: 7 | layout.FLAG_NO_OCCLUDER });
    }
  }
  for (let i = 0; i < 32; i++) {
    const eye = { at: random.direction().multiplyScalar(20), to: random.point(4), near: 0.1, far: 100 };
    const { record } = viewRecord({ ...viewFrom(i % 2 ? 3 : i, eye, random), occlusion: true });
    answers.add('seen', runToEnd(world.core.volumes.frustum(record, ALL_FILTER)));
    world.staging.setView(record);
    answers.add('frames', frameAnswer(world.frame()));
  }
  answers.check();
});

test('what is taken as a ball where boxes beside its triangles stand for it', async () => {
  const answers = new Answers();
  const random = new ExactRandom(11);
  const world = await World.create();
  const mesh = surface(world.mesh(icosphere(1, 3)));
  for (let i = 0; i < 12; i++) {
    const records = Float64Array.from([...random.point(3).toArray(), 0.5, 0.4, 0.3, 0, 0, 0, 1]);
    const flags = 7 | (i % 3 === 0 ? 0 : layout.FLAG_BOXES);
    world.add(mesh, random.placement(random.point(9)), {
      flags,
      ...(i % 3 !== 0 && { boxes: { names: ['a'], records } }),
    });
  }
  world.frame();
  const filter = { ...ALL_FILTER, precision: layout.PRECISION_SPHERE };
  for (let i = 0; i < 60; i++) {
    const [from, to] = [random.point(14), random.point(9)];
    const ray = { origin: from.toArray(), direction: to.sub(from).toArray() };
    answers.add('hits', runToEnd(world.core.rays.raycastAll(ray, filter)));
    const query = { ...ball(0.5), matrix: world.there(new Matrix4().setPosition(random.point(9))) };
    answers.add('meets', runToEnd(world.core.volumes.overlap(query, filter)));
  }
  answers.check();
});

test('contacts of triangles without an area, in one plane and through each other', async () => {
  const answers = new Answers();
  const random = new ExactRandom(12);
  const world = await World.create();
  const whole = (least: number, most: number) => least + random.integer(most - least + 1);
  for (let i = 0; i < 120; i++) {
    const [a, b] = [0, 1].map((side) => {
      const positions: number[] = [];
      for (let k = 0; k < 12; k++) {
        // Of three collinear corners, two may coincide.
        const [x, y] = [whole(0, 3), whole(0, 3)];
        const [dx, dy] = [whole(-1, 1), whole(-1, 1)];
        const z = side * (i % 2);
        const isLine = (k + i) % 3 !== 0;
        positions.push(x, y, z, x + dx, y + dy, 0, x + (isLine ? 2 * dx : dy), y + (isLine ? 2 * dy : 2 - dx), -z);
      }
      return surface(world.mesh({ positions: Float32Array.from(positions) }));
    }) as [ReturnType<typeof surface>, ReturnType<typeof surface>];
    const [p, q] = [world.add(a), world.add(b, new Matrix4().makeTranslation(i % 3, i % 2, 0))];
    for (const detail of [layout.CONTACTS_ANY, layout.CONTACTS_TRIANGLES, layout.CONTACTS_FULL]) {
      answers.add('contacts', world.core.pairs.contact(p, q, detail));
    }
    for (const id of [p, q]) world.core.removeObject(id);
  }
  answers.check();
});
