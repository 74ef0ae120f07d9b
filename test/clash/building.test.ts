// The clashes of a building against brute force over all pairs of its parts.
import { type ClashReport, clash, type Rule } from 'collision-worker/clash';
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { partsOf } from '../fixtures/clash-parts.js';
import { convexDepth, gap, isSameGeometry, SolidPart, solidDistance, solidsMeet } from '../oracle/clashes.js';
import { SEED } from '../oracle/random.js';

const TOLERANCE = 0.001;
const CLEARANCE = 0.05;
const COUNT = Number(process.env.PARTS ?? 2000);

const RULES: Rule[] = [
  { name: 'hard', kind: 'hard', tolerance: TOLERANCE },
  {
    name: 'near',
    kind: 'clearance',
    distance: CLEARANCE,
    a: { layer: 'Water' },
    b: { layer: ['Water', 'Electrical'] },
  },
  { name: 'copies', kind: 'duplicates' },
];

const DIRECTIONS: Vector3[] = [];
for (const x of [-1, 0, 1]) {
  for (const y of [-1, 0, 1]) for (const z of [-1, 0, 1]) if (x || y || z) DIRECTIONS.push(new Vector3(x, y, z));
}

describe.each([
  ['the origin', [0, 0, 0]],
  ['10⁶', [1e6, -1e6, 1e6]],
] as const)(`A building at %s, seed ${SEED}`, (_, origin) => {
  const parts = building({ parts: COUNT, seed: SEED, origin });
  let report: ClashReport;

  test('has the clashes that brute force finds, as deep and as near', { timeout: 600_000 }, async () => {
    report = await clash(partsOf(parts), null, RULES, { workers: 2 });
    expect(report.unread).toEqual([]);
    expect(report.warnings).toEqual([]);
    const solids = parts.map(({ mesh, matrix }) => new SolidPart(mesh, new Matrix4().fromArray(matrix)));
    const keyOf = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`);
    const found = new Map(report.clashes.map((each) => [`${each.rule} ${keyOf(each.a.id, each.b.id)}`, each]));
    expect(found.size).toBe(report.clashes.length);
    const counts = { hard: 0, near: 0, copies: 0, shallow: 0 };
    const isWater = ({ layer }: { layer: string }) => layer === 'Water';
    const isNearby = ({ layer }: { layer: string }) => layer === 'Water' || layer === 'Electrical';
    const take = (name: string) => {
      const clash = found.get(name);
      found.delete(name);
      return clash;
    };
    for (let i = 0; i < parts.length; i++) {
      for (let j = i + 1; j < parts.length; j++) {
        const [a, b] = [solids[i], solids[j]];
        const apart = gap(a.box, b.box);
        if (apart > CLEARANCE) continue;
        const key = keyOf(parts[i].id, parts[j].id);
        if (apart === 0) {
          const hard = take(`hard ${key}`);
          if (parts[i].mesh.isConvex && parts[j].mesh.isConvex) {
            const depth = convexDepth(a, b);
            if (Math.abs(depth - TOLERANCE) > 1e-8) expect(hard !== undefined, key).toBe(depth > TOLERANCE);
            if (hard) expect(Math.abs(hard.depth! - depth), key).toBeLessThan(1e-6 * depth + 1e-8);
          } else if (hard) expect(solidsMeet(a, b), key).toBe(true);
          else if (solidsMeet(a, b)) {
            counts.shallow++;
            const isApart = (way: Vector3) => !solidsMeet(a, b, way.clone().setLength(TOLERANCE * 1.0001));
            expect(DIRECTIONS.some(isApart), `${key} meet deeper than the tolerance`).toBe(true);
          }
          if (hard) counts.hard++;
          const isCopy = isSameGeometry(a, b, TOLERANCE);
          expect(take(`copies ${key}`) !== undefined, key).toBe(isCopy);
          if (isCopy) counts.copies++;
        }
        const isAsked = (isWater(parts[i]) && isNearby(parts[j])) || (isWater(parts[j]) && isNearby(parts[i]));
        if (!isAsked) continue;
        const distance = solidDistance(a, b, CLEARANCE);
        const near = take(`near ${key}`);
        expect(near !== undefined, `${key}, ${distance} apart`).toBe(distance < CLEARANCE);
        if (near) {
          counts.near++;
          expect(Math.abs(near.distance! - distance), key).toBeLessThan(1e-8);
        }
      }
    }
    expect([...found.keys()]).toEqual([]);
    console.log(JSON.stringify(counts));
    for (const kind of ['hard', 'near', 'copies'] as const) expect(counts[kind], kind).toBeGreaterThan(COUNT / 500);
  });

  test('has the same report with four workers, and of parts in another order', async () => {
    const other = await clash(partsOf(parts).reverse(), null, RULES, { workers: 4 });
    expect(JSON.stringify(other)).toBe(JSON.stringify(report));
  });
});
