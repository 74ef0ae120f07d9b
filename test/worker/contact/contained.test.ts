// Where one solid contains another, at least one of which is not convex: no obvious way out is shorter than the one returned, and
// the point is the one that leaves last.
import { Box3, Line3, Matrix4, TorusGeometry, Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { type NearObject, NearScene, PLACES } from '../../fixtures/near-scene.js';
import { icosphere, merged, type Triangles, transformed, trianglesOf } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, frameOf } from '../../oracle/shapes.js';

const COUNT = 60;
/** Round shapes are represented by a circumscribed polyhedron, which is this much larger. */
const ENCLOSE = 1.0098;
/** For a mesh of at most this many faces, all of their normals are tried. */
const FEW_FACES = 64;

describe.each(PLACES)(`${COUNT} solids in another one, %s, seed ${SEED}`, (_, place) => {
  test('are no deeper than plain ways out are long', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    // Points are float32.
    const room = 1e-6 + 2 ** -23 * place.length();
    const counts = { first: 0, second: 0 };
    for (let i = 0; i < COUNT; i++) {
      // The centre of a mesh may be anywhere in its own space.
      const shift = random.point(3);
      const stretch = random.placement(new Vector3(), { low: 0.7, high: 1.4 });
      const mesh = (triangles: Triangles) =>
        solid(scene.mesh(transformed(triangles, (vertex) => vertex.applyMatrix4(stretch).add(shift))));
      const inner: AnyShape[] = [
        mesh(
          merged([icosphere(0.5, 1), transformed(icosphere(0.3, 1), (vertex) => vertex.add(new Vector3(0.9, 0, 0)))]),
        ),
        mesh(trianglesOf(new TorusGeometry(0.6, 0.2, 5, 9))),
        { shape: { type: 'sphere', radius: 0.5, center: shift.toArray() } },
        { shape: { type: 'box', halfExtents: [0.5, 0.3, 0.4], center: shift.toArray() } },
      ];
      const k = random.integer(inner.length);
      const outer: AnyShape[] = [
        // Of few faces, all of which are tried, or of many.
        mesh(
          merged([
            icosphere(1, random.pick([1, 7])),
            transformed(icosphere(0.3, 1), (vertex) => vertex.add(new Vector3(1.4, 0, 0))),
          ]),
        ),
        { shape: { type: 'sphere', radius: 1, center: shift.toArray() } },
        { shape: { type: 'box', halfExtents: [1, 0.7, 1.2], center: shift.toArray() } },
        { shape: { type: 'capsule', radius: 0.7, from: [0, -0.5, 0.2], to: [0.3, 0.4, 0] } },
      ];
      const around = outer[k < 2 ? random.integer(outer.length) : 0];
      // The large one about the origin, the small one slightly off; either may be the first.
      const put = (shape: AnyShape, size: number, middle: Vector3) => {
        const form = random.placement(new Vector3(), { low: 0.8 * size, high: 1.25 * size, mirrored: 0.3 });
        return scene.add(shape, form.setPosition(middleOf(shape, form).negate().add(middle)));
      };
      const putInner = () =>
        put(inner[k], random.logRange(0.02, 0.2), random.direction().multiplyScalar(random.range(0, 0.7)));
      const isTurned = random.chance(0.5);
      const early = isTurned ? putInner() : undefined;
      const a = put(around, 1, new Vector3());
      const b = early ?? putInner();
      const contact = scene.core.pairs.contact(...order(a, b), layout.CONTACTS_MANIFOLD);
      for (const thing of [a, b]) scene.remove(thing);
      if (!contact?.contained) continue;
      counts[isTurned ? 'first' : 'second']++;
      expect(contact.contained).toBe(isTurned ? 1 : 2);
      // From the direction for the second one to the direction for the inner one.
      const way = new Vector3().fromArray(contact.normals).multiplyScalar(isTurned ? -1 : 1);
      expect(way.length()).toBeCloseTo(1, 6);
      const least = Math.min(...waysOut(a, b).map((each) => depthAlong(a, b, each)));
      expect(contact.depths[0], `case ${i}`).toBeLessThan(least * (1 + 1e-6) + 1e-6);
      expectLast(b, way, new Vector3().fromArray(contact.points).sub(place), room);
    }
    expect(Math.min(counts.first, counts.second)).toBeGreaterThan(COUNT / 5);
  });
});

