// Rays that begin 10⁶ to 10¹⁸ radii away from what they hit, where float64 alone places a point to 10⁻¹⁰ to 10² radii:
// each against the given ray, moved near in rational arithmetic.
import { NO_OBJECT } from 'collision-worker';
import { Matrix4, Ray, Vector3 } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { icosphere } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { nearestOnRay } from '../../../oracle/rational.js';
import { type OracleHit, rayHits } from '../../../oracle/ray.js';

const RAYS = 150;
const DISTANCES = [1e6, 1e9, 1e12, 3e12, 1e15, 1e18];
const SIZES = [1, 1e-6, 1e6];
const NEAR = 100;

describe.each(PLACES)(`%s, ${RAYS} rays each, seed ${SEED}`, (name, place) => {
  describe.each(DISTANCES)('from %d radii away', (distance) => {
    test.each(SIZES)('spheres of triangles and boxes of the size %d', async (size) => {
      // Where the place costs the digits of the size, the object is a different one.
      if (size < 1 && name !== PLACES[0][0]) return;
      await check(place, size, distance * size, false);
    });

    test('beside an object as far away as the ray begins', () => check(place, 1, distance, true));
  });
});

async function check(place: Vector3, size: number, distance: number, isWide: boolean): Promise<void> {
  const random = new Random(SEED);
  const twin = await Twin.create();
  onTestFinished(() => twin.dispose());
  const sphere = await twin.mesh(icosphere(1, 3));
  const box = twin.box(new Vector3(0.3, 0.4, 0.5));
  for (let i = 0; i < 3; i++) {
    const at = random.point(0.4 * size).add(place);
    twin.add(i === 2 ? box : sphere, random.placement(at, { low: 0.5 * size, high: 2 * size, sheared: 0.5 }));
  }
  const items = [...twin.items.values()];
  if (isWide) {
    const away = new Vector3(0, 0.7 * distance, -0.7 * distance).add(place);
    twin.add(box, new Matrix4().setPosition(away));
    twin.add(sphere, new Matrix4().setPosition(away.negate()));
  }
  // Of two objects at one distance, in float64 beside a scene this wide, either may be the nearest.
  const tie = isWide ? 4e-16 * distance : -1;
  let hitting = 0;
  const narrow: { ray: Ray; expected: OracleHit[] }[] = [];
  for (let i = 0; i < RAYS; i++) {
    const ray = i % 3 === 0 ? general(random, place, size, distance) : alongAxis(random, place, size, distance);
    const expected = exactHits(items, ray, place, size);
    hitting += Number(expected.length > 0);
    const query = { origin: ray.origin.toArray(), direction: ray.direction.toArray() };
    const nearest = await twin.service.raycast(query);
    const first = nearestOf(expected, nearest?.object, tie);
    expect([i, nearest?.object, nearest?.triangle]).toEqual([i, first?.id, first?.triangle]);
    const all = await twin.service.raycastAll(query);
    const names = (hits: { triangle: number }[]) => hits.map(({ triangle }) => triangle).sort((a, b) => a - b);
    expect([i, names(all)]).toEqual([i, names(expected)]);
    for (const [k, hit] of all.entries()) {
      expect(hit.distance).toBeGreaterThanOrEqual(all[Math.max(k - 1, 0)].distance);
      const truth = expected.find(
        ({ id, triangle, front }) =>
          id === hit.object && triangle === hit.triangle && front === isFront(hit.normal, ray),
      )!;
      expect(new Vector3(...hit.point).distanceTo(truth.point)).toBeLessThan(1e-6 * size);
      expect(Math.abs(hit.distance - truth.distance)).toBeLessThan(1e-6 * size + 1e-15 * distance);
    }
    if (nearest) expect(new Vector3(...nearest.point).distanceTo(first!.point)).toBeLessThan(1e-6 * size);
    if (i % 3 === 2) {
      // From one side to the other: what lies beyond is not in the way.
      const beyond = ray.direction
        .clone()
        .setLength(NEAR * size)
        .setX(-NEAR * size);
      const to = nearestOnRay(ray, place).add(place).add(beyond);
      if (!isWide) expect(await twin.service.lineOfSight(query.origin, to.toArray())).toBe(expected.length === 0);
      narrow.push({ ray, expected });
    }
  }
  expect(hitting).toBeGreaterThan(RAYS / 4);
  expect(hitting).toBeLessThan(RAYS);

  // As float32 numbers they are different rays.
  const rays = new Float32Array(
    narrow.flatMap(({ ray }) => [...ray.origin.toArray(), 0, ...ray.direction.toArray(), Infinity]),
  );
  const many = await twin.service.raycastMany(rays);
  for (let i = 0; i < narrow.length; i++) {
    const [origin, direction] = [8 * i, 8 * i + 4].map((at) => new Vector3(...rays.subarray(at, at + 3)));
    const expected = nearestOf(exactHits(items, new Ray(origin, direction), place, size), many.objects[i], tie);
    expect([i, many.objects[i], many.triangles[i]]).toEqual([i, expected?.id ?? NO_OBJECT, expected?.triangle ?? -1]);
  }
}

/** The first hit; or the first on that object, if no more than `tie` farther away. */
function nearestOf(hits: OracleHit[], object: number | undefined, tie: number): OracleHit | undefined {
  return hits.find(({ id, distance }) => id === object && distance - hits[0].distance <= tie) ?? hits[0];
}

function isFront(normal: ArrayLike<number>, { direction }: Ray): boolean {
  return direction.x * normal[0] + direction.y * normal[1] + direction.z * normal[2] < 0;
}

/** From any direction, through the centre if float64 has no digits for another aim. */
function general(random: Random, place: Vector3, size: number, distance: number): Ray {
  const direction = random.direction().multiplyScalar(distance);
  const aim = distance > 1e14 * size ? place : random.point(size).add(place);
  return new Ray(aim.clone().sub(direction), direction);
}

/** Nearly along x, where the other coordinates have digits for any aim. */
function alongAxis(random: Random, place: Vector3, size: number, distance: number): Ray {
  const [from, to] = [random.point(1.3 * size), random.point(1.3 * size)];
  const slope = new Vector3(0, to.y - from.y, to.z - from.z);
  return new Ray(from.setX(distance).add(place), slope.setX(-distance));
}

/** In the ray's order, with distances from its origin. */
function exactHits(items: Parameters<typeof rayHits>[0], ray: Ray, place: Vector3, size: number): OracleHit[] {
  const direction = ray.direction.clone().normalize();
  const near = nearestOnRay(ray, place);
  const start = near
    .clone()
    .addScaledVector(direction, -NEAR * size)
    .add(place);
  const before = start.distanceTo(ray.origin);
  return rayHits(items, new Ray(start, direction)).map((hit) => ({ ...hit, distance: hit.distance + before }));
}
