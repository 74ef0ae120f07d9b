// The nearest point of all objects, against three's own code for every triangle, and against proofs for solids: the point is in
// the solid, and a plane through it has the whole solid on its far side.

import { Matrix4, PlaneGeometry, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import {
  ALL_FILTER,
  ANY_TRANSFORM,
  idsExcept,
  type NearObject,
  NearScene,
  PLACES,
} from '../../../fixtures/near-scene.js';
import { dragon } from '../../../oracle/dragon.js';
import { boxMesh, icosphere, rods, soup, transformed, trianglesOf } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';
import { type ConvexSet, gapBetween, pointBody, support } from '../../../oracle/solids.js';

const COUNT = 1500;

describe.each(PLACES)(`closestPoint %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  /** The precision of float64 there. */
  const digits = place.length() * 1e-15;

  test(`${COUNT} points and solids under any matrix, to 1e-9`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    let inside = 0;
    for (let i = 0; i < COUNT; i++) {
      const thing = scene.add(
        { shape: randomSolid(random) },
        random.placement(random.point(1), { ...ANY_TRANSFORM, low: 0.03, high: 30 }),
      );
      const point = scene.exactPoint(random.direction().multiplyScalar(random.logRange(0.01, 100)));
      const found = runToEnd(
        scene.core.volumes.closestPoint(scene.point(point), Number.POSITIVE_INFINITY, ALL_FILTER),
      )!;
      expect(found).toMatchObject({ object: thing.id, triangle: -1 });
      const message = `case ${i}: ${JSON.stringify(thing.shape.shape)} and ${point.toArray()}`;
      const nearest = new Vector3(...found.point).sub(place);
      const [body] = thing.bodies;
      const size = sizeOf(body) + point.length();
      expect(Math.abs(nearest.distanceTo(point) - found.distance), message).toBeLessThanOrEqual(size * 1e-12 + digits);
      expect(distanceFrom(body, nearest), message).toBeLessThan(1e-9 * size + digits);
      if (found.distance === 0) {
        expect(found.point).toEqual(scene.point(point));
        inside++;
      } else {
        const normal = point.clone().sub(nearest).normalize();
        // Where point and solid almost touch, the direction depends on the last digits.
        const certain = 1e-9 + (4 * digits) / found.distance;
        expect(normal.dot(point) - support(body, normal), message).toBeGreaterThan(
          found.distance - size * certain - digits,
        );
      }
      scene.remove(thing);
    }
    console.log(`${inside} of ${COUNT} inside`);
    expect(inside).toBeGreaterThan(COUNT / 50);
  });

  test(`${COUNT} points and meshes under any matrix, as three finds them`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = someMeshes(scene, random);
    for (let i = 0; i < COUNT; i++) {
      const thing = scene.add(
        random.pick(meshes),
        random.placement(random.point(1), { ...ANY_TRANSFORM, low: 0.03, high: 30 }),
      );
      const point = scene.exactPoint(random.direction().multiplyScalar(random.logRange(0.01, 1000)));
      expectNearest(scene, [thing], point, `case ${i}`);
      scene.remove(thing);
    }
  });

  test.each([0, 1, 2])('points far away along axis %d, of a flat mesh beside its own origin', async (axis) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const middle = new Vector3(1.5, 1.5, 1.5);
    const flat = transformed(soup(random, 500, 0.02, 1), (vertex) =>
      vertex.setComponent(axis, 0.01 * vertex.getComponent(axis)).add(middle),
    );
    const thing = scene.add(scene.mesh(flat), new Matrix4());
    for (let i = 0; i < 60; i++) {
      const point = middle.clone().multiply(random.point(1).addScalar(1).multiplyScalar(0.5));
      point.setComponent(axis, random.pick([-1, 1]) * random.logRange(200, 400));
      expectNearest(scene, [thing], scene.exactPoint(point), `case ${i}`);
    }
  });

  test('points on triangles, and as near as float32 cannot tell', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = someMeshes(scene, random);
    for (let i = 0; i < 500; i++) {
      const thing = scene.add(random.pick(meshes), random.placement(random.point(1), ANY_TRANSFORM));
      const [a, b, c] = cornersOf(random.pick(trianglesIn(thing)));
      const [u, v] = [random.next(), random.next()];
      const on = a
        .clone()
        .addScaledVector(b.clone().sub(a), u / 2)
        .addScaledVector(c.clone().sub(a), v / 2);
      const off = random.direction().multiplyScalar(random.pick([0, 1e-9, 1e-7, 1e-5]));
      const way = off.length();
      expectNearest(scene, [thing], scene.exactPoint(on.add(off)), `case ${i}`, way);
      scene.remove(thing);
    }
  });

  test('the nearest of 500 objects of all shapes, whatever is asked', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = someMeshes(scene, random);
    const things = Array.from({ length: 500 }, () => {
      const shape = random.chance(0.4) ? random.pick(meshes) : { shape: randomSolid(random) };
      return scene.add(shape, random.placement(random.point(20), { ...ANY_TRANSFORM, low: 0.2, high: 2 }), {
        layers: 1 + random.integer(3),
        flags: random.chance(0.9) ? layout.FLAG_PICKABLE : 0,
      });
    });
    const precisions = [layout.PRECISION_MESH, layout.PRECISION_OBB, layout.PRECISION_AABB, layout.PRECISION_SPHERE];
    for (let i = 0; i < 200; i++) {
      const point = scene.point(random.point(random.pick([25, 25, 300])));
      const ignore = Uint32Array.from(things.filter(() => random.chance(0.2)).map(({ id }) => id)).sort();
      const filter = { ...ALL_FILTER, precision: precisions[i % 4], layers: 1 + random.integer(3), ignore };
      const limit = random.chance(0.5) ? Number.POSITIVE_INFINITY : random.range(0, 5);
      // Each object alone, and the nearest of the results.
      const ids = Uint32Array.from(things, ({ id }) => id);
      const alone = things.flatMap(({ id }, k) => {
        if (ignore.includes(id)) return [];
        const others = { ...filter, ignore: idsExcept(ids, k) };
        return runToEnd(scene.core.volumes.closestPoint(point, limit, others)) ?? [];
      });
      alone.sort((a, b) => a.distance - b.distance || a.object - b.object);
      expect(runToEnd(scene.core.volumes.closestPoint(point, limit, filter))).toEqual(alone[0] ?? null);
    }
  });

  test('a few objects, all compared by the oracle', async () => {
    const random = new Random(SEED);
    for (let i = 0; i < 100; i++) {
      const scene = await NearScene.at(place);
      const things = Array.from({ length: 12 }, () =>
        scene.add({ shape: randomSolid(random) }, random.placement(random.point(8), ANY_TRANSFORM)),
      );
      const point = scene.exactPoint(random.point(12));
      const { distance } = runToEnd(
        scene.core.volumes.closestPoint(scene.point(point), Number.POSITIVE_INFINITY, ALL_FILTER),
      )!;
      for (const { bodies } of things)
        expect(gapBetween(pointBody(point), bodies[0], 1e-7).most).toBeGreaterThan(distance - 1e-7);
    }
  });

  test('ties go to the lower id, then to the lower triangle; the limit is inclusive', async () => {
    const scene = await NearScene.at(place);
    const ask = (point: Vector3, limit = Number.POSITIVE_INFINITY) =>
      runToEnd(scene.core.volumes.closestPoint(scene.point(point), limit, ALL_FILTER));
    const cube = scene.mesh(boxMesh(2, 2, 2));
    const [first, second] = [scene.add(cube, new Matrix4().setPosition(5, 0, 0)), scene.add(cube, new Matrix4())];
    const ball = scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4().setPosition(0, 9, 0));
    expect(ask(new Vector3(2.5, 0, 0))).toMatchObject({ object: first.id, distance: 1.5 });
    expect(ask(new Vector3(2.25, 0, 0))).toMatchObject({ object: second.id, distance: 1.25 });
    expect(ask(new Vector3(2.25, 0, 0), 1.25)).toMatchObject({ object: second.id, distance: 1.25 });
    expect(ask(new Vector3(2.25, 0, 0), 1.25 - 2 ** -40)).toBeNull();
    expect(ask(new Vector3(0, 10.5, 0), 0.5)).toMatchObject({ object: ball.id, distance: 0.5, triangle: -1 });
    expect(ask(new Vector3(0, 10.5, 0), 0.4999999)).toBeNull();
    expect(ask(new Vector3(0, 9.25, 0), 0)).toMatchObject({
      object: ball.id,
      distance: 0,
      point: scene.point(new Vector3(0, 9.25, 0)),
    });
    // A corner and an edge, which several triangles share.
    for (const [point, corners] of [
      [new Vector3(-2, -2, -2), 3],
      [new Vector3(-2, -2, 0.25), 2],
    ] as const) {
      const indices = scene.things.get(second.id)!.shape.triangles!.indices;
      const near = trianglesIn(second)
        .map((triangle, i) => [i, triangle.closestPointToPoint(point, new Vector3()).distanceTo(point)])
        .filter(([, distance], _, all) => distance <= Math.min(...all.map(([, other]) => other)) + 1e-12)
        .map(([i]) => i);
      expect(near.length).toBeGreaterThanOrEqual(corners);
      expect(indices.length).toBe(36);
      expect(ask(point)).toMatchObject({ object: second.id, triangle: Math.min(...near) });
    }
  });

  test('a point on a face, an edge or a corner of a box is its own nearest, 0 away', async () => {
    const scene = await NearScene.at(place);
    const box = scene.add({ shape: { type: 'box', halfExtents: [1, 2, 4] } }, new Matrix4().setPosition(5, 0, 0));
    for (const x of [4, 5, 6]) {
      for (const y of [-2, 0, 2]) {
        for (const z of [-4, 0, 4]) {
          const point = scene.point(new Vector3(x, y, z));
          const found = runToEnd(scene.core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER));
          expect(found, `${[x, y, z]}`).toMatchObject({ object: box.id, distance: 0, point });
        }
      }
    }
  });

  test('1,000 copies of one triangle: the first', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const { positions } = soup(random, 1, 1, 1);
    const indices = Uint32Array.from({ length: 3000 }, (_, i) => i % 3);
    scene.add(scene.mesh({ positions, indices }), random.placement(new Vector3(), ANY_TRANSFORM));
    for (let i = 0; i < 200; i++) {
      const point = scene.point(random.point(random.pick([1, 5, 500])));
      expect(runToEnd(scene.core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER))?.triangle).toBe(0);
    }
  });

  test('the dragon, from near and from afar', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const mesh = scene.mesh(transformed(dragon(11_102), (vertex) => vertex.multiplyScalar(10)));
    const forms = [random.placement(new Vector3()), random.placement(new Vector3(), { low: 0.2, high: 5, sheared: 1 })];
    for (const form of forms) {
      const thing = scene.add(mesh, form);
      for (const distance of [0.1, 1, 10, 1e3, 1e5]) {
        for (let i = 0; i < 6; i++) {
          const point = scene.exactPoint(
            random
              .direction()
              .multiplyScalar(distance)
              .add(new Vector3(0, 1, 0)),
          );
          expectNearest(scene, [thing], point, `${distance} away`);
        }
      }
      scene.remove(thing);
    }
  });
});

function someMeshes(scene: NearScene, random: Random): AnyShape[] {
  const needles = transformed(soup(random, 30, 1, 1), (vertex) => vertex.multiply(new Vector3(1, 1e-4, 1)));
  return [
    scene.mesh(icosphere(1, 3)),
    scene.mesh(soup(random, 60, 0.5, 1)),
    scene.mesh(rods(random, 5, 1)),
    scene.mesh(needles),
    scene.mesh(trianglesOf(new PlaneGeometry(2, 2, 4, 4))),
    scene.mesh(soup(random, 1, 1, 1)),
    scene.mesh(transformed(icosphere(1, 2), (vertex) => vertex.multiplyScalar(1e-3).addScalar(500))),
  ];
}

function cornersOf({ a, b, c }: Triangle): Vector3[] {
  return [a, b, c];
}

function trianglesIn({ bodies }: NearObject): Triangle[] {
  return bodies.map(
    ({ center, columns: [u, v] }) => new Triangle(center, center.clone().add(u), center.clone().add(v)),
  );
}

/** Compares with all triangles by three's own code. Something is no farther away than `atMost`, where three is less precise. */
function expectNearest(scene: NearScene, things: NearObject[], point: Vector3, message: string, atMost = Infinity) {
  const found = runToEnd(scene.core.volumes.closestPoint(scene.point(point), Number.POSITIVE_INFINITY, ALL_FILTER))!;
  const target = new Vector3();
  let [least, size] = [atMost, 0];
  for (const thing of things) {
    for (const triangle of trianglesIn(thing)) {
      least = Math.min(least, triangle.closestPointToPoint(point, target).distanceTo(point));
      const middle = new Vector3().setFromMatrixPosition(thing.matrix);
      for (const corner of cornersOf(triangle))
        size = Math.max(size, corner.distanceTo(point), corner.distanceTo(middle));
    }
  }
  const doubt = size * 1e-12 + scene.place.length() * 1e-15;
  expect(Math.abs(found.distance - least), `${message}: ${found.distance}, not ${least}`).toBeLessThan(doubt);
  const nearest = new Vector3(...found.point).sub(scene.place);
  expect(Math.abs(nearest.distanceTo(point) - found.distance), message).toBeLessThan(doubt);
  const triangle = trianglesIn(scene.things.get(found.object)!)[found.triangle];
  // three's own code is less precise for needles.
  expect(triangle.closestPointToPoint(nearest, target).distanceTo(nearest), message).toBeLessThan(1e4 * doubt);
}

/** An upper bound of a point's distance from a body. */
function distanceFrom(body: ConvexSet, point: Vector3): number {
  return gapBetween(pointBody(point), body, 1e-10).least;
}

function sizeOf({ columns }: ConvexSet): number {
  return columns.reduce((sum, column) => sum + column.length(), 0);
}

test('a triangle that is exactly as far as the bound counts, however its corners stand about the foot', async () => {
  const scene = await NearScene.at(new Vector3());
  const corners = [new Vector3(1, 0.5, -0.5), new Vector3(1, -0.5, -0.5), new Vector3(1, 0, 1)];
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ];
  let count = 0;
  // Its plane along each axis, on both sides, and rotated about that axis by right angles: all of that is exact.
  for (const order of orders) {
    for (const side of [1, -1]) {
      for (const [u, v] of [
        [1, 1],
        [1, -1],
        [-1, 1],
        [-1, -1],
      ]) {
        for (const axes of orders) {
          const positions = new Float32Array(9);
          order.forEach((corner, i) => {
            const { x, y, z } = corners[corner];
            [side * x, u * y, v * z].forEach((value, k) => {
              positions[3 * i + axes[k]] = value;
            });
          });
          const mesh = scene.mesh({ positions, indices: Uint32Array.of(0, 1, 2) });
          const thing = scene.add(mesh, new Matrix4());
          const ask = (limit: number) => runToEnd(scene.core.volumes.closestPoint([0, 0, 0], limit, ALL_FILTER));
          expect(ask(1)).toMatchObject({ object: thing.id, distance: 1 });
          expect(ask(1 - 2 ** -53)).toBeNull();
          scene.remove(thing);
          count++;
        }
      }
    }
  }
  expect(count).toBe(288);
});
