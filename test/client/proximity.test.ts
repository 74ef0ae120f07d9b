// Nearness through the service: what the caller says arrives, and what the worker finds comes back.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
