// The triangulation of large polygons, against the areas and the edges of rings whose shapes are known.
import { describe, expect, test } from 'vitest';
import { TASKS_PER_STEP } from '../../../src/worker/binding/steps.js';
import { triangulate } from '../../../src/worker/triangulate.js';
import { Random, SEED } from '../../oracle/random.js';

type Ring = [number, number][];

const circle = (count: number, x = 0, y = 0, radius = 1): Ring =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });

const frame = (size: number): Ring => [
  [-1, -1],
  [size + 1, -1],
  [size + 1, size + 1],
  [-1, size + 1],
];

/** A frame around cells of some points each, of a hole or none. */
function plate(count: number, cell: (x: number, y: number) => Ring | undefined, pointsPerCell = 8): Ring[] {
  const size = Math.floor(Math.sqrt(count / pointsPerCell));
  const rings = [frame(size)];
  for (let i = 0; i < size * size; i++) {
    const hole = cell(i % size, Math.floor(i / size));
    if (hole) rings.push(hole.reverse());
  }
  return rings;
}

const square = (x: number, y: number, side = 1): Ring => [
  [x, y],
  [x + side, y],
  [x + side, y + side],
  [x, y + side],
];

/** Simple polygons of about so many points; rings may touch themselves and each other at points and along edges. */
const SHAPES: Record<string, (count: number, random: Random) => Ring[]> = {
  'a circle': (count) => [circle(count)],
  'a star': (count, random) => [
    circle(count).map(([x, y]) => {
      const reach = random.range(0.2, 1);
      return [reach * x, reach * y];
    }),
  ],
  'a comb': (count) => {
    const teeth = Array.from({ length: count >> 2 }, (_, i): Ring => {
      const x = (count >> 2) - i;
      return [
        [x, 0],
        [x - 0.2, 100],
        [x - 0.4, 100],
        [x - 0.6, 0],
      ];
    });
    return [[[-1, -1], [(count >> 2) + 1, -1], ...teeth.flat()]];
  },
  'a spiral': (count) => {
    const side = (inset: number): Ring =>
      Array.from({ length: count >> 1 }, (_, i) => {
        const angle = (40 * Math.PI * i) / count;
        const radius = 1 + (20 * i) / count - inset;
        return [radius * Math.cos(angle), radius * Math.sin(angle)];
      });
    return [[...side(0), ...side(0.4).reverse()]];
  },
  'a ring': (count) => [circle(count >> 1), circle(count >> 1, 0, 0, 0.99).reverse()],
  'a plate with holes': (count, random) => plate(count, (x, y) => circle(8, x + random.range(0, 0.1), y, 0.4)),
  'a plate with squares that share corners': (count) =>
    plate(count, (x, y) => ((x + y) % 2 ? square(x, y) : undefined), 2),
  'a plate with holes that touch corners, edges and its walls': (count) =>
    plate(
      count,
      (x, y) =>
        y % 3
          ? [
              [x, y],
              [x + 1, y],
              [x + 0.5, y + 1],
            ]
          : square(x - (x === 0 ? 1 : 0), y, 0.5),
      4,
    ),
  'points on few lines': (count) => {
    const side = Math.floor(count / 4);
    const corners = square(0, 0, side);
    return [
      corners.flatMap(([x, y], k): Ring => {
        const [s, t] = corners[(k + 1) % 4];
        return Array.from({ length: side }, (_, i) => [x + ((s - x) * i) / side, y + ((t - y) * i) / side]);
      }),
    ];
  },
  'a ring that touches itself': (count) => {
    const drops = Array.from(
      { length: Math.floor(count / 6) },
      (_, i): Ring => [
        [2 * i, 0],
        [2 * i + 1, 0],
        [2 * i + 0.6, -1],
        [2 * i + 1, -2],
        [2 * i + 1.4, -1],
        [2 * i + 1, 0],
      ],
    );
    return [[...drops.flat(), [2 * drops.length, 0], [2 * drops.length, 3], [0, 3]]];
  },
};

/** Polygons that cross themselves. */
const CROSSING: Record<string, (count: number, random: Random) => Ring[]> = {
  'points in any order': (count, random) => [Array.from({ length: count }, () => [random.next(), random.next()])],
  'a jagged circle': (count, random) => [
    circle(count).map(([x, y]) => [x + random.range(0, 0.1), y + random.range(0, 0.1)]),
  ],
  'a hole that reaches outside': (count) => [circle(count >> 1), circle(count >> 1, 0.5).reverse()],
};

