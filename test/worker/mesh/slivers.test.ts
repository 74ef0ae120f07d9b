// Triangles that have an area in their mesh, and little or none where they are placed: there they are segments and
// points. Against rational arithmetic on the float64 corners, in both orders, in every detail.
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, intersectingTriangles, meshesIntersect, startCore } from '../../fixtures/core.js';
import type { Corners } from '../../oracle/exact.js';
import { Random, SEED } from '../../oracle/random.js';
import { hullsMeet } from '../../oracle/rational.js';

const PAIRS = 400;

/** The matrix moves the second triangle, whose corners are then float64 numbers that float32 could not represent. */
interface Pair {
  a: Corners;
  b: Corners;
  matrix: Matrix4;
  /** The inverse exceeds the range of float64. */
  isOneWay?: boolean;
}

const KINDS: [name: string, make: (random: Random) => Pair][] = [
  ['slivers that collapse where they are moved', (random) => collapsing(random, sliver(random), anywhere(random))],
  ['slivers 10⁶ units away', (random) => collapsing(random, sliver(random), anywhere(random), 1e6)],
  ['slivers in the plane of the other', (random) => collapsing(random, sliver(random), flat(random))],
  ['slivers that end on the other', endingOn],
  ['needles', (random) => collapsing(random, needle(random), flat(random))],
  ['specks that become points', (random) => collapsing(random, speck(random), flat(random))],
  ['two segments', segments],
  ['a point and a segment', pointOnSegment],
  ['triangles flattened by their matrix', flattened],
];

let core: Core;
beforeEach(async () => {
  core = await startCore();
});

describe(`${PAIRS} pairs with a sliver, in both orders, seed ${SEED}`, () => {
  test.each(KINDS)('%s', (_, make) => {
    const counts = check(make);
    expect(counts.collinear).toBeGreaterThan(PAIRS / 2);
    expect(counts.meeting).toBeGreaterThan(PAIRS / 50);
    expect(counts.meeting).toBeLessThan(PAIRS);
  });
});

test.each([3, 9, 12, 13, 14, 16, 19, 22, 25, 30, 35])(
  `${PAIRS} pairs of triangles, one 10^%d times smaller, in both orders, seed ${SEED}`,
  (exponent) => {
    const { meeting } = check((random) => farSmaller(random, 10 ** -exponent));
    expect(meeting).toBeGreaterThan(PAIRS / 50);
    expect(meeting).toBeLessThan(PAIRS);
  },
);

