// Where swept paths begin, for the next worker, against two maps
// of what was set before the frame in the worker and after it.
import { expect, test } from 'vitest';
import { MotionStarts } from '../../src/client/transforms/motion-starts.js';
import { makeId } from '../../src/shared/ids.js';
import { Random, SEED } from '../oracle/random.js';

/** By slot: where an object was, by its x; null if it has no swept path, which is told as a matrix of NaN. */
type Places = Map<number, number | null>;

const matrixOf = (x: number) => Float64Array.of(7, 7, 1, 0, 0, 0, 1, 0, 0, 0, 1, x, 0, 0);

test(`a way begins where its object was before the first frame without an answer, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const starts = new MotionStarts();
  const continuous = new Set<number>();
  let [first, second]: [Places, Places] = [new Map(), new Map()];
  let isSent = false;
  let visits = 0;
  const exclude = (slot: number) => {
    first.set(slot, null);
    if (isSent) second.set(slot, null);
  };
  const idOf = (slot: number) => makeId(slot, 1 + (slot % 5));
  for (let step = 0; step < 6000; step++) {
    const slot = random.integer(random.chance(0.9) ? 40 : 3000);
    const what = random.next();
    const { version } = starts;
    if (what < 0.15) {
      const isContinuous = random.chance(0.6);
      const isOther = continuous.has(slot) !== isContinuous;
      starts.set(idOf(slot), isContinuous);
      expect(starts.version !== version).toBe(isOther);
      if (isContinuous) continuous.add(slot);
      else continuous.delete(slot);
      if (isOther) exclude(slot);
    } else if (what < 0.25) {
      starts.exclude(idOf(slot));
      exclude(slot);
    } else if (what < 0.85) {
      if (!continuous.has(slot)) continue;
      starts.note(idOf(slot), matrixOf(step), 2);
      const places = isSent ? second : first;
      if (!places.has(slot)) places.set(slot, step);
    } else if (what < 0.9) {
      starts.send();
      isSent = true;
    } else if (what < 0.98) {
      starts.answer();
      [first, second, isSent] = [second, new Map(), false];
    } else {
      starts.interrupt();
      for (const [each, x] of second) if (x !== null && !first.has(each)) first.set(each, x);
      [second, isSent] = [new Map(), false];
    }
    expect(starts.isAny).toBe(continuous.size > 0);
    expect(starts.isContinuous(slot)).toBe(continuous.has(slot));
    if (step % 3 > 0) continue;
    const found: string[] = [];
    starts.forEach((id, matrices, at) => {
      found.push(`${id}: ${Number.isNaN(matrices[at]) ? 'none' : matrices.subarray(at, at + 12)}`);
    });
    visits += found.length;
    const expected = [...first].filter(([each]) => continuous.has(each));
    const lines = expected.map(([each, x]) => `${idOf(each)}: ${x === null ? 'none' : matrixOf(x).subarray(2)}`);
    expect(found.sort().join('\n')).toBe(lines.sort().join('\n'));
  }
  expect(visits).toBeGreaterThan(1000);
});
