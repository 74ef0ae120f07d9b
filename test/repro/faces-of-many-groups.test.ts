// Numbering the faces of a section or of contacts searched all groups of the geometry for each triangle, on the render thread:
// with 20,000 groups, seconds.
import { expect, test } from 'vitest';
import { toFaceIndices } from '../../src/client/three/geometry/geometry.js';

const RUNS = 2000;

test('the faces of many groups are found without a search of all groups for each', () => {
  let reads = 0;
  const runs = Array.from({ length: RUNS }, (_, i) => {
    const length = 3 * (1 + (i % 3));
    const start = 12 * i + (i % 2);
    return {
      get start() {
        reads++;
        return start;
      },
      end: start + length,
      materialIndex: 0,
    };
  });
  const expected = runs.flatMap(({ start, end }) =>
    Array.from({ length: (end - start) / 3 }, (_, k) => Math.floor(start / 3) + k),
  );
  const beyond = [expected.length, 0xffffffff]; // no triangles of these runs
  const triangles = Uint32Array.of(...expected.keys(), ...beyond);
  reads = 0;
  toFaceIndices(runs, triangles, 0, 1);
  expect(Array.from(triangles)).toEqual([...expected, ...beyond]);
  expect(reads).toBeLessThan(10 * expected.length);
});
