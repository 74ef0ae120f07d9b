// The closest points of triangles, segments and points, against the simplest algorithm in float64.
import { Line3, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { ClosestPointsSearch } from '../../src/client/measure/closest-points.js';
import { triangleDistance } from '../oracle/distances.js';
import type { Corners } from '../oracle/exact.js';
import { Random, SEED } from '../oracle/random.js';

const BEFORE = 6;
/** Corners, at an offset behind numbers that must not be read. */
const flat = (corners: readonly Vector3[]) =>
  Float64Array.from([...Array(BEFORE).fill(Number.NaN), ...corners.flatMap((corner) => corner.toArray()), Number.NaN]);
const at = (corner: number) => BEFORE + 3 * corner;
const vector = (place: readonly number[]) => new Vector3(...place);

/** Some have integer coordinates, so that many are parallel, touch, or share corners. */
function corners(random: Random, count: number): Vector3[] {
  const isWhole = random.chance(0.4);
  return Array.from({ length: count }, () => (isWhole ? random.point(2).round() : random.point(2)));
}

/** Does what `measure` does with two triangles. */
function ofTriangles(s: Float64Array, t: Float64Array): ClosestPointsSearch {
  const closest = new ClosestPointsSearch();
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) closest.segments(s, at(i), at((i + 1) % 3), t, at(j), at((j + 1) % 3));
    closest.overTriangle(s, at(i), at((i + 1) % 3), t, at(0));
    closest.overTriangle(t, at(i), at((i + 1) % 3), s, at(0), true);
  }
  return closest;
}

