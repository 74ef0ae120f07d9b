// Boxes that lie almost flat on each other, as in a stack that settles: the axis of least penetration may narrowly be
// that of two edges, but they touch with their faces, and a single point would let the upper one tip over.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { CONTACTS_MANIFOLD } from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { ConvexSolid, depthAlong, penetration } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 100;
/** Where less of both faces lies in the other box, relative to the square of the size, a point or two suffice. */
const SMALL_AREA = 1e-3;
/** In radians: 0.3°. */
const MOST_TILT = 0.3 * (Math.PI / 180);

interface Pair {
  matrices: [Matrix4, Matrix4];
  /** The sum of the boxes' extents. */
  size: number;
}

/** One box on another, turned about the vertical and slightly tilted; any side of the lower one is up. */
function pairOf(random: Random, depth: number, tilt: number): Pair {
  const halves = [0, 1].map(() => new Vector3(random.range(0.5, 2), random.range(0.5, 2), random.range(0.5, 2)));
  const [half, other] = halves;
  const place = [random.range(-1, 1) * half.x, random.range(-1, 1) * half.y, half.z + other.z];
  const angle = random.range(0, 2 * Math.PI);
  const axis = new Vector3(1, 0, 0).applyAxisAngle(new Vector3(0, 0, 1), random.range(0, 2 * Math.PI));
  const upper = new Matrix4().makeRotationAxis(axis, tilt).multiply(new Matrix4().makeRotationZ(angle));
  upper.setPosition(place[0], place[1], place[2]);
  const scaled = (matrix: Matrix4, { x, y, z }: Vector3) => matrix.scale(new Vector3(x, y, z));
  const about = new Matrix4().makeRotationFromQuaternion(random.rotation());
  const a = scaled(new Matrix4(), half);
  const b = scaled(upper, other);
  // Down until they penetrate each other by `depth`.
  const way = penetration(solidOf(a), solidOf(b));
  b.premultiply(new Matrix4().makeTranslation(0, 0, way - depth));
  const matrices: [Matrix4, Matrix4] = [a.premultiply(about), b.premultiply(about)];
  if (random.chance(0.5)) matrices.reverse();
  return { matrices, size: 2 * (half.length() + other.length()) };
}

const CUBE = { shape: { type: 'box', halfExtents: [1, 1, 1] } } as const;

function solidOf(matrix: Matrix4): ConvexSolid {
  return new ConvexSolid(CUBE, matrix);
}

/** The part of a box's face towards the other box, along a direction, that lies in the other box. */
function sharedFace(matrix: Matrix4, other: Matrix4, direction: Vector3): Vector3[] {
  const columns = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(matrix, i));
  const along = columns.map((column) => column.clone().normalize().dot(direction));
  const i = [0, 1, 2].reduce((best, k) => (Math.abs(along[k]) > Math.abs(along[best]) ? k : best));
  const middle = new Vector3().setFromMatrixPosition(matrix).addScaledVector(columns[i], Math.sign(along[i]));
  const [u, v] = [columns[(i + 1) % 3], columns[(i + 2) % 3]];
  let polygon = [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ].map(([s, t]) => middle.clone().addScaledVector(u, s).addScaledVector(v, t));
  // Clipped in the space in which the other one is the cube (Sutherland and Hodgman 1974).
  const back = other.clone().invert();
  polygon = polygon.map((corner) => corner.applyMatrix4(back));
  for (let plane = 0; plane < 6; plane++) {
    const height = (point: Vector3) => (plane & 1 ? 1 : -1) * point.getComponent(plane >> 1) - 1;
    polygon = polygon.flatMap((point, k) => {
      const next = polygon[(k + 1) % polygon.length];
      const [h, n] = [height(point), height(next)];
      const cut = h < 0 !== n < 0 ? [point.clone().lerp(next, h / (h - n))] : [];
      return h < 0 ? [point, ...cut] : cut;
    });
  }
  return polygon.map((corner) => corner.applyMatrix4(other));
}

