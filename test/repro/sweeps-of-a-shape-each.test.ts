// For many sweeps with as many shapes, each block of sweeps
// copied all shapes: 8,000 took 8 s, and with one shape 20 ms.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { ALL_FILTER, NearScene } from '../fixtures/near-scene.js';
import { Random, SEED } from '../oracle/random.js';

const COUNT = 500;
const BLOCK = 16;

test(`a block of ways reads no more shapes than it has ways, and each way has its own, seed ${SEED}`, async () => {
  const scene = await NearScene.at(new Vector3());
  const random = new Random(SEED);
  for (let i = 0; i < 20; i++) {
    scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4().setPosition(random.point(5)));
  }
  let reads = 0;
  const shapes = Array.from({ length: COUNT }, (_, i) => {
    const shape = scene.describe({ shape: { type: 'sphere', radius: 0.1 + i / COUNT } }, new Matrix4());
    const { radius } = shape;
    return Object.defineProperty(shape, 'radius', {
      get() {
        reads++;
        return radius;
      },
    });
  });
  const ways = new Float64Array(14 * COUNT);
  for (let i = 0; i < COUNT; i++) {
    ways.set([...random.point(9).toArray(), 0, 0, 0, 1, ...random.point(9).toArray(), 0, 0, 0, 1], 14 * i);
  }
  const shapeOf = Uint32Array.from({ length: COUNT }, () => random.integer(COUNT));
  const swept = (which: typeof shapes, of: Uint32Array | undefined, order: Uint32Array) => {
    const hits = {
      ...{ objects: new Uint32Array(COUNT), triangles: new Int32Array(COUNT), points: new Float64Array(3 * COUNT) },
      ...{ times: new Float64Array(COUNT), depths: new Float64Array(COUNT), normals: new Float32Array(3 * COUNT) },
    };
    const asked = { shapes: which, ways, shapeOf: of, tolerance: 0, filter: ALL_FILTER };
    expect(scene.core.sweeps.sweepMany(asked, order, hits)).toBe(order.length);
    return hits;
  };
  let met = 0;
  for (let first = 0; first < COUNT; first += 7 * BLOCK) {
    const order = Uint32Array.from({ length: Math.min(BLOCK, COUNT - first) }, (_, i) => first + i);
    reads = 0;
    const { times, objects } = swept(shapes, shapeOf, order);
    expect(reads).toBe(order.length);
    for (const i of order) {
      const alone = swept([shapes[shapeOf[i]]], undefined, Uint32Array.of(i));
      expect([times[i], objects[i]]).toEqual([alone.times[i], alone.objects[i]]);
      if (Number.isFinite(times[i])) met++;
    }
  }
  expect(met).toBeGreaterThan(10);
});
