// Proximity queries through the service: the caller's arguments arrive, and the worker's results come back.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';

let service: CollisionService;
let crate: number;
let ball: number;
let statue: number;
beforeEach(async () => {
  service = await createCollisionService();
  const mesh = await service.addMesh(icosphere(1, 4));
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  crate = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix: at(0), motion: 'static' });
  ball = service.addObject({ shape: { type: 'sphere', radius: 1 }, matrix: at(4), layers: 2 });
  statue = service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(8) });
  await service.update();
});
afterEach(() => service.dispose());

test('overlap', async () => {
  const capsule = { type: 'capsule', radius: 0.5, from: [-5, 0, 0], to: [20, 0, 0] } as const;
  expect([...(await service.overlap(capsule))]).toEqual([crate, ball, statue]);
  expect([...(await service.overlap(capsule, undefined, { layers: 2 }))]).toEqual([ball]);
  expect([...(await service.overlap(capsule, undefined, { ignore: [crate] }))]).toEqual([ball, statue]);
  const above = new Matrix4().makeTranslation(0, 1.4, 0).elements;
  expect([...(await service.overlap(capsule, above))]).toEqual([crate, ball, statue]);
  expect([...(await service.overlap(capsule, new Matrix4().makeTranslation(0, 1.6, 0).elements))]).toEqual([]);
  const mesh = await service.addMesh(boxMesh(0.5, 0.5, 0.5));
  const place = new Matrix4().makeTranslation(4, 0, 0).elements;
  expect([...(await service.overlap({ type: 'mesh', mesh }, place))]).toEqual([ball]);
  // Within the statue, whose surface it does not touch.
  expect((await service.overlap({ type: 'sphere', radius: 0.5, center: [8, 0, 0] })).length).toBe(0);
});

test('of a solid mesh its inside counts', async () => {
  const shape = service.addObject({ shape: { type: 'box', halfExtents: [0.1, 0.1, 0.1] }, layers: 4 });
  const mesh = await service.addMesh(icosphere(1, 4));
  const inside = { type: 'sphere', radius: 0.5, center: [8, 0, 0] } as const;
  const solid = { type: 'mesh', mesh, solid: true } as const;
  service.setObject(statue, { shape: solid });
  await service.update();
  expect([...(await service.overlap(inside))]).toEqual([statue]);
  expect([...(await service.overlap(solid, undefined, { layers: 4 }))]).toEqual([shape]);
  expect([...(await service.overlap({ type: 'mesh', mesh }, undefined, { layers: 4 }))]).toEqual([]);
  expect(await service.closestPoint([8.2, 0, 0.3])).toMatchObject({
    ...{ object: statue, point: [8.2, 0, 0.3], distance: 0, triangle: -1 },
  });
  service.setTransform(shape, new Matrix4().makeTranslation(8, 0.1, 0).elements);
  service.setObject(shape, { layers: 1 });
  const { contacts } = await service.update();
  expect([...contacts].map(({ a, b, contained }) => [a, b, contained])).toContainEqual([statue, shape, 2]);
  expect(await service.contact(statue, shape)).toMatchObject({ contained: 2 });
  expect(await service.contact(shape, statue)).toMatchObject({ a: shape, contained: 1 });
  service.setObject(statue, { shape: { type: 'mesh', mesh } });
  await service.update();
  expect(await service.contact(shape, statue)).toBeNull();
  expect([...(await service.overlap(inside))]).toEqual([shape]);
});

test('containing', async () => {
  expect([...(await service.containing([0.5, 1, -1]))]).toEqual([crate]);
  expect([...(await service.containing([8, 0, 0.9]))]).toEqual([statue]);
  expect([...(await service.containing([8.9, 0.9, 0], { precision: 'aabb' }))]).toEqual([statue]);
  expect([...(await service.containing([8.9, 0.9, 0]))]).toEqual([]);
  expect([...(await service.containing([4, 0, 0], { layers: 1 }))]).toEqual([]);
});

test('closestPoint', async () => {
  expect(await service.closestPoint([2.5, 0, 0])).toEqual({
    ...{ object: ball, point: [3, 0, 0], distance: 0.5, triangle: -1, element: -1 },
    frame: 1,
  });
  expect(await service.closestPoint([2.5, 0, 0], { layers: 1 })).toMatchObject({ object: crate, distance: 1.5 });
  expect(await service.closestPoint([2.5, 0, 0], { maxDistance: 0.25 })).toBeNull();
  const nearest = await service.closestPoint([8, 0, 3]);
  expect(nearest).toMatchObject({ object: statue });
  expect(nearest!.triangle).toBeGreaterThanOrEqual(0);
  expect(nearest!.distance).toBeCloseTo(2, 1);
});

test('all see what the last update said', async () => {
  service.setTransform(ball, new Matrix4().makeTranslation(4, 50, 0).elements);
  const late = service.update();
  expect([...(await service.containing([4, 50, 0]))]).toEqual([ball]);
  expect(await service.closestPoint([4, 52, 0])).toMatchObject({ object: ball, distance: 1, frame: 2 });
  await late;
});

test('distance', async () => {
  expect(await service.distance(crate, ball)).toMatchObject({
    ...{ distance: 2, pointA: [1, 0, 0], pointB: [3, 0, 0], triangleA: -1, triangleB: -1 },
  });
  expect(await service.distance(crate, ball, { maxDistance: 1.9 })).toBeNull();
  const near = (await service.distance(statue, ball))!;
  const turned = (await service.distance(ball, statue))!;
  expect(near.distance).toBeCloseTo(2, 1);
  expect(near.triangleA).toBeGreaterThanOrEqual(0);
  expect(near.frame).toBe(1);
  const { pointA, pointB, triangleA, triangleB } = near;
  expect(turned).toEqual({
    ...near,
    ...{ pointA: pointB, pointB: pointA, triangleA: triangleB, triangleB: triangleA },
  });
  service.setTransform(ball, new Matrix4().makeTranslation(7, 0, 0).elements);
  await service.update();
  const met = (await service.distance(ball, statue))!;
  expect(met.distance).toBe(0);
  expect(met.pointA).toEqual(met.pointB);
  const cloud = await service.addMesh({ positions: Float32Array.of(0, 0, 0, 1, 1, 1), topology: 'points' });
  const points = service.addObject({ shape: { type: 'mesh', mesh: cloud } });
  for (const pair of [[points, crate] as const, [statue, points] as const])
    await expect(service.distance(...pair)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining(`object ${points}`),
    });
});

test('a distance is asked again of the next worker', async () => {
  const mortal = await KillableService.create({ restart: true });
  const mesh = await mortal.service.addMesh(icosphere(1, 3));
  const [a, b] = [0, 5].map((x) =>
    mortal.service.addObject({
      shape: { type: 'mesh', mesh },
      matrix: new Matrix4().makeTranslation(x, 0, 0).elements,
    }),
  );
  await mortal.service.update();
  const before = await mortal.service.distance(a, b);
  mortal.workers[0].hold();
  const asked = mortal.service.distance(a, b);
  await mortal.kill();
  expect((await asked)?.distance).toBe(before!.distance);
});
