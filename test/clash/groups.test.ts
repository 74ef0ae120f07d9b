// Groups of findings against brute force, and the order in which parts are placed against a plain sort.
import { expect, test, vi } from 'vitest';
import type { Plan } from '../../src/clash/plan/plan.js';
import { type GroupableFinding, groupsOf } from '../../src/clash/report/groups.js';
import { inSlices } from '../../src/clash/slices.js';
import { placingOrder } from '../../src/clash/tile/placing-order.js';
import { Random, SEED } from '../oracle/random.js';

/** Joins findings of a part by comparing each pair; returns the first finding of each one's set. */
function slowSets(findings: readonly GroupableFinding[], distance: number): number[] {
  const sets = findings.map(() => -1);
  for (let first = 0; first < sets.length; first++) {
    if (sets[first] >= 0) continue;
    sets[first] = first;
    for (const waiting = [first]; waiting.length > 0; ) {
      const p = findings[waiting.pop()!].point;
      findings.forEach(({ point: q }, i) => {
        if (sets[i] >= 0 || Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > distance) return;
        sets[i] = first;
        waiting.push(i);
      });
    }
  }
  return sets;
}

/** Asserts that the groups of findings of one part are right, in whatever order they come. Returns how many there are. */
async function expectGroups(findings: readonly GroupableFinding[], distance: number, random: Random, where: string) {
  const found = await inSlices(groupsOf(random.shuffled(findings), distance));
  const sets = slowSets(findings, distance);
  const expected = [...new Set(sets)].map((set) => findings.filter((_, i) => sets[i] === set).map(({ b }) => b));
  expect(
    found.map((group) => group.findings.map(({ b }) => b)),
    where,
  ).toEqual(expected);
  return expected.length;
}

/** Makes findings of part 0 with one part each. */
function findingsAt(points: readonly [number, number, number][]): GroupableFinding[] {
  return points.map((point, i) => ({ rule: 0, a: 0, b: i + 1, point }));
}

test(`The groups of a part are chains of findings that are near to each other, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let several = 0;
  for (let round = 0; round < 300; round++) {
    const count = 1 + random.integer(round % 10 === 0 ? 600 : 40);
    const size = random.logRange(0.5, 20) * Math.cbrt(count / 20);
    const points = Array.from({ length: count }, (_, i) => {
      const point: [number, number, number] = [random.range(0, size), random.range(0, size), random.range(0, size)];
      // Some above each other, and some at one point.
      if (i > 0 && random.chance(0.2)) point[0] = 0;
      if (random.chance(0.05)) point.fill(0);
      return point;
    });
    if ((await expectGroups(findingsAt(points), 1, random, `round ${round}`)) > 1) several++;
  }
  expect(several).toBeGreaterThan(100);
});

test(`Findings that are exactly as far apart as the distance, or in one place, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  for (const distance of [0, 0.1, 1, 1e-300, 1e6]) {
    // Planes and lines of a lattice; some of its points are empty, and others have several findings.
    for (const sides of [
      [400, 1, 1],
      [20, 1, 20],
      [7, 8, 6],
    ]) {
      const step = distance === 0 ? 1 : distance;
      const points = Array.from({ length: 300 }, (): [number, number, number] => {
        const [x, y, z] = sides.map((side) => step * random.integer(side));
        return [x, y, z];
      });
      await expectGroups(findingsAt(points), distance, random, `distance ${distance}, ${sides}`);
    }
  }
});

test('many findings of a part, all of them near to each other, are not compared each with each', async () => {
  const random = new Random(SEED);
  const points = Array.from({ length: 2_000 }, (): [number, number, number] => {
    return [random.range(0, 0.7), 0, random.range(0, 0.7)];
  });
  const hypot = vi.spyOn(Math, 'hypot');
  try {
    const groups = await inSlices(groupsOf(findingsAt(points), 1));
    expect(groups.map(({ findings }) => findings.length)).toEqual([points.length]);
    expect(hypot.mock.calls.length).toBeLessThan(50 * points.length);
  } finally {
    hypot.mockRestore();
  }
});

test(`Parts are placed by mesh, then by what they collide with, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 100; round++) {
    const count = 1 + random.integer(200);
    const parts = Array.from({ length: count }, () => ({ mesh: random.integer(20) }));
    // With a single rule about all parts, and with several about some of them.
    const rules = Array.from({ length: 1 + (round % 3) }, () => ({ kind: 'hard' }));
    const sides = rules.map(() => Uint8Array.from(parts, () => (round % 3 === 0 ? 3 : random.integer(4))));
    const { layers, collidesWith, ranks, byRank } = placingOrder({ parts, rules, sides } as unknown as Plan);
    const firstOf = (part: number): number => parts.findIndex(({ mesh }) => mesh === parts[part].mesh);
    const expected = Array.from(parts.keys()).sort((a, b) => {
      return firstOf(a) - firstOf(b) || layers[a] - layers[b] || collidesWith[a] - collidesWith[b] || a - b;
    });
    expect([...byRank], `round ${round}`).toEqual(expected);
    for (const [rank, part] of byRank.entries()) expect(ranks[part]).toBe(rank);
  }
});
