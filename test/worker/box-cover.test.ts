// Whether boxes cover triangles, checked by sample points: a point in no box sticks out.
import { Matrix4, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { boxCover } from '../../src/worker/box-cover.js';
import { Random, SEED } from '../oracle/random.js';

let positions = new Float32Array();
vi.mock('../../src/worker/snap/corners.js', () => ({
  // biome-ignore lint/correctness/useYield: as the real one, which reads a core's memory.
  *readCorners() {
    return { positions };
  },
}));

interface Turned {
  record: number[];
  /** From the world to the unit cube. */
  inverse: Matrix4;
  half: Vector3;
}

function boxAt(random: Random, centre: Vector3, half: Vector3): Turned {
  const rotation = random.rotation();
  const placed = new Matrix4().compose(centre, rotation, new Vector3(1, 1, 1));
  return { record: [...centre.toArray(), ...half.toArray(), ...rotation.toArray()], inverse: placed.invert(), half };
}

/** The distance of a point from the nearest box. */
function distanceFrom(point: Vector3, boxes: readonly Turned[]): number {
  return Math.min(
    ...boxes.map(({ inverse, half }) => {
      const local = point.clone().applyMatrix4(inverse);
      const beyond = local.toArray().map((value, k) => Math.max(0, Math.abs(value) - half.getComponent(k)));
      return Math.hypot(...beyond);
    }),
  );
}

function check(triangles: readonly Vector3[][], boxes: readonly Turned[]) {
  positions = Float32Array.from(triangles.flatMap((corners) => corners.flatMap((corner) => corner.toArray())));
  const work = boxCover(() => new ArrayBuffer(0), 0, Float64Array.from(boxes.flatMap(({ record }) => record)));
  let rests = 0;
  for (;;) {
    const { done, value } = work.next();
    if (done) return { ...value, rests };
    rests++;
  }
}

const STEPS = 24;
function* pointsOf([a, b, c]: readonly Vector3[]): Generator<Vector3> {
  for (let i = 0; i <= STEPS; i++) {
    for (let j = 0; i + j <= STEPS; j++) {
      const [u, v] = [i / STEPS, j / STEPS];
      yield a
        .clone()
        .multiplyScalar(1 - u - v)
        .addScaledVector(b, u)
        .addScaledVector(c, v);
    }
  }
}

test(`what sticks out of boxes is what points of the triangles say, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let [held, out] = [0, 0];
  for (let round = 0; round < 60; round++) {
    const boxes = Array.from({ length: 1 + random.integer(4) }, () =>
      boxAt(random, random.point(0.6), new Vector3(random.range(0.5, 2), random.range(0.5, 2), random.range(0.5, 2))),
    );
    const triangles = Array.from({ length: 1 + random.integer(3) }, () => {
      const centre = random.point(0.8);
      const corner = () => random.point(random.range(0.3, 1.6)).add(centre).toArray();
      return [corner(), corner(), corner()].map((place) => new Vector3(...Float32Array.from(place)));
    });
    const { conservative, triangles: count, farthest } = check(triangles, boxes);
    let most = 0;
    let some = 0;
    for (const triangle of triangles) {
      const far = Math.max(...Array.from(pointsOf(triangle), (point) => distanceFrom(point, boxes)));
      most = Math.max(most, far);
      if (far > 1e-3) some++;
    }
    expect(count).toBeGreaterThanOrEqual(some);
    expect(conservative).toBe(count === 0);
    if (count === 0) expect(farthest).toBe(0);
    // Computed from the corners and the middles of the remaining pieces: no more than for the farthest point.
    expect(farthest).toBeLessThanOrEqual(most + 0.05);
    const corners = Math.max(...triangles.flat().map((corner) => distanceFrom(corner, boxes)));
    expect(farthest).toBeGreaterThanOrEqual(corners - 1e-6);
    // One box is convex, so that a corner is the farthest point.
    if (boxes.length === 1) expect(farthest).toBeCloseTo(corners, 6);
    if (conservative) held++;
    else if (some > 0) out++;
  }
  expect(held).toBeGreaterThan(5);
  expect(out).toBeGreaterThan(20);
});

test(`boxes that share a face hold what crosses it, and a gap of theirs shows, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (const gap of [0, -0.1, 0.01]) {
    for (let round = 0; round < 12; round++) {
      const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
      const rotation = random.rotation().setFromRotationMatrix(turn);
      // Three in a row along x; the middle one is 2 wide.
      const boxes = [-1, 0, 1].map((i): Turned => {
        const centre = new Vector3((2 + gap) * i, 0, 0).applyMatrix4(turn);
        const half = new Vector3(1, 2, 3);
        const inverse = new Matrix4().compose(centre, rotation, new Vector3(1, 1, 1)).invert();
        return { record: [...centre.toArray(), 1, 2, 3, ...rotation.toArray()], inverse, half };
      });
      const inside = (x: number) => new Vector3(x, random.range(-1.9, 1.9), random.range(-2.9, 2.9)).applyMatrix4(turn);
      const triangle = [inside(-2.5), inside(0), inside(2.5)];
      const { conservative, triangles, farthest } = check([triangle, [inside(0), inside(0.5), inside(-0.5)]], boxes);
      expect(conservative).toBe(gap <= 0);
      expect(triangles).toBe(gap <= 0 ? 0 : 1);
      if (gap <= 0) expect(farthest).toBe(0);
      else expect(farthest).toBeCloseTo(gap / 2, 5);
    }
  }
});

