// Rays that can be worked out by hand: in planes of faces, along edges, through vertices, tangent, from inside and from the
// surface, on every shape and on its stand-ins; and what all shapes have in common.
import { type Hit, NO_OBJECT, type ObjectOptions, type QueryOptions, type Ray, type Shape } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BALL_CASES, BOX_CASES, CAPSULE_CASES, type RayCase } from '../../../fixtures/ray-cases.js';
import {
  ballKind,
  boxKind,
  capsuleKind,
  meshKind,
  PRECISIONS,
  type Precision,
  type SolidKind,
  SolidScene,
} from '../../../fixtures/solids.js';
import { PLACES } from '../../../fixtures/twin.js';
import { Body, capsuleOf } from '../../../oracle/bodies.js';
import { boxMesh, icosphere, transformed } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';

async function start(): Promise<SolidScene> {
  const scene = await SolidScene.create();
  onTestFinished(() => scene.service.dispose());
  return scene;
}

const capsule = capsuleKind(1, new Vector3(0, 0, -1), new Vector3(0, 0, 1));
const KINDS: [name: string, kind: SolidKind | 'mesh', precisions: Precision[], cases: RayCase[]][] = [
  ['sphere', ballKind(2), ['mesh', 'sphere'], BALL_CASES],
  ['capsule', capsule, ['mesh'], CAPSULE_CASES],
  ["capsule's sphere", capsule, ['sphere'], BALL_CASES],
  ["capsule's boxes", capsule, ['aabb', 'obb'], BOX_CASES],
  ['box', boxKind(new Vector3(1, 1, 2)), ['mesh', 'aabb', 'obb'], BOX_CASES],
  ['mesh', 'mesh', ['mesh', 'aabb', 'obb'], BOX_CASES],
];

const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;
/** On an edge of a mesh, several triangles are hit. */
const distinct = (values: number[]) => values.filter((value, i) => i === 0 || !near(value, values[i - 1]));

describe.each(PLACES)('%s', (_, place) => {
  describe.each(KINDS)('%s', (_, kind, precisions, cases) => {
    test.each(precisions)('precision %s', async (precision) => {
      const scene = await start();
      const shape = kind === 'mesh' ? await meshKind(scene.service, boxMesh(2, 2, 4)) : kind;
      const object = scene.add(shape, new Matrix4().setPosition(place));
      for (const { name, origin, direction, distances, normals } of cases) {
        const from = new Vector3(...origin).add(place);
        const hits = await agreed(scene, { origin: from.toArray(), direction }, { precision });
        const found = distinct(hits.map(({ distance }) => distance));
        expect(found.length, name).toBe(distinct(distances).length);
        expect(
          found.filter((distance, i) => !near(distance, distinct(distances)[i])),
          name,
        ).toEqual([]);
        const isWhole = precision !== 'mesh' || shape.mesh === null;
        expect(
          hits.filter((hit) => hit.object !== object || hit.triangle < 0 !== isWhole),
          name,
        ).toEqual([]);
        if (normals.length === 0 || !isWhole) continue;
        expect(hits.length, name).toBe(normals.length);
        for (const [i, { normal }] of hits.entries()) {
          expect(new Vector3(...normal).distanceTo(new Vector3(...normals[i])), name).toBeLessThan(1e-6);
        }
      }
    });
  });
});

/** Returns all hits; expects every kind of query to give the same, on either side and in parts. */
async function agreed({ service }: SolidScene, ray: Ray, options: QueryOptions): Promise<Hit[]> {
  const all = await service.raycastAll(ray, options);
  expect(await service.raycast(ray, options)).toEqual(all[0] ?? null);
  const { origin, direction } = ray;
  const many = await service.raycastMany(new Float32Array([...origin, 0, ...direction, Infinity]), options);
  // 10⁶ and a little is not a float32.
  if (origin.every((each) => Math.fround(each) === each)) expect(many.objects[0]).toBe(all[0]?.object ?? NO_OBJECT);
  const unit = new Vector3(...direction).normalize();
  const to = new Vector3(...origin).addScaledVector(unit, 100).toArray();
  expect(await service.lineOfSight(origin, to, options)).toBe(all.length === 0);
  const sides = [];
  for (const side of ['front', 'back'] as const) sides.push(...(await service.raycastAll(ray, { ...options, side })));
  const inOrder = (hits: Hit[]) => hits.map((hit) => JSON.stringify(hit)).sort();
  expect(inOrder(sides)).toEqual(inOrder(all));
  for (const { distance } of all) {
    const only = await service.raycastAll({ ...ray, tMin: distance, tMax: distance }, options);
    expect(only).toEqual(all.filter((hit) => hit.distance === distance));
    const tMin = distance * (1 + Number.EPSILON) + Number.MIN_VALUE;
    const rest = all.filter((hit) => hit.distance >= tMin);
    expect(await service.raycast({ ...ray, tMin }, options)).toEqual(rest[0] ?? null);
  }
  return all;
}

