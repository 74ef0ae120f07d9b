// Contacts of boxes in frames, where the faces of four pairs are clipped at once: each is
// the same as of the pair alone, even if some of the four are left to float64, and has
// corners of the polygon that float64 finds by clipping with one plane after another.
import { Matrix4, Plane, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { CONTACTS_MANIFOLD } from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 1500;
const BOX = { shape: { type: 'box', halfExtents: [1, 1, 1] } } as const;
const AXES = [0, 1, 2];
/** More than the error of float32 at the places of the pairs. */
const BLUR = 1e-4;

/** A box, the image of the cube [-1, 1]³, and another one that may touch it. */
type Pair = [Matrix4, Matrix4];

function anyPair(random: Random): Pair {
  const options = { low: 0.5, high: 2, mirrored: 0.2, sheared: 0.3 };
  const way = random.direction().multiplyScalar(random.range(0, 3));
  return [random.placement(new Vector3(), options), random.placement(way, options)];
}

/** Boxes whose edges are parallel, of the same sizes or not, and boxes that hardly overlap: some of these are left to float64. */
function stackedPair(random: Random): Pair {
  const about = random.placement(new Vector3());
  const size = random.pick([1, 1, 0.5]);
  const up = random.pick([1.999999, 1.9, 1.5]) - (1 - size);
  const other = new Matrix4().setPosition(random.pick([0, 0, 0.5]), up, random.pick([0, 1e-7, 0.3]));
  return [
    about,
    about
      .clone()
      .multiply(other)
      .scale(new Vector3(size, size, size)),
  ];
}

/** Boxes with right angles, whose contact normal is more often than not a face's. */
function plainPair(random: Random): Pair {
  const way = random.direction().multiplyScalar(random.range(1, 2.5));
  return [random.placement(new Vector3(), { low: 0.7, high: 1.5 }), random.placement(way, { low: 0.7, high: 1.5 })];
}

/** The frame's contacts of pairs that are far from each other, by the number of the pair. */
function contactsOf(scene: NearScene, pairs: Pair[]) {
  const middles = pairs.map((_, i) =>
    new Vector3(i % 20, Math.floor(i / 20) % 20, Math.floor(i / 400)).multiplyScalar(20),
  );
  const ids = pairs.map((pair, i) =>
    pair.map((matrix) => {
      const placed = matrix.clone().premultiply(new Matrix4().setPosition(middles[i]));
      return scene.add(BOX, placed, { contacts: CONTACTS_MANIFOLD }).id;
    }),
  );
  const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  const found = new Map(Array.from(contacts, (contact) => [contact.a, contact]));
  return pairs.map((pair, i) => ({ pair, middle: middles[i], ids: ids[i], contact: found.get(ids[i][0]) }));
}

test.each(PLACES)(`${2 * COUNT} pairs in a frame %s are as each alone, seed ${SEED}`, async (_, place) => {
  const random = new Random(SEED);
  const scene = await NearScene.at(place);
  const pairs = Array.from({ length: 2 * COUNT }, (_, i) => (i % 2 ? anyPair(random) : stackedPair(random)));
  let count = 0;
  for (const [i, { ids, contact }] of contactsOf(scene, pairs).entries()) {
    const alone = scene.core.pairs.contact(ids[0], ids[1], CONTACTS_MANIFOLD);
    expect(contact === undefined).toBe(alone === null);
    if (!contact || !alone) continue;
    expect(contact.points).toEqual(alone.points);
    expect(contact.normals).toEqual(alone.normals);
    expect(contact.depths).toEqual(alone.depths);
    count++;
    // The common patch of boxes with parallel edges is a rectangle, or next to nothing.
    if (i % 2 === 0) expect(leastGap(contact.points), `pair ${i}`).toBeGreaterThan(0.1);
  }
  expect(count).toBeGreaterThan(COUNT);
});

/** The distance of the two nearest of some points. */
function leastGap(points: Float32Array): number {
  const all = Array.from({ length: points.length / 3 }, (_, k) => new Vector3().fromArray(points, 3 * k));
  return Math.min(...all.flatMap((p, k) => all.slice(0, k).map((q) => p.distanceTo(q))));
}

/** The three face normals of a box, of unit length. */
function normalsOf(box: Matrix4): Vector3[] {
  return AXES.map((i) => new Vector3().setFromMatrixColumn(box, i).normalize());
}

/** The axis of the face that faces a vector most, and the cosine, negative for the opposite face. */
function turned(box: Matrix4, to: Vector3): [axis: number, cosine: number] {
  const cosines = normalsOf(box).map((normal) => normal.dot(to));
  const axis = AXES.reduce((best, i) => (Math.abs(cosines[i]) > Math.abs(cosines[best]) ? i : best));
  return [axis, cosines[axis]];
}

/** What is left of the face of `other` that is most opposed to a normal, clipped to a box (Sutherland and Hodgman 1974). */
function clippedFace(box: Matrix4, other: Matrix4, normal: Vector3): Vector3[] {
  const [axis, cosine] = turned(other, normal);
  let polygon = [0, 1, 2, 3].map((k) => {
    const corner = new Vector3();
    corner.setComponent(axis, -Math.sign(cosine));
    corner.setComponent((axis + 1) % 3, k === 0 || k === 3 ? 1 : -1);
    corner.setComponent((axis + 2) % 3, k < 2 ? 1 : -1);
    return corner.applyMatrix4(other);
  });
  for (const i of AXES) {
    for (const sign of [-1, 1]) {
      const outward = normalsOf(box)[i].multiplyScalar(sign);
      const on = new Vector3().setComponent(i, sign).applyMatrix4(box);
      const plane = new Plane().setFromNormalAndCoplanarPoint(outward, on);
      polygon = polygon.flatMap((point, k) => {
        const next = polygon[(k + 1) % polygon.length];
        const [now, then] = [plane.distanceToPoint(point), plane.distanceToPoint(next)];
        const cut = now > 0 !== then > 0 ? [point.clone().lerp(next, now / (now - then))] : [];
        return now > 0 ? cut : [point, ...cut];
      });
    }
  }
  return polygon;
}

test(`corners of ${4 * COUNT} clipped faces, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const counts = new Map<number, number>();
  const all = contactsOf(
    scene,
    Array.from({ length: 4 * COUNT }, () => plainPair(random)),
  );
  for (const [i, { pair, middle, contact }] of all.entries()) {
    if (!contact || contact.contained) continue;
    const normal = new Vector3().fromArray(contact.normals).normalize();
    const isOf = pair.map((box) => Math.abs(turned(box, normal)[1]) > 1 - 1e-12);
    if (isOf[0] === isOf[1]) continue;
    const [box, other] = isOf[0] ? pair : [pair[1], pair[0]];
    const outward = normal.clone().multiplyScalar(isOf[0] ? 1 : -1);
    // In the plane of the clipping face.
    const flat = (point: Vector3) => point.clone().projectOnPlane(normal);
    const polygon = clippedFace(box, other, outward).map(flat);
    const isClear = polygon.every((point, k) => polygon.every((p, m) => k === m || p.distanceTo(point) > 20 * BLUR));
    // Where nothing is left of the face, float64 has found the contact in another way.
    if (polygon.length === 0 || !isClear || contact.depths[0] < 0.01) continue;
    const points = Array.from(contact.depths, (_, k) => {
      return flat(new Vector3().fromArray(contact.points, 3 * k).sub(middle));
    });
    // Where the two farthest of five or more corners are adjacent, a third one is kept beside them.
    if (polygon.length <= 4) expect(points.length, `pair ${i}`).toBe(polygon.length);
    else expect(points.length, `pair ${i}`).toBeOneOf([3, 4]);
    for (const point of points) {
      const off = Math.min(...polygon.map((corner) => corner.distanceTo(point)));
      expect(off, `pair ${i}`).toBeLessThan(2 * BLUR);
    }
    counts.set(polygon.length, (counts.get(polygon.length) ?? 0) + 1);
  }
  for (const corners of [3, 4, 5, 6, 7]) expect(counts.get(corners), `${corners} corners`).toBeGreaterThan(5);
});
