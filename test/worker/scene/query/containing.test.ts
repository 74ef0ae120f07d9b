// Solids that contain a point, against sums of all solid angles, and against each solid's own inequality.

import { BoxGeometry, CylinderGeometry, Matrix4, PlaneGeometry, TorusKnotGeometry, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, idsExcept, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { dragon } from '../../../oracle/dragon.js';
import {
  boxMesh,
  icosphere,
  merged,
  soup,
  type Triangles,
  transformed,
  trianglesOf,
  waves,
  welded,
} from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, frameOf, randomSolid, type SolidShape } from '../../../oracle/shapes.js';
import { windingNumber } from '../../../oracle/winding.js';

const COUNT = 1500;

describe.each(PLACES)(`containing %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  const isIn = (scene: NearScene, point: Vector3) =>
    runToEnd(scene.core.volumes.containing(scene.point(point), ALL_FILTER)).length === 1;

  test(`${COUNT} points and solids under any matrix`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    let inside = 0;
    for (let i = 0; i < COUNT; i++) {
      const shape = randomSolid(random);
      const thing = scene.add({ shape }, random.placement(random.point(1), { ...ANY_TRANSFORM, low: 0.1, high: 10 }));
      const { matrix, half } = frameOf(shape);
      const own = random.direction().multiplyScalar(random.range(0, 2));
      own.z *= 1 + half;
      const point = scene.exactPoint(own.applyMatrix4(matrix).applyMatrix4(thing.matrix));
      const beyond = excess(shape, thing.matrix, point);
      if (Math.abs(beyond) > 1e-9 + place.length() * 1e-14) {
        expect(isIn(scene, point), `case ${i}: ${JSON.stringify(shape)}, ${point.toArray()}`).toBe(beyond < 0);
        if (beyond < 0) inside++;
      }
      scene.remove(thing);
    }
    expect(inside).toBeGreaterThan(COUNT / 4);
    expect(inside).toBeLessThan((COUNT * 3) / 4);
  });

  test(`points on the surfaces of ${COUNT} solids count, and those a hair off do not`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const hair = place.length() > 0 ? 1e-5 : 1e-9;
    for (let i = 0; i < COUNT; i++) {
      const shape = randomSolid(random);
      const thing = scene.add({ shape }, random.placement(random.point(1), ANY_TRANSFORM));
      const { matrix, half } = frameOf(shape);
      const on = surfacePoint(random, shape, half);
      const at = (scale: number) => {
        const own = on.own.clone().sub(on.center).multiplyScalar(scale).add(on.center);
        return own.applyMatrix4(matrix).applyMatrix4(thing.matrix);
      };
      const message = `case ${i}: ${JSON.stringify(shape)}`;
      expect(
        [at(1 - hair), at(1), at(1 + hair)].map((point) => isIn(scene, point)),
        message,
      ).toEqual([true, true, false]);
      scene.remove(thing);
    }
  });

  describe.each<[name: string, make: (random: Random) => Triangles]>([
    ['a box', () => boxMesh(1, 2, 3)],
    ['an icosphere', () => icosphere(1, 5)],
    ['a knot', () => welded(new TorusKnotGeometry(1, 0.3, 100, 12))],
    ['a cylinder of needles', () => welded(new CylinderGeometry(1, 1, 0.01, 200))],
    ['one inside out', () => insideOut(icosphere(1, 3))],
    ['a ball in a ball', () => merged([icosphere(1, 4), icosphere(0.4, 3)])],
    ['a hollow ball', () => merged([icosphere(1, 4), insideOut(icosphere(0.7, 3))])],
    ['a heap of overlapping boxes', (random) => heap(random)],
    ['one far from its own origin', () => transformed(icosphere(1, 3), (vertex) => vertex.addScalar(1000))],
  ])('%s', (_, make) => {
    test(`${COUNT} points, under any matrix`, async () => {
      const random = new Random(SEED);
      const scene = await NearScene.at(place);
      const triangles = make(random);
      const mesh = scene.mesh(triangles);
      let inside = 0;
      for (let round = 0; round < 30; round++) {
        const thing = scene.add(mesh, random.placement(random.point(1), ANY_TRANSFORM));
        for (let i = 0; i < COUNT / 30; i++) {
          // Anywhere around, and as often near the surface.
          const [on, normal] = facePoint(random, triangles);
          const own = random.chance(0.5)
            ? new Vector3().lerpVectors(on, facePoint(random, triangles)[0], random.range(-0.5, 1.5))
            : on.addScaledVector(normal, random.pick([-1, 1]) * random.logRange(1e-6, 0.1));
          const point = scene.exactPoint(own.clone().applyMatrix4(thing.matrix));
          if (distanceTo(triangles, own) < (place.length() > 0 ? 1e-7 : 1e-10)) continue;
          const number = Math.abs(windingNumber(triangles, own));
          expect(isIn(scene, point), `${own.toArray()}, winding ${number}`).toBe(number > 0.5);
          if (number > 0.5) inside++;
        }
        scene.remove(thing);
      }
      expect(inside).toBeGreaterThan(COUNT / 10);
      expect(inside).toBeLessThan(COUNT * 0.9);
    });

    test('its vertices, edges and faces count', async () => {
      const random = new Random(SEED);
      const scene = await NearScene.at(place);
      const triangles = make(random);
      const mesh = scene.mesh(triangles);
      for (const form of [new Matrix4(), random.placement(random.point(1), ANY_TRANSFORM)]) {
        const thing = scene.add(mesh, form);
        for (let i = 0; i < 300; i++) {
          const [a, b, c] = anyTriangle(random, triangles);
          const [u, v] = [random.next(), random.next()];
          for (const on of [
            a,
            new Vector3().lerpVectors(a, b, u),
            a
              .clone()
              .addScaledVector(b.clone().sub(a), u * (1 - v))
              .addScaledVector(c.clone().sub(a), v),
          ]) {
            const point = on.clone().applyMatrix4(thing.matrix);
            expect(isIn(scene, point), `${i}: ${on.toArray()}`).toBe(true);
          }
        }
        scene.remove(thing);
      }
    });
  });

  test('a sheet contains nothing, nor do the points on it', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    for (const sheet of [
      trianglesOf(new PlaneGeometry(2, 2, 9, 9)),
      trianglesOf(new PlaneGeometry(2, 2)),
      soup(random, 1, 1, 1),
    ]) {
      const thing = scene.add(scene.mesh(sheet), random.placement(random.point(1), ANY_TRANSFORM));
      for (let i = 0; i < 300; i++) {
        const [on, normal] = facePoint(random, sheet);
        for (const height of [0, 1e-15, -1e-12, 1e-8, -1e-4, 0.1]) {
          const point = on.clone().addScaledVector(normal, height).applyMatrix4(thing.matrix);
          expect(isIn(scene, point)).toBe(false);
        }
      }
      scene.remove(thing);
    }
  });

  test('small holes do not matter, and open ones are as the winding number says', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const ball = icosphere(1, 6);
    const holed: Triangles = { ...ball, indices: ball.indices.filter((_, i) => Math.floor(i / 3) % 97 !== 0) };
    const bowl: Triangles = { ...ball, indices: ball.indices.subarray(0, Math.floor(ball.indices.length / 6) * 3) };
    for (const [mesh, sure] of [
      [holed, 0.95],
      [bowl, 0],
      [waves(12), 0],
    ] as const) {
      const thing = scene.add(scene.mesh(mesh), new Matrix4());
      for (let i = 0; i < 500; i++) {
        const point = scene.exactPoint(random.point(1.2));
        const number = Math.abs(windingNumber(mesh, point));
        if (Math.abs(number - 0.5) < 1e-5) continue;
        // Outside its bounds nothing is contained, whatever the winding number.
        const outside = Math.max(...point.toArray().map(Math.abs)) > 1;
        if (!outside) expect(isIn(scene, point), `${point.toArray()}, winding ${number}`).toBe(number > 0.5);
        if (sure > 0 && Math.abs(point.length() - 1) > 0.1) expect(isIn(scene, point)).toBe(point.length() < 1);
      }
      scene.remove(thing);
    }
  });

  test('beyond the bounds of an open mesh nothing is in it, though sheets wind around the points there', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const sheet = trianglesOf(new PlaneGeometry(2, 2, 4, 4));
    const sheets = merged(
      Array.from({ length: 5 }, (_, i) => transformed(sheet, (vertex) => vertex.setZ(0.1 * i - 0.2))),
    );
    for (let i = 0; i < 300; i++) {
      // The normal along each axis in turn.
      const turned = (own: Vector3) => new Vector3().fromArray(own.toArray().map((_, k, xyz) => xyz[(k + i) % 3]));
      const mesh = transformed(sheets, (vertex) => vertex.copy(turned(vertex)));
      const thing = scene.add(scene.mesh(mesh), random.placement(random.point(1), ANY_TRANSFORM));
      for (const side of [-1, 1]) {
        const own = new Vector3(random.range(-0.5, 0.5), random.range(-0.5, 0.5), side * random.range(0.21, 0.25));
        for (const height of [own.z, own.z - 0.05 * side]) {
          const at = turned(own.setZ(height));
          const number = Math.abs(windingNumber(mesh, at));
          if (Math.abs(height) > 0.2) expect(number).toBeGreaterThan(0.6);
          if (Math.abs(number - 0.5) < 1e-3) continue;
          const point = at.clone().applyMatrix4(thing.matrix);
          expect(isIn(scene, point), `case ${i}: ${at.toArray()}, winding ${number}`).toBe(
            Math.abs(height) < 0.2 && number > 0.5,
          );
        }
      }
      scene.remove(thing);
    }
  });

  test('an open box among what is far away, where it winds around a point by hardly more or less than half', async () => {
    const random = new Random(SEED);
    const box = boxMesh(2, 2, 2);
    const open: Triangles = { ...box, indices: box.indices.subarray(6) };
    for (let round = 0; round < 40; round++) {
      const scene = await NearScene.at(place);
      const matrix = random.placement(random.direction().multiplyScalar(random.logRange(20, 200)), ANY_TRANSFORM);
      const far = transformed(icosphere(1, 2), (vertex) => vertex.applyMatrix4(matrix));
      const triangles = merged([open, far]);
      scene.add(scene.mesh(triangles), new Matrix4());
      // Out through the open side.
      let [inner, outer] = [new Vector3(), random.point(0.5).setX(2)];
      for (let step = 0; step < 30; step++) {
        const point = scene.exactPoint(new Vector3().lerpVectors(inner, outer, 0.5));
        // A half itself gets a tolerance of a millionth.
        const number = Math.abs(windingNumber(triangles, point)) - 1e-6;
        if (number > 0.5) inner = point;
        else outer = point;
        if (Math.abs(number - 0.5) > 1e-9) expect(isIn(scene, point), `winding ${number}`).toBe(number > 0.5);
      }
    }
  });

  test('the dragon: 1,000 points as the sum of all triangles has them', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const triangles = transformed(dragon(11_102), (vertex) => vertex.multiplyScalar(10));
    const thing = scene.add(scene.mesh(triangles), random.placement(new Vector3()));
    let inside = 0;
    for (let i = 0; i < 1000; i++) {
      const [on, normal] = facePoint(random, triangles);
      const own = on.addScaledVector(normal, random.range(-0.3, 0.1));
      const point = scene.exactPoint(own.clone().applyMatrix4(thing.matrix));
      const number = Math.abs(windingNumber(triangles, own));
      if (Math.abs(number - 0.5) < 1e-4) continue;
      expect(isIn(scene, point), `${own.toArray()}, winding ${number}`).toBe(number > 0.5);
      if (number > 0.5) inside++;
    }
    expect(inside).toBeGreaterThan(300);
  });

  test('a mesh that is refitted, baked, replaced and freed', async () => {
    const scene = await NearScene.at(place);
    const { core } = scene;
    const ball = icosphere(1, 3);
    const used = core.usedBytes;
    const thing = scene.add(scene.mesh(ball), new Matrix4());
    const shape = thing.shape.shape;
    const mesh = shape.type === 'mesh' ? shape.mesh : 0;
    const before = core.bakeMesh(mesh);
    expect([isIn(scene, new Vector3(0.5, 0, 0)), isIn(scene, new Vector3(5.5, 0, 0))]).toEqual([true, false]);
    expect(core.bakeMesh(mesh)).toEqual(before);
    expect(isIn(scene, new Vector3(0.5, 0, 0))).toBe(true);
    core.refitMesh(mesh, transformed(ball, (vertex) => vertex.setX(vertex.x + 5)).positions);
    expect([isIn(scene, new Vector3(0.5, 0, 0)), isIn(scene, new Vector3(5.5, 0, 0))]).toEqual([false, true]);
    scene.remove(thing);
    core.freeMesh(mesh);
    expect(core.usedBytes).toBeLessThan(used + 64 * 1024);
  });

  test('one query of 1,000 objects of all shapes, whatever stands for them', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = [scene.mesh(icosphere(1, 2)), scene.mesh(boxMesh(1, 2, 1)), scene.mesh(waves(4))];
    const things = Array.from({ length: 1000 }, () => {
      const shape: AnyShape = random.chance(0.4) ? random.pick(meshes) : { shape: randomSolid(random) };
      return scene.add(shape, random.placement(random.point(6), ANY_TRANSFORM), { layers: 1 + random.integer(3) });
    });
    const precisions = [layout.PRECISION_MESH, layout.PRECISION_OBB, layout.PRECISION_AABB, layout.PRECISION_SPHERE];
    let total = 0;
    for (let i = 0; i < 100; i++) {
      const point = scene.point(random.point(6));
      const ignore = Uint32Array.from(things.filter(() => random.chance(0.2)).map(({ id }) => id)).sort();
      const filter = { ...ALL_FILTER, precision: precisions[i % 4], layers: 1 + random.integer(3), ignore };
      const found = [...runToEnd(scene.core.volumes.containing(point, filter))];
      const ids = Uint32Array.from(things, ({ id }) => id);
      const alone = [...ids].filter((id, k) => {
        const others = { ...filter, ignore: idsExcept(ids, k) };
        return !ignore.includes(id) && runToEnd(scene.core.volumes.containing(point, others)).length === 1;
      });
      expect(found).toEqual(alone);
      total += found.length;
    }
    expect(total).toBeGreaterThan(500);
  });
});

/** How far the point is outside the solid, in its own frame, where the solid reaches to 1; negative inside. */
function excess(shape: SolidShape, placed: Matrix4, point: Vector3): number {
  const { matrix, half } = frameOf(shape);
  const own = point.clone().applyMatrix4(placed.clone().multiply(matrix).invert());
  if (shape.type === 'box') return Math.max(...own.toArray().map(Math.abs)) - 1;
  own.z -= Math.min(Math.max(own.z, -half), half);
  return own.length() - 1;
}

/** In the solid's own frame, a point on its surface and the direction out of it. */
function surfacePoint(random: Random, { type }: SolidShape, half: number) {
  const center = new Vector3();
  if (type === 'box') {
    const own = random.point(1);
    own.setComponent(random.integer(3), random.pick([-1, 1]));
    return { own, center };
  }
  const way = random.direction();
  center.z = way.z < -0.5 ? -half : way.z > 0.5 ? half : random.range(-half, half);
  if (Math.abs(way.z) <= 0.5) way.setZ(0).normalize();
  return { own: way.add(center), center };
}

function anyTriangle(random: Random, { positions, indices }: Triangles): [Vector3, Vector3, Vector3] {
  const t = random.integer(indices.length / 3);
  const [a, b, c] = [0, 1, 2].map((i) => new Vector3().fromArray(positions, 3 * indices[3 * t + i]));
  return random.pick([
    [a, b, c],
    [b, c, a],
    [c, a, b],
  ]);
}

function facePoint(random: Random, triangles: Triangles): [point: Vector3, normal: Vector3] {
  const [a, b, c] = anyTriangle(random, triangles);
  const normal = b.clone().sub(a).cross(c.clone().sub(a)).normalize();
  const [u, v] = [Math.sqrt(random.next()), random.next()];
  const point = a
    .clone()
    .multiplyScalar(1 - u)
    .addScaledVector(b, u * (1 - v))
    .addScaledVector(c, u * v);
  return [point, normal];
}

function distanceTo({ positions, indices }: Triangles, point: Vector3): number {
  const [triangle, target] = [new Triangle(), new Vector3()];
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < indices.length; i += 3) {
    triangle.a.fromArray(positions, 3 * indices[i]);
    triangle.b.fromArray(positions, 3 * indices[i + 1]);
    triangle.c.fromArray(positions, 3 * indices[i + 2]);
    least = Math.min(least, triangle.closestPointToPoint(point, target).distanceTo(point));
  }
  return least;
}

function insideOut({ positions, indices }: Triangles): Triangles {
  return { positions, indices: indices.slice().reverse() };
}

/** Closed meshes, rotated and moved into each other. */
function heap(random: Random): Triangles {
  const box = welded(new BoxGeometry(1, 1, 1));
  return merged(
    Array.from({ length: 12 }, () => {
      const matrix = random.placement(random.point(1), { low: 0.5, high: 1.5 });
      return transformed(box, (vertex) => vertex.applyMatrix4(matrix));
    }),
  );
}
