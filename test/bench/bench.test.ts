// Keeps the bench working: each of its rows runs here on a small version of its work, and all contenders must agree.
import { afterAll, describe, expect, test } from 'vitest';
import { closeShared } from './browser.js';
import { type Contender, inThisProcess, measure, type Row } from './harness.js';
import { rowsOf } from './rows/index.js';

const rows = rowsOf({
  dragon: 11102,
  largeDragon: 11102,
  rods: 160,
  rays: 500,
  picture: [32, 24],
  poses: 5,
  points: 100,
  boxes: 500,
  boxRays: 500,
  spheres: 100,
  dragons: 5,
  objects: 2000,
  streamed: 500,
  tracked: 100,
  hidden: 100,
  largeMesh: 2000,
  instances: 2000,
  sides: 300,
  scan: 5000,
  lines: 5000,
  figures: 4,
  rings: 6,
  bones: 5,
  crowd: 4,
  parts: 10,
  planes: 2,
  clashParts: 60,
  characters: 10,
  level: 5000,
});

/** Rows without a comparable contender: blocks of the main thread have a bound instead, and the peer of clashes is native. */
const ALONE = ['blocks-50k', 'track-18m', 'clash-20k', 'clash-meet'];

afterAll(closeShared);

describe('bench', () => {
  test.each(rows.map((row) => [row.name, row] as const))('%s: equal answers', async (_, row) => {
    const { contenders, faults } = await measure(row, { native: false, isShort: true }, { rounds: 1, warmUp: 0 });
    expect(faults).toEqual([]);
    expect(contenders.length).toBeGreaterThan(ALONE.includes(row.name) ? 0 : 1);
    for (const { samples } of contenders) expect(samples).toHaveLength(1);
  });

  test('tells of different answers', async () => {
    const first = contender('one', 1000);
    const { faults } = await measure(
      rowOf([first, contender('two', 1001)]),
      { native: false },
      { rounds: 1, warmUp: 0 },
    );
    expect(faults).toEqual([0, 1].map((i) => `round ${i}: sum of two: 1001, of one: 1000`));
  });

  test('lets differ what a contender says may differ', async () => {
    const two = { ...contender('two', 1001), tolerance: { of: { sum: 0.001 }, because: 'it is rounded' } };
    const { faults } = await measure(rowOf([contender('one', 1000), two]), { native: false }, { rounds: 1, warmUp: 0 });
    expect(faults).toEqual([]);
  });

  test('begins each round with another contender', async () => {
    const order: string[] = [];
    const recording = (name: string): Contender => ({ ...contender(name, 1), run: () => void order.push(name) });
    await measure(rowOf([recording('a'), recording('b'), recording('c')]), { native: false }, { rounds: 3, warmUp: 0 });
    expect(order.join(' ')).toBe('a b c a b c b c a c a b a b c');
  });
});

function contender(name: string, sum: number): Contender {
  return { name, run() {}, checksum: () => ({ sum }) };
}

function rowOf([first, ...others]: [Contender, ...Contender[]]): Row {
  const contenders = [inThisProcess(() => first), ...others.map((other) => inThisProcess(() => other))] as const;
  return { name: 'row', work: 'nothing', rounds: 1, prepare: async () => ({ contenders: [...contenders] }) };
}