/** A shape by its extreme points, each surrounded by the same radius. */
interface Ends {
  shape: Parameters<typeof frameOf>[0];
  points: Vector3[];
  radius: number;
}

test(`what sticks out of a round shape or a box by a hair, by one corner or end alone, is not contained, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const hair = 1e-4;
  const [from, to] = [new Vector3(0.2, -0.5, 0.1), new Vector3(-0.3, 0.6, 0)];
  const segment = new Line3(from, to);
  // The distance of a point from the surface, negative inside.
  const holders: [Ends['shape'], (p: Vector3) => number][] = [
    [{ type: 'sphere', radius: 1 }, (p) => p.length() - 1],
    [
      { type: 'capsule', radius: 0.7, from: from.toArray(), to: to.toArray() },
      (p) => segment.closestPointToPoint(p, true, new Vector3()).distanceTo(p) - 0.7,
    ],
    [
      { type: 'box', halfExtents: [1, 0.8, 1.1] },
      ({ x, y, z }) => Math.max(Math.abs(x) - 1, Math.abs(y) - 0.8, Math.abs(z) - 1.1),
    ],
  ];
  const sizes = [0, 1, 2].map(() => random.range(0.05, 0.25));
  const signs = Array.from({ length: 8 }, (_, i) => [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1]);
  const inners: Ends[] = [
    {
      shape: { type: 'box', halfExtents: sizes as [number, number, number] },
      points: signs.map((sign) => new Vector3(...sign.map((each, k) => each * sizes[k]))),
      radius: 0,
    },
    {
      shape: { type: 'capsule', radius: 0.1, from: [0, -0.2, 0], to: [0.1, 0.2, 0.1] },
      points: [new Vector3(0, -0.2, 0), new Vector3(0.1, 0.2, 0.1)],
      radius: 0.1,
    },
    { shape: { type: 'sphere', radius: 0.2 }, points: [new Vector3()], radius: 0.2 },
  ];
  for (const [holder, beyond] of holders) {
    for (const { shape, points, radius } of inners) {
      const deciding = new Set<number>();
      for (let i = 0; i < 60; i++) {
        const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
        const way = random.direction();
        const at = (t: number) => turn.clone().setPosition(way.clone().multiplyScalar(t));
        const marginsAt = (t: number) => points.map((point) => beyond(point.clone().applyMatrix4(at(t))) + radius);
        const wanted = i % 2 === 0 ? hair : -hair;
        let [near, far] = [0, 4];
        for (let step = 0; step < 50; step++) {
          const middle = (near + far) / 2;
          if (Math.max(...marginsAt(middle)) < wanted) near = middle;
          else far = middle;
        }
        const margins = marginsAt(near);
        deciding.add(margins.indexOf(Math.max(...margins)));
        const things = [scene.add({ shape: holder }, new Matrix4()), scene.add({ shape }, at(near))];
        const contact = scene.core.pairs.contact(things[0].id, things[1].id, layout.CONTACTS_ANY);
        for (const thing of things) scene.remove(thing);
        expect(contact?.contained, `${shape.type} ${i} in a ${holder.type}`).toBe(wanted > 0 ? 0 : 2);
      }
      expect(deciding.size).toBe(points.length);
    }
  }
});

test(`of which some parts are inside and some are not are not contained, but led out, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  // Neither is convex: a ball with a small one beside it, and two balls of which one is in the large one and one is far outside.
  const aside = (radius: number, x: number) => transformed(icosphere(radius, 1), (v) => v.add(new Vector3(x, 0, 0)));
  const holder = solid(scene.mesh(merged([icosphere(1, 2), aside(0.3, -1.5)])));
  // Rotated in its own space, so that no two vertices are equally far along an axis.
  const turned = random.placement(new Vector3(), { low: 0.9, high: 1.1 });
  const balls = transformed(merged([icosphere(0.2, 1), aside(0.2, 3.5)]), (vertex) => vertex.applyMatrix4(turned));
  const inner = solid(scene.mesh(balls));
  for (let i = 0; i < 40; i++) {
    const form = random.placement(random.point(0.3), { low: 0.9, high: 1.1, mirrored: 0.3 });
    const turn = random.placement(new Vector3(), { low: 0.9, high: 1.1 });
    const put = [() => scene.add(holder, turn), () => scene.add(inner, form)];
    const isInnerFirst = i % 2 === 1;
    const things = (isInnerFirst ? put.toReversed() : put).map((each) => each());
    const [around, within] = isInnerFirst ? things.toReversed() : things;
    const contact = scene.core.pairs.contact(things[0].id, things[1].id, layout.CONTACTS_MANIFOLD)!;
    for (const thing of things) scene.remove(thing);
    expect(contact.contained).toBe(0);
    const way = new Vector3().fromArray(contact.normals).multiplyScalar(isInnerFirst ? -1 : 1);
    expectLast(within, way, new Vector3().fromArray(contact.points), 1e-6);
    const least = Math.min(...waysOut(around, within).map((each) => depthAlong(around, within, each)));
    expect(contact.depths[0], `case ${i}`).toBeLessThan(least * (1 + 1e-6) + 1e-6);
  }
});

