// Exact results of proximity, overlap and intersection queries: they are bit-identical to before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Filter } from '../../../src/shared/protocol.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { intersectingTriangles, meshesIntersect } from '../../fixtures/core.js';
import { Answers, ExactRandom, onClock, randomPrimitive, solid, surface, World } from '../../fixtures/exact-answers.js';
import { meshKinds } from '../../fixtures/exact-meshes.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { soup } from '../../oracle/meshes.js';

const PRECISIONS = [layout.PRECISION_SPHERE, layout.PRECISION_AABB, layout.PRECISION_OBB, layout.PRECISION_MESH];

describe.each(PLACES)('%s', (_, place) => {
  const random = new ExactRandom(21);
  beforeEach(() => random.restart(21));

  /** Objects of all kinds, and those that queries may be about. */
  async function scene(count: number, halfSize: number) {
    const world = await World.create(place);
    const shapes: PlacedDescription[] = [];
    for (const [, mesh] of meshKinds(random).slice(0, 20)) {
      const address = world.mesh(mesh);
      shapes.push(surface(address), solid(address));
    }
    const elements: PlacedDescription[] = [];
    for (const topology of ['points', 'lines'] as const) {
      elements.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology })));
    }
    const ids = Array.from({ length: count }, (_, i) => {
      const described =
        i % 9 === 8 ? elements[i % 2]! : i % 2 === 0 ? shapes[(i / 2) % shapes.length]! : randomPrimitive(random);
      const matrix = random.placement(random.point(halfSize), i % 3 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM);
      const flags = described.flags | (i % 5 === 0 ? layout.FLAG_STATIC : 0);
      return world.add(described, matrix, { flags, layers: 1 << (i % 3), clipSet: i % 4 === 0 ? 1 : 0 });
    });
    const query = (described: PlacedDescription, matrix: Matrix4): PlacedDescription => ({
      ...described,
      matrix: world.there(matrix),
    });
    return { world, ids, shapes, query };
  }

  function filterOf(i: number, ids: readonly number[]): Filter {
    const normal = random.direction();
    const planes = [...normal.toArray(), -normal.dot(random.point(3).add(place)), 0, 0, 1, -place.z];
    return {
      ...ALL_FILTER,
      precision: PRECISIONS[i % 4]!,
      ...(i % 5 === 0 && { layers: 1 + (i % 7), ignore: Uint32Array.from(ids.filter((id) => id % 3 === 0)) }),
      ...(i % 3 === 0 && {
        clips: { sets: Uint32Array.of(0, 1, 0, 0, 1, 1, 0, 0), planes: Float64Array.from(planes) },
      }),
    };
  }

  test('the closest point', async () => {
    const answers = new Answers();
    const { world, ids } = await scene(80, 6);
    const { volumes } = world.core;
    for (let i = 0; i < 600; i++) {
      const point = world.point(random.point(random.pick([1, 6, 30])));
      const most = random.pick([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 2, 0.3]);
      const filter = filterOf(i, ids);
      const ask = () => runToEnd(volumes.closestPoint(point, most, filter));
      const found = onClock('standing', ask);
      answers.add(`precision ${filter.precision}`, found);
      if (i % 10 === 0) expect(onClock('late', ask)).toEqual(found);
    }
    answers.check();
  });

  test('what is around a point', async () => {
    const answers = new Answers();
    const { world, ids } = await scene(80, 2);
    for (let i = 0; i < 500; i++) {
      const point = world.point(random.point(3));
      const filter = filterOf(i, ids);
      const ask = () => runToEnd(world.core.volumes.containing(point, filter));
      const found = onClock('standing', ask);
      answers.add(`precision ${filter.precision}`, found);
      if (i % 10 === 0) expect(onClock('late', ask)).toEqual(found);
    }
    answers.check();
  });

  test('what is around a point of a surface', async () => {
    const answers = new Answers();
    const world = await World.create(place);
    for (const [name, mesh] of meshKinds(random).slice(0, 20)) {
      const matrix = random.chance(0.5) ? new Matrix4() : random.placement(new Vector3(), ANY_TRANSFORM);
      const id = world.add(solid(world.mesh(mesh)), matrix);
      for (let i = 0; i < 24; i++) {
        const triangle = 3 * random.integer(mesh.indices.length / 3);
        const [a, b, c] = [0, 1, 2].map((k) =>
          new Vector3().fromArray(mesh.positions, 3 * mesh.indices[triangle + k]!),
        );
        const [s, t] = [
          [0, 0],
          [0.5, 0],
          [0.25, 0.25],
          [0.5, 0.5],
        ][i % 4] as [number, number];
        const point = a!.clone().addScaledVector(b!.sub(a!), s).addScaledVector(c!.sub(a!), t).applyMatrix4(matrix);
        if (i % 5 === 0) point.addScalar(1e-7);
        const at = world.point(point);
        answers.add(`${name}: around`, runToEnd(world.core.volumes.containing(at, ALL_FILTER)));
        answers.add(
          `${name}: closest`,
          runToEnd(world.core.volumes.closestPoint(at, Number.POSITIVE_INFINITY, ALL_FILTER)),
        );
      }
      world.core.removeObject(id);
    }
    answers.check();
  });

  test('what a shape meets', async () => {
    const answers = new Answers();
    const { world, ids, shapes, query } = await scene(100, 5);
    for (let i = 0; i < 320; i++) {
      const shape = i % 2 === 0 ? random.pick(shapes) : randomPrimitive(random);
      const described = query(shape, random.placement(random.point(6), ANY_TRANSFORM));
      const filter = filterOf(i >> 1, ids);
      const ask = () => runToEnd(world.core.volumes.overlap(described, filter));
      const found = onClock('standing', ask);
      answers.add(`${i % 2 === 0 ? 'a mesh' : 'a solid'}, precision ${filter.precision}`, found);
      if (i % 10 === 0) expect(onClock('late', ask)).toEqual(found);
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });

  test('how far two are', async () => {
    const answers = new Answers();
    const { world, ids } = await scene(72, 3);
    for (let i = 0; i < 500; i++) {
      const [a, b] = [random.pick(ids), random.pick(ids)];
      if (a === b) continue;
      const limit = random.pick([Number.POSITIVE_INFINITY, 3, 0.5]);
      const { pairs } = world.core;
      answers.try(`within ${limit}`, () => {
        const found = pairs.beginDistance(a, b, limit, Number.POSITIVE_INFINITY);
        return found && { ...found, a, b };
      });
    }
    answers.check();
  });

  test('which triangles of two meshes meet', async () => {
    const answers = new Answers();
    const world = await World.create();
    const meshes = meshKinds(random)
      .slice(0, 20)
      .map(([, mesh]) => world.mesh(mesh));
    for (let i = 0; i < 160; i++) {
      const [a, b] = [random.pick(meshes), random.pick(meshes)];
      const matrix = random.placement(random.point(1.2), i % 2 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM).elements;
      answers.add('at all', meshesIntersect(world.core, a, b, matrix));
      answers.add('all pairs', intersectingTriangles(world.core, a, b, matrix));
    }
    answers.check();
  });
});

test('the closest point of things of all sizes, from very near to very far', async () => {
  const answers = new Answers();
  const random = new ExactRandom(22);
  const world = await World.create();
  const meshes = meshKinds(random)
    .slice(3, 9)
    .map(([, mesh]) => surface(world.mesh(mesh)));
  for (let i = 0; i < 60; i++) {
    const matrix = random.placement(random.direction().multiplyScalar(random.logRange(1e-6, 1e9)), {
      ...{ low: 1e-4, high: 1e4, mirrored: 0.2, sheared: 0.2 },
    });
    world.add(i % 2 === 0 ? random.pick(meshes) : randomPrimitive(random), matrix);
  }
  for (let i = 0; i < 300; i++) {
    const point = random.direction().multiplyScalar(random.logRange(1e-6, 1e9)).toArray();
    const filter = { ...ALL_FILTER, precision: PRECISIONS[i % 4]! };
    answers.add('closest', runToEnd(world.core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, filter)));
    answers.add('around', runToEnd(world.core.volumes.containing(point, filter)));
  }
  answers.check();
});
