// Queries about many objects, rays, sweeps or pairs of triangles end
// their slices in time, and have the same results as in one piece.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { checkMotion } from '../../../../src/client/query/sweep-options.js';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd, TASKS_PER_STEP } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene } from '../../../fixtures/near-scene.js';
import { icosphere } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';

/** More than are swept against in one go. */
const MANY = 5000;

test(`a sweep at many, and at what is left to slices, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const { sweeps } = scene.core;
  const mesh = scene.mesh(icosphere(1, 3));
  for (let i = 0; i < MANY; i++) {
    scene.add(i % 50 === 0 ? mesh : { shape: randomSolid(random) }, random.placement(random.point(5), ANY_TRANSFORM));
  }
  const large: AnyShape[] = [
    { shape: { type: 'sphere', radius: 60, center: [0, 0, 0] } },
    { shape: { type: 'box', halfExtents: [50, 40, 30], center: [0, 0, 0], rotation: [0, 0, 0, 1] } },
    { shape: { type: 'capsule', radius: 40, from: [-9, 0, 0], to: [9, 3, 0] } },
    scene.mesh(icosphere(60, 2)),
  ];
  let left = 0;
  for (let i = 0; i < 8; i++) {
    const shape = large[i % 4];
    const one = new Vector3(1, 1, 1);
    const from = new Matrix4().compose(random.direction().multiplyScalar(150), random.rotation(), one);
    const to = new Matrix4().compose(random.point(5), random.rotation(), one);
    if (i < 4) to.copy(from).setPosition(random.point(5));
    const { matrix, motion } = checkMotion('test', from.elements, to.elements, undefined);
    const description = { ...scene.describe(shape, from), matrix };
    const whole = sweeps.sweepAll(description, motion, ALL_FILTER)!;
    const first = sweeps.sweep(description, motion, ALL_FILTER)!;
    expect(sweeps.sweepAll(description, motion, ALL_FILTER, 100)).toBeUndefined();
    const sliced = (all: boolean) => {
      const kept = sweeps.keepSweep(description, motion, ALL_FILTER, all);
      let hits = sweeps.beginKeptSweep(kept, 0);
      for (; hits === undefined; hits = sweeps.resumeSweep(0)) left++;
      return runToEnd(hits);
    };
    expect(sliced(true), `case ${i}`).toEqual(whole);
    // A query for the first hit alone is answered as soon as no other is earlier, after less of the way if a shape rotates.
    const [alone] = sliced(false);
    if (i < 4) expect(alone, `case ${i}`).toEqual(first);
    else {
      expect(alone!.object, `case ${i}`).toBe(first.object);
      expect(Math.abs(alone!.time - first.time), `case ${i}`).toBeLessThan(1e-9);
    }
  }
  expect(left).toBeGreaterThan(1000);
});

describe('a block that takes longer than the slice is left', () => {
  test.each(['rays', 'rays at a mesh', 'ways'])('%s', async (kind) => {
    const scene = await NearScene.at(new Vector3());
    const { sweeps } = scene.core;
    const shape = kind === 'rays at a mesh' ? scene.mesh(icosphere(1, 3)) : { shape: randomSolid(new Random(1)) };
    for (let i = 0; i < (kind === 'rays' ? 20 : 1); i++) scene.add(shape, new Matrix4());
    const count = 1000;
    if (kind === 'ways') {
      const ways = new Float64Array(14 * count);
      for (let i = 0; i < count; i++) ways.set([0, 0, 9, 0, 0, 0, 1, 0, 0, -9, 0, 0, 0, 1], 14 * i);
      const ball = scene.describe({ shape: randomSolid(new Random(2)) }, new Matrix4());
      const asked = { shapes: [ball], ways, shapeOf: undefined, tolerance: 0, filter: ALL_FILTER };
      const hits = {
        ...{ objects: new Uint32Array(count), triangles: new Int32Array(count), points: new Float64Array(3 * count) },
        ...{ times: new Float64Array(count), depths: new Float64Array(count), normals: new Float32Array(3 * count) },
      };
      const order = Uint32Array.from({ length: count }, (_, i) => i);
      const done = sweeps.sweepMany(asked, order, hits, 0);
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(50);
      expect(hits.objects[done - 1]).toBeGreaterThan(0);
      expect(hits.objects[done]).toBe(0);
      expect(sweeps.sweepMany(asked, order, hits)).toBe(count);
      return;
    }
    const rays = new Float32Array(8 * count);
    for (let i = 0; i < count; i++) rays.set([0.01, 0.02, 9, 0, 0, 0, -1, Number.POSITIVE_INFINITY], 8 * i);
    const whole = scene.core.rays.raycastMany(rays, ALL_FILTER);
    expect(whole.done).toBe(count);
    const part = scene.core.rays.raycastMany(rays, ALL_FILTER, 0);
    expect(part.done).toBeGreaterThan(0);
    expect(part.done).toBeLessThan(count / 2);
    expect(part.distances.subarray(0, part.done)).toEqual(whole.distances.subarray(0, part.done));
  });
});

test('two meshes in the same place have their many pairs sorted and read in slices', { timeout: 60_000 }, async () => {
  const scene = await NearScene.at(new Vector3());
  const mesh = scene.mesh(icosphere(1, 40));
  const [a, b] = [0, 1].map(() => scene.add(mesh, new Matrix4()).id);
  const whole = scene.core.pairs.contact(a, b, layout.CONTACTS_TRIANGLES)!;
  const pairs = whole.triangles.length / 2;
  let left = 0;
  let found = scene.core.pairs.beginContact(a, b, layout.CONTACTS_TRIANGLES, 0);
  for (; !found; found = scene.core.pairs.resumeContact(a, b, 0)) left++;
  // Each pair is listed, counted and moved for each of four digits, and copied.
  expect(left).toBeGreaterThan((10 * pairs) / 4096);
  let steps = 0;
  let step = found.next();
  for (; !step.done; step = found.next()) steps++;
  expect(step.value).toEqual(whole);
  expect(steps).toBeGreaterThan(pairs / TASKS_PER_STEP);
});

test('lines of sight to many are looked at in steps', async () => {
  const scene = await NearScene.at(new Vector3());
  const { id } = scene.add({ shape: randomSolid(new Random(1)) }, new Matrix4());
  const view = new Uint32Array(layout.VIEW_BYTES / 4);
  const steps = scene.core.rays.sees(view, new Uint32Array(1000).fill(id), ALL_FILTER);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(10);
});
