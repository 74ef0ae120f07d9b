import { Matrix4, Triangle, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Corners, trianglesMeet } from '../oracle/exact.js';
import { Random, SEED } from '../oracle/random.js';
import { Twin } from './twin.js';

const PAIRS = 500;

type Pair = readonly [Corners, Corners];

const KINDS: [name: string, make: (random: Random) => Pair][] = [
  ['anywhere', (random) => [anywhere(random), anywhere(random)]],
  ['on a coarse grid', (random) => [onGrid(random), onGrid(random)]],
  ['in one plane', (random) => inPlane(random, (u, v) => new Vector3(u, v, 1))],
  ['in one oblique plane', (random) => inPlane(random, (u, v) => new Vector3(u, v, 3 - u - 2 * v))],
  ['nearly in one plane', (random) => inPlane(random, (u, v) => new Vector3(u, v, 3 - u - 2 * v + tiny(random)))],
  ['that share a vertex', (random) => sharing(random, 1)],
  ['that share an edge', (random) => sharing(random, 2)],
  ['one of which ends on the other, or nearly', endingOn],
  ['that are needles', needles],
];

let twin: Twin;
beforeEach(async () => {
  twin = await Twin.create();
  return () => twin.dispose();
});

describe(`${PAIRS} pairs of triangles meet exactly where they do, in both orders, seed ${SEED}`, () => {
  test.each(KINDS)('%s', async (_, make) => {
    const random = new Random(SEED);
    const pairs = Array.from({ length: PAIRS }, () => make(random)).filter((pair) =>
      pair.every((corners) => new Triangle(...corners).getArea() > 0),
    );
    const expected = pairs.map(([a, b]) => trianglesMeet(a, b));
    expect(expected.filter((of) => of).length).toBeGreaterThan(PAIRS / 50);
    expect(wrong(pairs, expected, await meet(pairs))).toEqual([]);
    expect(wrong(pairs, expected, await meet(pairs.map(([a, b]) => [b, a])))).toEqual([]);
  });
});

/** Those that are not as expected, in words. */
function wrong(pairs: readonly Pair[], expected: readonly boolean[], found: readonly boolean[]): string[] {
  const show = (corners: Corners) => JSON.stringify(corners.map((corner) => corner.toArray()));
  return pairs.flatMap(([a, b], i) => {
    return found[i] === expected[i] ? [] : [`${show(a)} ${expected[i] ? 'meets' : 'misses'} ${show(b)}`];
  });
}

/** As the service finds it, each pair far from the others. */
async function meet(pairs: readonly Pair[]): Promise<boolean[]> {
  const ids = await Promise.all(
    pairs.map(async (pair, i) => {
      const meshes = await Promise.all(pair.map((corners) => twin.mesh(meshOf(corners))));
      const place = new Matrix4().setPosition(0, 0, 1000 * i);
      return meshes.map((mesh) => twin.add(mesh, place));
    }),
  );
  const { contacts } = await twin.service.update();
  const found = new Set(Array.from(contacts, ({ a, b }) => `${a} ${b}`));
  for (const id of ids.flat()) twin.remove(id);
  return ids.map(([a, b]) => found.has(`${Math.min(a, b)} ${Math.max(a, b)}`));
}

function meshOf(corners: Corners) {
  return {
    positions: new Float32Array(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.of(0, 1, 2),
  };
}

function corners(make: () => Vector3): Corners {
  return [make(), make(), make()];
}

/** With coordinates that float32 holds. */
function rounded(vector: Vector3): Vector3 {
  return vector.fromArray(vector.toArray().map(Math.fround));
}

function anywhere(random: Random): Corners {
  return corners(() => rounded(random.point(1)));
}

function onGrid(random: Random): Corners {
  return corners(() => random.point(2.5).round());
}

function inPlane(random: Random, lift: (u: number, v: number) => Vector3): Pair {
  const make = () => corners(() => rounded(lift(random.integer(9) - 4, random.integer(9) - 4)));
  return [make(), make()];
}

function tiny(random: Random): number {
  return random.pick([-1, 0, 1]) * random.logRange(1e-7, 1e-3);
}

function sharing(random: Random, vertices: number): Pair {
  const a = anywhere(random);
  return [a, anywhere(random).map((corner, i) => (i < vertices ? a[i] : corner)) as unknown as Corners];
}

/** A corner of the second lies in the middle of an edge of the first, or a hair beside it. */
function endingOn(random: Random): Pair {
  const a = corners(() => random.point(2.5).round().multiplyScalar(2));
  const middle = a[0].clone().lerp(a[1], 0.5);
  const end = random.chance(0.5) ? middle : rounded(middle.add(random.direction().multiplyScalar(tiny(random))));
  return [a, [end, ...onGrid(random).slice(1)] as unknown as Corners];
}

/** Up to a million times longer than thick; they pass each other by no more than that. */
function needles(random: Random): Pair {
  const [a, b, c] = anywhere(random);
  const beside = (point: Vector3) =>
    rounded(point.clone().addScaledVector(random.direction(), random.logRange(1e-6, 1e-2)));
  const middle = a.clone().lerp(b, random.next());
  const other = [beside(middle.clone().lerp(c, -1)), beside(middle.clone().lerp(c, 1))];
  return [
    [a, b, beside(a)],
    [other[0], other[1], beside(other[0])],
  ];
}
