// Random sweeps against `overlap`, which knows nothing of motions: nothing overlaps before the time, and at that time a shape
// that is moved slightly against the normal does. `CASES=20000` checks this many of each pair of shapes, over all worlds.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import type { NearObject } from '../../../fixtures/near-scene.js';
import {
  axisAligned,
  Poses,
  SHAPE_KINDS,
  SHAPE_TRANSFORM,
  type SweepPath,
  SweepWorld,
  WORLDS,
} from '../../../fixtures/sweep-world.js';
import { SEED } from '../../../oracle/random.js';
import type { AnyShape } from '../../../oracle/shapes.js';

/** Of each pair of shapes, in each world. */
const COUNT = Math.ceil(Number(process.env.CASES ?? 48) / WORLDS.length);
/** Of each shape, in each world: motions that are pure rotations. */
const TURNS = 10 * COUNT;
/** Positions on the path that are checked; as many again, each closer to the hit by half, are checked just before it. */
const PLACES_ASKED = 64;
const HALVINGS = 24;
/** How far a shape reaches from its position, and how far from the scene's place two can collide, in sizes of the scene. */
const REACH = 3;
const NEARBY = 16;

interface Case {
  thing: NearObject;
  shape: AnyShape;
  way: SweepPath;
  turns: boolean;
  message: string;
  /** The direction in which the path would be farther from the object, if known. */
  away?: Vector3;
}

/** Checks a sweep, and returns whether it hits the object. */
function expectTrue(world: SweepWorld, { thing, shape, way, turns, message, away }: Case): boolean {
  const { scale: s, scene } = world;
  const tolerance = turns ? 1e-4 * s : 0;
  const hit = world.sweep(shape, way, turns ? tolerance : undefined);
  const poses = new Poses(way);
  const { length } = poses;
  const digits = 4e-16 * (scene.place.length() + length);
  // No time closer to the hit than rounding.
  const rounding = 1e-8 * REACH * s + 8 * digits;
  const sure = (time: number) => time - rounding / (length + REACH * s * (turns ? 1 : 1e-3));
  const end = hit === null ? 1 : sure(hit.time);
  // On a path that only grazes, a shape nearer by rounding hits much sooner.
  const aside = new Matrix4().makeTranslation(
    (hit ? new Vector3(...hit.normal) : (away ?? new Vector3())).clone().setLength(rounding),
  );
  const expectNone = (time: number) => {
    const pose = poses.at(time);
    if (world.overlaps(shape, pose).length === 0 || world.overlaps(shape, pose.premultiply(aside)).length === 0) return;
    expect.fail(`${message}: overlaps at ${time} before ${hit?.time}`);
  };
  if (end > 0) {
    const [from, to] = poses.within(NEARBY * s) ?? [0, 1];
    const last = Math.min(end, to);
    for (let i = 0; i <= PLACES_ASKED && from <= last; i++) expectNone(from + ((last - from) * i) / PLACES_ASKED);
    if (hit !== null) for (let i = 1; i <= HALVINGS; i++) expectNone(end * (1 - 2 ** -i));
    expectNone(0);
    expectNone(end);
  }
  if (hit === null) return false;
  expect(hit.object, message).toBe(thing.id);
  const normal = new Vector3(...hit.normal);
  expect(normal.length(), message).toBeCloseTo(1, 6);
  const pose = poses.at(hit.time);
  const near = Math.max(2 * tolerance, 2e-6 * s) + 8 * digits;
  if (hit.depth > 0) {
    expect(hit.time, message).toBe(0);
    expect(world.overlaps(shape, pose).length, message).toBe(1);
    return true;
  }
  // A thin object is soon passed: one of these displacements has the right length, or the distance of the two is checked.
  const meetsBehind = [near, 0.1 * near, 0.01 * near].some((by) => {
    const pushed = pose.clone().premultiply(new Matrix4().makeTranslation(normal.clone().multiplyScalar(-by)));
    return world.overlaps(shape, pushed).length === 1;
  });
  if (!meetsBehind && !world.areNear(thing, shape, pose, near)) expect.fail(`${message}: nothing at ${hit.time}`);
  // The point is on the object, and the shape is as near.
  const place = { type: 'sphere', radius: 4 * near } as const;
  const at = new Matrix4().makeTranslation(new Vector3(...hit.point).sub(scene.place));
  expect(world.overlaps({ shape: place }, at).length, `${message}: no point at ${hit.point}`).toBe(1);
  return true;
}

const moved = ({ from, to }: SweepPath, by: Vector3): SweepPath => {
  const move = new Matrix4().makeTranslation(by);
  return { from: from.clone().premultiply(move), to: to.clone().premultiply(move) };
};

