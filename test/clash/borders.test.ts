// Parts that lie on the borders of tiles: a pair of them is tested once, whether a tile has few such parts or many.
import { clash, type Part } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

/** Enough parts that there are tiles for each worker. */
const COUNT = 900;
const SIDE = 30;

interface Bar {
  low: number[];
  high: number[];
}

/** Bars along the axes; the share `long` of them extends through the whole space, and so through many tiles. */
function bars(random: Random, long: number): Bar[] {
  return Array.from({ length: COUNT }, () => {
    const along = random.integer(3);
    const isLong = random.next() < long;
    const middle = [0, 1, 2].map((axis) => (isLong && axis === along ? SIDE / 2 : random.range(0, SIDE)));
    const half = [0, 1, 2].map((axis) => (axis === along ? (isLong ? SIDE / 2 : 1) : random.range(0.2, 0.5)));
    return { low: middle.map((each, axis) => each - half[axis]), high: middle.map((each, axis) => each + half[axis]) };
  });
}

function partOf({ low, high }: Bar, i: number): Part {
  const size = low.map((each, axis) => high[axis] - each);
  const middle = low.map((each, axis) => 0.5 * (each + high[axis]));
  const matrix = [size[0], 0, 0, 0, 0, size[1], 0, 0, 0, 0, size[2], 0, ...middle, 1];
  return { id: `bar ${i}`, mesh: UNIT, matrix };
}

const UNIT = boxMesh(1, 1, 1);

/** The penetration depth of two bars; below 0 if they are apart. */
function depthOf(a: Bar, b: Bar): number {
  return Math.min(...[0, 1, 2].map((axis) => Math.min(a.high[axis] - b.low[axis], b.high[axis] - a.low[axis])));
}

test.each([0.02, 0.5])(
  `bars of which the share %f is long clash as their boxes do, each pair once, seed ${SEED}`,
  async (long) => {
    const all = bars(new Random(SEED), long);
    const parts = all.map(partOf);
    const rules = [{ name: 'hard', kind: 'hard', tolerance: 1e-6 }] as const;
    const report = await clash(parts, null, rules);
    const found = new Map(report.clashes.map(({ a, b, depth }) => [`${a.id}, ${b.id}`, depth!]));
    expect(found.size).toBe(report.clashes.length);
    const wrong: string[] = [];
    let count = 0;
    for (let i = 0; i < COUNT; i++) {
      for (let j = i + 1; j < COUNT; j++) {
        const depth = depthOf(all[i], all[j]);
        if (Math.abs(depth) < 1e-4) continue;
        const [p, q] = [parts[i].id, parts[j].id];
        const known = found.get(`${p}, ${q}`) ?? found.get(`${q}, ${p}`) ?? 0;
        if (depth > 0) count++;
        if (Math.abs(known - Math.max(depth, 0)) > 1e-4) wrong.push(`${p}, ${q}: ${known} instead of ${depth}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(100);
    for (const workers of [2, 4]) expect(await clash(parts, null, rules, { workers })).toEqual(report);
  },
);
