// A clearance rule for a few parts, over a great distance, made all other parts as near to each other: each was a pair with
// each, in each tile. Of 8,000 parts, one crane took 60 times as long.
import type { Part, Rule } from 'collision-worker/clash';
import { clash } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { transformedBox } from '../../src/clash/plan/bounds.js';
import { makePlan } from '../../src/clash/plan/plan.js';
import { compileRules } from '../../src/clash/rules/rules.js';
import { inSlices } from '../../src/clash/slices.js';
import { boxMesh } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const DISTANCE = 30;
const cube = boxMesh(0.5, 0.5, 0.5);
const at = (x: number, y: number, z: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
const part = (name: string, i: number, place: number[]): Part => ({
  id: `${name} ${i}`,
  name,
  mesh: cube,
  matrix: place,
});

const near = (a?: string, b?: string): Rule => ({
  name: `${a} to ${b}`,
  kind: 'clearance',
  distance: DISTANCE,
  ...(a ? { a: { name: a } } : {}),
  ...(b ? { b: { name: b } } : {}),
});

/** How many pairs of padded boxes of the parts of a tile meet. */
async function pairsOf(parts: readonly Part[], rules: readonly Rule[]): Promise<number> {
  const box = [-0.25, -0.25, -0.25, 0.25, 0.25, 0.25];
  const placed = parts.map(({ id, name = '', matrix }) => {
    return {
      id,
      name,
      layer: '',
      properties: {},
      mesh: 0,
      matrix: matrix!,
      box: transformedBox(() => [], box, matrix!),
    };
  });
  const limits = { parts: 256, bytes: Number.POSITIVE_INFINITY };
  const { tiles, padded } = await inSlices(makePlan(placed, null, compileRules(rules), () => 1, limits));
  let pairs = 0;
  for (const { parts, split } of tiles) {
    parts.forEach((a, i) => {
      parts.forEach((b, j) => {
        if (j <= i || (split > 0 && i < split === j < split)) return;
        if (
          [0, 1, 2].every(
            (k) => padded[6 * a + k] <= padded[6 * b + k + 3] && padded[6 * b + k] <= padded[6 * a + k + 3],
          )
        )
          pairs++;
      });
    });
  }
  return pairs;
}

test.each([
  ['crane', 'mast'],
  ['crane', undefined],
  [undefined, 'crane'],
])('other parts are no pairs because of %s to %s', async (a, b) => {
  const parts: Part[] = [part('crane', 0, at(10, 10, 10)), part('mast', 0, at(5, 5, 10))];
  for (let i = 0; i < 2000; i++) parts.push(part('brick', i, at(i % 40, Math.floor(i / 40) % 50, 0)));
  const pairs = await pairsOf(parts, [{ name: 'copies', kind: 'duplicates' }, near(a, b)]);
  expect(pairs).toBeGreaterThan(0);
  expect(pairs).toBeLessThan(3 * parts.length);
});

test(`all pairs within the distance are found, whichever side has more parts, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const names = ['a', 'b', 'b', 'c', 'c', 'c', 'c', 'c', 'c'];
  const places: number[][] = [];
  const parts = Array.from({ length: 700 }, (_, i) => {
    places.push([random.range(0, 200), random.range(0, 200), random.range(0, 30)]);
    const [x, y, z] = places[i];
    return part(names[i % names.length], i, at(x, y, z));
  });
  const pairsOfNames = [
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'c'],
    ['c', 'a'],
    ['c', 'c'],
    ['a', undefined],
    [undefined, 'b'],
  ] as const;
  const rules = pairsOfNames.map(([a, b]) => near(a, b));
  const { clashes } = await clash(parts, null, rules, { workers: 2 });
  const found = clashes.map(({ rule, a, b }) => `${rule}: ${[a.id, b.id].sort()}`).sort();
  const expected: string[] = [];
  const gapOf = (i: number, j: number) =>
    Math.hypot(...[0, 1, 2].map((k) => Math.max(0, Math.abs(places[i][k] - places[j][k]) - 0.5)));
  const isOf = (i: number, name: string | undefined) => name === undefined || parts[i].name === name;
  parts.forEach((_, i) => {
    for (let j = 0; j < i; j++) {
      if (gapOf(i, j) >= DISTANCE) continue;
      pairsOfNames.forEach(([a, b], rule) => {
        if ((isOf(i, a) && isOf(j, b)) || (isOf(i, b) && isOf(j, a)))
          expected.push(`${rules[rule].name}: ${[parts[i].id, parts[j].id].sort()}`);
      });
    }
  });
  expect(found).toEqual(expected.sort());
});
