// Triangles that touch in a point, or do not, where one is stretched far more along one axis than along the others: boxes
// that are compared in float32 must find all that touch. Against rational arithmetic, in both orders.
import { createCollisionService } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { bake, meshesIntersect, startCore } from '../../fixtures/core.js';
import type { Corners } from '../../oracle/exact.js';
import { Random, SEED } from '../../oracle/random.js';
import { hullsMeet } from '../../oracle/rational.js';

const PAIRS = 300;
/** Powers of two, with which all corners stay exact in float64. */
const STRETCHES = [0, 3, 7, 10, 14, 17, 20, 23];

interface Pair {
  a: Corners;
  b: Corners;
  /** Places b beside a. */
  matrix: Matrix4;
  inverse: Matrix4;
}

/** A triangle under a matrix that stretches and shears, and one with a corner on it, or near it. */
function pairOf(random: Random, stretch: number): Pair {
  const eighths = () => (random.integer(17) - 8) / 8;
  const isFlat = random.chance(0.5);
  const depth = () => (isFlat ? 0 : eighths());
  const b = three(() => new Vector3(eighths(), Math.fround(random.range(-1, 1)), depth()));
  const matrix = new Matrix4().set(
    ...([1, random.pick([0, 0, 0.5, stretch, stretch / 2]), 0, random.pick([0, 0.5, 1])] as const),
    ...([0, stretch, 0, stretch * random.pick([0, 0.5, 1, 3])] as const),
    ...([random.pick([0, 0, 0.25]), random.pick([0, 0, stretch / 4]), 1, random.pick([0, 0, 0.5])] as const),
    ...([0, 0, 0, 1] as const),
  );
  const inverse = matrix.clone().invert();
  for (const [i, value] of [0, 0, 0, 1].entries()) inverse.elements[4 * i + 3] = value;
  const [p, q, r] = under(b, matrix);
  const on = rounded(random.pick([p, p.clone().lerp(q, 0.5), q.clone().lerp(r, 0.25)]));
  const edge = () => new Vector3(eighths(), eighths() * random.pick([1, stretch]), depth());
  const a = [on, rounded(on.clone().add(edge())), rounded(on.clone().add(edge()))] as unknown as Corners;
  return { a, b, matrix, inverse };
}

const three = (make: () => Vector3) => [make(), make(), make()] as unknown as Corners;
const rounded = ({ x, y, z }: Vector3) => new Vector3(Math.fround(x), Math.fround(y), Math.fround(z));
const under = (corners: Corners, matrix: Matrix4) =>
  corners.map((corner) => corner.clone().applyMatrix4(matrix)) as unknown as Corners;
const positionsOf = (corners: Corners) => Float32Array.from(corners.flatMap((corner) => corner.toArray()));
const hasArea = ([a, b, c]: Corners) => !(hullsMeet([a, b], [c]) || hullsMeet([b, c], [a]) || hullsMeet([c, a], [b]));

/** Some pairs with their exact results, in both orders. */
function someOf(random: Random, count: number, stretch: number) {
  return Array.from({ length: count }, () => {
    for (;;) {
      const pair = pairOf(random, stretch);
      if (!hasArea(pair.a) || !hasArea(pair.b)) continue;
      const meet = hullsMeet(pair.a, under(pair.b, pair.matrix));
      const meetBack = hullsMeet(pair.b, under(pair.a, pair.inverse));
      return { ...pair, meet, meetBack };
    }
  });
}

describe.each(STRETCHES)(`${PAIRS} pairs, one stretched by 2^%d, seed ${SEED}`, (exponent) => {
  const stretch = 2 ** exponent;

  test('trees', async () => {
    const core = await startCore();
    const wrong: string[] = [];
    let meeting = 0;
    for (const { a, b, matrix, inverse, meet, meetBack } of someOf(new Random(SEED), PAIRS, stretch)) {
      const [p, q] = [a, b].map((corners) => core.loadMesh(bake(core, { positions: positionsOf(corners) })));
      const found = [meshesIntersect(core, p, q, matrix.elements), meshesIntersect(core, q, p, inverse.elements)];
      if (found[0] !== meet || found[1] !== meetBack)
        wrong.push(JSON.stringify({ a, b, matrix: matrix.elements, found }));
      meeting += Number(meet);
      core.freeMesh(p);
      core.freeMesh(q);
    }
    expect(wrong.slice(0, 2)).toEqual([]);
    expect(meeting).toBeGreaterThan(PAIRS / 3);
    expect(meeting).toBeLessThan(PAIRS);
  });

  test('objects', async () => {
    const service = await createCollisionService();
    const wrong: string[] = [];
    for (const { a, b, matrix, meet } of someOf(new Random(SEED + 1), PAIRS / 4, stretch)) {
      const [p, q] = await Promise.all([a, b].map((corners) => service.addMesh({ positions: positionsOf(corners) })));
      const ids = [
        service.addObject({ shape: { type: 'mesh', mesh: p }, contacts: 'any' }),
        service.addObject({ shape: { type: 'mesh', mesh: q }, contacts: 'any', matrix: matrix.elements }),
      ];
      const count = (await service.update()).contacts.count;
      // Not 'bounds', which float64 decides: boxes that touch only in a point may be on either side.
      const details = ['any', 'manifold', 'triangles', 'full'] as const;
      const asked = await Promise.all(
        details.flatMap((detail) => [
          service.contact(ids[0], ids[1], { detail }),
          service.contact(ids[1], ids[0], { detail }),
        ]),
      );
      const found = asked.map((contact) => contact !== null);
      if ((count === 1) !== meet || found.some((is) => is !== meet)) {
        wrong.push(JSON.stringify({ a, b, matrix: matrix.elements, meet, count, found }));
      }
      for (const id of ids) service.removeObject(id);
      for (const mesh of [p, q]) service.removeMesh(mesh);
    }
    expect(wrong.slice(0, 2)).toEqual([]);
    service.dispose();
  });
});
