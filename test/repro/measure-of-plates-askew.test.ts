// Axis-aligned boxes around the triangles of oblique plates are nearer to each other than the triangles are: the distance of two
// plates of 9,800 triangles took 6 s on the main thread. The triangles of two round caps all reach the centre, and rounding makes
// them seem nearer than the minimum found so far: caps of 1,000 triangles took 3 s. Equal caps with
// float32 corners took as long, since each pair was visited whose boxes were nearer than the first points found.
import type { Vec3 } from 'collision-worker';
import { type BufferGeometry, CircleGeometry, Euler, Matrix4, PlaneGeometry, Vector3 } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { axesOf } from '../../src/client/measure/box-axes.js';
import { ClosestPointsSearch } from '../../src/client/measure/closest-points.js';
import type { MeasuredFeature } from '../../src/client/measure/features.js';
import { measure } from '../../src/client/measure/measure.js';
import { type Axes, rootOf, roundingOf, visitPairs } from '../../src/client/measure/part-tree.js';

const PARTS = 20;
const TURN = new Matrix4().makeRotationFromEuler(new Euler(0.3, 0.7, 0.2));
function plate(x: number, y: number, z: number, tilt = 0): MeasuredFeature {
  const matrix = TURN.clone()
    .multiply(new Matrix4().makeTranslation(x, y, z))
    .multiply(new Matrix4().makeRotationX(tilt));
  return faceOf(new PlaneGeometry(1, 1, PARTS, PARTS), matrix);
}

function faceOf(geometry: BufferGeometry, matrix: Matrix4): MeasuredFeature {
  const { position } = geometry.toNonIndexed().attributes;
  const places = Array.from({ length: position.count }, (_, i) => new Vector3().fromBufferAttribute(position, i));
  return { kind: 'face', corners: Float64Array.from(places.flatMap((place) => place.applyMatrix4(matrix).toArray())) };
}

function normalOf({ corners }: MeasuredFeature): Vec3 {
  const [p, q, r] = [0, 3, 6].map((at) => new Vector3().fromArray(corners, at));
  return q.sub(p).cross(r.sub(p)).normalize().toArray();
}

/** How many boxes of triangles are compared, given the known distance, until no pair is nearer. */
function visits(a: MeasuredFeature, b: MeasuredFeature, axes: Axes): number {
  const [parts, others] = [a, b].map(({ corners }) => rootOf(corners, 9, axes));
  const closest = new ClosestPointsSearch();
  closest.square = measure(a as never, b as never).distance ** 2;
  let count = 0;
  visitPairs(parts, others, closest, roundingOf(parts, others), () => count++);
  return count;
}

test.each([
  ['parallel', 0.21, 0.2, 0],
  ['tilted', 0, 0.4, 0.5],
])('plates that are %s and turned are measured by a few of their triangles', (_, y, z, tilt) => {
  const [a, b] = [plate(0, 0, 0), plate(0.3, y, z, tilt)];
  const count = visits(a, b, axesOf(a, normalOf(a), b, normalOf(b)));
  const world = visits(a, b, [1, 0, 0, 0, 1, 0, 0, 0, 1]);
  expect(count).toBeLessThan(4 * PARTS * PARTS);
  expect(world).toBeGreaterThan(10 * count);
});

test('parallel caps are measured by a few of their triangles', () => {
  const moved = TURN.clone().multiply(new Matrix4().makeTranslation(0, 0, 0.5));
  const [a, b] = [TURN, moved].map((matrix, i) => faceOf(new CircleGeometry(1, 300, 0.01 * i), matrix));
  expect(visits(a, b, axesOf(a, normalOf(a), b, normalOf(b)))).toBeLessThan(300);
  expect(measure(a as never, b as never).distance).toBeCloseTo(0.5, 12);
});

test('equal caps with the noise of float32 numbers are measured by a few of their triangles', () => {
  const PARTS_OF_CAP = 500;
  const tests = vi.spyOn(ClosestPointsSearch.prototype, 'overTriangle');
  onTestFinished(() => tests.mockRestore());
  const [a, b] = [0, 0.5].map((z) => {
    const cap = faceOf(
      new CircleGeometry(1, PARTS_OF_CAP),
      TURN.clone().multiply(new Matrix4().makeTranslation(0, 0, z)),
    );
    return { ...cap, corners: cap.corners.map(Math.fround) };
  });
  expect(measure(a as never, b as never).distance).toBeCloseTo(0.5, 6);
  // A pair of triangles has six tests of a side.
  const pairs = tests.mock.calls.length / 6;
  expect(pairs).toBeGreaterThan(0);
  expect(pairs).toBeLessThan(10 * PARTS_OF_CAP);
});
