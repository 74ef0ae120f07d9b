import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import type { PickRay } from '../../src/shared/packed.js';
import {
  HIT_FIELDS,
  packHit,
  packRay,
  packSweepHit,
  SWEEP_HIT_FIELDS,
  unpackHit,
  unpackRay,
  unpackSweepHit,
} from '../../src/shared/packed.js';

import type { Hit, Vec3 } from '../../src/shared/types.js';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { packAll } from '../../src/worker/pack-hits.js';
import { Random, SEED } from '../oracle/random.js';

const random = new Random(SEED);

function vector(): Vec3 {
  return [random.range(-9, 9), random.range(-9, 9), random.range(-9, 9)];
}

function anyHit(): Omit<Hit, 'frame'> {
  return {
    object: random.integer(2 ** 32),
    distance: random.range(0, 9),
    point: vector(),
    normal: vector(),
    triangle: random.integer(100) - 1,
    element: random.integer(100) - 1,
    barycentric: vector(),
    bone: random.integer(9) - 1,
  };
}

test(`rays are what they were after packing, seed ${SEED}`, () => {
  for (let i = 0; i < 100; i++) {
    const ray = { origin: vector(), direction: vector(), tMin: i, tMax: i % 2 === 0 ? Infinity : i };
    expect(unpackRay(packRay(ray))).toStrictEqual(ray);
    const seen: PickRay = { ...ray, cone: [...vector(), ...vector(), ...vector(), i] };
    expect(unpackRay(packRay(seen))).toStrictEqual(seen);
  }
  const ray = { origin: [1, 2, 3], direction: [4, 5, 6] } as const;
  expect(unpackRay(packRay(ray))).toStrictEqual({ ...ray, tMin: 0, tMax: Infinity });
});

/** The lengths of packed hits end with the last field that they have, or with an object. */
const LENGTHS = [15, 16, 17, 17, HIT_FIELDS + 1, HIT_FIELDS + 1, HIT_FIELDS + 1, HIT_FIELDS + 1];

test('hits are what they were after packing, whatever else they have', () => {
  const snap = { kind: 'vertex', object: 5, point: vector(), pixels: 2, a: vector(), b: vector(), element: 7 } as const;
  const extras = [
    {},
    { distanceToRay: 0 },
    { pixels: 0 },
    { distanceToRay: 1, pixels: 2 },
    { box: '' },
    { box: 'a', pixels: 3 },
    { snap },
    { snap: null },
  ];
  for (let i = 0; i < 100; i++) {
    const hit = { ...anyHit(), ...extras[i % extras.length] };
    const packed = packHit(hit, i);
    expect(packed).toHaveLength(LENGTHS[i % extras.length]);
    expect(unpackHit(packed)).toStrictEqual({ ...hit, frame: i });
  }
});

for (const count of [3, 40, 5000]) {
  test(`lists of ${count} hits are what they were after packing; objects are listed once for each name of a box`, () => {
    const extras = [{}, { distanceToRay: 0.5 }, { pixels: 7 }, { box: 'left' }, { box: 'right', distanceToRay: 1 }];
    const hits = Array.from({ length: count }, (_, i) => ({ ...anyHit(), ...extras[i % extras.length] }));
    const [fields, shared] = runToEnd(packAll(hits, HIT_FIELDS, packHit, 4));
    expect(ArrayBuffer.isView(fields)).toBe(count > 16);
    expect(shared).toStrictEqual([{ box: 'left' }, { box: 'right' }].slice(0, count > 3 ? 2 : 0));
    const unpacked = hits.map((_, i) => unpackHit(fields, i * HIT_FIELDS, shared));
    expect(unpacked).toStrictEqual(hits.map((hit) => ({ ...hit, frame: 4 })));
  });
}

test('hits of sweeps are what they were after packing', () => {
  const { object, point, normal, triangle } = anyHit();
  const hit = { object, time: random.next(), point, normal, triangle, depth: random.next() };
  const packed = packSweepHit(hit, 3);
  expect(packed).toHaveLength(SWEEP_HIT_FIELDS);
  expect(unpackSweepHit([...packed, ...packed], SWEEP_HIT_FIELDS)).toStrictEqual({ ...hit, frame: 3 });
});

test('thousands of hits, read in several tasks, come in the order of the service', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const shape = { type: 'sphere', radius: 1 } as const;
  const ids = Array.from({ length: 9000 }, (_, i) =>
    service.addObject({ shape, matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -3 * i, 1] }),
  );
  await service.update();
  const hits = await service.raycastAll({ origin: [0, 0, 9], direction: [0, 0, -1] }, { side: 'front' });
  expect(hits.map(({ object }) => object)).toEqual(ids);
  expect(hits.every(({ distance }, i) => Math.abs(distance - 8 - 3 * i) < 1e-6)).toBe(true);
});
