// Detail 'triangles': which triangles of two meshes intersect, and the segments of intersection.
import { Line3, Matrix4, Plane, Triangle, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import * as layout from '../../../src/shared/layout.js';
import { type NearObject, NearScene } from '../../fixtures/near-scene.js';
import { intersectionSegment } from '../../oracle/cut.js';
import type { Corners } from '../../oracle/exact.js';
import { boxMesh, icosphere, rods, soup, type Triangles, transformed, waves } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { TRIANGLE_KINDS } from '../../oracle/triangle-kinds.js';
import { trianglePairs, trianglesUnder } from '../../oracle/triangle-pairs.js';

const { CONTACTS_ANY, CONTACTS_MANIFOLD, CONTACTS_TRIANGLES, CONTACTS_FULL } = layout;
const PAIRS = 500;
const POSES = 10;
/** Relative to a triangle's size. */
const OFF = 1e-5;

let scene: NearScene;
beforeEach(async () => {
  scene = await NearScene.at(new Vector3());
});

describe(`segments of ${PAIRS} pairs of triangles, in both orders, seed ${SEED}`, () => {
  test.each(TRIANGLE_KINDS)('%s', (_, make) => {
    const random = new Random(SEED);
    let [cuts, points] = [0, 0];
    for (let i = 0; i < PAIRS; i++) {
      const pair = make(random);
      if (!pair.every((corners) => new Triangle(...corners).getArea() > 0)) continue;
      const expected = intersectionSegment(...pair);
      const [a, b] = pair.map((corners) =>
        scene.add(scene.mesh(meshOf(corners)), new Matrix4(), { contacts: CONTACTS_TRIANGLES }),
      );
      const found = [contactOf(a, b), contactOf(b, a)];
      expect(found.map((contact) => contact !== null)).toEqual([expected !== null, expected !== null]);
      for (const thing of [a, b]) scene.remove(thing);
      if (!expected) continue;
      const message = JSON.stringify(pair.map((corners) => corners.map((corner) => corner.toArray())));
      for (const contact of found) {
        expect([...contact!.triangles]).toEqual([0, 0]);
        const [from, to] = endsOf(contact!.segments, 0);
        const slack = OFF * Math.min(...pair.map(sizeOf)) + storing(pair.flat());
        for (const end of [from, to])
          for (const corners of pair) expect(distance(end, corners), message).toBeLessThan(slack);
        expect(Math.abs(from.distanceTo(to) - expected[0].distanceTo(expected[1])), message).toBeLessThan(2 * slack);
        // Where triangles share one point, rounding separates its two
        // ends by less than the error of storing them in float32.
        if (expected[0].equals(expected[1])) expect(from.distanceTo(to), message).toBeLessThan(storing(pair.flat()));
      }
      if (expected[0].equals(expected[1])) points++;
      cuts++;
    }
    console.log(`${cuts} cuts, ${points} of them a point`);
    expect(cuts).toBeGreaterThan(PAIRS / 50);
  });
});

const MESHES: [name: string, make: (random: Random) => [Triangles, Triangles]][] = [
  ['soups', (random) => [soup(random, 200, 0.2, 1), soup(random, 150, 0.3, 1)]],
  ['soups of needles', (random) => [needles(random), needles(random)]],
  ['icospheres', () => [icosphere(1, 4), icosphere(0.5, 3)]],
  ['rods and a sphere', (random) => [rods(random, 25, 1), icosphere(0.9, 3)]],
  ['waves and a box', () => [waves(12), boxMesh(0.4, 0.8, 1)]],
  ['one triangle and more than 65,536', (random) => [soup(random, 1, 2, 0.2), soup(random, 66_000, 0.02, 1)]],
];

describe(`crossings of meshes over ${POSES} poses, seed ${SEED}`, () => {
  test.each(MESHES)('%s', (_, make) => {
    const random = new Random(SEED);
    const [meshA, meshB] = make(random);
    const [shapeA, shapeB] = [scene.mesh(meshA), scene.mesh(meshB)];
    const poses = meshB.indices.length > 1e5 ? 1 : POSES;
    let total = 0;
    for (let pose = 0; pose < poses; pose++) {
      const form = { low: 0.7, high: 1.5, mirrored: 0.3, sheared: 0.3 };
      const a = scene.add(shapeA, random.placement(new Vector3(), form));
      const b = scene.add(shapeB, random.placement(random.point(0.7), form));
      const matrix = a.matrix.clone().invert().multiply(b.matrix);
      const expected = trianglePairs(meshA, meshB, matrix);
      const contact = contactOf(a, b);
      expect(contact === null).toBe(expected.length === 0);
      if (!contact) continue;
      total += expected.length;
      expect(pairsOf(contact.triangles)).toEqual(expected);
      const [p, q] = [trianglesUnder(meshA, a.matrix), trianglesUnder(meshB, b.matrix)];
      expected.forEach(([i, j], k) => {
        expectOnBoth(endsOf(contact.segments, k), p[i], q[j]);
      });
      const turned = contactOf(b, a)!;
      const order = expected
        .map((pair, k) => ({ pair, k }))
        .sort((s, t) => s.pair[1] - t.pair[1] || s.pair[0] - t.pair[0]);
      expect(pairsOf(turned.triangles)).toEqual(order.map(({ pair: [i, j] }) => [j, i]));
      expect([...turned.segments]).toEqual(order.flatMap(({ k }) => [...contact.segments.subarray(6 * k, 6 * k + 6)]));
      for (const thing of [a, b]) scene.remove(thing);
    }
    expect(total).toBeGreaterThan(0);
  });
});

test(`planes that hardly cross: both ends are on both triangles, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let cuts = 0;
  for (let i = 0; i < PAIRS; i++) {
    // A long edge cuts through a small triangle.
    const corner = inPlane(random);
    const large: Corners = [corner, corner.clone().negate(), inPlane(random)];
    const small: Corners = [inPlane(random), inPlane(random), inPlane(random)];
    const size = 2 ** -random.integer(20);
    for (const each of small) each.multiplyScalar(size);
    const hinge = new Matrix4().makeRotationAxis(inPlane(random).normalize(), random.logRange(1e-16, 1e-10));
    const shapes = [large, small].map((corners) => scene.mesh(meshOf(corners)));
    const matrix = random.placement(random.point(1), { low: 0.7, high: 1.5 });
    const [a, b] = [scene.add(shapes[0], matrix), scene.add(shapes[1], matrix.clone().multiply(hinge))];
    const contact = contactOf(a, b);
    if (contact) {
      const [[p], [q]] = [a, b].map((thing) => trianglesUnder(thing.shape.triangles!, thing.matrix));
      expectOnBoth(endsOf(contact.segments, 0), p, q);
      cuts++;
    }
    for (const thing of [a, b]) scene.remove(thing);
  }
  console.log(`${cuts} cuts`);
  expect(cuts).toBeGreaterThan(PAIRS / 10);
});

test.each([
  ['across', false],
  ['in its plane', true],
])(`ends near a corner of what is 10¹² times as large keep their digits: %s, seed ${SEED}`, (_, isFlat) => {
  const random = new Random(SEED);
  const rounded = ({ x, y, z }: Vector3) => new Vector3(...[x, y, isFlat ? 0 : z].map(Math.fround));
  for (let i = 0; i < 50; i++) {
    const corner = rounded(random.point(1));
    let far: Vector3[];
    // At an angle so wide that their overlap in a plane is longest from edge to edge.
    do far = [1e12, 1e12].map((size) => rounded(random.direction().multiplyScalar(size)));
    while (Math.abs(far[0].angleTo(far[1]) - 2) > 0.7);
    const [p, q] = far.map((end) => end.clone().sub(corner).normalize().add(corner));
    const middle = p.clone().lerp(q, 0.5);
    const up = new Triangle(corner, p, q).getNormal(new Vector3());
    // A side of the small one, through both edges.
    const side = [p.clone().multiplyScalar(2).sub(q), q.clone().multiplyScalar(2).sub(p)];
    const small = isFlat
      ? [...side, corner.clone().multiplyScalar(4).addScaledVector(middle, -3)]
      : [...side.map((end) => end.add(up)), middle.addScaledVector(up, -3)];
    const [from, to, third] = small.map(rounded);
    const corners: Corners[] = [
      [corner, far[0], far[1]],
      [from, to, third],
    ];
    const plane = new Plane().setFromCoplanarPoints(from, to, isFlat ? up.add(from) : third);
    const [a, b] = corners.map((each) => scene.add(scene.mesh(meshOf(each)), new Matrix4()));
    for (const contact of [contactOf(a, b)!, contactOf(b, a)!]) {
      const ends = endsOf(contact.segments, 0);
      for (const end of far) {
        const way = end.clone().sub(corner);
        const expected = way.multiplyScalar(-plane.distanceToPoint(corner) / plane.normal.dot(way)).add(corner);
        expect(Math.min(...ends.map((each) => each.distanceTo(expected)))).toBeLessThan(2e-6);
      }
    }
    for (const thing of [a, b]) scene.remove(thing);
  }
});

test.each([-40, -20, 20, 40])('a model 2 to the %d times as large gives the same crossings', (exponent) => {
  const factor = 2 ** exponent;
  const [ball, cloud] = [icosphere(1, 3), soup(new Random(SEED), 50, 0.4, 1)];
  const turn = new Random(SEED).placement(new Vector3(0.5, 0.25, -0.125), { low: 0.5, high: 2 });
  const larger = turn.clone().setPosition(new Vector3().setFromMatrixPosition(turn).multiplyScalar(factor));
  const grown = (mesh: Triangles) => scene.mesh(transformed(mesh, (vertex) => vertex.multiplyScalar(factor)));
  const scale = new Matrix4().makeScale(factor, factor, factor);
  const own = [scene.add(scene.mesh(ball), new Matrix4()), scene.add(scene.mesh(cloud), turn)] as const;
  const byVertices = [scene.add(grown(ball), new Matrix4()), scene.add(grown(cloud), larger)] as const;
  const byMatrix = [
    scene.add(scene.mesh(ball), scale),
    scene.add(scene.mesh(cloud), scale.clone().multiply(turn)),
  ] as const;
  const expected = contactOf(...own)!;
  expect(expected.triangles.length).toBeGreaterThan(20);
  for (const pair of [byVertices, byMatrix]) {
    const found = contactOf(...pair)!;
    expect(found.triangles).toEqual(expected.triangles);
    expect(found.segments).toEqual(expected.segments.map((of) => of * factor));
  }
});

test('of coplanar triangles, the longest extent is that in the world', () => {
  const shape = scene.mesh(meshOf([new Vector3(0, 0, 0), new Vector3(4, 0, 0), new Vector3(0, 3, 0)]));
  const matrix = new Matrix4().makeScale(1, 10, 1);
  const [a, b] = [scene.add(shape, matrix), scene.add(shape, matrix)];
  const ends = endsOf(contactOf(a, b)!.segments, 0).map((end) => end.toArray());
  expect(ends.sort(([, y], [, v]) => y - v)).toEqual([
    [4, 0, 0],
    [0, 30, 0],
  ]);
});

describe('in frames', () => {
  test('pairs of meshes that both want them have them, as contact() does, also when they persist', () => {
    const random = new Random(SEED);
    const meshes = [scene.mesh(icosphere(1, 2)), scene.mesh(soup(random, 40, 0.5, 1)), scene.mesh(boxMesh(1, 2, 1))];
    const others = [
      { shape: { type: 'sphere', radius: 1 } as const },
      { shape: { type: 'box', halfExtents: [1, 0.5, 1] } as const },
    ];
    const details = new Map<number, number>();
    const add = () => {
      const contacts = random.pick([CONTACTS_ANY, CONTACTS_MANIFOLD, CONTACTS_TRIANGLES, CONTACTS_FULL]);
      const shape = random.chance(0.8) ? random.pick(meshes) : random.pick(others);
      details.set(scene.add(shape, random.placement(random.point(4)), { contacts }).id, contacts);
    };
    for (let i = 0; i < 100; i++) add();
    const things = [...scene.things.values()];
    const staging = new FrameBuilder();
    let total = 0;
    let out: ArrayBuffer | undefined;
    for (let frame = 1; frame <= 12; frame++) {
      // None, few (the other pairs are kept as they are) or all.
      const moved = [0, 3, 100][frame % 3];
      for (const { id } of random.chance(0.5) ? things.slice(0, moved) : things.slice(-moved || things.length)) {
        staging.setSingle(id, random.placement(random.point(4)).elements);
      }
      const input = staging.seal(frame, 1);
      out = scene.core.frame(input, out);
      staging.restart(input);
      const { contacts } = new FrameView(out, []);
      expect(contacts.triangleStart[0]).toBe(0);
      expect(contacts.triangleStart.length).toBe(contacts.count + 1);
      expect(contacts.triangles.length).toBe(2 * contacts.triangleStart[contacts.count]);
      expect(contacts.segments.length).toBe(6 * contacts.triangleStart[contacts.count]);
      for (const { a, b, contained, points, normals, depths, triangles, segments, bones } of contacts) {
        const detail = Math.min(details.get(a)!, details.get(b)!);
        const alone = scene.core.pairs.contact(a, b, detail)!;
        expect({ contained, points, normals, depths, triangles, segments, bones }).toEqual(alone);
        const isOfMeshes = [a, b].every((id) => scene.things.get(id)!.shape.shape.type === 'mesh');
        expect(triangles.length > 0).toBe(isOfMeshes && detail >= CONTACTS_TRIANGLES);
        expect(depths.length > 0).toBe(detail === CONTACTS_MANIFOLD || detail === CONTACTS_FULL);
        total += triangles.length / 2;
      }
    }
    console.log(`${total} pairs of triangles`);
    expect(total).toBeGreaterThan(1000);
  });
});

function contactOf(a: NearObject, b: NearObject) {
  return scene.core.pairs.contact(a.id, b.id, CONTACTS_TRIANGLES);
}

function pairsOf(triangles: Uint32Array): [number, number][] {
  return Array.from({ length: triangles.length / 2 }, (_, i) => [triangles[2 * i], triangles[2 * i + 1]]);
}

function endsOf(segments: Float32Array, i: number): [Vector3, Vector3] {
  return [new Vector3().fromArray(segments, 6 * i), new Vector3().fromArray(segments, 6 * i + 3)];
}

/** And has the length that exact arithmetic gives it, unless rounding the triangles' positions matters to that. */
function expectOnBoth(ends: [Vector3, Vector3], p: Corners, q: Corners): void {
  const slack = OFF * Math.min(sizeOf(p), sizeOf(q)) + storing([...p, ...q]);
  for (const end of ends) for (const corners of [p, q]) expect(distance(end, corners)).toBeLessThan(slack);
  const [n, m] = [p, q].map((corners) => new Triangle(...corners).getNormal(new Vector3()));
  if (n.cross(m).length() < 0.1) return;
  const expected = intersectionSegment(p, q);
  expect(expected).not.toBeNull();
  expect(Math.abs(ends[0].distanceTo(ends[1]) - expected![0].distanceTo(expected![1]))).toBeLessThan(10 * slack);
}

/**
 * three's closest point of a triangle loses its digits where the corners are nearly collinear; those of its edges do not.
 */
function distance(point: Vector3, corners: Corners): number {
  const [a, b, c] = corners;
  const normal = new Triangle(a, b, c).getNormal(new Vector3());
  const edges = [new Line3(a, b), new Line3(b, c), new Line3(c, a)];
  const isOver = edges.every(({ start, end }) => {
    return end.clone().sub(start).cross(point.clone().sub(start)).dot(normal) >= 0;
  });
  const gaps = edges.map((edge) => edge.closestPointToPoint(point, true, new Vector3()).distanceTo(point));
  return Math.min(...gaps, isOver ? Math.abs(point.clone().sub(a).dot(normal)) : Infinity);
}

function sizeOf([a, b, c]: Corners): number {
  return Math.max(a.distanceTo(b), b.distanceTo(c), c.distanceTo(a));
}

/** The error of storing points there in float32. */
function storing(points: Vector3[]): number {
  return 2 ** -23 * Math.max(...points.map((point) => point.length()));
}

/** A point of an oblique plane, exact in float32. */
function inPlane(random: Random): Vector3 {
  const [u, v] = [random.integer(2049) - 1024, random.integer(2049) - 1024];
  return new Vector3(u, v, -u - 2 * v).divideScalar(1024);
}

function meshOf(corners: Corners): Triangles {
  return {
    positions: new Float32Array(corners.flatMap((corner) => corner.toArray())),
    indices: Uint32Array.of(0, 1, 2),
  };
}

function needles(random: Random): Triangles {
  return transformed(soup(random, 150, 1, 1), (vertex) => vertex.multiply(new Vector3(1, 1e-4, 1)));
}
