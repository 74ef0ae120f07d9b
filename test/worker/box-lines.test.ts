// The edges of boxes that are drawn: twelve per box, between the corners that float64 computes.
import { expect, test } from 'vitest';
import type { Vec3 } from '../../src/shared/types.js';
import { BOXES_PER_STEP } from '../../src/worker/binding/inspector.js';
import { linesOf } from '../../src/worker/box-lines.js';
import { Random, SEED } from '../oracle/random.js';

/** The result of work in steps, and the number of steps. */
function counted<T>(steps: Generator<void, T>): [result: T, steps: number] {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return [step.value, count];
  }
}

test(`are those between corners that differ along one axis, about an origin, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const count = 30;
  const origin: Vec3 = [1e6, -1e6, 3e5];
  const boxes = Float64Array.from(
    { length: 12 * count },
    (_, i) => random.range(-2, 2) + (i % 12 < 9 ? 0 : origin[i % 3]),
  );
  const [lines] = counted(linesOf(boxes, origin));
  expect(lines.length).toBe(72 * count);
  for (let box = 0; box < count; box++) {
    const own = boxes.subarray(12 * box, 12 * box + 12);
    /** Which corner it is, by the signs along the axes; each is one of eight, to the rounding of float32. */
    const cornerAt = (at: number): number => {
      const found = Array.from({ length: 8 }, (_, corner) => corner).filter((corner) =>
        [0, 1, 2].every((k) => {
          const signs = [0, 1, 2].map((axis) => (corner & (1 << axis) ? 1 : -1));
          const truth = own[9 + k] - origin[k] + signs.reduce((sum, sign, axis) => sum + sign * own[3 * axis + k], 0);
          return lines[at + k] === Math.fround(truth) || Math.abs(lines[at + k] - truth) < 1e-6;
        }),
      );
      expect(found.length).toBe(1);
      return found[0];
    };
    const edges = Array.from({ length: 12 }, (_, i) => {
      const [a, b] = [cornerAt(72 * box + 6 * i), cornerAt(72 * box + 6 * i + 3)];
      expect([1, 2, 4], 'corners that differ along one axis').toContain(a ^ b);
      return `${Math.min(a, b)}-${Math.max(a, b)}`;
    });
    expect(new Set(edges).size).toBe(12);
  }
});

test('are made in steps, and of no box there are none', () => {
  expect(counted(linesOf(new Float64Array(0), [0, 0, 0]))[0].length).toBe(0);
  for (const looks of [1, 2, 5]) {
    const [, steps] = counted(linesOf(new Float64Array(12 * looks * BOXES_PER_STEP), [0, 0, 0]));
    expect(steps).toBe(looks);
  }
});