test('no more is out than rounding leaves, and a little more is', () => {
  const random = new Random(SEED);
  const box = boxAt(random, new Vector3(), new Vector3(1, 1, 1));
  box.record.splice(6, 4, 0, 0, 0, 1);
  const flat = (x: number) => [new Vector3(x, -0.5, 0), new Vector3(x, 0.5, 0), new Vector3(x, 0, 0.5)];
  expect(check([flat(1), flat(-1)], [box])).toMatchObject({ conservative: true, triangles: 0, farthest: 0 });
  for (const out of [1.000001, -1.000001]) {
    const { conservative, triangles, farthest } = check([flat(1), flat(out)], [box]);
    expect([conservative, triangles]).toEqual([false, 1]);
    expect(farthest).toBeCloseTo(1e-6, 7);
  }
  expect(check([], [box])).toEqual({ conservative: true, triangles: 0, farthest: 0, rests: 0 });
  expect(check([flat(1)], [])).toMatchObject({ triangles: 1, farthest: Number.POSITIVE_INFINITY });
  // It yields after each 256 triangles, more often if there are many boxes, and after each 65,536 numbers.
  expect(
    check(
      Array.from({ length: 1024 }, () => flat(1)),
      [box],
    ).rests,
  ).toBe(4);
  expect(
    check(
      Array.from({ length: 8192 }, () => flat(1)),
      [box],
    ).rests,
  ).toBe(32 + 1);
  const apart = Array.from({ length: 255 }, (_, i) =>
    boxAt(random, new Vector3(9 + 9 * i, 0, 0), new Vector3(1, 1, 1)),
  );
  expect(
    check(
      Array.from({ length: 256 }, () => flat(1)),
      [box, ...apart],
    ),
  ).toMatchObject({ triangles: 0, rests: 128 });
});

test(`it rests while one triangle is cut by many boxes, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const boxes = Array.from({ length: 256 }, () =>
    boxAt(random, new Vector3(random.range(0, 50), random.range(0, 50), 0), new Vector3(1, 1, 1)),
  );
  const triangle = [new Vector3(), new Vector3(100, 0, 0), new Vector3(0, 100, 0)];
  const { triangles, farthest, rests } = check([triangle], boxes);
  expect(triangles).toBe(1);
  expect(farthest).toBeCloseTo(Math.max(...triangle.map((corner) => distanceFrom(corner, boxes))), 6);
  // There are hundreds of pieces, each of which is tested against each box.
  expect(rests).toBeGreaterThan(200);
});