interface Polygon {
  flat: Float64Array;
  holeStarts: number[];
  /** The next point of each point's ring. */
  next: number[];
}

function polygonOf(rings: readonly Ring[], place: (x: number, y: number) => [number, number]): Polygon {
  const starts = [0];
  for (const ring of rings) starts.push(starts.at(-1)! + ring.length);
  return {
    flat: Float64Array.from(rings.flat().flatMap(([x, y]) => place(x, y))),
    holeStarts: starts.slice(1, -1),
    next: rings.flatMap((ring, r) => ring.map((_, i) => starts[r] + ((i + 1) % ring.length))),
  };
}

const turnOf = ({ flat }: Polygon, a: number, b: number, c: number) =>
  (flat[2 * b] - flat[2 * a]) * (flat[2 * c + 1] - flat[2 * a + 1]) -
  (flat[2 * c] - flat[2 * a]) * (flat[2 * b + 1] - flat[2 * a + 1]);

/** Returns triangles, and how often the work rested. */
function run({ flat, holeStarts }: Polygon, tolerance: number): { triangles: number[] | undefined; rests: number } {
  const work = triangulate(flat, holeStarts, tolerance);
  for (let rests = 0; ; rests++) {
    const { value, done } = work.next();
    if (done) return { triangles: value, rests };
  }
}

/** Expects that triangles cover a polygon once, and that they meet each other and its rings at whole edges. */
function check(polygon: Polygon, tolerance: number): void {
  const { next, holeStarts } = polygon;
  const { triangles, rests } = run(polygon, tolerance);
  expect(triangles?.length).toBe(3 * (next.length + 2 * holeStarts.length - 2));
  // Points are joined and swept over; each of a dozen merges of sorted runs rests as often.
  expect(rests).toBeGreaterThan((2 * next.length) / TASKS_PER_STEP - 1);
  const area = next.reduce((sum, end, i) => sum + turnOf(polygon, 0, i, end), 0);
  let covered = 0;
  const uses = new Map<number, number>();
  const keyOf = (a: number, b: number) => Math.min(a, b) * 2 ** 24 + Math.max(a, b);
  for (let t = 0; t < triangles!.length; t += 3) {
    const [a, b, c] = triangles!.slice(t, t + 3);
    covered += Math.abs(turnOf(polygon, a, b, c));
    for (const key of [keyOf(a, b), keyOf(b, c), keyOf(c, a)]) uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  expect(covered / area).toBeCloseTo(1, 8);
  // Each edge of a ring belongs to one triangle, and each other edge to two.
  const ofRings = next.map((end, i) => keyOf(i, end));
  expect(ofRings.filter((key) => uses.get(key) !== 1)).toEqual([]);
  for (const key of ofRings) uses.delete(key);
  expect([...uses.values()].filter((count) => count !== 2)).toEqual([]);
}

const turned = (x: number, y: number): [number, number] => [0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y];

describe(`a polygon is covered once, seed ${SEED}`, () => {
  test.each(Object.entries(SHAPES))('%s', (_, shape) => {
    for (const count of [500, 20_000]) {
      const rings = shape(count, new Random(SEED + count));
      const tolerance = 2 ** -44 * count;
      check(
        polygonOf(rings, (x, y) => [x, y]),
        tolerance,
      );
      check(polygonOf(rings, turned), tolerance);
      // As rounding leaves them at a distance of a million.
      const far = (x: number, y: number) => turned(x, y).map((each) => each + 1e6 - 1e6) as [number, number];
      check(polygonOf(rings, far), 2 ** -44 * 1e6);
    }
  });

  test('whose points repeat', () => {
    for (const [name, shape] of Object.entries(SHAPES)) {
      const rings = shape(2000, new Random(SEED));
      const repeated = rings.map((ring) => [...ring.flatMap((point) => [point, point]), ring[0]]);
      const [once, twice] = [rings, repeated].map((each) => polygonOf(each, turned));
      expect(run(twice, 1e-10).triangles?.length, name).toBe(run(once, 1e-10).triangles?.length);
    }
  });
});

test.each(Object.entries(CROSSING))(`%s is not covered, which takes as many rests, seed ${SEED}`, (_, shape) => {
  for (const count of [500, 20_000]) {
    const polygon = polygonOf(shape(count, new Random(SEED + count)), (x, y) => [x, y]);
    const { triangles, rests } = run(polygon, 1e-12);
    expect(triangles).toBeUndefined();
    expect(rests).toBeGreaterThan(count / TASKS_PER_STEP - 1);
  }
});
