// The closest points of two edges came from a determinant, of which nearly parallel ones leave few digits: edges that cross at a
// ten-thousandth of a radian were measured as far apart as a hundred-millionth of their length.
import { measure } from 'collision-worker';
import { expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

test.each([1e-2, 1e-4, 1e-6, 1e-8])(`edges that cross at %f radians meet, seed ${SEED}`, (angle) => {
  const random = new Random(SEED);
  for (let i = 0; i < 100; i++) {
    const [middle, direction] = [random.point(1), random.direction()];
    const other = direction.clone().addScaledVector(random.direction(), angle);
    const [first, second] = [direction, other].map((half) => ({
      a: middle.clone().sub(half).toArray(),
      b: middle.clone().add(half).toArray(),
    }));
    const { distance, pointA, pointB } = measure(first, second);
    expect(distance, `pair ${i}`).toBeLessThan(2e-15);
    expect(Math.hypot(...pointA.map((x, k) => x - pointB[k])), `pair ${i}`).toBeLessThan(2e-15);
  }
});
