// Sorting in steps gives the same order.
import { expect, test } from 'vitest';
import { finishedSteps, runToEnd, sorted, sortedIds, TASKS_PER_STEP } from '../../src/worker/binding/steps.js';
import { Random, SEED } from '../oracle/random.js';

test(`sorts as Array.prototype.sort, equal ones in their order, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (const length of [
    0,
    1,
    2,
    TASKS_PER_STEP - 1,
    TASKS_PER_STEP,
    TASKS_PER_STEP + 1,
    2 * TASKS_PER_STEP,
    3 * TASKS_PER_STEP + 7,
    10_000,
  ]) {
    const items = Array.from({ length }, (_, i) => ({ key: random.integer(length >> 2), i }));
    const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
    expect(runToEnd(sorted(items.slice(), compare))).toEqual(items.slice().sort(compare));
  }
});

test(`sorts ids as numbers, in runs and across them, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (const length of [0, 1, 8191, 8192, 8193, 16_384, 30_000, 70_001]) {
    const ids = Uint32Array.from({ length }, () => random.integer(2 ** 32));
    const steps = sortedIds(ids.slice());
    expect(runToEnd(steps)).toEqual(ids.slice().sort());
  }
  // All of one run before all of the other, either way around.
  const rising = Uint32Array.from({ length: 20_000 }, (_, i) => i);
  expect(runToEnd(sortedIds(rising.slice()))).toEqual(rising);
  expect(runToEnd(sortedIds(rising.slice().reverse()))).toEqual(rising);
});

test('rests after no more than so many items', () => {
  const items = Array.from({ length: 5 * TASKS_PER_STEP }, (_, i) => -i);
  let compared = 0;
  let most = 0;
  let last = 0;
  const steps = sorted(items, (a, b) => {
    compared++;
    return a - b;
  });
  while (!steps.next().done) {
    most = Math.max(most, compared - last);
    last = compared;
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(TASKS_PER_STEP * Math.log2(TASKS_PER_STEP) * 2);
});

test('what is there already takes no step', () => {
  expect(finishedSteps(undefined)).toBeUndefined();
  expect(finishedSteps(7)!.next()).toEqual({ value: 7, done: true });
});
