// Two copies of a mesh whose vertices all have the same x were compared pair by pair: 40,000 took 100 s, during which the
// caller's thread was blocked. A property that objects inherit, such as `constructor`, was the same for all parts.
import { clash, type Part, type Rule } from 'collision-worker/clash';
import { expect, test, vi } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

/** Squares in a plane of constant x. */
function wall(cells: number) {
  const positions: number[] = [];
  const indices: number[] = [];
  for (let i = 0; i <= cells; i++) for (let j = 0; j <= cells; j++) positions.push(0, i / 8, j / 8);
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      const [a, b] = [i * (cells + 1) + j, (i + 1) * (cells + 1) + j];
      indices.push(a, b, a + 1, a + 1, b, b + 1);
    }
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

const twice = (tolerance: number) => [{ name: 'twice', kind: 'duplicates', tolerance } as const];

test('no vertex is compared with all of the others of its plane', async () => {
  const cells = 30;
  const hypot = vi.spyOn(Math, 'hypot');
  try {
    const parts = ['a', 'b'].map((id) => ({ id, mesh: wall(cells) }));
    expect((await clash(parts, null, twice(0.001))).clashes).toHaveLength(1);
    expect(hypot.mock.calls.length).toBeLessThan(2 * 6 * cells ** 2 * 20);
  } finally {
    hypot.mockRestore();
  }
});

test(`copies that were moved a little are what each with each finds (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  const some = (count: number) => Float32Array.from({ length: count }, () => random.range(-1, 1));
  const parts: Part[] = [];
  const rules: Rule[] = [];
  const expected: string[] = [];
  for (let round = 0; round < 40; round++) {
    const tolerance = round % 8 === 0 ? 0 : random.logRange(1e-4, 1);
    const most = random.range(0, 1.2) * tolerance;
    const a = some(9 * 20);
    const b = a.map((each) => each + random.range(-1, 1) * most);
    const [one, other] = [a, b].map(geometryOf);
    const slack = tolerance * Math.max(one.length, other.length) + 1e-9 * Math.max(one.area, other.area);
    const isNear = (p: number[]) => (q: number[]) => Math.hypot(...p.map((each, k) => each - q[k])) <= tolerance;
    const isSame =
      Math.abs(one.area - other.area) <= slack &&
      one.points.every((p) => other.points.some(isNear(p))) &&
      other.points.every((p) => one.points.some(isNear(p)));
    const name = `round ${round}`;
    for (const positions of [a, b]) parts.push({ id: `${parts.length}`, name, mesh: { positions } });
    rules.push({ ...twice(tolerance)[0], name, a: { name }, b: { name } });
    if (isSame) expected.push(name);
  }
  const { clashes } = await clash(parts, null, rules);
  expect(clashes.map(({ rule }) => rule)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(0);
  expect(expected.length).toBeLessThan(rules.length);
});

/** Its points, its area, and the length of all edges, computed the slow way. */
function geometryOf(positions: Float32Array): { points: number[][]; area: number; length: number } {
  const points = Array.from({ length: positions.length / 3 }, (_, i) => [...positions.subarray(3 * i, 3 * i + 3)]);
  let [area, length] = [0, 0];
  for (let i = 0; i < points.length; i += 3) {
    const between = (p: number[], q: number[]) => Math.hypot(...p.map((each, k) => each - q[k]));
    const sides = [0, 1, 2].map((k) => between(points[i + k], points[i + ((k + 1) % 3)]));
    const [u, v] = [1, 2].map((k) => points[i + k].map((each, axis) => each - points[i][axis]));
    const dot = (p: number[], q: number[]) => p.reduce((sum, each, k) => sum + each * q[k], 0);
    area += 0.5 * Math.sqrt(Math.max(0, dot(u, u) * dot(v, v) - dot(u, v) ** 2)); // Lagrange's identity
    length += sides[0] + sides[1] + sides[2];
  }
  return { points, area, length };
}

test('what all objects inherit is no property of a part', async () => {
  const parts = ['a', 'b'].map((id) => ({ id, mesh: wall(1) }));
  const rule = { ...twice(0)[0], unlessSame: 'constructor' };
  expect((await clash(parts, null, [rule])).clashes).toHaveLength(1);
  const alike = parts.map((part) => ({ ...part, properties: { constructor: 'Smith' } }));
  expect((await clash(alike, null, [rule])).clashes).toEqual([]);
});
