// Triangles in one place, or around one edge, were compared pair by pair in one piece:
// 3,000 copies of a triangle blocked the worker for 9 s. The same happened to all points of
// one cell, if they are close together far from the origin, and to all edges of a thread.
import { expect, test } from 'vitest';
import { findCircles } from '../../src/worker/snap/circles.js';
import { findFlatFaces } from '../../src/worker/snap/feature-edges.js';
import { findStars } from '../../src/worker/snap/runs.js';
import { weldCorners } from '../../src/worker/snap/vertices.js';
import { Random, SEED } from '../oracle/random.js';

/** Counts the reads of an array. */
function counted(numbers: Float32Array<ArrayBuffer>): {
  positions: Float32Array<ArrayBuffer>;
  count: { reads: number };
} {
  const count = { reads: 0 };
  const get = (target: Float32Array<ArrayBuffer>, key: string | symbol): unknown => {
    if (typeof key === 'string') count.reads++;
    return Reflect.get(target, key);
  };
  return { positions: new Proxy(numbers, { get }), count };
}

function done<T>(work: Generator<void, T>): [result: T, steps: number] {
  for (let steps = 0; ; steps++) {
    const step = work.next();
    if (step.done) return [step.value, steps];
  }
}

test.each([
  ['copies of a triangle', (): number => 0],
  ['pages of a book', (i: number): number => 2 ** -13 * i],
])('%s are compared with few of them, and are in one face with what goes on from them', (_, angleOf) => {
  const COUNT = 1500;
  // First a triangle on the other side of the edge, and then all of them.
  const triangle = (angle: number) => [0, -1, 0, 0, 1, 0, Math.cos(angle), 0, Math.sin(angle)];
  const all = [triangle(Math.PI), ...Array.from({ length: COUNT }, (_, i) => triangle(angleOf(i)))];
  const { positions, count } = counted(Float32Array.from(all.flat()));
  // They share only the edge: each third vertex is separate.
  const of = Uint32Array.from(all.flatMap((_, i) => [0, 1, i + 2]));
  const corners = { size: 3, positions, slots: new Uint32Array(all.length) } as const;
  const [roots] = done(findFlatFaces(corners, { vertexOfCorner: of, corners: of, count: all.length + 2 }));
  expect(count.reads / COUNT).toBeLessThan(18 * 250);
  expect(roots[1]).toBe(0);
  expect(roots.at(-1)).toBe(angleOf(COUNT) === 0 ? 0 : COUNT);
});

test(`points that lie close together far from the origin are welded by a few of them, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const { positions, count } = counted(
    Float32Array.from({ length: 6000 }, (_, i) => (i % 3 === 0 ? 1e6 : 0) + random.range(0, 7)),
  );
  const [{ count: kept }] = done(weldCorners(positions, 1e6 * 2 ** -22));
  expect(kept).toBeGreaterThan(1500);
  expect(count.reads / 2000).toBeLessThan(400);
});

test('an arc of more edges than a circle has is none: those of a thread are not looked at in one piece', () => {
  const circlesOf = (count: number, turns: number) => {
    // More exact than any mesh.
    const points = Float64Array.from({ length: 3 * count }, (_, i) => {
      const angle = (2 * Math.PI * turns * Math.floor(i / 3)) / count;
      return [Math.cos(angle), Math.sin(angle), 0][i % 3];
    });
    const ends = Uint32Array.from({ length: 2 * count }, (_, i) => Math.ceil(i / 2) % count);
    const edges = { count, ends, faceStarts: new Uint32Array(count + 1), faces: new Uint32Array() };
    const [stars] = done(findStars(edges, count));
    return done(findCircles(edges, stars, points as never, 0, [-1, -1, 0, 1, 1, 0]))[0].count;
  };
  expect(circlesOf(5000, 1)).toBe(1);
  expect(circlesOf(9000, 2)).toBe(0);
});
