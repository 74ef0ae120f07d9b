import { expect, test } from 'vitest';
import { DepthSort } from '../../src/client/three/culling/depth-sort.js';
import { Random, SEED } from '../oracle/random.js';

test(`is the order of a stable sort, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const sort = new DepthSort();
  for (let round = 0; round < 200; round++) {
    const count = random.chance(0.1) ? 5000 : random.integer(300);
    // Nearly all of them within a few steps of the range from nearest to farthest.
    const isCrowded = random.chance(0.3);
    const scale = 10 ** random.range(-6, 6);
    const offset = random.chance(0.3) ? 1e6 : 0;
    const depths = Float64Array.from({ length: count }, () =>
      // Equal ones, and some that float32 cannot distinguish.
      random.chance(0.3) ? offset + random.integer(3) : offset + random.range(-1, 1) * scale,
    );
    if (count > 4 && isCrowded) depths.set([1e9, -1e9]);
    else if (count > 4) depths.set([0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    for (const isDescending of [false, true]) {
      const expected = Array.from(depths.keys()).sort((a, b) => {
        const order = depths[a] === depths[b] ? 0 : depths[a] < depths[b] ? -1 : 1;
        return isDescending ? -order : order;
      });
      expect(Array.from(sort.sort(depths, count, isDescending).subarray(0, count))).toEqual(expected);
    }
  }
});
