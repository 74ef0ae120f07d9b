// Measures of two features, against projections from one to the other, back and forth, of three's own triangles and lines.
import { type FlatFace, type Measurable, measure, type Vec3 } from 'collision-worker';
import { measure as measureInScene } from 'collision-worker/three';
import { Line3, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { Random, SEED } from '../../oracle/random.js';

type Part = Vector3 | Line3 | Triangle;

function closestOn(part: Part, point: Vector3): Vector3 {
  if (part instanceof Vector3) return part.clone();
  return part instanceof Line3
    ? part.closestPointToPoint(point, true, new Vector3())
    : part.closestPointToPoint(point, new Vector3());
}

/** The distance of two convex parts: the limit of alternating projections (Cheney and Goldstein, 1959). */
function distanceOf(a: Part, b: Part): number {
  let p = closestOn(a, new Vector3());
  let q = closestOn(b, p);
  for (let i = 0; i < 4000; i++) {
    const next = closestOn(a, q);
    if (next.distanceToSquared(p) === 0) break;
    p = next;
    q = closestOn(b, p);
  }
  return p.distanceTo(q);
}

const tuple = (p: Vector3): Vec3 => [p.x, p.y, p.z];

function partOf(random: Random, size: number): Part {
  const point = () => random.point(size);
  const kind = random.integer(3);
  if (kind === 0) return point();
  if (kind === 1) return new Line3(point(), random.chance(0.1) ? point().multiplyScalar(0) : point());
  return new Triangle(point(), point(), point());
}

function measurable(part: Part, offset: Vector3): Measurable {
  const moved = (p: Vector3) => tuple(p.clone().add(offset));
  if (part instanceof Vector3) return moved(part);
  if (part instanceof Line3) return { a: moved(part.start), b: moved(part.end) };
  return faceOf([part], offset);
}

function faceOf(triangles: Triangle[], offset = new Vector3()): FlatFace {
  const corners = triangles.flatMap(({ a, b, c }) => [a, b, c].flatMap((p) => p.clone().add(offset).toArray()));
  const normal = triangles[0].getNormal(new Vector3());
  return { normal: tuple(normal), triangles: Uint32Array.from(triangles.keys()), corners: Float64Array.from(corners) };
}

const square = (z: number, x = 0): FlatFace => {
  const at = (u: number, v: number) => new Vector3(x + u, v, z);
  return faceOf([new Triangle(at(0, 0), at(1, 0), at(1, 1)), new Triangle(at(0, 0), at(1, 1), at(0, 1))]);
};

describe.each([
  ['at the origin', 1, 0],
  ['of a thousandth', 1e-3, 0],
  ['of a thousand', 1e3, 0],
  ['a million away', 1, 1e6],
] as const)('%s', (_, size, far) => {
  test(`distances are those of projections, in both orders, seed ${SEED}`, () => {
    const random = new Random(SEED);
    const offset = new Vector3(far, -far, far / 3);
    for (let i = 0; i < 300; i++) {
      const [a, b] = [partOf(random, size), partOf(random, size)];
      const [first, second] = [measurable(a, offset), measurable(b, offset)];
      const found = measure(first, second);
      const truth = distanceOf(a, b);
      const doubt = 2e-4 * size + 1e-9 * far;
      expect(Math.abs(found.distance - truth), `case ${i}`).toBeLessThan(doubt);
      // It never exceeds the distance between any point of the one and any point of the other.
      expect(found.distance).toBeLessThanOrEqual(truth + 1e-9 * size + 1e-9 * far);
      const [p, q] = [new Vector3(...found.pointA).sub(offset), new Vector3(...found.pointB).sub(offset)];
      expect(closestOn(a, p).distanceTo(p)).toBeLessThan(1e-9 * size + 1e-9 * far);
      expect(closestOn(b, q).distanceTo(q)).toBeLessThan(1e-9 * size + 1e-9 * far);
      const turned = measure(second, first);
      expect(Math.abs(turned.distance - found.distance)).toBeLessThan(1e-9 * size + 1e-9 * far);
    }
  });
});

test(`faces of many triangles are as near as the nearest pair of these, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let i = 0; i < 40; i++) {
    const [a, b] = [0, 1].map((k) => {
      // All around one centre, or in a row in which each is ten times as far away, or anywhere.
      const kind = random.integer(3);
      return Array.from({ length: 1 + random.integer(25) }, (_, t) => {
        const middle = kind === 0 ? new Vector3() : kind === 1 ? new Vector3(10 ** (t % 8), 0, 0) : random.point(3);
        const [p, q] = [random.point(1), random.point(1)];
        const r = kind === 0 ? p.clone().add(q).negate() : random.point(1);
        return new Triangle(...([p, q, r].map((v) => v.add(middle).setX(v.x + 2 * k)) as [Vector3, Vector3, Vector3]));
      });
    });
    const found = measure(faceOf(a), faceOf(b)).distance;
    const pairs = a.flatMap((p) => b.map((q) => measure(faceOf([p]), faceOf([q])).distance));
    expect(Math.abs(found - Math.min(...pairs)), `case ${i}`).toBeLessThan(1e-8);
  }
});

test('faces are parallel, with a gap, or at an angle', () => {
  const parallel = measure(square(0), square(2.5, 3));
  expect(parallel.gap).toBeCloseTo(2.5, 12);
  expect(parallel.angle).toBeCloseTo(0, 12);
  expect(parallel.distance).toBeCloseTo(Math.hypot(2, 2.5), 12);
  const tilted = faceOf([new Triangle(new Vector3(0, 0, 3), new Vector3(1, 0, 4), new Vector3(0, 1, 3))]);
  const crossed = measure(square(0), tilted);
  expect(crossed.gap).toBeNull();
  expect(crossed.angle).toBeCloseTo(Math.PI / 4, 12);
  expect(crossed.distance).toBeCloseTo(3, 12);
});

test('edges have angles with edges and faces, points have none', () => {
  const edge = { a: [0, 0, 1], b: [1, 0, 2] } as const;
  expect(measure(edge, { a: [0, 0, 0], b: [1, 0, 0] }).angle).toBeCloseTo(Math.PI / 4, 12);
  expect(measure(edge, square(0)).angle).toBeCloseTo(Math.PI / 4, 12);
  expect(measure([0, 0, 5], edge)).toMatchObject({ angle: null, gap: null });
  expect(measure({ a: [1, 1, 1], b: [1, 1, 1] }, square(0))).toMatchObject({ angle: null, distance: 1 });
});

test('a snap is measured as what it snapped to, a hit by its snap', () => {
  const base = { object: 1, pixels: 0, element: 0 };
  const ends = { a: [0, 0, 0], b: [4, 0, 0] } as const;
  const edge = { ...base, kind: 'edge', point: [1, 0, 0], ...ends } as const;
  const middle = { ...base, kind: 'midpoint', point: [2, 0, 0], ...ends } as const;
  expect(measure(edge, [4, 3, 0]).distance).toBe(3);
  expect(measure(middle, [2, 0, 7]).distance).toBe(7);
  const hit = {
    object: 1,
    distance: 1,
    point: [9, 9, 9],
    normal: [0, 0, 1],
    triangle: 0,
    element: 0,
    barycentric: [1, 0, 0],
    bone: -1,
    frame: 1,
  } as const;
  expect(measure({ ...hit, snap: middle }, [2, 0, 7]).distance).toBe(7);
  expect(measure({ ...hit, snap: null }, [9, 9, 8]).distance).toBe(1);
});

test('what cannot be measured is refused', () => {
  const wrong = [
    null,
    5,
    [1, 2],
    [1, 2, Number.NaN],
    {},
    { a: [0, 0, 0] },
    { corners: Float64Array.of(1, 2, 3) },
    { kind: 'face' },
  ];
  for (const each of wrong) {
    expect(() => measure(each as never, [0, 0, 0])).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  }
  const message = 'measure: b.face.corners is undefined, expected a Float64Array';
  expect(() => measure([0, 0, 0], { kind: 'face' } as never)).toThrowError(message);
  expect(() => measureInScene(new Vector3(), { kind: 'face' } as never)).toThrowError(message);
});