test('a ray of no length is refused, whatever is there', async () => {
  const { service } = await start();
  for (const precision of PRECISIONS) {
    const ray = { origin: [0, 0, 0], direction: [0, 0, 0] } as const;
    const refusal = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('direction') };
    await expect(service.raycast(ray, { precision })).rejects.toMatchObject(refusal);
    await expect(service.raycastAll(ray, { precision })).rejects.toMatchObject(refusal);
    await expect(service.raycastMany(new Float32Array(8), { precision })).rejects.toMatchObject(refusal);
    expect(await service.lineOfSight([1, 2, 3], [1, 2, 3], { precision })).toBe(true);
  }
});

test('of objects at the same distance the one with the lower id', async () => {
  const random = new Random(SEED);
  const scene = await start();
  const shapes: Shape[] = [
    { type: 'sphere', radius: 1 },
    { type: 'capsule', radius: 0.5, from: [0, 0, -0.5], to: [0, 0, 0.5] },
    { type: 'box', halfExtents: [1, 1, 1] },
    { type: 'mesh', mesh: await scene.service.addMesh(boxMesh(2, 2, 2)) },
  ];
  const ids = Array.from({ length: 60 }, () => {
    const options: ObjectOptions = { shape: random.pick(shapes), motion: random.pick(['static', 'moving']) };
    return scene.service.addObject(options);
  });
  const ray = { origin: [0, 0, 6], direction: [0, 0, -1] } as const;
  const ignore: number[] = [];
  while (ids.length > 0) {
    const precision = random.pick(['aabb', 'obb', 'mesh'] as const);
    const hit = await scene.service.raycast(ray, { precision, ignore });
    expect(hit).toMatchObject({ object: Math.min(...ids), distance: 5 });
    const first = random.integer(ids.length);
    ignore.push(...ids.splice(first, 1));
  }
  expect(await scene.service.raycast(ray, { ignore })).toBeNull();
});

test.each(PRECISIONS)('thousands are ignored, precision %s', async (precision) => {
  const random = new Random(SEED);
  const { service } = await start();
  const shapes: Shape[] = [
    { type: 'sphere', radius: 0.25 },
    { type: 'capsule', radius: 0.125, from: [-0.125, 0, 0], to: [0.125, 0, 0] },
  ];
  const ids = Array.from({ length: 6000 }, (_, i) =>
    service.addObject({ shape: shapes[i % 2], matrix: new Matrix4().setPosition(i, 0, 0).elements }),
  );
  const left = new Set([random.integer(6000), random.integer(6000), random.integer(6000)]);
  const ignore = ids.filter((_, i) => !left.has(i));
  const hits = await service.raycastAll(
    { origin: [-2, 0, 0], direction: [1, 0, 0] },
    { precision, ignore, side: 'front' },
  );
  const expected = [...left].sort((a, b) => a - b);
  expect(hits.map(({ object, distance }) => [object, distance])).toEqual(expected.map((i) => [ids[i], i + 1.75]));
  expect(await service.lineOfSight([-2, 0, 0], [6002, 0, 0], { precision, ignore: ids })).toBe(true);
});

