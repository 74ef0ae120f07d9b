// Many rays and many sweeps at once: with the results of each
// alone, and in slices between which all other calls are answered.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { bumpyBall } from '../oracle/lumps.js';
import { Random, SEED } from '../oracle/random.js';

let worker: GatedWorker;
let service: CollisionService;
beforeEach(async () => {
  worker = new GatedWorker();
  service = await createCollisionService({ createWorker: () => worker, builders: 0 });
});
afterEach(() => service.dispose());

/** Positions (xyz) and quaternions at the start and the end, around the origin. */
function waysAround(random: Random, count: number): Float64Array {
  const ways = new Float64Array(14 * count);
  for (let i = 0; i < count; i++) {
    const [from, to] = [0, 1].map(() => random.direction().multiplyScalar(random.range(0, 4)));
    const [start, end] = random.chance(0.3)
      ? [random.rotation(), random.rotation()]
      : [new Quaternion(), new Quaternion()];
    ways.set([...from.toArray(), ...start.toArray(), ...to.toArray(), ...end.toArray()], 14 * i);
  }
  return ways;
}

test(`each sweep is as it is alone, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const mesh = await service.addMesh(bumpyBall(random, 12, 0.3));
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  // Sweeps of a mesh take long, and are done one by one.
  const { positions, indices } = bumpyBall(random, 20, 0.3);
  const small = await service.addMesh({ positions: positions.map((each) => 0.2 * each), indices });
  const shapes: Shape[] = [
    { type: 'sphere', radius: 0.2 },
    { type: 'capsule', radius: 0.1, from: [0, -0.3, 0], to: [0, 0.3, 0] },
    { type: 'mesh', mesh: small },
  ];
  const ways = waysAround(random, 200);
  const shapeOf = Uint32Array.from({ length: 200 }, () => random.integer(3));
  const many = await service.sweepMany(shapes, ways, { shapeOf });
  let [met, missed] = [0, 0];
  for (let i = 0; i < 200; i++) {
    const [from, to] = [0, 7].map((at) =>
      new Matrix4().compose(
        new Vector3().fromArray(ways, 14 * i + at),
        new Quaternion().fromArray(ways, 14 * i + at + 3),
        new Vector3(1, 1, 1),
      ),
    );
    const alone = await service.sweep(shapes[shapeOf[i]], from.elements, to.elements);
    expect(many.objects[i] === 0xffffffff).toBe(alone === null);
    const [point, normal] = [many.points, many.normals].map((all) => new Vector3().fromArray(all, 3 * i));
    if (alone === null) {
      missed++;
      expect([many.times[i], many.triangles[i], many.depths[i]]).toEqual([Number.POSITIVE_INFINITY, -1, 0]);
      expect([point, normal]).toEqual([new Vector3(), new Vector3()]);
      continue;
    }
    met++;
    expect(normal.length()).toBeCloseTo(1, 5);
    if (shapeOf[i] === 0) expect(point.distanceTo(new Vector3(...alone.point))).toBeLessThan(1e-3);
    // Rotating sweeps agree to the tolerance, whichever way the rotation is given.
    expect(Math.abs(many.times[i] - alone.time)).toBeLessThan(1e-3);
    expect(many.depths[i] > 0).toBe(alone.depth > 0);
  }
  expect(Math.min(met, missed)).toBeGreaterThan(30);
});

test(`a pick does not wait for many of them, nor do a removal and a frame, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const mesh = await service.addMesh(bumpyBall(random, 40, 0.3));
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const ways = waysAround(random, 30_000);
  const shapeOf = new Uint32Array(30_000).fill(1, 29_990);
  const order: string[] = [];
  const shape = { type: 'mesh', mesh } as const; // the mesh that sweeps is read to the end, although it is removed
  const small = { type: 'sphere', radius: 0.2 } as const;
  const note = async <T>(name: string, work: Promise<T>) => {
    const answer = await work;
    order.push(name);
    return answer;
  };
  await worker.shut();
  const swept = note('sweeps', service.sweepMany([small, shape], ways, { shapeOf }));
  const hit = await worker.inMidst(() => note('pick', service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] })));
  service.removeObject(id);
  service.removeMesh(mesh);
  const frame = note('frame', service.update());
  await new Promise(setImmediate);
  worker.open();
  await frame;
  const { objects, times } = await swept;
  expect(order).toEqual(['pick', 'frame', 'sweeps']);
  expect(hit?.object).toBe(id);
  // Sweeps that had their turn before have hit it; later ones hit nothing.
  const last = objects.lastIndexOf(id);
  expect(last).toBeGreaterThan(0);
  expect(last).toBeLessThan(29_999);
  expect(objects.subarray(last + 1).every((object) => object === 0xffffffff)).toBe(true);
  expect(times.length).toBe(30_000);
});

/** Rays from a sphere around the origin towards points near it. */
function raysAround(random: Random, count: number): Float32Array {
  const rays = new Float32Array(8 * count);
  for (let i = 0; i < count; i++) {
    const origin = random.direction().multiplyScalar(4);
    const direction = random.direction().multiplyScalar(0.9).sub(origin);
    rays.set([...origin.toArray(), 0, ...direction.toArray(), Number.POSITIVE_INFINITY], 8 * i);
  }
  return rays;
}

test(`each ray is as it is alone, also at the borders of blocks, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const mesh = await service.addMesh(bumpyBall(random, 12, 0.3));
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const rays = raysAround(random, 2500);
  const many = await service.raycastMany(rays);
  expect(many.objects.length).toBe(2500);
  let hits = 0;
  for (const i of [0, 1023, 1024, 1025, 2047, 2048, 2499, ...Array.from({ length: 100 }, () => random.integer(2500))]) {
    const [x, y, z, , u, v, w] = rays.subarray(8 * i, 8 * i + 8);
    const alone = await service.raycast({ origin: [x, y, z], direction: [u, v, w] });
    expect(many.objects[i] === 0xffffffff).toBe(alone === null);
    if (alone === null) continue;
    hits++;
    expect(many.triangles[i]).toBe(alone.triangle);
    expect(many.distances[i] / alone.distance).toBeCloseTo(1, 9);
    expect(many.barycentrics[3 * i + 1]).toBeCloseTo(alone.barycentric![1], 6);
  }
  expect(hits).toBeGreaterThan(30);
  expect((await service.raycastMany(new Float32Array())).objects.length).toBe(0);
});

test(`neither a pick nor a frame waits for many rays, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const mesh = await service.addMesh(bumpyBall(random, 40, 0.3));
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const order: string[] = [];
  const note = async <T>(name: string, work: Promise<T>) => {
    const answer = await work;
    order.push(name);
    return answer;
  };
  await worker.shut();
  const cast = note('rays', service.raycastMany(raysAround(random, 200_000)));
  const hit = await worker.inMidst(() => note('pick', service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] })));
  service.removeObject(id);
  service.removeMesh(mesh);
  const frame = note('frame', service.update());
  await new Promise(setImmediate);
  worker.open();
  await frame;
  const { objects } = await cast;
  expect(order).toEqual(['pick', 'frame', 'rays']);
  expect(hit?.object).toBe(id);
  expect(objects.indexOf(id)).toBeGreaterThanOrEqual(0);
  expect(objects.subarray(objects.lastIndexOf(id) + 1).length).toBeGreaterThan(1000);
});
