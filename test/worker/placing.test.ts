// How a shape is pushed out of what it overlaps, with made-up overlaps.
import { expect, test, vi } from 'vitest';
import type { CoreSweepHit } from '../../src/worker/binding/hits.js';
import { place } from '../../src/worker/placing.js';
import type { Slices } from '../../src/worker/slices.js';

const slicesOf = (isOver = false) => ({ isOver, next: vi.fn(async () => {}) });
const at = (x: number, y: number, z: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
const hit = (object: number, depth: number, normal: number[]) => ({ object, depth, normal }) as unknown as CoreSweepHit;
const placeIn = (given: number[], overlapsAt: Parameters<typeof place>[2], slices = slicesOf()) =>
  place(Object.freeze(given) as number[], slices as unknown as Slices, overlapsAt);

test('a shape that is free stays where it is', async () => {
  for (const touching of [[], [hit(3, 0, [1, 0, 0])], [hit(3, -1, [1, 0, 0])]]) {
    const slices = slicesOf();
    const { matrix, way, objects } = await placeIn(at(1, 2, 3), async () => touching, slices);
    expect(matrix).toEqual(at(1, 2, 3));
    expect(way).toEqual([0, 0, 0]);
    expect(Array.from(objects)).toEqual([]);
    expect(slices.next).not.toHaveBeenCalled();
  }
});

test('it is pushed out of what it is deepest in, by a little more than the depth, and asked again', async () => {
  const asked: number[][] = [];
  const slices = slicesOf(true);
  const answers = [
    [hit(9, 1, [1, 0, 0]), hit(4, 2, [0, 1, 0]), hit(5, 2, [0, 0, 1]), hit(6, 0.5, [0, 0, 1])],
    [hit(3, 0.25, [0, 0, -1])],
    [hit(4, 0.5, [0.6, 0.8, 0])],
    [],
  ];
  const { matrix, way, objects } = await placeIn(
    at(0, 0, 8),
    (moved) => {
      asked.push(moved.slice(12, 15));
      moved[12] = 99; // it is a copy
      return answers[asked.length - 1];
    },
    slices,
  );
  expect(slices.next).toHaveBeenCalledTimes(4);
  expect(Array.from(objects)).toEqual([3, 4]);
  const expected = [
    [0, 0, 8],
    [0, 2, 8],
    [0, 2, 7.75],
    [0.3, 2.4, 7.75],
  ];
  for (let i = 0; i < 12; i++) expect(asked.flat()[i]).toBeCloseTo(expected.flat()[i], 5);
  expect(matrix.slice(12, 15)).toEqual(asked[3]);
  expect(way).toEqual([asked[3][0], asked[3][1], asked[3][2] - 8]);
  // More than the depth, by a millionth of it and by the rounding of the position.
  const first = asked[1][1] - 2;
  expect(first).toBeGreaterThan(2e-6);
  expect(first).toBeLessThan(2.001e-6);
});

test('far away, it is pushed by more than the rounding of its place', async () => {
  for (const [x, y, z] of [
    [-1e12, 0, 0],
    [0, 1e12, 0],
    [0, 0, -1e12],
  ]) {
    let asked = 0;
    const push = [0, 1, 2].map((k) => ([x, y, z][k] === 0 ? 0 : 1));
    const { way } = await placeIn(at(x, y, z), () => (asked++ === 0 ? [hit(1, 1e-9, push)] : []));
    // The depth is far below half a unit in the last place.
    for (let k = 0; k < 3; k++) {
      expect(way[k]).toBeGreaterThanOrEqual(push[k] * 5e-4);
      expect(way[k]).toBeLessThan(push[k] * 2e-3 + 1e-12);
    }
  }
});

test('after 64 pushes it is given up', async () => {
  let asked = 0;
  const stuck = placeIn(at(0, 0, 0), () => [hit(8, ++asked, [1, 0, 0])]);
  await expect(stuck).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message:
      'place: matrix is still 65 deep in object 8 after 64 pushes, expected a place that the shape can be pushed out of',
  });
  asked = 0;
  const { way } = await placeIn(at(0, 0, 0), () => (++asked > 64 ? [] : [hit(8, 1, [1, 0, 0])]));
  expect(way[0]).toBeCloseTo(64, 3);
});