describe('no size is special', () => {
  const random = new Random(SEED);
  const matrices = Array.from({ length: 12 }, () =>
    random.placement(random.point(3), { low: 0.5, high: 2, mirrored: 0.5, sheared: 0.5 }),
  );
  const rays = Array.from({ length: 200 }, () => ({
    origin: random.direction().multiplyScalar(12),
    direction: random.direction(),
    target: random.point(3),
  }));

  async function answers(size: number, precision: Precision): Promise<unknown[]> {
    const scene = await start();
    const at = (x: number, y: number, z: number) => new Vector3(x, y, z).multiplyScalar(size);
    const mesh = transformed(icosphere(1, 1), (vertex) => vertex.multiplyScalar(size));
    const kinds = [
      ballKind(size, at(0.5, 0, 0)),
      capsuleKind(0.5 * size, at(0, 0, -1), at(0, 1, 1)),
      boxKind(at(1, 0.5, 0.25)),
      await meshKind(scene.service, mesh),
    ];
    for (const [i, matrix] of matrices.entries()) {
      const place = new Vector3().setFromMatrixPosition(matrix).multiplyScalar(size);
      scene.add(kinds[i % 4], matrix.clone().setPosition(place));
    }
    const all = rays.map(({ origin, target }) => {
      const direction = target.clone().sub(origin).toArray();
      return scene.service.raycastAll(
        { origin: origin.clone().multiplyScalar(size).toArray(), direction },
        { precision },
      );
    });
    return (await Promise.all(all)).map((hits) =>
      hits.map(({ object, distance, triangle, normal }) => [object, distance / size, triangle, normal]),
    );
  }

  test.each(PRECISIONS)(`to the last bit, precision %s, seed ${SEED}`, async (precision) => {
    const original = await answers(1, precision);
    expect(original.flat().length).toBeGreaterThan(200);
    for (const size of [2 ** -40, 2 ** -10, 2 ** 10, 2 ** 40]) expect(await answers(size, precision)).toEqual(original);
  });
});

describe('far away and very large', () => {
  test.each([1e3, 1e6, 1e9, 1e12])('a unit sphere seen from a distance of %d', async (distance) => {
    const { service } = await start();
    service.addObject({ shape: { type: 'sphere', radius: 1 } });
    service.addObject({ shape: { type: 'capsule', radius: 1, from: [0, 0, 0], to: [0, 0, 5] } });
    for (const direction of [new Vector3(1, 0, 0), new Vector3(0.6, 0.8, 0)]) {
      const origin = direction.clone().multiplyScalar(-distance).toArray();
      const hits = await service.raycastAll({ origin, direction: direction.toArray() });
      expect(hits.length).toBe(4);
      for (const [i, hit] of hits.entries()) {
        const expected = distance + (i < 2 ? -1 : 1);
        expect(Math.abs(hit.distance - expected)).toBeLessThan(8 * Number.EPSILON * distance + 1e-12);
        const outwards = direction.clone().multiplyScalar(i < 2 ? -1 : 1);
        expect(new Vector3(...hit.normal).distanceTo(outwards)).toBeLessThan(1e-15 * distance + 1e-12);
      }
    }
  });

  test('the horizon of a planet', async () => {
    const { service } = await start();
    const [radius, height] = [6378137, 1.75];
    service.addObject({ shape: { type: 'sphere', radius } });
    for (const slope of [1e-3, 1e-2, 0.1, 1]) {
      const direction = new Vector3(1, -slope, 0).normalize();
      const along = -direction.y * (radius + height);
      const product = height * (2 * radius + height);
      const expected = product / (along + Math.sqrt(along * along - product));
      const hit = await service.raycast({ origin: [0, radius + height, 0], direction: direction.toArray() });
      expect(Math.abs(hit!.distance / expected - 1)).toBeLessThan(1e-8);
    }
    const level = await service.raycast({ origin: [0, radius + height, 0], direction: [1, -7.4e-4, 0] });
    expect(level).toBeNull(); // the horizon is 7.41e-4 below
  });

  test('a capsule a million times as long as thick', async () => {
    const scene = await start();
    const [from, to] = [new Vector3(-1e6, 1, 2), new Vector3(1e6, 3, 1)];
    scene.add(capsuleKind(1, from, to), new Matrix4());
    const body = new Body(new Matrix4(), capsuleOf(1, from, to));
    const random = new Random(SEED);
    for (let i = 0; i < 200; i++) {
      const target = from.clone().lerp(to, random.next()).add(random.point(0.5));
      const origin = target.clone().add(random.direction().multiplyScalar(10));
      const direction = target.clone().sub(origin).normalize();
      const hits = await scene.service.raycastAll({ origin: origin.toArray(), direction: direction.toArray() });
      const point = (t: number) => origin.clone().addScaledVector(direction, t);
      expect(hits.length).toBe(body.shape.height(origin) > 0 ? 2 : 1);
      for (const { distance } of hits) expect(Math.abs(body.shape.height(point(distance)))).toBeLessThan(1e-8);
    }
  });
});

