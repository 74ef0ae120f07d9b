// The clashes of a building against brute force over all pairs of its parts.
import { type ClashReport, clash, type Rule } from 'collision-worker/clash';
import { Matrix4, Vector3 } from 'three';
import { beforeAll, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { clashParts } from '../fixtures/clash-parts.js';
import { boxGap, convexDepth, isSameGeometry, SolidPart, solidDistance, solidsMeet } from '../oracle/clashes.js';
import { SEED } from '../oracle/random.js';

const TOLERANCE = 0.001;
const CLEARANCE = 0.05;
/** How far rounding at 10⁶ may move a part. */
const HAIR = 1e-9;
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

/** The places tested: at 10⁶, float64 positions are precise to 10⁻¹⁰, so that the expected result is the same at both. */
const PLACES = [
  ['the origin', [0, 0, 0]],
  ['10⁶', [1e6, -1e6, 1e6]],
] as const;
const buildings = PLACES.map(([place, origin]) => ({ place, parts: building({ parts: COUNT, seed: SEED, origin }) }));
let reports: ClashReport[];

beforeAll(async () => {
  reports = [];
  for (const { parts } of buildings) reports.push(await clash(clashParts(parts), null, RULES, { workers: 2 }));
});

test(`A building at the origin and one at 10⁶ have the clashes that brute force finds, as deep and as near, seed ${SEED}`, {
  timeout: 600_000,
}, () => {
  const [{ parts }] = buildings;
  const solids = parts.map(({ mesh, matrix }) => new SolidPart(mesh, new Matrix4().fromArray(matrix)));
  const keyOf = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`);
  const founds = reports.map(({ clashes, unread, warnings }) => {
    expect(unread).toEqual([]);
    expect(warnings).toEqual([]);
    const found = new Map(clashes.map((each) => [`${each.rule} ${keyOf(each.a.id, each.b.id)}`, each]));
    expect(found.size).toBe(clashes.length);
    return found;
  });
  const counts = { hard: 0, near: 0, copies: 0, shallow: 0 };
  const isWater = ({ layer }: { layer: string }) => layer === 'Water';
  const isNearby = ({ layer }: { layer: string }) => layer === 'Water' || layer === 'Electrical';
  /** Removes the clash of that name from both reports, and returns it. */
  const takeOfBoth = (name: string) =>
    founds.map((found, i) => {
      const clash = found.get(name);
      found.delete(name);
      return { clash, name: `${name} at ${PLACES[i][0]}` };
    });
  for (let i = 0; i < parts.length; i++) {
    for (let j = i + 1; j < parts.length; j++) {
      const [a, b] = [solids[i], solids[j]];
      const apart = boxGap(a.box, b.box);
      if (apart > CLEARANCE) continue;
      const key = keyOf(parts[i].id, parts[j].id);
      // Parts that just touch at the origin may be slightly apart at 10⁶, and the other way round.
      if (apart <= HAIR) checkHard(key, i, j);
      else
        expect(
          takeOfBoth(`hard ${key}`).some(({ clash }) => clash),
          key,
        ).toBe(false);
      if (apart === 0) {
        const isCopy = isSameGeometry(a, b, TOLERANCE);
        for (const { clash, name } of takeOfBoth(`copies ${key}`)) expect(clash !== undefined, name).toBe(isCopy);
        if (isCopy) counts.copies++;
      }
      const isAsked = (isWater(parts[i]) && isNearby(parts[j])) || (isWater(parts[j]) && isNearby(parts[i]));
      if (!isAsked) continue;
      const distance = solidDistance(a, b, CLEARANCE);
      for (const { clash, name } of takeOfBoth(`near ${key}`)) {
        expect(clash !== undefined, `${name}, ${distance} apart`).toBe(distance < CLEARANCE);
        if (clash) expect(Math.abs(clash.distance! - distance), name).toBeLessThan(1e-8);
      }
      if (distance < CLEARANCE) counts.near++;
    }
  }
  for (const found of founds) expect([...found.keys()]).toEqual([]);
  console.log(JSON.stringify(counts));
  for (const kind of ['hard', 'near', 'copies'] as const) expect(counts[kind], kind).toBeGreaterThan(COUNT / 500);

  function checkHard(key: string, i: number, j: number): void {
    const [a, b] = [solids[i], solids[j]];
    const hard = takeOfBoth(`hard ${key}`);
    const isFound = hard.map(({ clash }) => clash !== undefined);
    if (parts[i].mesh.isConvex && parts[j].mesh.isConvex) {
      const depth = convexDepth(a, b);
      for (const { clash, name } of hard) {
        if (Math.abs(depth - TOLERANCE) > 1e-8) expect(clash !== undefined, name).toBe(depth > TOLERANCE);
        if (clash) expect(Math.abs(clash.depth! - depth), name).toBeLessThan(1e-6 * depth + 1e-8);
      }
    } else {
      const areMeeting = solidsMeet(a, b);
      if (isFound.includes(true)) expect(areMeeting, key).toBe(true);
      if (areMeeting && isFound.includes(false)) {
        counts.shallow++;
        const isApart = (way: Vector3) => !solidsMeet(a, b, way.clone().setLength(TOLERANCE * 1.0001));
        expect(DIRECTIONS.some(isApart), `${key} meet deeper than the tolerance`).toBe(true);
      }
    }
    if (isFound.includes(true)) counts.hard++;
  }
});

test.each(PLACES)(
  'A building at %s has the same report with four workers, and of parts in another order',
  async (place) => {
    const at = buildings.findIndex((each) => each.place === place);
    const other = await clash(clashParts(buildings[at].parts).reverse(), null, RULES, { workers: 4 });
    expect(JSON.stringify(other)).toBe(JSON.stringify(reports[at]));
  },
);
