// Exact results of rays: the hits are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { PickRay } from '../../../src/shared/packed.js';
import type { Filter } from '../../../src/shared/protocol.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { Answers, ExactRandom, onClock, randomPrimitive, surface, World } from '../../fixtures/exact-answers.js';
import { heightField, hills, meshKinds } from '../../fixtures/exact-meshes.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { soup } from '../../oracle/meshes.js';

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, -1)];

/** The ids of about half of them, in order. */
const some = (random: ExactRandom, ids: readonly number[]) =>
  Uint32Array.from(ids.filter(() => random.chance(0.5))).sort();

/** Sides of every few triangles. */
function faceSides(random: ExactRandom): Uint32Array {
  let triangle = 0;
  return Uint32Array.from({ length: 8 }, () => {
    triangle += 1 + random.integer(12);
    return (triangle << layout.FACE_SHIFT) | random.integer(4);
  });
}

/** Clipping planes about a place: the query's own, and those of two sets. */
function clips(random: ExactRandom, place: Vector3) {
  const counts = [random.integer(3), random.integer(3), 1 + random.integer(2), 0, 0, 1 + random.integer(3)];
  const planes: number[] = [];
  const sets: number[] = [];
  for (let set = 0; set < 3; set++) {
    const [union, intersection] = [counts[2 * set]!, counts[2 * set + 1]!];
    sets.push(planes.length / 4, union, intersection, 0);
    for (let i = 0; i < union + intersection; i++) {
      const normal = random.direction().multiplyScalar(random.range(1, 2));
      planes.push(...normal.toArray(), -normal.dot(random.point(3).add(place)));
    }
  }
  return { sets: Uint32Array.from(sets), planes: Float64Array.from(planes) };
}