function check(make: (random: Random) => Pair) {
  const random = new Random(SEED);
  const wrong: string[] = [];
  const counts = { collinear: 0, meeting: 0 };
  for (let i = 0; i < PAIRS; i++) {
    const { a, b, matrix, isOneWay } = withAreas(() => make(random));
    const placed = under(b, matrix);
    counts.collinear += Number(!hasArea(placed));
    const expected = hullsMeet(inTree(a), placed);
    counts.meeting += Number(expected);
    const back = inverseOf(matrix);
    const expectedBack = isOneWay ? expected : hullsMeet(inTree(b), under(a, back));
    const [p, q] = [a, b].map((corners) => core.loadMesh(bake(core, meshOf(corners))));
    const found = [meshesIntersect(core, p, q, matrix.elements)];
    found.push(isOneWay ? found[0] : meshesIntersect(core, q, p, back.elements));
    const pairs = intersectingTriangles(core, p, q, matrix.elements).length / 2;
    if (found[0] !== expected || found[1] !== expectedBack || pairs !== Number(expected)) {
      wrong.push(`${inWords(a, b, matrix)}: ${found}, ${pairs} pairs, expected ${expected}, ${expectedBack}`);
    }
    core.freeMesh(p);
    core.freeMesh(q);
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  return counts;
}

/** In rational arithmetic: returns whether the corners are not collinear. */
function hasArea([a, b, c]: Corners): boolean {
  return !(hullsMeet([a, b], [c]) || hullsMeet([b, c], [a]) || hullsMeet([c, a], [b]));
}

/** A pair of triangles with areas, in trees whose origin is the mesh's own. */
function withAreas(make: () => Pair): Pair {
  for (;;) {
    const pair = make();
    if ([pair.a, pair.b].every((corners) => hasArea(corners) && isAboutOrigin(corners))) return pair;
  }
}

/**
 * Returns whether a tree has the mesh's own origin. Far from that,
 * its origin is another one: differences from it collapse later.
 */
function isAboutOrigin(corners: Corners): boolean {
  return [0, 1, 2].every((axis) => {
    const values = corners.map((corner) => corner.getComponent(axis));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return Math.abs(Math.fround((low + high) / 2)) <= 2 * (high - low);
  });
}

function under(corners: Corners, matrix: Matrix4): Corners {
  return corners.map((corner) => corner.clone().applyMatrix4(matrix)) as unknown as Corners;
}

/** The inverse, affine to the last bit. */
function inverseOf(matrix: Matrix4): Matrix4 {
  const inverse = matrix.clone().invert();
  for (const [i, value] of [0, 0, 0, 1].entries()) inverse.elements[4 * i + 3] = value;
  return inverse;
}

/** The corners as float32 coordinates of a tree, which lose details 10⁴⁵ times smaller than the mesh. */
function inTree(corners: Corners): Corners {
  const largest = Math.max(...corners.flatMap((corner) => corner.toArray().map(Math.abs)));
  const unit = 2 ** Math.floor(Math.log2(largest));
  return corners.map((corner) => rounded(corner.clone().divideScalar(unit)).multiplyScalar(unit)) as unknown as Corners;
}

/** A triangle near the sliver, both moved and sheared so that the sliver's last digits are lost. */
function collapsing(random: Random, b: Corners, a: Corners, far = 1): Pair {
  const move = new Vector3(0.25, random.pick([0.25, -0.5, 1]), 0.5);
  const matrix = new Matrix4()
    .makeShear(1, 0, 0, 0, 0, 0)
    .setPosition(move)
    .multiply(new Matrix4().makeScale(far, far, far));
  return { a: under(a, matrix).map(rounded) as unknown as Corners, b, matrix };
}

/** The third corner is on the line of the others, to within 10⁻¹⁷ or less. */
function sliver(random: Random): Corners {
  const ends = [new Vector3(eighths(random), 0, -1), new Vector3(eighths(random), 0, 1)];
  const third = ends[0].clone().lerp(ends[1], random.integer(5) / 4);
  third.y = random.pick([-1, 1]) * random.logRange(1e-24, 1e-17);
  return shuffled(random, [ends[0], ends[1], third]);
}

/** Two corners all but coincide. */
function needle(random: Random): Corners {
  const end = new Vector3(0, 0, eighths(random));
  const beside = end.clone().setX(random.logRange(1e-30, 1e-17));
  return shuffled(random, [end, beside, new Vector3(eighths(random), random.integer(3) - 1, eighths(random))]);
}

/** All corners all but coincide. */
function speck(random: Random): Corners {
  const [p, q] = [random.point(1e-18), random.point(1e-18)];
  return [p, q, p.clone().negate()].map(rounded) as unknown as Corners;
}

function flat(random: Random): Corners {
  return corners(() => new Vector3(eighths(random), 0, eighths(random)));
}

function anywhere(random: Random): Corners {
  return corners(() => rounded(random.point(1)));
}

function eighths(random: Random): number {
  return (random.integer(17) - 8) / 8;
}

function corners(make: () => Vector3): Corners {
  return [make(), make(), make()];
}

/**
 * An end, or the midpoint, of the remaining segment is a corner
 * of the other triangle, or a point of its edge or interior.
 */
function endingOn(random: Random): Pair {
  const b = sliver(random);
  const on = random
    .pick([b[0], b[1], b[0].clone().lerp(b[1], 0.5)])
    .clone()
    .setY(0);
  const [u, v] = [random.point(2.5).round(), random.point(2.5).round()];
  const [first, second] = random.pick([
    [0, 0],
    [0.5, 0],
    [0.25, 0.5],
    [-0.25, 0.5],
  ]);
  const start = on.clone().addScaledVector(u, -first).addScaledVector(v, -second);
  return collapsing(random, b, [start, start.clone().add(u), start.clone().add(v)]);
}

/** Both have lost their thickness, the first in its tree and the second under its matrix. */
function segments(random: Random): Pair {
  const size = 2 ** 40;
  const large = (corner: Vector3) => corner.clone().setY(0).multiplyScalar(size);
  const [p, q, r, s] = corners(() => new Vector3(eighths(random), 0, eighths(random))).concat(new Vector3());
  const between = (from: Vector3, to: Vector3) => from.clone().lerp(to, random.integer(5) / 4);
  const first = [large(p), large(q), large(between(p, q)).setY(1e-40)].map(rounded);
  const start = random.chance(0.3) ? between(p, q) : r;
  const second = [start, s, between(start, s).setY(1e-30)];
  const matrix = new Matrix4().makeScale(size, 1e-300, size).setPosition(0, random.pick([0, 0, 0, size]), 0);
  return { a: first as unknown as Corners, b: shuffled(random, second as unknown as Corners), matrix, isOneWay: true };
}

function pointOnSegment(random: Random): Pair {
  const { a } = segments(random);
  const place = a[0].clone().lerp(a[1], random.pick([-0.25, 0, 0.25, 0.5, 1, 1.25]));
  if (random.chance(0.3)) place.x += 2 ** 36;
  const matrix = new Matrix4().makeScale(1, 1e-310, 1).setPosition(place);
  return { a, b: speck(random), matrix, isOneWay: true };
}

/** A triangle's thickness is lost beside its position. */
function flattened(random: Random): Pair {
  const b = corners(() => rounded(new Vector3(eighths(random), random.range(-1, 1), 0)));
  const matrix = new Matrix4().makeScale(1, 1e-20, 1).setPosition(0, random.pick([0.5, 1, 3]), 0);
  const y = matrix.elements[13];
  const a = corners(() => new Vector3(eighths(random), y + random.integer(3) - 1, random.integer(3) - 1));
  return { a, b, matrix };
}

/** The smaller one is near the centre of the larger one, within its own size. */
function farSmaller(random: Random, size: number): Pair {
  const [u, v] = [rounded(random.point(1)), rounded(random.point(1))];
  const a = [u, v, u.clone().add(v).negate()].map(rounded) as unknown as Corners;
  const matrix = random.placement(random.point(0.5 * size), { low: size, high: size });
  return { a, b: corners(() => rounded(random.point(1))), matrix };
}

function shuffled(random: Random, [a, b, c]: Corners): Corners {
  return random
    .pick([
      [a, b, c],
      [b, c, a],
      [c, a, b],
      [c, b, a],
    ] as const)
    .map(rounded) as unknown as Corners;
}

function rounded(vector: Vector3): Vector3 {
  return vector.fromArray(vector.toArray().map(Math.fround));
}

function meshOf(corners: Corners) {
  return {
    positions: new Float32Array(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.of(0, 1, 2),
  };
}

function inWords(a: Corners, b: Corners, matrix: Matrix4): string {
  const show = (corners: Corners) => JSON.stringify(corners.map((corner) => corner.toArray()));
  return `${show(a)} and ${show(b)} under ${matrix.elements.join(' ')}`;
}