/** The area of the hull of points in convex position, in any order, projected along a direction. */
function areaOf(points: Vector3[], direction: Vector3): number {
  if (points.length < 3) return 0;
  const middle = points.reduce((sum, point) => sum.addScaledVector(point, 1 / points.length), new Vector3());
  const u = new Vector3(direction.y, direction.z, direction.x).cross(direction).normalize();
  const v = new Vector3().crossVectors(direction, u);
  const flat = points.map((point) => point.clone().sub(middle)).map((way) => [way.dot(u), way.dot(v)]);
  flat.sort(([x, y], [s, t]) => Math.atan2(y, x) - Math.atan2(t, s));
  return Math.abs(
    flat.reduce((sum, [x, y], i) => {
      const [s, t] = flat[(i + 1) % flat.length];
      return sum + 0.5 * (x * t - y * s);
    }, 0),
  );
}

interface Contact {
  points: ArrayLike<number>;
  normals: ArrayLike<number>;
  depths: ArrayLike<number>;
}

/** The error of rounding to float32 in a result, relative to the scene's place. */
function expectFlat(contact: Contact, { matrices, size }: Pair, place: Vector3, name: string): void {
  const [a, b] = matrices.map(solidOf);
  const rounding = 1e-6 * size + 2e-7 * place.length();
  const least = penetration(a, b);
  const [nx, ny, nz] = Array.from(contact.normals).slice(0, 3);
  for (const depth of Array.from(contact.depths)) {
    expect(depth, `${name}: depth`).toBeGreaterThan(least - rounding);
    expect(depth, `${name}: depth`).toBeLessThan(least * 1.0001 + rounding);
    expect(Math.abs(depthAlong(a, b, nx, ny, nz) - depth), `${name}: along the normal`).toBeLessThan(rounding);
  }
  const normal = new Vector3(nx, ny, nz);
  const points = Array.from(contact.depths, (_, k) => new Vector3().fromArray(Array.from(contact.points), 3 * k));
  for (const point of points) {
    point.sub(place);
    expect(Math.max(a.outside(point), b.outside(point)), `${name}: in both`).toBeLessThan(1e-5 * size + 2 * rounding);
  }
  const shared = Math.min(
    areaOf(sharedFace(matrices[0], matrices[1], normal), normal),
    areaOf(sharedFace(matrices[1], matrices[0], normal.clone().negate()), normal),
  );
  if (shared < SMALL_AREA * size * size) return;
  // Far away, float32 has no digits left for a narrow wedge.
  const digits = 2e-7 * place.length() * size;
  expect(points.length, `${name}: points`).toBeGreaterThan(2);
  expect(areaOf(points, normal), `${name}: area`).toBeGreaterThan(0.3 * shared - digits);
}

const DEPTHS: [name: string, low: number, high: number][] = [
  ['deep', 0.02, 0.3],
  ['shallow', 1e-4, 5e-3],
];

describe.each(PLACES)(`%s, seed ${SEED}`, (where, place) => {
  test.each(DEPTHS)(`${COUNT} boxes on a box, tilted by up to 0.3°, %s`, async (_, low, high) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const pairs = Array.from({ length: COUNT }, () => {
      return pairOf(random, random.logRange(low, high), random.logRange(1e-5, MOST_TILT));
    });
    // In a frame, where many pairs are processed at once; the pairs lie apart from one another.
    const placed = pairs.map(({ matrices, size }, i) => {
      const there = new Matrix4().makeTranslation(20 * (i % 20), 20 * Math.floor(i / 20), 0);
      const things = matrices.map((matrix) => {
        return scene.add(CUBE, matrix.clone().premultiply(there), { contacts: CONTACTS_MANIFOLD });
      });
      const exact = things.map((thing) => thing.matrix) as [Matrix4, Matrix4];
      return { ids: things.map(({ id }) => id), pair: { matrices: exact, size } };
    });
    const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
    const found = new Map(Array.from(contacts, (contact) => [`${contact.a}:${contact.b}`, contact]));
    placed.forEach(({ ids, pair }, i) => {
      const contact = found.get(ids.join(':'));
      expect(contact, `${where}, pair ${i}`).toBeDefined();
      expectFlat(contact!, pair, place, `${where}, pair ${i}`);
      const alone = scene.core.pairs.contact(ids[0], ids[1], CONTACTS_MANIFOLD);
      expectFlat(alone!, pair, place, `${where}, pair ${i}, alone`);
    });
  });
});
