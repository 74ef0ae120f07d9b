// Which objects a shape overlaps, against distances of convex sets that are bounded from both sides.

import { Matrix4, PlaneGeometry, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup, transformed, trianglesOf } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, bodiesOf, randomSolid, type SolidShape } from '../../../oracle/shapes.js';
import { type ConvexSet, gapBetween, largestGap, minimumGap } from '../../../oracle/solids.js';

/** World units: pairs nearer than this to just touching may be found or not. */
const DOUBT = 1e-5;

const COUNT = 1000;

// Bounds of 0 are not rounded outwards, unlike all others: there touching is decided by the last bit.
test.each([0, 1, 2])('boxes whose faces touch in the plane through the origin across axis %d meet', async (axis) => {
  const scene = await NearScene.at(new Vector3());
  const box: AnyShape = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
  const at = (by: number) => new Matrix4().setPosition(new Vector3().setComponent(axis, by));
  for (const side of [-1, 1]) {
    const thing = scene.add(box, at(side), { flags: layout.FLAG_PICKABLE });
    for (const flags of [layout.FLAG_PICKABLE, layout.FLAG_PICKABLE | layout.FLAG_STATIC]) {
      const other = scene.add(box, at(side), { flags });
      const ids = [thing.id, other.id];
      expect([...runToEnd(scene.core.volumes.overlap(scene.describe(box, at(-side)), ALL_FILTER))]).toEqual(ids);
      expect([...runToEnd(scene.core.volumes.overlap(scene.describe(box, at(-side * 1.001)), ALL_FILTER))]).toEqual([]);
      expect([...runToEnd(scene.core.volumes.containing([0, 0, 0], ALL_FILTER))]).toEqual(ids);
      scene.remove(other);
    }
    scene.remove(thing);
  }
});

