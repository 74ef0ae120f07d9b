import { Vector3 } from 'three';
import type { Corners } from './exact.js';
import type { Random } from './random.js';

export type TrianglePair = readonly [Corners, Corners];

/** Pairs of triangles that are difficult to test, each in its own way. All coordinates are exact in float32. */
export const TRIANGLE_KINDS: [name: string, make: (random: Random) => TrianglePair][] = [
  ['anywhere', (random) => [anywhere(random), anywhere(random)]],
  ['on a coarse grid', (random) => [onGrid(random), onGrid(random)]],
  ['in one plane', (random) => inPlane(random, (u, v) => new Vector3(u, v, 1))],
  ['in one oblique plane', (random) => inPlane(random, oblique)],
  [
    'nearly in one plane',
    (random) => inPlane(random, (u, v) => oblique(u, v).add(new Vector3(0, 0, tinyOffset(random)))),
  ],
  ['one inside the other in their plane, or beside it', insideOrBeside],
  ['that share a vertex', (random) => sharing(random, 1)],
  ['that share an edge', (random) => sharing(random, 2)],
  ['one of which ends on the other, or nearly', endingOn],
  ['that are needles', needles],
  ['with corners nearly in line', nearlyFlat],
  ['of very different sizes', ofTwoSizes],
  ['10⁶ units out', farOut],
];

function corners(make: () => Vector3): Corners {
  return [make(), make(), make()];
}

/** Rounds coordinates to float32. */
function roundToFloat32(vector: Vector3): Vector3 {
  return vector.fromArray(vector.toArray().map(Math.fround));
}

function anywhere(random: Random): Corners {
  return corners(() => roundToFloat32(random.point(1)));
}

function onGrid(random: Random): Corners {
  return corners(() => random.point(2.5).round());
}

function inPlane(random: Random, lift: (u: number, v: number) => Vector3): TrianglePair {
  const make = () => corners(() => roundToFloat32(lift(random.integer(9) - 4, random.integer(9) - 4)));
  return [make(), make()];
}

function oblique(u: number, v: number): Vector3 {
  return new Vector3(u, v, 3 - u - 2 * v);
}

function tinyOffset(random: Random): number {
  return random.pick([-1, 0, 1]) * random.logRange(1e-7, 1e-3);
}

/** The second triangle is much smaller, and near a point of the first one's plane inside the first, on its border or outside. */
function insideOrBeside(random: Random): TrianglePair {
  const step = 2 ** -6;
  const lift = random.chance(0.5) ? oblique : (u: number, v: number) => new Vector3(1, u, v);
  const large = [0, 1, 2].map(() => [random.integer(33) - 16, random.integer(33) - 16]);
  const [u, v] = [0, 1].map((axis) => {
    const weights = random.pick([
      [2, 1, 1],
      [2, 2, 0],
      [4, 0, 0],
      [3, 2, -1],
    ]);
    return weights.reduce((sum, weight, i) => sum + (weight / 4) * large[i][axis], 0);
  });
  const pointNear = () => lift(u + step * (random.integer(9) - 4), v + step * (random.integer(9) - 4));
  return [large.map(([x, y]) => lift(x, y)) as unknown as Corners, corners(pointNear)];
}

function sharing(random: Random, vertices: number): TrianglePair {
  const a = anywhere(random);
  return [a, anywhere(random).map((corner, i) => (i < vertices ? a[i] : corner)) as unknown as Corners];
}

/** A corner of the second is at the midpoint of an edge of the first, or very close to it. */
function endingOn(random: Random): TrianglePair {
  const a = corners(() => random.point(2.5).round().multiplyScalar(2));
  const midpoint = a[0].clone().lerp(a[1], 0.5);
  const end = random.chance(0.5)
    ? midpoint
    : roundToFloat32(midpoint.add(random.direction().multiplyScalar(tinyOffset(random))));
  return [a, [end, ...onGrid(random).slice(1)] as unknown as Corners];
}

/** Up to a million times longer than thick; they pass each other at no more than their thickness. */
function needles(random: Random): TrianglePair {
  const [a, b, c] = anywhere(random);
  const pointBeside = (point: Vector3) =>
    roundToFloat32(point.clone().addScaledVector(random.direction(), random.logRange(1e-6, 1e-2)));
  const midpoint = a.clone().lerp(b, random.next());
  const other = [pointBeside(midpoint.clone().lerp(c, -1)), pointBeside(midpoint.clone().lerp(c, 1))];
  return [
    [a, b, pointBeside(a)],
    [other[0], other[1], pointBeside(other[0])],
  ];
}

/** The third corner is on the line of the others, up to the last few digits; all are on one grid of float32. */
function nearlyFlat(random: Random): TrianglePair {
  const grid = 2 ** -20;
  const make = (): Corners => {
    const [a, b] = [random.point(2.5).round(), random.point(2.5).round()];
    const nudge = () => grid * (random.integer(5) - 2);
    const c = a.clone().lerp(b, random.pick([-1, 0.25, 0.5, 2]));
    return [a, b, c.add(new Vector3(nudge(), nudge(), nudge()))];
  };
  return [make(), random.chance(0.5) ? make() : onGrid(random)];
}

/** One is up to 10⁶ times larger than the other, which is near a point of it. */
function ofTwoSizes(random: Random): TrianglePair {
  const [a, b, c] = anywhere(random);
  const size = random.logRange(1e-6, 1e-2);
  const [u, v] = [random.next(), random.next()];
  const near = a.clone().addScaledVector(b.clone().sub(a), u).addScaledVector(c.clone().sub(a), v);
  return [[a, b, c], corners(() => roundToFloat32(random.point(size).add(near)))];
}

/** At a distance where float32 has steps of 1/16. */
function farOut(random: Random): TrianglePair {
  const offset = new Vector3(1e6, -1e6, 1e6);
  const size = random.pick([0.3, 2, 50]);
  const make = () => corners(() => roundToFloat32(random.point(size).add(offset)));
  return [make(), make()];
}
