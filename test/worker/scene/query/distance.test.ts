// The distance of two objects, against all pairs of their triangles in float64, and against proofs for solids: both points
// belong to them, and no two of their parts are nearer.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { CONTACTS_ANY } from '../../../../src/shared/layout.js';
import { ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { minimumDistance, type Part } from '../../../oracle/distances.js';
import type { Corners } from '../../../oracle/exact.js';
import { bumpyBall, comb, torus } from '../../../oracle/lumps.js';
import { boxMesh, icosphere, merged, rods, soup, type Triangles, transformed, waves } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';
import { gapBetween, pointBody } from '../../../oracle/solids.js';

/** Cases at each place; `DISTANCES=1000 npx vitest run …` checks more. */
const COUNT = Number(process.env.DISTANCES ?? 100);
const SCALES = [1e-3, 1, 1e3];

interface Found {
  distance: number;
  pointA: Vector3;
  pointB: Vector3;
  triangleA: number;
  triangleB: number;
}

function measure(scene: NearScene, a: NearObject, b: NearObject, limit = Number.POSITIVE_INFINITY): Found | null {
  const found = scene.core.pairs.beginDistance(a.id, b.id, limit, Number.POSITIVE_INFINITY);
  if (!found) return null;
  const [pointA, pointB] = [found.pointA, found.pointB].map((each) => new Vector3(...each).sub(scene.place));
  return { ...found, pointA, pointB };
}

function partsOf({ shape, bodies, matrix }: NearObject): Part[] {
  if (!shape.triangles) return bodies.map((body) => ({ body }));
  const { positions, indices } = shape.triangles;
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return bodies.map((body, t) => ({ body, corners: [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)] as Corners }));
}

/** A lower bound of a point's distance from the thing's part of that number, or from the thing. */
function distanceTo(parts: readonly Part[], triangle: number, point: Vector3, precision: number): number {
  const { body } = parts[Math.max(triangle, 0)];
  return gapBetween(body, pointBody(point), precision).least;
}

const sizeOf = ({ bodies }: NearObject): number =>
  Math.max(...bodies.map(({ columns }) => columns.reduce((sum, column) => sum + column.length(), 0)));