/** Moves a path that hits the object aside until it barely hits, and barely misses: null if it always hits. */
function grazing(world: SweepWorld, shape: AnyShape, way: SweepPath, away: Vector3): [SweepPath, SweepPath] | null {
  const { random, scale: s } = world;
  const aside = away.clone().multiplyScalar(20 * s);
  let [low, high] = [0, 1];
  const at = (by: number) => moved(way, aside.clone().multiplyScalar(by));
  if (world.sweep(shape, at(high)) !== null) return null;
  for (let i = random.integer(20); i < 26; i++) {
    const middle = 0.5 * (low + high);
    if (world.sweep(shape, at(middle)) === null) high = middle;
    else low = middle;
  }
  return [at(low), at(high)];
}

function drawCase(world: SweepWorld, a: string, b: string, i: number): Case {
  const { random, scene, scale } = world;
  const isSquare = random.chance(0.15);
  const isPlain = isSquare || random.chance(0.5);
  const origin = scene.exactPoint(random.point(0.5 * scale));
  const placement = isPlain ? random.placement(origin) : random.placement(origin, SHAPE_TRANSFORM);
  const matrix = isSquare
    ? new Matrix4().compose(origin, axisAligned(random.rotation()), new Vector3(1, 1, 1))
    : placement;
  const thing = scene.add(world.shape(b as (typeof SHAPE_KINDS)[number]), matrix);
  const turns = random.chance(0.4);
  const stretched = isPlain || turns ? new Matrix4() : random.placement(new Vector3(), SHAPE_TRANSFORM);
  const shape = world.shape(a as (typeof SHAPE_KINDS)[number]);
  const way = world.way(turns, stretched, isSquare);
  return { thing, shape, way, turns, message: `case ${i}` };
}

describe.each(WORLDS)(`sweeps in a world %s, seed ${SEED}`, { timeout: 36_000_000 }, (_, scale, place) => {
  const pairs = SHAPE_KINDS.flatMap((a) => SHAPE_KINDS.map((b) => [a, b] as const));
  test.each(pairs)(`a %s at a %s, ${COUNT} times`, async (a, b) => {
    const seed = SEED * 64 + SHAPE_KINDS.indexOf(a) * 4 + SHAPE_KINDS.indexOf(b);
    const world = await SweepWorld.at(place, scale, seed);
    const { scene } = world;
    let met = 0;
    const wrong: string[] = [];
    const isTrue = (each: Case): boolean => {
      try {
        return expectTrue(world, each);
      } catch (error) {
        wrong.push((error as Error).message);
        return false;
      }
    };
    for (let i = 0; i < COUNT; i++) {
      // Each case has a seed of its own, so that a failing one can be run alone.
      world.random.restart(seed * 100_003 + i);
      const drawn = drawCase(world, a, b, i);
      const isMet = isTrue(drawn);
      if (isMet) met++;
      if (isMet && world.random.chance(0.3)) {
        const away = world.random.direction();
        const ways = grazing(world, drawn.shape, drawn.way, away) ?? [];
        ways.forEach((way, k) => {
          isTrue({ ...drawn, way, away, message: `case ${i}, grazing ${k}` });
        });
      }
      scene.remove(drawn.thing);
    }
    expect(wrong).toEqual([]);
    expect(met).toBeGreaterThan(COUNT / 16);
  });

  // With a path of no length, a shape reaches what it hits by its rotation alone.
  test.each(SHAPE_KINDS)(`a %s that turns in its place, at each other shape, ${TURNS} times`, async (a) => {
    const seed = SEED * 64 + 16 + SHAPE_KINDS.indexOf(a);
    const world = await SweepWorld.at(place, scale, seed);
    const { random, scene } = world;
    let met = 0;
    const wrong: string[] = [];
    for (let i = 0; i < TURNS; i++) {
      random.restart(seed * 100_003 + i);
      const message = `case ${i}`;
      const origin = scene.exactPoint(random.point(0.5 * scale));
      const thing = scene.add(world.shape(SHAPE_KINDS[i % SHAPE_KINDS.length]), random.placement(origin));
      const shape = world.shape(a);
      const at = scene.exactPoint(random.direction().multiplyScalar(scale * random.range(0.5, 2.5)));
      const pose = () => new Matrix4().makeRotationFromQuaternion(random.rotation()).setPosition(at);
      try {
        const way = { from: pose(), to: pose() };
        if (expectTrue(world, { thing, shape, way, turns: true, message })) met++;
      } catch (error) {
        wrong.push((error as Error).message);
      }
      scene.remove(thing);
    }
    expect(wrong).toEqual([]);
    expect(met).toBeGreaterThan(TURNS / 16);
  });
});