describe.each(PLACES)(`overlap %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  test.each([
    ['mesh', 'mesh', 300],
    ['mesh', 'solid', COUNT],
    ['solid', 'mesh', COUNT],
    ['solid', 'solid', COUNT],
  ])('a %s and a %s, %i times', async (a, b, total) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = smallMeshes(scene, random);
    const any = (kind: string): AnyShape => (kind === 'mesh' ? random.pick(meshes) : { shape: randomSolid(random) });
    const count = { met: 0, doubtful: 0 };
    for (let i = 0; i < total; i++) {
      const thing = scene.add(any(a), random.placement(random.point(0.5), ANY_TRANSFORM));
      const query = any(b);
      const matrix = scene.exactly(
        random.placement(random.direction().multiplyScalar(random.range(0, 4)), ANY_TRANSFORM),
      );
      const met = runToEnd(scene.core.volumes.overlap(scene.describe(query, matrix), ALL_FILTER)).length === 1;
      const gap = minimumGap(thing.bodies, bodiesOf(query, matrix), DOUBT);
      const message = `case ${i}: ${JSON.stringify(thing.shape.shape)} and ${JSON.stringify(query.shape)}`;
      // If they overlap there must be no gap, and if they do not there must be one.
      if (met) expect(gap, message).toBeLessThan(DOUBT);
      else expect(gap, message).toBeGreaterThan(-DOUBT);
      if (met ? gap > 0 : gap <= 0) count.doubtful++;
      if (met) count.met++;
      scene.remove(thing);
    }
    console.log(`${count.met} of ${total} meet, ${count.doubtful} within ${DOUBT} of touching`);
    expect(count.met).toBeGreaterThan(total / 6);
    expect(count.met).toBeLessThan((total * 5) / 6);
    expect(count.doubtful).toBeLessThan(total / 100);
  });

  test.each([
    ['convex shapes', COUNT],
    ['long capsules', 200],
  ])('where pairs of %s begin to touch, %i times', async (kind, total) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const triangle = soup(random, 1, 1, 0);
    const any = (): AnyShape => {
      if (kind === 'long capsules') return { shape: longCapsule(random) };
      return random.chance(0.1) ? scene.mesh(triangle) : { shape: randomSolid(random) };
    };
    for (let i = 0; i < total; i++) {
      const [a, b, way] = [any(), any(), random.direction()];
      const thing = scene.add(a, random.placement(new Vector3(), ANY_TRANSFORM));
      const form = random.placement(new Vector3(), ANY_TRANSFORM);
      const center = (of: AnyShape, matrix: Matrix4) => {
        const bodies = bodiesOf(of, matrix);
        return of.triangles ? centroidOf(bodies[0]) : bodies[0].center;
      };
      const start = center(a, thing.matrix).clone().sub(center(b, form));
      const at = (distance: number) =>
        scene.exactly(form.clone().setPosition(start.clone().addScaledVector(way, distance)));
      const meets = (distance: number) =>
        runToEnd(scene.core.volumes.overlap(scene.describe(b, at(distance)), ALL_FILTER)).length === 1;
      let [near, far] = [1e-3, 40];
      expect([meets(near), meets(far)]).toEqual([true, false]);
      while (far - near > 1e-9) {
        const middle = (near + far) / 2;
        if (meets(middle)) near = middle;
        else far = middle;
      }
      const message = `case ${i}: ${JSON.stringify(a.shape)} and ${JSON.stringify(b.shape)}`;
      const body = (distance: number) => bodiesOf(b, at(distance))[0];
      // The best direction is searched for where they are slightly apart: closer, if other features are nearest first.
      let gap = Number.NEGATIVE_INFINITY;
      for (const apart of [0.01, 1e-4]) {
        const { normal } = gapBetween(thing.bodies[0], body(near + apart), apart * 1e-4);
        gap = Math.max(gap, largestGap(thing.bodies[0], body(near), normal));
        if (Math.abs(gap) < 1e-7) break;
      }
      expect(Math.abs(gap), message).toBeLessThan(1e-7);
      scene.remove(thing);
    }
  });

  test('one query of a scene of 2,000 objects finds what asking for each finds', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = smallMeshes(scene, random);
    const any = (): AnyShape => (random.chance(0.3) ? random.pick(meshes) : { shape: randomSolid(random) });
    const things = Array.from({ length: 2000 }, () =>
      scene.add(any(), random.placement(random.point(20), ANY_TRANSFORM), {
        layers: 1 + random.integer(3),
        flags: random.chance(0.9) ? layout.FLAG_PICKABLE : 0,
      }),
    );
    for (let i = 0; i < 60; i++) {
      const matrix = scene.exactly(random.placement(random.point(20), { ...ANY_TRANSFORM, low: 0.5, high: 6 }));
      const description = scene.describe(any(), matrix);
      const precision = random.pick([
        layout.PRECISION_MESH,
        layout.PRECISION_OBB,
        layout.PRECISION_AABB,
        layout.PRECISION_SPHERE,
      ]);
      const ignore = Uint32Array.from(things.filter(() => random.chance(0.1)).map(({ id }) => id)).sort();
      const filter = { ...ALL_FILTER, precision, ignore, layers: 1 + random.integer(3) };
      const found = [...runToEnd(scene.core.volumes.overlap(description, filter))];
      // All others ignored: a scene of one.
      const ids = Uint32Array.from(things, ({ id }) => id);
      const others = ids.slice(1);
      const alone = [...ids].filter((id, i) => {
        if (i > 0) others[i - 1] = ids[i - 1];
        if (ignore.includes(id)) return false;
        return runToEnd(scene.core.volumes.overlap(description, { ...filter, ignore: others })).length === 1;
      });
      expect(found).toEqual(alone);
    }
  });

  describe('touching counts, a hair of space does not', () => {
    const HAIR = 2 ** -20;
    const unit: AnyShape = { shape: { type: 'sphere', radius: 1 } };
    const cube: AnyShape = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
    const capsule: AnyShape = { shape: { type: 'capsule', radius: 1, from: [-2, 0, 0], to: [2, 0, 0] } };
    const dot: AnyShape = { shape: { type: 'capsule', radius: 1, from: [0, 0, 0], to: [0, 0, 0] } };
    const flat: AnyShape = { shape: { type: 'box', halfExtents: [1, 0, 1] } };
    const floor = trianglesOf(new PlaneGeometry(8, 8).rotateX(-Math.PI / 2));
    const turned = new Matrix4().makeRotationY(Math.PI / 5);
    const squeezed = new Matrix4().makeScale(3, 1, 0.5);

    test.each<[string, below: AnyShape | 'floor' | 'cube', above: AnyShape | 'floor' | 'cube', height: number]>([
      ['a sphere on a sphere', unit, unit, 2],
      ['a sphere on a box', cube, unit, 2],
      ['a box on a sphere', unit, cube, 2],
      ['a capsule on a sphere', unit, capsule, 2],
      ['a capsule on a capsule', capsule, capsule, 2],
      ['a capsule on a box', cube, capsule, 2],
      ['a point-like capsule on a box', cube, dot, 2],
      ['a point-like capsule on a capsule', capsule, dot, 2],
      ['a sphere on a flat box', flat, unit, 1],
      ['a sphere on the floor', 'floor', unit, 1],
      ['a capsule on the floor', 'floor', capsule, 1],
      ['a box on the floor', 'floor', cube, 1],
      ['a sphere on a mesh', 'cube', unit, 2],
      ['a mesh on a capsule', capsule, 'cube', 2],
    ])('%s', async (_, below, above, height) => {
      const scene = await NearScene.at(place);
      const make = (of: AnyShape | 'floor' | 'cube') =>
        of === 'floor' ? scene.mesh(floor) : of === 'cube' ? scene.mesh(boxMesh(2, 2, 2)) : of;
      const upper = make(above);
      for (const form of [new Matrix4(), turned, squeezed, new Matrix4().multiplyMatrices(turned, squeezed)]) {
        const thing = scene.add(make(below), form);
        const meets = (gap: number) => {
          const matrix = form.clone().setPosition(0, height + gap, 0);
          return runToEnd(scene.core.volumes.overlap(scene.describe(upper, matrix), ALL_FILTER)).length === 1;
        };
        expect([meets(-HAIR), meets(0), meets(HAIR)]).toEqual([true, true, false]);
        scene.remove(thing);
      }
    });

    test('spheres of any size that touch by their numbers, a hundred ways', async () => {
      const random = new Random(SEED);
      for (let i = 0; i < 100; i++) {
        const scene = await NearScene.at(new Vector3());
        const [a, b] = [random.logRange(1e-3, 1e3), random.logRange(1e-3, 1e3)];
        scene.add({ shape: { type: 'sphere', radius: a } }, new Matrix4());
        const way = random.direction().multiplyScalar(a + b);
        const ball: AnyShape = { shape: { type: 'sphere', radius: b } };
        expect(
          runToEnd(scene.core.volumes.overlap(scene.describe(ball, new Matrix4().setPosition(way)), ALL_FILTER)).length,
        ).toBe(1);
        way.multiplyScalar(1 + 1e-9);
        expect(
          runToEnd(scene.core.volumes.overlap(scene.describe(ball, new Matrix4().setPosition(way)), ALL_FILTER)).length,
        ).toBe(0);
      }
    });

    test.each(['box', 'mesh'])('small spheres that touch the end of a long %s by their numbers', async (kind) => {
      const random = new Random(SEED);
      const scene = await NearScene.at(new Vector3());
      const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
      for (let i = 0; i < 300; i++) {
        const radius = random.logRange(1e-3, 1);
        const halves = [1, 1, 1].map(() => Math.fround(random.logRange(1, 1e4))) as [number, number, number];
        const [first, end] = [random.integer(3), random.integer(3)];
        const form = new Matrix4().makeBasis(axes[first], axes[(first + 1) % 3], axes[(first + 2) % 3]);
        const [x, y, z] = halves.map((half) => 2 * half);
        const long = scene.add(
          kind === 'mesh' ? scene.mesh(boxMesh(x, y, z)) : { shape: { type: 'box', halfExtents: halves } },
          form,
        );
        const ball: AnyShape = { shape: { type: 'sphere', radius } };
        const meets = (distance: number) => {
          const at = new Vector3(...halves).multiplyScalar(random.range(-0.5, 0.5)).setComponent(end, distance);
          const matrix = new Matrix4().setPosition(at.applyMatrix4(form));
          return runToEnd(scene.core.volumes.overlap(scene.describe(ball, matrix), ALL_FILTER)).length === 1;
        };
        expect(meets(halves[end] + radius), `case ${i}`).toBe(true);
        expect(meets(halves[end] + radius * (1 + 1e-6)), `case ${i}`).toBe(false);
        scene.remove(long);
      }
    });
  });

  test('solids are full, meshes are surfaces', async () => {
    const scene = await NearScene.at(place);
    const ball: AnyShape = { shape: { type: 'sphere', radius: 5 } };
    const crate: AnyShape = { shape: { type: 'box', halfExtents: [5, 5, 5] } };
    const pill: AnyShape = { shape: { type: 'capsule', radius: 5, from: [0, 0, 0], to: [1, 0, 0] } };
    const hollow = scene.mesh(icosphere(5, 3));
    const small: AnyShape[] = [
      { shape: { type: 'sphere', radius: 0.5 } },
      { shape: { type: 'box', halfExtents: [0.3, 0.4, 0] } },
      { shape: { type: 'capsule', radius: 0.2, from: [0, 0, 0], to: [0, 1, 0] } },
      scene.mesh(icosphere(0.5, 2)),
    ];
    const matrix = new Matrix4().makeScale(1, 1.2, 0.8);
    for (const outer of [ball, crate, pill, hollow]) {
      for (const inner of small) {
        const expected = outer === hollow ? 0 : 1;
        for (const [a, b] of [
          [outer, inner],
          [inner, outer],
        ]) {
          const thing = scene.add(a, matrix);
          expect(runToEnd(scene.core.volumes.overlap(scene.describe(b, new Matrix4()), ALL_FILTER)).length).toBe(
            expected,
          );
          scene.remove(thing);
        }
      }
    }
  });
});

function smallMeshes(scene: NearScene, random: Random): AnyShape[] {
  const needles = transformed(soup(random, 12, 1, 1), (vertex) => vertex.multiply(new Vector3(1, 1e-4, 1)));
  return [
    scene.mesh(icosphere(1, 1)),
    scene.mesh(soup(random, 15, 0.5, 1)),
    scene.mesh(needles),
    scene.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
  ];
}

/** Two of them cross with their sides more often than not. */
function longCapsule(random: Random): SolidShape {
  const to = random.direction().multiplyScalar(3);
  return { type: 'capsule', radius: random.logRange(0.05, 2), from: to.clone().negate().toArray(), to: to.toArray() };
}

function centroidOf({ center, columns }: ConvexSet): Vector3 {
  return center
    .clone()
    .addScaledVector(columns[0], 1 / 3)
    .addScaledVector(columns[1], 1 / 3);
}

/** For the nearest or deepest two: no part may overlap the other object if the whole is to be apart. */
