// `closestPoint` and `containing` among objects of all kinds that change, several queries at once, some of them aborted: against
// examining every element of every object in float64.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ComposedObject,
  type ComposedObjects,
  type ComposedScene,
  compareInRounds,
  queriedObjects,
} from '../fixtures/composed-scene.js';
import { excessOf, surfaceDistance, windingAt } from '../oracle/nearest.js';
import { SEED } from '../oracle/random.js';
import { frameOf } from '../oracle/shapes.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(SCALE);
const AT_ONCE = 8;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const CASES: [string, number, number, number][] = [
  ['one thing', 1, 1, 0],
  ['a dozen', 12, 1, 0],
  ['dozens', SCALE > 2 ? 300 : 60, 1, 0],
  ['a dozen a million away', 12, 1, 1e6],
  ['many of a millionth', SCALE > 2 ? 200 : 40, 1e-6, 0],
  ['many of a million', SCALE > 2 ? 200 : 40, 1e6, 0],
  ['many of a millionth, a millionth of a million away', SCALE > 2 ? 200 : 40, 1e-6, 1],
];
if (SCALE > 2) CASES.push(['2,000 things', 2000, 1, 0]);

/** Whether a point is inside a thing; null where rounding decides. */
function isInside(thing: ComposedObject, point: Vector3, tolerance: number): boolean | null {
  if (thing.kind === 'lines' || thing.kind === 'points') return false;
  if (thing.shape) {
    const excess = excessOf(thing, point);
    return Math.abs(excess) < tolerance ? null : excess < 0;
  }
  const winding = windingAt(thing, point);
  return Math.abs(winding - 0.5) < 0.05 ? null : winding > 0.5;
}

/** A lower bound of the least half thickness of a solid. */
function minHalfThickness({ shape, matrix }: ComposedObject): number {
  const inverse = matrix.clone().multiply(frameOf(shape!).matrix).invert();
  return (
    1 / Math.hypot(...inverse.elements.slice(0, 3), ...inverse.elements.slice(4, 7), ...inverse.elements.slice(8, 11))
  );
}

describe.each(CASES)(`${ROUNDS} rounds with %s, seed ${SEED}`, (_, count, size, away) => {
  const place = new Vector3(1, -0.5, 0.25).multiplyScalar(away);

  test('the nearest point, and what is around one', async () => {
    const spreads = [2, Math.cbrt(count), 8];
    const options = { count, rounds: ROUNDS, atOnce: AT_ONCE, size, place, spreads };
    const { queries, aborted } = await compareInRounds(service, options, (scene, things, signal, label) =>
      scene.random.chance(0.5)
        ? compareNearest(scene, things, signal, label)
        : compareContaining(scene, things, signal, label),
    );
    if (ROUNDS > 3) expect(aborted).toBeGreaterThan(0);
    expect(aborted).toBeLessThan(queries / 2);
  });

  async function compareNearest(
    scene: ComposedScene,
    things: ComposedObjects,
    signal: AbortSignal | undefined,
    label: string,
  ) {
    const { random } = scene;
    const point = pointNear(scene, things);
    const options = { ...scene.filter(), ...(signal && { signal }) };
    const maxDistance = random.pick([Infinity, Infinity, random.range(0.01, 3) * size, 0]);
    const result = await service.closestPoint(point.toArray(), { ...options, maxDistance });
    const candidates = queriedObjects(things, options);
    let minDistance = Infinity;
    let nearest: ComposedObject | undefined;
    for (const thing of candidates) {
      let distance = surfaceDistance(thing, point, place, minDistance);
      if (thing.shape && excessOf(thing, point) <= 0) distance = 0;
      if (thing.kind === 'solid mesh' && windingAt(thing, point) > 0.5) distance = 0;
      if (distance < minDistance) {
        minDistance = distance;
        nearest = thing;
      }
    }
    const tolerance = 2e-7 * size + 1e-14 * place.length();
    if (Math.abs(minDistance - maxDistance) < tolerance) return;
    if (minDistance > maxDistance || minDistance === Infinity) {
      expect(
        result,
        `${label}: the nearest is ${nearest?.kind}, ${minDistance} away, with at most ${maxDistance}`,
      ).toBeNull();
      return;
    }
    expect(result, `${label}: ${nearest?.kind} ${minDistance} away`).not.toBeNull();
    const { object, distance } = result!;
    const thing = candidates.find(({ id }) => id === object);
    expect(thing, `${label}: ${object} is not asked about`).toBeDefined();
    const details = `${label}: ${thing!.kind} ${JSON.stringify(thing!.shape)} at ${distance}, ${nearest!.kind} ${JSON.stringify(nearest!.shape)} at ${minDistance}`;
    expect(Math.abs(distance - minDistance), details).toBeLessThan(tolerance);
    const hitPoint = new Vector3(...result!.point);
    expect(Math.abs(hitPoint.distanceTo(point) - distance), details).toBeLessThan(tolerance);
    // A small distance beyond the surface of a solid is small in its own space, too, where the solid may be thin.
    if (thing!.shape)
      expect(excessOf(thing!, hitPoint), details).toBeLessThan(1e-9 + (100 * tolerance) / minHalfThickness(thing!));
    else if (distance > 0) expect(surfaceDistance(thing!, hitPoint, place), details).toBeLessThan(tolerance);
  }

  async function compareContaining(
    scene: ComposedScene,
    things: ComposedObjects,
    signal: AbortSignal | undefined,
    label: string,
  ) {
    const point = pointNear(scene, things);
    const options = { ...scene.filter(), ...(signal && { signal }) };
    const isClipped = scene.random.chance(0.3);
    const normal = scene.random.direction();
    const clip = [...normal.toArray(), -normal.dot(point) + scene.random.range(-1, 1) * size];
    const isKept = !isClipped || normal.dot(point) + clip[3] >= 0;
    const result = new Set(await service.containing(point.toArray(), { ...options, ...(isClipped && { clip }) }));
    expect([...result], label).toEqual([...result].sort((a, b) => a - b));
    for (const thing of queriedObjects(things, options)) {
      const isContained = isKept ? isInside(thing, point, 1e-6) : false;
      const isNear = surfaceDistance(thing, point, place) < 1e-5 * size + 1e-13 * place.length();
      if (isContained !== null && !isNear)
        expect(result.has(thing.id), `${label}: ${thing.kind} ${JSON.stringify(thing.shape)}`).toBe(isContained);
      result.delete(thing.id);
    }
    expect(result.size, `${label}: what is not asked about`).toBe(0);
  }

  /** A random point, or one at the centre of a thing, or on a vertex. */
  function pointNear(scene: ComposedScene, things: ComposedObjects): Vector3 {
    const { random } = scene;
    const candidates = [...things.values()];
    if (candidates.length === 0 || random.chance(0.3)) return scene.point(2 * scene.options.spread);
    const { matrix, positions } = random.pick(candidates);
    if (positions.length === 0 || random.chance(0.5))
      return random.point(random.pick([0, 0.3, 1])).applyMatrix4(matrix);
    return new Vector3()
      .fromArray(positions as number[], 3 * random.integer(positions.length / 3))
      .applyMatrix4(matrix);
  }
});