describe.each(PLACES)(`distance %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  test(`${COUNT} pairs of meshes and shapes under any matrix, at scales 1e-3, 1 and 1e3`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = meshesOf(random).map((each) => scene.mesh(each));
    const seen = { met: 0, meshes: 0, mixed: 0, solids: 0 };
    for (let i = 0; i < COUNT; i++) {
      const scale = random.pick(SCALES);
      const form = random.chance(0.5)
        ? { low: scale, high: scale }
        : { ...ANY_TRANSFORM, low: 0.3 * scale, high: 3 * scale };
      const apart = scale * random.logRange(0.01, 30);
      const [a, b] = [new Vector3(), random.direction().multiplyScalar(apart)].map((at) => {
        const shape = random.chance(0.6) ? random.pick(meshes) : { shape: randomSolid(random) };
        return scene.add(shape, random.placement(at, form));
      });
      const message = `case ${i}, ${a.shape.shape.type} and ${b.shape.shape.type}, ${form.low === form.high ? 'alike' : 'any'}`;
      const found = measure(scene, a, b)!;
      const size = sizeOf(a) + sizeOf(b);
      const digits = 1e-9 * size + place.length() * 1e-15;
      const [ofA, ofB] = [partsOf(a), partsOf(b)];
      seen[
        a.shape.triangles && b.shape.triangles ? 'meshes' : a.shape.triangles || b.shape.triangles ? 'mixed' : 'solids'
      ]++;
      if (found.distance === 0) {
        seen.met++;
        expect(found.pointA, message).toEqual(found.pointB);
      } else {
        expect(Math.abs(found.pointA.distanceTo(found.pointB) - found.distance), message).toBeLessThan(digits);
        // Both points are where they are reported, and no two parts are nearer.
        const truth = minimumDistance(ofA, ofB, found.distance * (1 + 1e-6) + digits);
        expect(truth, message).toBeGreaterThan(found.distance * (1 - 1e-6) - digits);
      }
      const precision = 1e-8 * size;
      if (found.triangleA >= 0 || !a.shape.triangles)
        expect(distanceTo(ofA, found.triangleA, found.pointA, precision), message).toBeLessThan(1e-6 * size + digits);
      if (found.triangleB >= 0 || !b.shape.triangles)
        expect(distanceTo(ofB, found.triangleB, found.pointB, precision), message).toBeLessThan(1e-6 * size + digits);
      expect(found.triangleA >= 0, message).toBe(a.shape.triangles !== undefined);
      expect(found.triangleB >= 0, message).toBe(b.shape.triangles !== undefined);

      // The same in the other order, to the last bit; and as far as was asked for, no farther.
      const turned = measure(scene, b, a)!;
      expect(turned.distance, message).toBe(found.distance);
      expect([turned.pointA, turned.pointB, turned.triangleA, turned.triangleB], message).toEqual([
        ...[found.pointB, found.pointA, found.triangleB, found.triangleA],
      ]);
      expect(measure(scene, a, b, found.distance * (1 + 1e-9) + digits), message).not.toBeNull();
      if (found.distance > 3 * digits) expect(measure(scene, a, b, found.distance - 3 * digits), message).toBeNull();
      scene.remove(a);
      scene.remove(b);
    }
    console.log(JSON.stringify(seen));
  });
});

describe(`distance, seed ${SEED}`, { timeout: 240_000 }, () => {
  test('what is wholly inside of a box is 0 away from it, in either order, and both points are one of its own', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    for (let i = 0; i < 100; i++) {
      const outer = { shape: { type: 'box', halfExtents: [2, 3, 4] } } as const;
      // It reaches less than 2 from the centre.
      const inner = { shape: randomSolid(random) };
      const [large, small] = [
        new Matrix4(),
        random.placement(random.point(0.5), { low: 0.1, high: 0.3, sheared: 0.2 }),
      ];
      const [a, b] =
        i % 2 === 0
          ? [scene.add(outer, large), scene.add(inner, small)]
          : [scene.add(inner, small), scene.add(outer, large)];
      const found = measure(scene, a, b)!;
      const message = `case ${i}: ${JSON.stringify(inner.shape)}`;
      expect(found.distance, message).toBe(0);
      expect(found.pointA, message).toEqual(found.pointB);
      const least = distanceTo(partsOf(i % 2 === 0 ? b : a), -1, found.pointA, 1e-8);
      expect(least, message).toBeLessThan(1e-6);
      scene.remove(a);
      scene.remove(b);
    }
  });

  test('maps that are all but similarities: two columns of three lean towards each other, or one is longer', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(soup(random, 20, 0.5, 1));
    const longer = Math.hypot(1, 0.5);
    const [left, right, up] = [new Vector3(1, 0.5, 0), new Vector3(-1, 0.5, 0), new Vector3(0, 0, longer)];
    const [x, y, z] = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 2)];
    for (const columns of [
      ...[
        [left, right, up],
        [left, up, right],
        [up, left, right],
      ],
      ...[
        [x, y, z],
        [x, z, y],
        [z, x, y],
      ],
    ]) {
      for (let turns = 0; turns < 3; turns++) {
        const at = (column: Vector3) => new Vector3(...[0, 1, 2].map((k) => column.getComponent((k + turns) % 3)));
        const [p, q, r] = columns.map(at);
        const matrices = [
          new Matrix4().makeBasis(p, q, r),
          new Matrix4().setPosition(random.direction().multiplyScalar(4)),
        ];
        if (random.chance(0.5)) matrices.reverse();
        const [a, b] = matrices.map((matrix) => scene.add(mesh, matrix));
        const { distance, pointA, pointB } = measure(scene, a, b)!;
        const message = `columns ${[p, q, r].map((column) => column.toArray()).join(' and ')}`;
        expect(pointA.distanceTo(pointB), message).toBeCloseTo(distance, 8);
        const truth = minimumDistance(partsOf(a), partsOf(b), distance * (1 + 1e-6));
        expect(truth, message).toBeGreaterThan(distance * (1 - 1e-6));
        for (const thing of [a, b]) scene.remove(thing);
      }
    }
  });

  test('triangle inequality, by what lies between: a to c is no more than a to b, b across, b to c', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(bumpyBall(random, 3, 0.3));
    for (let i = 0; i < 60; i++) {
      const [a, b, c] = Array.from({ length: 3 }, () => scene.add(mesh, random.placement(random.point(6))));
      const [ab, bc, ac] = [measure(scene, a, b)!, measure(scene, b, c)!, measure(scene, a, c)!];
      expect(ac.distance, `case ${i}`).toBeLessThanOrEqual(
        ab.distance + ab.pointB.distanceTo(bc.pointA) + bc.distance + 1e-9,
      );
      for (const thing of [a, b, c]) scene.remove(thing);
    }
  });

  test('degenerate and tiny: needles, coincident, touching, a millimetre a thousand kilometres away', async () => {
    const scene = await NearScene.at(new Vector3());
    const needle = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0.5, 1e-7, 0), indices: Uint32Array.of(0, 1, 2) };
    const [needles, cube] = [scene.mesh(needle), scene.mesh(boxMesh(1, 1, 1))];
    const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z);
    const between = (a: AnyShape, p: Matrix4, b: AnyShape, q: Matrix4) => {
      const things = [scene.add(a, p), scene.add(b, q)] as const;
      const found = measure(scene, ...things)!;
      for (const thing of things) scene.remove(thing);
      return found;
    };
    expect(between(needles, at(0), needles, at(0, 0, 0.25)).distance).toBe(0.25);
    expect(between(needles, at(0), needles, at(3, 0, 0)).distance).toBe(2);
    expect(between(cube, at(0), cube, at(0)).distance).toBe(0);
    expect(between(cube, at(0), cube, at(1)).distance).toBe(0);
    expect(between(cube, at(0), cube, at(1.5)).distance).toBe(0.5);
    const small = at(0).makeScale(1e-3, 1e-3, 1e-3);
    const far = small.clone().setPosition(1e6, 2e6, -3e6);
    const found = between(cube, small, cube, far);
    const step = new Vector3(1e6, 2e6, -3e6).length();
    expect(found.distance / step).toBeCloseTo(1, 8);
    expect(found.triangleA).toBeGreaterThanOrEqual(0);
    const sphere: AnyShape = { shape: { type: 'sphere', radius: 1 } };
    expect(between(sphere, at(0), sphere, at(3)).distance).toBe(1);
    expect(between(sphere, at(0), cube, at(3)).distance).toBeCloseTo(1.5, 12);
    // Inside a box and a sphere, which are solid, but not in a mesh that is not.
    const hall: AnyShape = { shape: { type: 'box', halfExtents: [5, 5, 5] } };
    expect(between(hall, at(0), cube, at(1)).distance).toBe(0);
    expect(between(scene.mesh(boxMesh(10, 10, 10)), at(0), cube, at(1)).distance).toBeCloseTo(3.5, 6);
  });

  test('of a solid mesh its inside counts', async () => {
    const scene = await NearScene.at(new Vector3());
    const { shape } = scene.mesh(boxMesh(10, 10, 10));
    const solid = { shape: { ...shape, solid: true } } as AnyShape;
    const room = scene.add({ ...scene.mesh(boxMesh(10, 10, 10)), ...solid } as AnyShape, new Matrix4());
    const parts = [boxMesh(1, 1, 1), transformed(boxMesh(1, 1, 1), ({ x, y, z }) => new Vector3(x + 20, y, z))];
    for (const inner of [scene.mesh(merged(parts)), { shape: { type: 'sphere', radius: 1 } } as AnyShape]) {
      const thing = scene.add(inner, new Matrix4().makeTranslation(2, 1, 0));
      for (const limit of [0, 0.1, Number.POSITIVE_INFINITY]) {
        const found = measure(scene, room, thing, limit)!;
        expect(found).toMatchObject({ distance: 0, triangleA: -1, triangleB: -1 });
        expect(found.pointA).toEqual(found.pointB);
        expect(found.pointA.distanceTo(new Vector3(2, 1, 0))).toBeLessThan(1.01);
      }
      scene.remove(thing);
    }
  });

  test('two meshes of a thousand triangles and more, whose least distance is narrowed down before it is found', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const meshes = [bumpyBall(random, 3, 0.3), torus(1, 0.3, 16)].map((each) => scene.mesh(each));
    for (let i = 0; i < 24; i++) {
      const form = i % 2 === 0 ? {} : ANY_TRANSFORM;
      const places = [new Vector3(), random.direction().multiplyScalar(random.range(2, 8))];
      const [a, b] = places.map((at) => scene.add(random.pick(meshes), random.placement(at, form)));
      const { distance } = measure(scene, a, b)!;
      const digits = 1e-9 * (sizeOf(a) + sizeOf(b));
      const truth = minimumDistance(partsOf(a), partsOf(b), distance * (1 + 1e-6) + digits);
      expect(Math.abs(truth - distance), `case ${i}`).toBeLessThanOrEqual(1e-6 * distance + digits);
      scene.remove(a);
      scene.remove(b);
    }
  });

  test('two large meshes in slices', async () => {
    const scene = await NearScene.at(new Vector3());
    const { core } = scene;
    const sheet = scene.mesh(waves(100));
    const [a, b] = [0, 1e-4].map((z) => scene.add(sheet, new Matrix4().makeTranslation(0, 0, 3 + z)));
    const whole = measure(scene, a, b)!;
    let found = core.pairs.beginDistance(a.id, b.id, Number.POSITIVE_INFINITY, 0);
    let slices = 1;
    for (; found === undefined; slices++) found = core.pairs.resumeDistance(a.id, b.id, 0);
    expect(found!.distance).toBe(whole.distance);
    console.log(`${slices} slices`);
    // A query that has to wait uses the objects as they were then.
    const kept = core.pairs.keepContact(a.id, b.id, CONTACTS_ANY);
    core.removeObject(b.id);
    found = core.pairs.beginKeptDistance(a.id, b.id, kept, Number.POSITIVE_INFINITY, 0);
    while (found === undefined) found = core.pairs.resumeDistance(a.id, b.id, 0);
    expect(found!.distance).toBe(whole.distance);
    const ball: AnyShape = { shape: { type: 'sphere', radius: 1 } };
    const [p, q] = [0, 3].map((x) => scene.add(ball, new Matrix4().makeTranslation(x, 0, 0)));
    const balls = core.pairs.keepContact(q.id, p.id, CONTACTS_ANY);
    for (const each of [p, q]) core.removeObject(each.id);
    expect(core.pairs.beginKeptDistance(q.id, p.id, balls, 2, 0)).toMatchObject({
      ...{ distance: 1, pointA: [2, 0, 0], pointB: [1, 0, 0] },
    });
    expect(core.pairs.beginDistance(p.id, q.id, 2, 0)).toBeNull();
  });
});

function meshesOf(random: Random): Triangles[] {
  return [
    icosphere(1, 2),
    bumpyBall(random, 3, 0.3),
    torus(1, 0.3, 16),
    rods(random, 12, 1),
    comb(4),
    boxMesh(1, 2, 0.5),
    soup(random, 100, 0.5, 1),
    transformed(soup(random, 20, 0.4, 1), ({ x, y, z }) => new Vector3(x, y, z * 1e-6)),
  ];
}
