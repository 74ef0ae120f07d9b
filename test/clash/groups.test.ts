// Groups of findings against brute force, and the order in which parts are placed against a plain sort.
import { expect, test } from 'vitest';
import type { Plan } from '../../src/clash/plan/plan.js';
import { type Grouped, groupsOf } from '../../src/clash/report/groups.js';
import { inSlices } from '../../src/clash/slices.js';
import { placingOrder } from '../../src/clash/tile/placing-order.js';
import { Random, SEED } from '../oracle/random.js';

/** Joins findings of a part by asking each pair again and again, until nothing changes. */
function slowSets(findings: readonly Grouped[], distance: number): number[] {
  const sets = findings.map((_, i) => i);
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (let i = 0; i < sets.length; i++) {
      for (let j = 0; j < sets.length; j++) {
        const [p, q] = [findings[i].point, findings[j].point];
        if (sets[i] <= sets[j] || Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > distance) continue;
        sets[i] = sets[j];
        isDone = false;
      }
    }
  }
  return sets;
}

test(`The groups of a part are chains of findings that are near to each other, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let several = 0;
  for (let round = 0; round < 300; round++) {
    const count = 1 + random.integer(40);
    const size = random.logRange(0.5, 20);
    const findings: Grouped[] = Array.from({ length: count }, (_, i) => {
      const point: [number, number, number] = [random.range(0, size), random.range(0, size), random.range(0, size)];
      // Some stand above each other, and some in one place.
      if (i > 0 && random.chance(0.2)) point[0] = 0;
      if (random.chance(0.05)) point.fill(0);
      return { rule: 0, a: 0, b: i + 1, point };
    });
    const found = await inSlices(groupsOf(findings, 1));
    const sets = slowSets(findings, 1);
    const expected = [...new Set(sets)].map((set) => findings.filter((_, i) => sets[i] === set).map(({ b }) => b));
    expect(
      found.map((group) => group.findings.map(({ b }) => b)),
      `round ${round}`,
    ).toEqual(expected);
    if (expected.length > 1) several++;
  }
  expect(several).toBeGreaterThan(100);
});

test(`Parts are placed by mesh, then by what they collide with, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 100; round++) {
    const count = 1 + random.integer(200);
    const parts = Array.from({ length: count }, () => ({ mesh: random.integer(20) }));
    // Of a single rule about all parts, and of several about some of them.
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