describe.each(PLACES)('%s', (_, place) => {
  const random = new ExactRandom(11);
  beforeEach(() => random.restart(11));

  async function scene(count: number): Promise<{ world: World; ids: number[] }> {
    const world = await World.create(place);
    const meshes = meshKinds(random)
      .slice(2, 20)
      .map(([, mesh]) => world.mesh(mesh));
    const ids = Array.from({ length: count }, (_, i) => {
      const described = i % 2 === 0 ? surface(meshes[(i / 2) % meshes.length]!) : randomPrimitive(random);
      const matrix = random.placement(random.point(4), i % 3 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM);
      const side = random.integer(4) * layout.FLAG_SIDE;
      const isMixed = i % 2 === 0 && i % 3 === 0;
      const flags = layout.FLAG_PICKABLE | side | (i % 5 === 0 ? layout.FLAG_STATIC : 0);
      return world.add(described, matrix, {
        flags: flags | (isMixed ? layout.FLAG_FACE_SIDES : 0),
        faceSides: isMixed ? faceSides(random) : undefined,
        layers: 1 << (i % 3),
        clipSet: i % 4 === 0 ? 1 + (i % 2) : 0,
      });
    });
    return { world, ids };
  }

  function anyRay(world: World): PickRay {
    const from = random.direction().multiplyScalar(random.pick([0, 3, 9]));
    const aim = random.point(4).sub(from);
    const direction = random.chance(0.2) ? random.pick(AXES) : aim;
    return {
      origin: world.point(random.chance(0.1) ? from.round() : from),
      direction: direction.toArray(),
      ...(random.chance(0.3) && { tMin: random.range(0, 3), tMax: random.range(2, 9) }),
    };
  }

  test('one at a time, by every side, precision and filter', async () => {
    const answers = new Answers();
    const { world, ids } = await scene(70);
    const { rays } = world.core;
    for (let i = 0; i < 400; i++) {
      const ray = anyRay(world);
      for (const precision of [
        layout.PRECISION_SPHERE,
        layout.PRECISION_AABB,
        layout.PRECISION_OBB,
        layout.PRECISION_MESH,
      ]) {
        const filter: Filter = {
          ...ALL_FILTER,
          precision,
          side: i % 4,
          ...(i % 5 === 0 && { layers: 1 + (i % 7), ignore: some(random, ids) }),
          ...(i % 3 === 0 && { clips: clips(random, place) }),
        };
        answers.add(`precision ${precision}: nearest`, rays.raycast(ray, filter));
        answers.add(`precision ${precision}: any`, rays.anyHit(ray, filter));
        if (i % 4 === 1) answers.add(`precision ${precision}: all`, runToEnd(rays.raycastAll(ray, filter)));
      }
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });

  test('many at a time: in disorder, from one eye, and along an axis', async () => {
    const answers = new Answers();
    const { world, ids } = await scene(50);
    const ground = world.mesh(heightField(20, hills));
    world.add(surface(ground), new Matrix4().makeScale(12, 12, 5).setPosition(0, 0, -5));
    function flat(count: number, make: (i: number) => [Vector3, Vector3]): Float32Array {
      const numbers: number[] = [];
      for (let i = 0; i < count; i++) {
        const [from, way] = make(i);
        numbers.push(...world.point(from), i % 7 === 0 ? 2 : 0, ...way.toArray(), i % 11 === 0 ? 6 : Infinity);
      }
      return Float32Array.from(numbers);
    }
    const eye = new Vector3(1, -9, 2);
    const KINDS: [string, Float32Array][] = [
      ['in disorder', flat(300, () => [random.direction().multiplyScalar(7), random.point(1)])],
      ['from one eye', flat(900, (i) => [eye, new Vector3(((i % 30) - 15) / 20, 1, (Math.floor(i / 30) - 15) / 20)])],
      [
        'along an axis',
        flat(256, (i) => [new Vector3((i % 16) - 8, Math.floor(i / 16) - 8, 9), new Vector3(0, 0, -1)]),
      ],
      ['without a way', flat(4, (i) => [new Vector3(i, 0, 0), new Vector3()])],
    ];
    for (const [name, numbers] of KINDS) {
      for (const precision of [layout.PRECISION_OBB, layout.PRECISION_MESH]) {
        for (const side of [layout.SIDE_OWN, layout.SIDE_FRONT, layout.SIDE_BACK, layout.SIDE_DOUBLE]) {
          const filter = { ...ALL_FILTER, side, precision, ignore: some(random, ids), clips: clips(random, place) };
          answers.add(name, world.core.rays.raycastMany(numbers, filter));
        }
      }
      answers.add(name, world.core.rays.raycastMany(numbers, ALL_FILTER));
      answers.add(
        `${name}, in slices`,
        onClock('late', () => world.core.rays.raycastMany(numbers, ALL_FILTER, 0).done),
      );
    }
    answers.check();
  });

  test('many at a time, at few objects', async () => {
    const answers = new Answers();
    const all = meshKinds(random).slice(0, 20);
    for (const [k, [name, mesh]] of all.entries()) {
      const world = await World.create(place);
      const address = world.mesh(mesh);
      const forms = [new Matrix4(), random.placement(new Vector3()), random.placement(random.point(1), ANY_TRANSFORM)];
      for (let i = 0; i <= k % 4; i++) {
        const side = layout.FLAG_PICKABLE | (random.integer(4) * layout.FLAG_SIDE);
        const described = i % 2 === 0 ? surface(address) : randomPrimitive(random);
        world.add(described, forms[i % 3]!, {
          flags: side | (i === 2 ? layout.FLAG_FACE_SIDES : 0),
          faceSides: i === 2 ? faceSides(random) : undefined,
        });
      }
      const eye = random.direction().multiplyScalar(k % 7 === 6 ? 1e5 : 4);
      const numbers = Array.from({ length: 96 }, (_, i) => {
        const from = i % 3 === 0 ? random.direction().multiplyScalar(3) : eye;
        const way = random.point(0.8).sub(from);
        const [tMin, tMax] = [i % 5 === 0 ? 2 : 0, i % 9 === 0 ? 3.5 : Number.POSITIVE_INFINITY];
        return [...world.point(from), tMin, ...way.toArray(), tMax];
      });
      const rays = Float32Array.from(numbers.flat());
      for (const side of [layout.SIDE_OWN, layout.SIDE_DOUBLE]) {
        answers.add(name, world.core.rays.raycastMany(rays, { ...ALL_FILTER, side }));
      }
    }
    answers.check();
  });

  test('at points and lines, within thresholds and as they are drawn', async () => {
    const answers = new Answers();
    const { world } = await scene(10);
    const ids: number[] = [];
    for (const topology of ['points', 'lines'] as const) {
      for (const count of [4, 60, 400]) {
        const { positions } = soup(random, count, 0.3, 1);
        const even = topology === 'lines' ? positions.subarray(0, 6 * Math.floor(positions.length / 6)) : positions;
        const mesh = world.mesh({ positions: even, topology });
        for (let i = 0; i < 3; i++)
          ids.push(world.add(surface(mesh), random.placement(random.point(3), ANY_TRANSFORM)));
      }
    }
    const own = { ids: Uint32Array.from(ids.slice(0, 6)), thresholds: Float64Array.of(0, 0.01, 0.02, 0.1, 0.3, 1) };
    const numbers: number[] = [];
    for (let i = 0; i < 250; i++) {
      const ray = anyRay(world);
      const { direction, origin } = ray;
      const way = new Vector3().fromArray([...direction]);
      const across = new Vector3(0.3, -0.2, 0.9).cross(way);
      const up = way.clone().cross(across);
      const unit = 1 / Math.sqrt(way.lengthSq());
      const cone = [
        ...across.multiplyScalar(unit),
        ...up.multiplyScalar(unit * unit),
        ...way.multiplyScalar(i % 2 === 0 ? 0 : 0.03 * unit),
        0.05,
      ];
      for (const filter of [
        ALL_FILTER,
        { ...ALL_FILTER, threshold: 0.05 },
        { ...ALL_FILTER, threshold: 0.1, own },
        { ...ALL_FILTER, threshold: 0.2, clips: clips(random, place) },
        { ...ALL_FILTER, threshold: 0.1, precision: layout.PRECISION_OBB },
      ]) {
        answers.add('nearest', world.core.rays.raycast(ray, filter));
        if (i % 3 === 0) answers.add('all', runToEnd(world.core.rays.raycastAll(ray, filter)));
        answers.add('any', world.core.rays.anyHit(ray, filter));
        answers.add('as drawn', world.core.rays.raycast({ ...ray, cone }, filter));
        if (i % 5 === 0) answers.add('all as drawn', runToEnd(world.core.rays.raycastAll({ ...ray, cone }, filter)));
      }
      numbers.push(...origin, 0, ...direction, Number.POSITIVE_INFINITY);
    }
    answers.add(
      'many',
      world.core.rays.raycastMany(Float32Array.from(numbers), { ...ALL_FILTER, threshold: 0.1, own }),
    );
    answers.check();
  });

  test('at boxes that stand for meshes', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    const mesh = world.mesh(soup(random, 30, 0.3, 1));
    for (let i = 0; i < 12; i++) {
      const count = 1 + (i % 5);
      const records = Array.from({ length: count }, () => {
        const half = [random.range(0.1, 0.8), random.range(0.1, 0.8), random.range(0.1, 0.8)];
        return [...random.point(1).toArray(), ...half, ...random.rotation().toArray()];
      }).flat();
      const names = Array.from({ length: count }, (_, k) => `box ${k}`);
      world.add(surface(mesh), random.placement(random.point(3), ANY_TRANSFORM), {
        flags: surface(mesh).flags | layout.FLAG_BOXES,
        boxes: { names, records: Float64Array.from(records) },
        contacts: layout.CONTACTS_BONES,
      });
    }
    for (let i = 0; i < 200; i++) {
      const ray = anyRay(world);
      for (const precision of [layout.PRECISION_AABB, layout.PRECISION_OBB, layout.PRECISION_MESH]) {
        const filter = { ...ALL_FILTER, precision, ...(i % 4 === 0 && { clips: clips(random, place) }) };
        answers.add(`precision ${precision}: nearest`, world.core.rays.raycast(ray, filter));
        answers.add(`precision ${precision}: all`, runToEnd(world.core.rays.raycastAll(ray, filter)));
        answers.add(`precision ${precision}: any`, world.core.rays.anyHit(ray, filter));
      }
    }
    answers.check();
  });
});