test(`a slender mesh of many triangles, aslant in its own space, in a ball, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const ball = scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4());
  for (let i = 0; i < 4; i++) {
    const slender = new Matrix4().makeRotationFromQuaternion(random.rotation()).scale(new Vector3(6, 1, 0.6));
    const ellipsoid = transformed(icosphere(1, 8), (vertex) => vertex.applyMatrix4(slender));
    // With another ball within reach, so that it is not convex.
    const aside = transformed(icosphere(0.1, 1), (vertex) => vertex.add(new Vector3(0, 0, 3)));
    const shape = scene.mesh(merged([ellipsoid, aside]));
    for (let k = 0; k < 5; k++) {
      const mesh = scene.add(shape, random.placement(random.point(0.2), { low: 0.05, high: 0.1 }));
      const contact = scene.core.pairs.contact(ball.id, mesh.id, layout.CONTACTS_MANIFOLD)!;
      scene.remove(mesh);
      if (contact.contained === 0) continue;
      const least = Math.min(...waysOut(ball, mesh).map((way) => depthAlong(ball, mesh, way)));
      expect(contact.depths[0], `case ${i}`).toBeLessThan(least * (1 + 1e-6) + 1e-6);
      const way = new Vector3().fromArray(contact.normals);
      expectLast(mesh, way, new Vector3().fromArray(contact.points), 1e-6);
    }
  }
});

function solid(shape: AnyShape): AnyShape {
  return { ...shape, shape: { ...shape.shape, solid: true } } as AnyShape;
}

/** The ids, the lower one first. */
function order(a: NearObject, b: NearObject): [number, number] {
  return a.id < b.id ? [a.id, b.id] : [b.id, a.id];
}

/** The centre of a shape's bounds, under a matrix. */
function middleOf({ shape, triangles }: AnyShape, matrix: Matrix4): Vector3 {
  if (!triangles) return new Vector3().setFromMatrixPosition(placed(shape, matrix));
  return new Box3().setFromArray(triangles.positions).getCenter(new Vector3()).applyMatrix4(matrix);
}

function placed(shape: Parameters<typeof frameOf>[0], matrix: Matrix4): Matrix4 {
  return matrix.clone().multiply(frameOf(shape).matrix);
}

/**
 * From centre to centre, perpendicular to the faces of both bounding boxes, and from the inner one's centre to the nearest point
 * of a mesh that contains it.
 */
function waysOut(outer: NearObject, inner: NearObject): Vector3[] {
  const middle = middleOf(inner.shape, inner.matrix);
  const ways = [middle.clone().sub(middleOf(outer.shape, outer.matrix))];
  for (const { shape, matrix } of [outer, inner]) {
    const frame = shape.triangles ? matrix : placed(shape.shape, matrix);
    const axes = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(frame, i));
    // A shape that is round about an axis has no sides of its own along the others.
    for (let i = shape.shape.type === 'capsule' ? 3 : 0; i < 3; i++) {
      const normal = axes[i].clone().cross(axes[(i + 1) % 3]);
      ways.push(normal, normal.clone().negate());
    }
  }
  if (outer.shape.triangles) {
    ways.push(nearestPlace(outer, middle).sub(middle));
    // Also from the ends of the inner one, where the face normals are too many to be tried.
    if (outer.shape.triangles.indices.length > 3 * FEW_FACES) {
      for (const end of endsOf(inner, middle)) ways.push(nearestPlace(outer, end).sub(end));
    }
  }
  return ways.map((way) => way.normalize());
}

/** The extreme points along its own axes, of the round part there. */
function endsOf({ shape, matrix }: NearObject, middle: Vector3): Vector3[] {
  const frame = shape.triangles ? matrix : placed(shape.shape, matrix);
  const all = shape.triangles && corners(shape.triangles, matrix);
  const ways = [0, 1, 2].flatMap((i) =>
    [1, -1].map((s) => new Vector3().setFromMatrixColumn(frame, i).multiplyScalar(s)),
  );
  return ways.map((way) => all?.reduce((a, b) => (b.dot(way) > a.dot(way) ? b : a)) ?? middle.clone().add(way));
}

function nearestPlace({ shape, matrix }: NearObject, point: Vector3): Vector3 {
  const { positions, indices } = shape.triangles!;
  const [a, b, c] = [0, 1, 2].map(() => new Vector3());
  const nearest = new Vector3(Infinity);
  for (let i = 0; i < indices.length; i += 3) {
    [a, b, c].forEach((corner, k) => {
      corner.fromArray(positions, 3 * indices[i + k]).applyMatrix4(matrix);
    });
    const place = new Triangle(a, b, c).closestPointToPoint(point, new Vector3());
    if (place.distanceTo(point) < nearest.distanceTo(point)) nearest.copy(place);
  }
  return nearest;
}

/** How far the hull of the inner one must move along a unit direction to leave that of the outer one. */
function depthAlong(outer: NearObject, inner: NearObject, way: Vector3): number {
  return reach(outer, way) + reach(inner, way.clone().negate());
}

/** How far a solid reaches along a unit direction; a round one by its circumscribed polyhedron. */
function reach({ shape, matrix }: NearObject, way: Vector3): number {
  if (shape.triangles) return Math.max(...corners(shape.triangles, matrix).map((corner) => corner.dot(way)));
  const { matrix: frame, half } = { ...frameOf(shape.shape), matrix: placed(shape.shape, matrix) };
  const along = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(frame, i).dot(way));
  const middle = new Vector3().setFromMatrixPosition(frame).dot(way);
  if (shape.shape.type === 'box') return middle + along.reduce((sum, each) => sum + Math.abs(each), 0);
  return middle + half * Math.abs(along[2]) + ENCLOSE * Math.hypot(...along);
}

function corners({ positions }: Triangles, matrix: Matrix4): Vector3[] {
  return Array.from({ length: positions.length / 3 }, (_, i) =>
    new Vector3().fromArray(positions, 3 * i).applyMatrix4(matrix),
  );
}

/** The point is the corner of a mesh that leaves last, or the centre of another shape. */
function expectLast({ shape, matrix }: NearObject, way: Vector3, point: Vector3, room: number): void {
  if (!shape.triangles) {
    expect(point.distanceTo(middleOf(shape, matrix))).toBeLessThan(room);
    return;
  }
  const all = corners(shape.triangles, matrix);
  expect(Math.min(...all.map((corner) => corner.distanceTo(point)))).toBeLessThan(room);
  expect(point.dot(way) - Math.min(...all.map((corner) => corner.dot(way)))).toBeLessThan(room);
}