test("a mesh's sphere follows its vertices, and no bake knows of it", async () => {
  const { service } = await start();
  const unit = icosphere(1, 3);
  const mesh = await service.addMesh(unit);
  service.addObject({ shape: { type: 'mesh', mesh } });
  const baked = await service.bakeMesh(mesh);
  const ray = { origin: [0.3, 0.2, 9], direction: [0, 0, -1] } as const;
  const distance = (radius: number) => 9 - Math.sqrt(radius * radius - 0.13);
  const hit = () => service.raycast(ray, { precision: 'sphere' });
  expect((await hit())!.distance).toBeCloseTo(distance(1), 6);
  expect(await service.bakeMesh(mesh)).toEqual(baked);
  await service.updateMesh(mesh, transformed(unit, (vertex) => vertex.multiplyScalar(3)).positions);
  expect((await hit())!.distance).toBeCloseTo(distance(3), 6);
  await service.updateMesh(mesh, unit.positions);
  expect((await hit())!.distance).toBeCloseTo(distance(1), 6);
});

test(`of objects that are hit at one distance the one of the least id is told, in whatever tree it is, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { service } = await start();
  const mesh = await service.addMesh(boxMesh(2, 2, 2));
  const shapes: Shape[] = [
    { type: 'box', halfExtents: [1, 1, 1] },
    { type: 'sphere', radius: 1 },
    { type: 'mesh', mesh },
  ];
  const ray: Ray = { origin: [0.1, 0.2, 9], direction: [0, 0, -1] };
  for (const shape of shapes) {
    for (let round = 0; round < 20; round++) {
      const ids = Array.from({ length: 3 }, () => {
        const motion = random.chance(0.5) ? 'static' : 'moving';
        return service.addObject({ shape, motion, contacts: random.chance(0.5) ? 'none' : 'any' });
      });
      await service.update();
      expect((await service.raycast(ray))!.object, `${shape.type}, round ${round}`).toBe(Math.min(...ids));
      const all = await service.raycastAll(ray);
      expect(all[0].object).toBe(Math.min(...ids));
      const many = await service.raycastMany(Float32Array.of(0.1, 0.2, 9, 0, 0, 0, -1, Number.POSITIVE_INFINITY));
      expect(many.objects[0]).toBe(Math.min(...ids));
      service.removeObjects(Uint32Array.from(ids));
    }
  }
});

test('directions of any length are as good as those of length 1', async () => {
  const { service } = await start();
  const mesh = await service.addMesh(icosphere(1, 3));
  const shapes: Shape[] = [
    { type: 'sphere', radius: 1 },
    { type: 'box', halfExtents: [1, 1, 1] },
    { type: 'mesh', mesh },
  ];
  for (const [i, shape] of shapes.entries()) {
    service.addObject({ shape, matrix: new Matrix4().setPosition(3 * i, 0, 0).elements });
  }
  await service.update();
  for (const [dx, dy, dz] of [
    [0.6, 0.1, -1],
    [0, 0, -1],
    [0.37, -0.21, -0.9],
  ]) {
    for (const x of [-3, 0, 3, 6]) {
      const cast = (length: number) =>
        service.raycastAll({ origin: [x, 0.2, 4], direction: [length * dx, length * dy, length * dz] });
      const expected = await cast(1);
      for (const length of [1e-300, 1e-150, 1e-100, 1e100, 1e150, 1e300]) {
        const found = await cast(length);
        expect(found.map(({ object, triangle }) => [object, triangle])).toEqual(
          expected.map(({ object, triangle }) => [object, triangle]),
        );
        for (const [i, { distance }] of found.entries()) expect(distance).toBeCloseTo(expected[i].distance, 12);
      }
    }
  }
});
