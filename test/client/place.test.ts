// Objects that are placed inside others are pushed out of them. That they are free is checked with `overlap`.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { boxMesh, icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const at = (x: number, y: number, z: number): number[] => new Matrix4().makeTranslation(x, y, z).elements;
const box = (x: number, y: number, z: number): Shape => ({ type: 'box', halfExtents: [x, y, z] });
const block = (x: number, y: number, z: number, shape: Shape): number =>
  service.addObject({ shape, matrix: at(x, y, z) });

test('an object leaves the floor and two walls, and not itself', async () => {
  const floor = block(0, -1, 0, box(10, 1, 10));
  const wall = block(3, 1, 0, box(1, 3, 10));
  const other = block(0, 1, 3, box(10, 3, 1));
  const crate = block(0, 5, 0, box(0.5, 0.5, 0.5));
  const { matrix, way, objects } = await service.place(crate, at(1.7, 0.4, 1.8));
  expect(Array.from(objects)).toEqual([floor, wall, other]);
  expect(matrix.slice(12, 15).map((value) => Math.round(value * 1e5) / 1e5)).toEqual([1.5, 0.5, 1.5]);
  expect(new Vector3(...way).distanceTo(new Vector3(-0.2, 0.1, -0.3))).toBeLessThan(1e-5);
  service.setTransform(crate, matrix);
  expect((await service.place(crate, matrix)).way).toEqual([0, 0, 0]);
  expect(await service.sweep(crate, matrix, at(matrix[12], 3, matrix[14]))).toBeNull();
  expect(await service.sweep(crate, matrix, at(1.5, 0.5, 2))).toMatchObject({ object: other, depth: 0 });
});

test('an object is not in its own way, whatever else is ignored and in which order they came', async () => {
  const all = [0, 3, 6, 9].map((x) => block(x, 0, 0, box(1, 1, 1)));
  for (const moving of all) {
    const others = all.filter((id) => id !== moving).reverse();
    for (let n = 0; n <= others.length; n++) {
      const ignore = others.slice(0, n);
      const named = others.slice(n).sort((a, b) => a - b);
      expect(
        (await service.sweepAll(moving, at(-5, 0, 0), at(14, 0, 0), { ignore })).map(({ object }) => object),
      ).toEqual(named);
    }
  }
});

test('says how deep it remains where nothing is free', async () => {
  block(2, 0, 0, box(1, 9, 9));
  block(-2, 0, 0, box(1, 9, 9));
  const wide = { type: 'sphere', radius: 1.2 } as const;
  await expect(service.place(wide, at(0, 0, 0))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/still [\d.e-]+ deep in object \d+ after 64 pushes/),
  });
  await expect(service.place(99, at(0, 0, 0))).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
});

test(`what is put down anywhere among others is free, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const solid = { type: 'mesh', mesh: await service.addMesh(icosphere(1, 3)), solid: true } as const;
  const cube = { type: 'mesh', mesh: await service.addMesh(boxMesh(1.5, 1.5, 1.5)) } as const;
  const shapes: Shape[] = [box(1, 0.5, 0.7), { type: 'sphere', radius: 0.8 }, solid, cube];
  for (let i = 0; i < 30; i++) {
    service.addObject({ shape: random.pick(shapes), matrix: random.placement(random.point(5)).elements });
  }
  let moved = 0;
  for (let i = 0; i < 60; i++) {
    const radius = random.range(0.2, 0.5);
    const capsule = { type: 'capsule', from: [0, 0, 0], to: [0.4, 0.2, 0] } as const;
    const given = random.placement(random.point(5)).elements;
    const placement = await service.place({ ...capsule, radius }, given).catch(({ code }) => {
      expect(code).toBe('INVALID_ARGUMENT');
      return null;
    });
    if (placement === null) continue;
    if (placement.objects.length > 0) moved++;
    const shrunk = { ...capsule, radius: radius * (1 - 1e-6) };
    expect((await service.overlap(shrunk, placement.matrix)).length).toBe(0);
  }
  expect(moved).toBeGreaterThan(10);
});