describe(`closest points, seed ${SEED}`, () => {
  const random = new Random(SEED);

  test('of two triangles are on both, and as far apart as these are', () => {
    for (let round = 0; round < 400; round++) {
      const [one, other] = [corners(random, 3), corners(random, 3)];
      for (const corner of other) corner.x += random.pick([0, 0, 3]);
      if ([one, other].some((each) => new Triangle(...(each as unknown as Corners)).getArea() < 1e-9)) continue;
      const { a, b, square } = ofTriangles(flat(one), flat(other));
      expect(Math.sqrt(square)).toBeCloseTo(
        triangleDistance(one as unknown as Corners, other as unknown as Corners),
        7,
      );
      expect(vector(a).distanceToSquared(vector(b))).toBeCloseTo(square, 10);
      const near = new Vector3();
      for (const [triangle, place] of [
        [one, a],
        [other, b],
      ] as const) {
        new Triangle(...(triangle as unknown as Corners)).closestPointToPoint(vector(place), near);
        expect(near.distanceTo(vector(place))).toBeLessThan(1e-9);
      }
    }
  });

  test('of a point and a segment, at whose ends they are exact', () => {
    for (let round = 0; round < 200; round++) {
      const [p, q, r] = corners(random, 3);
      if (random.chance(0.1)) r.copy(q);
      const truth = q.equals(r) ? q : new Line3(q, r).closestPointToPoint(p, true, new Vector3());
      for (const isTurned of [false, true]) {
        const closest = new ClosestPointsSearch();
        closest.pointSegment(flat([p]), at(0), flat([q, r]), at(0), at(1), isTurned);
        const [own, nearest] = isTurned ? [closest.b, closest.a] : [closest.a, closest.b];
        expect(own).toEqual(p.toArray());
        expect(vector(nearest).distanceTo(truth)).toBeLessThan(1e-12);
        for (const end of [q, r]) if (truth.distanceTo(end) < 1e-13) expect(vector(nearest).equals(end)).toBe(true);
      }
    }
  });

  test('of two segments', () => {
    for (let round = 0; round < 300; round++) {
      const [p, q, r, u] = corners(random, 4);
      const closest = new ClosestPointsSearch();
      closest.segments(flat([p, q]), at(0), at(1), flat([r, u]), at(0), at(1));
      // For a segment that is a triangle without an area, the edges are the segment.
      let least = Number.POSITIVE_INFINITY;
      const onLine = (place: Vector3, from: Vector3, to: Vector3) =>
        from.equals(to) ? from : new Line3(from, to).closestPointToPoint(place, true, new Vector3());
      // The distance to a segment is convex along the other one: bisection finds the minimum.
      let [low, high] = [0, 1];
      const distanceAt = (share: number) => {
        const place = p.clone().lerp(q, share);
        return place.distanceTo(onLine(place, r, u));
      };
      for (let i = 0; i < 80; i++) {
        const [left, right] = [low + (high - low) / 3, high - (high - low) / 3];
        if (distanceAt(left) < distanceAt(right)) high = right;
        else low = left;
      }
      least = Math.min(distanceAt(0), distanceAt(1), distanceAt((low + high) / 2));
      expect(Math.sqrt(closest.square)).toBeCloseTo(least, 6);
      expect(onLine(vector(closest.a), p, q).distanceTo(vector(closest.a))).toBeLessThan(1e-9);
      expect(onLine(vector(closest.b), r, u).distanceTo(vector(closest.b))).toBeLessThan(1e-9);
    }
  });

  test('of a point over a triangle, which is nothing beside it', () => {
    let over = 0;
    for (let round = 0; round < 300; round++) {
      const [p, ...triangle] = corners(random, 4);
      const closest = new ClosestPointsSearch();
      closest.overTriangle(flat([p]), at(0), at(0), flat(triangle), at(0));
      const face = new Triangle(...(triangle as unknown as Corners));
      if (face.getArea() === 0) {
        expect(closest.square).toBe(Number.POSITIVE_INFINITY);
        continue;
      }
      const foot = p.clone().sub(triangle[0]).projectOnPlane(face.getNormal(new Vector3())).add(triangle[0]);
      const bary = face.getBarycoord(foot, new Vector3())!;
      const least = Math.min(bary.x, bary.y, bary.z);
      if (Math.abs(least) < 1e-9) continue; // it is on an edge
      if (least < 0) expect(closest.square).toBe(Number.POSITIVE_INFINITY);
      else {
        over++;
        expect(closest.a).toEqual(p.toArray());
        expect(vector(closest.b).distanceTo(foot)).toBeLessThan(1e-9);
      }
    }
    expect(over).toBeGreaterThan(10);
  });

  test('of a segment through a triangle, which is a point of both', () => {
    for (let round = 0; round < 100; round++) {
      const triangle = [random.point(2), random.point(2), random.point(2)];
      const weights = [random.range(0.1, 1), random.range(0.1, 1), random.range(0.1, 1)];
      const sum = weights[0] + weights[1] + weights[2];
      const through = new Vector3();
      for (let k = 0; k < 3; k++) through.addScaledVector(triangle[k], weights[k] / sum);
      const normal = new Triangle(...(triangle as unknown as Corners)).getNormal(new Vector3());
      const way = random.direction();
      if (Math.abs(way.dot(normal)) < 0.1) continue;
      const ends = [
        through.clone().addScaledVector(way, -random.range(1, 3)),
        through.clone().addScaledVector(way, random.range(1, 3)),
      ];
      for (const isTurned of [false, true]) {
        const closest = new ClosestPointsSearch();
        closest.overTriangle(flat(ends), at(0), at(1), flat(triangle), at(0), isTurned);
        expect(closest.square).toBeLessThan(1e-20);
        expect(vector(closest.a).distanceTo(through)).toBeLessThan(1e-9);
        // A segment that ends before the other one: only its ends count.
        const short = new ClosestPointsSearch();
        short.overTriangle(
          flat([ends[0], through.clone().lerp(ends[0], 0.5)]),
          at(0),
          at(1),
          flat(triangle),
          at(0),
          isTurned,
        );
        expect(short.square).toBeGreaterThan(1e-4);
      }
    }
  });

  test('the first of equals stays', () => {
    const closest = new ClosestPointsSearch();
    closest.add(0, 0, 0, 1, 0, 0);
    closest.add(0, 0, 0, 0, 1, 0);
    expect([closest.a, closest.b, closest.square]).toEqual([[0, 0, 0], [1, 0, 0], 1]);
    closest.add(5, 5, 5, 5, 5, 5.5);
    expect([closest.a, closest.b, closest.square]).toEqual([[5, 5, 5], [5, 5, 5.5], 0.25]);
    closest.add(Number.NaN, 0, 0, 0, 0, 0);
    expect(closest.square).toBe(0.25);
  });
});
