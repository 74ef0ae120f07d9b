// The order in which paths are swept, against Morton codes that are composed bit by bit.
import { expect, test } from 'vitest';
import { WAY_NUMBERS } from '../../src/shared/layout.js';
import { orderOfWays } from '../../src/worker/motion-order.js';
import { Random, SEED } from '../oracle/random.js';

const CELLS_A_SIDE = 16;

/** Interleaves the bits of a cell's three numbers; those of x are the lowest. */
function codeOf(cell: number[]): number {
  let code = 0;
  for (let bit = 0; bit < 4; bit++)
    for (let axis = 0; axis < 3; axis++) code += ((cell[axis] >> bit) % 2) * 8 ** bit * 2 ** axis;
  return code;
}

test(`ways are ordered by the cells that they begin in, those of one cell as they were asked, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 24; round++) {
    const count = 1 + random.integer(400);
    const first = random.integer(count);
    const end = first + random.integer(count - first + 1);
    // Some lie in a plane or on a line, and far from the origin.
    const flat = random.integer(8);
    const far = random.chance(0.5) ? random.point(1e6).toArray() : [0, 0, 0];
    const ways = new Float64Array(WAY_NUMBERS * count).map((_, i) => {
      const axis = i % WAY_NUMBERS;
      if (axis > 2) return random.range(-1, 1); // nothing else of a path is used
      return far[axis] + (flat & (1 << axis) ? 3 : random.range(-5, 20) * (1 + axis));
    });
    const of = (way: number, axis: number) => ways[WAY_NUMBERS * way + axis];
    const numbers = Array.from({ length: end - first }, (_, i) => first + i);
    const codes = new Map(
      numbers.map((way) => {
        const cell = [0, 1, 2].map((axis) => {
          const all = numbers.map((each) => of(each, axis));
          const [low, high] = [Math.min(...all), Math.max(...all)];
          if (high === low) return 0;
          return Math.min(CELLS_A_SIDE - 1, Math.floor((of(way, axis) - low) * (CELLS_A_SIDE / (high - low))));
        });
        return [way, codeOf(cell)];
      }),
    );
    const expected = numbers.sort((a, b) => codes.get(a)! - codes.get(b)! || a - b);
    expect(Array.from(orderOfWays(ways, first, end))).toEqual(expected);
  }
});
