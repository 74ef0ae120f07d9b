// Boxes in a frame with many pairs, which are processed four at a time in float32: pairs with a single separating axis,
// and the corners that are kept of a clipped face with more than four.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { CONTACTS_ANY, CONTACTS_MANIFOLD } from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { clipPolygon } from '../../oracle/clip.js';
import { Random, SEED } from '../../oracle/random.js';

const PER_AXIS = 12;
const CORNER = [-1, 1];

/** A box is the image of the cube [-1, 1]³. */
type Pair = [Matrix4, Matrix4];

function columnsOf(box: Matrix4): Vector3[] {
  return [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(box, i));
}

function gapAlong(axis: Vector3, [a, b]: Pair): number {
  const reach = (box: Matrix4) => columnsOf(box).reduce((sum, column) => sum + Math.abs(column.dot(axis)), 0);
  const way = new Vector3().setFromMatrixPosition(b).sub(new Vector3().setFromMatrixPosition(a));
  return (Math.abs(way.dot(axis)) - reach(a) - reach(b)) / axis.length();
}

/** Three faces of a, three of b, then edge i of a with edge j of b at 6 + 3 i + j (Gottschalk 1996). */
function gapsOf(pair: Pair): number[] {
  const [ofA, ofB] = pair.map(columnsOf);
  const faces = (columns: Vector3[]) =>
    columns.map((_, i) => new Vector3().crossVectors(columns[(i + 1) % 3], columns[(i + 2) % 3]));
  const edges = ofA.flatMap((p) => ofB.map((q) => new Vector3().crossVectors(p, q)));
  return [...faces(ofA), ...faces(ofB), ...edges].map((axis) => gapAlong(axis, pair));
}

/** Pairs that this axis separates, and no other. */
function partedBy(random: Random, axis: number): Pair[] {
  const pairs: Pair[] = [];
  while (pairs.length < PER_AXIS) {
    const pair: Pair = [
      random.placement(new Vector3(), { low: 0.5, high: 2 }),
      random.placement(random.direction().multiplyScalar(random.range(1, 4)), { low: 0.5, high: 2 }),
    ];
    if (gapsOf(pair).every((gap, i) => (i === axis ? gap > 0.01 : gap < -0.01))) pairs.push(pair);
  }
  return pairs;
}

describe.each(PLACES)(`%s, seed ${SEED}`, (_, place) => {
  test(`${15 * PER_AXIS} pairs of boxes, each parted by one axis, and as many that meet`, async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const box = { shape: { type: 'box', halfExtents: [1, 1, 1] } } as const;
    const names: string[] = [];
    const meeting: string[] = [];
    let count = 0;
    const add = ([a, b]: Pair, options: object) => {
      const middle = new Vector3(count % 20, Math.floor(count / 20) % 20, Math.floor(count++ / 400)).multiplyScalar(32);
      return [a, b].map(
        (matrix) => scene.add(box, matrix.clone().premultiply(new Matrix4().setPosition(middle)), options).id,
      );
    };
    for (const contacts of [CONTACTS_ANY, CONTACTS_MANIFOLD]) {
      for (let axis = 0; axis < 15; axis++) {
        for (const pair of partedBy(random, axis)) {
          names.push(`${add(pair, { contacts }).join(':')} axis ${axis}`);
          // Nearer by the gap and a little: overlapping on that axis, and so on all.
          const nearer = pair[1].clone();
          const way = new Vector3().setFromMatrixPosition(nearer);
          while (gapsOf([pair[0], nearer])[axis] > -0.05) nearer.setPosition(way.multiplyScalar(0.97));
          meeting.push(add([pair[0], nearer], { contacts }).join(':'));
        }
      }
    }
    const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
    const found = new Set(Array.from(contacts, ({ a, b }) => `${a}:${b}`));
    expect(names.filter((name) => found.has(name.split(' ')[0]))).toEqual([]);
    expect(meeting.filter((name) => !found.has(name))).toEqual([]);
  });

  test('the four points of a face on another cover what both share', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const box = { shape: { type: 'box', halfExtents: [1, 1, 1] } } as const;
    const pairs = Array.from({ length: 100 }, (_, i) => {
      const turn = new Matrix4().makeRotationY(random.range(0.35, 1.2));
      const [u, v] = [random.range(-0.1, 0.1), random.range(-0.1, 0.1)];
      const upper = new Matrix4().setPosition(u, 1.9, v).multiply(turn);
      // Any side of the lower one may be up.
      const lower = new Matrix4().copy(random.pick(SIDES));
      const middle = new Matrix4().setPosition(16 * i, 0, 0).multiply(new Matrix4().copy(random.pick(SIDES)));
      const ids = [lower, upper].map(
        (matrix) => scene.add(box, middle.clone().multiply(matrix), { contacts: CONTACTS_MANIFOLD }).id,
      );
      const square = [0, 1, 2, 3].map((k) => new Vector3(CORNER[k >> 1], 0, CORNER[((k + 1) >> 1) & 1]));
      const shared = clipPolygon(
        square.map((corner) => corner.clone().applyMatrix4(upper)),
        square,
      );
      return { ids, shared: areaOf(shared), corners: shared.length };
    });
    const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
    const byPair = new Map(Array.from(contacts, (pair) => [`${pair.a}:${pair.b}`, pair.points]));
    for (const { ids, shared, corners } of pairs) {
      const flat = byPair.get(ids.join(':'))!;
      const points = Array.from({ length: flat.length / 3 }, (_, k) => new Vector3().fromArray(flat, 3 * k));
      expect(corners).toBe(8);
      expect(points.length).toBe(4);
      // Every other corner of a regular octagon spans 0.71 of it; with one corner less, 0.35.
      expect(areaOf(points)).toBeGreaterThan(0.5 * shared);
    }
  });
});

const QUARTER = Math.PI / 2;
const SIDES = [
  new Matrix4(),
  new Matrix4().makeRotationX(QUARTER),
  new Matrix4().makeRotationX(2 * QUARTER),
  new Matrix4().makeRotationX(-QUARTER),
  new Matrix4().makeRotationZ(QUARTER),
  new Matrix4().makeRotationZ(-QUARTER),
];

/** The area of the convex hull of points in a plane: the largest of the polygons through them in any order. */
function areaOf(points: Vector3[]): number {
  const middle = points.reduce((sum, point) => sum.add(point), new Vector3()).divideScalar(points.length);
  const normal = new Vector3();
  const ways = points.map((point) => point.clone().sub(middle));
  for (const way of ways) for (const other of ways) if (normal.length() < 1e-3) normal.crossVectors(way, other);
  normal.normalize();
  const first = ways[0].clone().normalize();
  const second = new Vector3().crossVectors(normal, first);
  const sorted = ways.sort((a, b) => Math.atan2(a.dot(second), a.dot(first)) - Math.atan2(b.dot(second), b.dot(first)));
  return sorted.reduce(
    (sum, way, i) => sum + 0.5 * normal.dot(new Vector3().crossVectors(way, sorted[(i + 1) % sorted.length])),
    0,
  );
}
