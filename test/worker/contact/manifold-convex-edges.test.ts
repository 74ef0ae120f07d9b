// Manifolds of convex pairs that touch, coincide, contain each other or are flat.
import { BoxGeometry, Matrix4, Ray, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import * as layout from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { randomHull } from '../../oracle/hulls.js';
import { boxMesh, transformed, welded } from '../../oracle/meshes.js';
import { ConvexSolid, depthAlong } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../oracle/shapes.js';

const ball = (radius: number): AnyShape => ({ shape: { type: 'sphere', radius } });
const box = (x: number, y: number, z: number): AnyShape => ({ shape: { type: 'box', halfExtents: [x, y, z] } });
const capsule = (radius: number, half: number): AnyShape => ({
  shape: { type: 'capsule', radius, from: [-half, 0, 0], to: [half, 0, 0] },
});
const at = (x: number, y: number, z: number) => new Matrix4().setPosition(x, y, z);
const turned = (axis: 'x' | 'y' | 'z', angle: number) => {
  if (axis === 'x') return new Matrix4().makeRotationX(angle);
  return axis === 'y' ? new Matrix4().makeRotationY(angle) : new Matrix4().makeRotationZ(angle);
};
const stretch = (x: number, y: number, z: number) => new Matrix4().makeScale(x, y, z);
const HERE = new Matrix4();

interface Case {
  name: string;
  a: AnyShape;
  from?: Matrix4;
  b: AnyShape;
  to?: Matrix4;
  depth: number;
  /** Given if it is unique. */
  normal?: [number, number, number];
  points?: number;
}

const CASES: Case[] = [
  { name: 'balls that touch', a: ball(1), b: ball(2), to: at(3, 0, 0), depth: 0, normal: [1, 0, 0], points: 1 },
  { name: 'balls about one centre', a: ball(1), b: ball(0.5), depth: 1.5, points: 1 },
  { name: 'a ball twice', a: ball(1), b: ball(1), depth: 2, points: 1 },
  {
    name: 'a ball on a box',
    a: ball(1),
    from: at(0.2, 0, 1.9),
    b: box(1, 1, 1),
    depth: 0.1,
    normal: [0, 0, -1],
    points: 1,
  },
  {
    name: 'a ball within a box',
    a: ball(0.5),
    from: at(0, 1, 0),
    b: box(3, 3, 3),
    depth: 2.5,
    normal: [0, -1, 0],
    points: 1,
  },
  {
    name: 'a ball at a corner',
    a: ball(1),
    b: box(1, 1, 1),
    to: at(1.5, 1.5, 1.5),
    depth: 1 - Math.sqrt(0.75),
    points: 1,
  },
  {
    name: 'a ball whose centre is on a face',
    a: ball(1),
    b: box(2, 2, 2),
    to: at(3, 0, 0).multiply(at(-1, 0, 0)),
    depth: 1,
    normal: [1, 0, 0],
    points: 1,
  },
  {
    name: 'boxes face to face',
    a: box(1, 1, 1),
    b: box(1, 1, 1),
    to: at(2, 0.5, 0),
    depth: 0,
    normal: [1, 0, 0],
    points: 4,
  },
  {
    name: 'boxes a little into each other',
    a: box(1, 1, 1),
    b: box(1, 2, 1),
    to: at(0.3, 0.2, 1.9),
    depth: 0.1,
    normal: [0, 0, 1],
    points: 4,
  },
  { name: 'a box twice', a: box(1, 2, 3), b: box(1, 2, 3), depth: 2, points: 4 },
  {
    name: 'a box in a box',
    a: box(4, 4, 4),
    b: box(1, 1, 1),
    to: at(0, 0.5, 2),
    depth: 3,
    normal: [0, 0, 1],
    points: 4,
  },
  {
    name: 'a box turned on a box',
    a: box(1, 1, 1),
    b: box(1, 1, 1),
    to: at(0, 0, 1.95).multiply(turned('z', Math.PI / 4)),
    depth: 0.05,
    normal: [0, 0, 1],
    points: 4,
  },
  { name: 'boxes corner to corner', a: box(1, 1, 1), b: box(1, 1, 1), to: at(2, 2, 2), depth: 0, points: 1 },
  {
    name: 'boxes edge to edge, crossed',
    a: box(1, 1, 1),
    from: turned('x', Math.PI / 4),
    b: box(1, 1, 1),
    to: at(0, 0, 2 * Math.SQRT2 - 0.1).multiply(turned('y', Math.PI / 4)),
    depth: 0.1,
    normal: [0, 0, 1],
    points: 1,
  },
  { name: 'plates without thickness, crossed', a: box(1, 1, 0), b: box(1, 0, 1), depth: 1 },
  { name: 'plates without thickness, in one plane', a: box(1, 1, 0), b: box(1, 1, 0), to: at(0.5, 0, 0), depth: 0 },
  {
    name: 'a plate in a box',
    a: box(1, 1, 0),
    from: at(0, 0, 0.5),
    b: box(2, 2, 2),
    depth: 1.5,
    normal: [0, 0, -1],
    points: 4,
  },
  {
    name: 'a capsule lying on a box',
    a: capsule(0.5, 1),
    from: at(0, 0, 1.4),
    b: box(3, 3, 1),
    depth: 0.1,
    normal: [0, 0, -1],
    points: 2,
  },
  {
    name: 'a capsule standing on a box',
    a: capsule(0.5, 1),
    from: at(0, 0, 2.4).multiply(turned('y', Math.PI / 2)),
    b: box(3, 3, 1),
    depth: 0.1,
    normal: [0, 0, -1],
    points: 1,
  },
  { name: 'a capsule through a box', a: capsule(0.5, 5), b: box(1, 2, 3), depth: 2.5, points: 2 },
  {
    name: 'capsules side by side',
    a: capsule(0.5, 1),
    b: capsule(0.5, 1),
    to: at(0.5, 0, 0.9),
    depth: 0.1,
    normal: [0, 0, 1],
    points: 2,
  },
  { name: 'capsules crossed', a: capsule(0.5, 1), b: capsule(0.5, 1), to: turned('z', 1), depth: 1, points: 1 },
  {
    name: 'capsules in one line',
    a: capsule(0.5, 1),
    b: capsule(0.5, 1),
    to: at(2.9, 0, 0),
    depth: 0.1,
    normal: [1, 0, 0],
    points: 1,
  },
  { name: 'a capsule twice', a: capsule(0.5, 1), b: capsule(0.5, 1), depth: 1, points: 2 },
  {
    name: 'a capsule without length on a ball',
    a: capsule(0.5, 0),
    b: ball(1),
    to: at(0, 1.4, 0),
    depth: 0.1,
    normal: [0, 1, 0],
    points: 1,
  },
  {
    name: 'a squeezed capsule lying on a box',
    a: capsule(0.5, 1),
    from: at(0, 0, 1.2).multiply(stretch(1, 2, 0.5)),
    b: box(3, 3, 1),
    depth: 0.05,
    normal: [0, 0, -1],
    points: 2,
  },
  {
    name: 'ellipsoids about one centre',
    a: ball(1),
    from: stretch(1, 2, 3),
    b: ball(1),
    to: stretch(2, 3, 0.5),
    depth: 3,
  },
  {
    name: 'an ellipsoid twice',
    a: ball(1),
    from: stretch(3, 2, 1),
    b: ball(1),
    to: stretch(3, 2, 1),
    depth: 2,
    normal: [0, 0, 1],
  },
  {
    name: 'ellipsoids that touch',
    a: ball(1),
    from: stretch(1, 2, 3),
    b: ball(1),
    to: at(3, 0, 0).multiply(stretch(2, 3, 4)),
    depth: 0,
    normal: [1, 0, 0],
    points: 1,
  },
  {
    name: 'a flat ellipsoid on a box',
    a: ball(1),
    from: at(0.3, 0.2, 1).multiply(stretch(1, 1, 1e-4)),
    b: box(3, 3, 1),
    depth: 1e-4,
    normal: [0, 0, -1],
    points: 1,
  },
  {
    name: 'a mirrored box on a box',
    a: box(1, 1, 1),
    from: stretch(-1, 1, 1),
    b: box(1, 1, 1),
    to: at(1.9, 0.1, 0).multiply(stretch(1, -1, -1)),
    depth: 0.1,
    normal: [1, 0, 0],
    points: 4,
  },
];

test('a box over the edge of another one, its corners in the planes of the sides: a triangle', async () => {
  const scene = await NearScene.at(new Vector3());
  const expected = new Map<string, Vector3[]>();
  let count = 0;
  for (const axis of [0, 1, 2]) {
    for (const [up, over, isTurned] of [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, i & 2, i & 4].map(Boolean))) {
      const middle = new Vector3(8 * count++, 0, 0);
      const [u, v, w] = [1, 2, 0].map((next) => new Vector3().setComponent((axis + next) % 3, 1));
      if (over) u.negate();
      if (up) w.negate();
      const along = (x: number, y: number, z: number) =>
        new Vector3().addScaledVector(u, x).addScaledVector(v, y).addScaledVector(w, z);
      const place = (x: number, y: number, z: number) => along(x, y, z).add(middle);
      // The upper one is turned by 45 degrees, smaller and tilted: no edges are parallel, and all numbers are exact.
      const form = new Matrix4().makeBasis(along(0.5, 0.5, 0), along(-0.5, 0.5, 0), along(0, 0.25, 0.5));
      const forms = [new Matrix4().setPosition(middle), form.setPosition(place(1, 0.25, 1.375))];
      if (isTurned) forms.reverse();
      const [a, b] = forms.map((matrix) => scene.add(box(1, 1, 1), matrix, { contacts: layout.CONTACTS_MANIFOLD }));
      expected.set(`${a.id}:${b.id}`, [place(0, 0, 0.9375), place(1, 1, 0.9375), place(1, -1, 0.9375)]);
    }
  }
  const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  expect(contacts.count).toBe(expected.size);
  for (const { a, b, points, depths } of contacts) {
    expect(new Set(depths)).toEqual(new Set([0.125]));
    for (const corner of expected.get(`${a}:${b}`)!) {
      const off = Array.from(depths, (_, k) => new Vector3().fromArray(points, 3 * k).distanceTo(corner));
      // Anywhere between the two faces.
      expect(Math.min(...off)).toBeLessThan(0.0626);
    }
  }
});

describe.each(PLACES)('convex shapes %s', (_, place) => {
  test.each(CASES)('$name', async ({ a, from = HERE, b, to = HERE, depth, normal, points }) => {
    const scene = await NearScene.at(place);
    check(scene, a, from, b, to, depth, normal, points);
    check(
      scene,
      b,
      to,
      a,
      from,
      depth,
      normal?.map((each) => -each),
      points,
    );
  });

  test.each([
    ['boxes', () => boxMesh(2, 2, 2), at(0.3, 0.2, 1.9), 0.1, [0, 0, 1], 4],
    ['boxes, face to face', () => boxMesh(2, 2, 2), at(2, 0.2, 0), 0, [1, 0, 0], 4],
    ['boxes, twice', () => boxMesh(2, 2, 2), HERE, 2, undefined, 4],
    ['boxes inside out', () => insideOut(boxMesh(2, 2, 2)), at(0.3, 0.2, 1.9), 0.1, [0, 0, 1], 4],
  ] as const)('meshes of %s', async (_, make, to, depth, normal, points) => {
    const scene = await NearScene.at(place);
    const mesh = scene.mesh(make());
    check(scene, mesh, HERE, mesh, to, depth, normal, points);
    check(scene, mesh, HERE, box(1, 1, 1), to, depth, normal, points);
    check(scene, mesh, HERE, ball(1), at(0, 0.5, 1.8), 0.2, [0, 0, 1], 1);
    check(scene, mesh, HERE, capsule(0.5, 0.5), at(0, 0.5, 1.4), 0.1, [0, 0, 1], 2);
  });

  test('faces that are off by no more than a millionth of the size are flush', async () => {
    const scene = await NearScene.at(place);
    for (const size of [1, 1.5, 1.9375]) {
      const cubes = [box(size, size, size), scene.mesh(boxMesh(2 * size, 2 * size, 2 * size))];
      // How far both reach from their centres.
      const reach = 2 * Math.sqrt(3) * size;
      for (const a of cubes) {
        for (const b of cubes) {
          const pointsAt = (off: number) => {
            const tilt = turned('y', off / (2 * size));
            return scene.manifoldOf(a, HERE, b, at(0, 0, 2 * size + off / 2 - 1e-9).multiply(tilt))!.points;
          };
          for (const share of [0.3, 0.6, 0.95]) {
            const points = pointsAt(1e-6 * share * reach);
            expect(points).toHaveLength(4);
            // One at each corner of the face.
            for (const x of [-size, size]) {
              for (const y of [-size, size]) {
                const there = points.filter((point) => point.distanceTo(new Vector3(x, y, size)) < 0.01);
                expect(there, `${size}, ${share}: ${x}, ${y}`).toHaveLength(1);
              }
            }
          }
          expect(pointsAt(1e-5 * reach)).toHaveLength(2);
        }
      }
    }
  });

  test('how deep a step must be not to be flush is the same on all sides', async () => {
    const scene = await NearScene.at(place);
    for (let step = 2e-7; step < 4e-5; step += 2e-7) {
      const counts = [1, -1].map((side) => {
        // A plate with a square that stands out in the middle of a face.
        const plate = transformed(welded(new BoxGeometry(2, 2, 2, 2, 1, 1)), (vertex) => {
          if (vertex.x > 0.5) return vertex.multiply(new Vector3(0, 0.5, 0.5));
          return vertex.setX(side * (vertex.x < -0.5 ? -0.01 : -step));
        });
        const mesh = scene.mesh(side > 0 ? plate : insideOut(plate));
        const { points } = scene.manifoldOf(mesh, HERE, box(2, 2, 2), at(side * 2, 0, 0))!;
        return points.filter((point) => Math.abs(point.y) > 0.75).length;
      });
      expect(counts[1], `${step}`).toBe(counts[0]);
    }
  });

  test('meshes of boxes far from where their own space begins', async () => {
    const scene = await NearScene.at(place);
    const mesh = scene.mesh(transformed(boxMesh(2, 2, 2), (vertex) => vertex.setX(vertex.x + 10)));
    check(scene, mesh, at(-10, 0, 0), mesh, at(-9.7, 0.2, 1.9), 0.1, [0, 0, 1], 4);
    expect(scene.manifoldOf(mesh, at(-10, 0, 0), mesh, at(-9.7, 0.2, 2.1))).toBe(null);
  });

  test('boxes at every angle to each other, from flush to crossed', async () => {
    const scene = await NearScene.at(place);
    for (const exponent of [0, -1, -2, -3, -4, -5, -6, -7, -8, -10, -12, -16]) {
      const tilt = turned('x', 10 ** exponent).multiply(turned('y', 0.7 * 10 ** exponent));
      const [p, q] = [box(1, 1, 1), box(2, 1, 0.5)];
      const matrix = at(0.1, 0.2, 1.4).multiply(tilt);
      const contact = scene.manifoldOf(p, HERE, q, matrix)!;
      const [solid, other] = [new ConvexSolid(p, HERE), new ConvexSolid(q, matrix)];
      expect(depthAlong(solid, other, ...contact.normal)).toBeCloseTo(contact.depth, 5);
      expect(contact.depth).toBeGreaterThan(0.09);
      if (exponent < -2) expect(contact.points.length).toBe(4);
    }
  });
});

describe.each(PLACES)(`convex shapes %s, seed ${SEED}`, (_, place) => {
  const far = place.length() > 0;

  test('where edges of two boxes cross, the point is in the middle between them', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const cube = box(1, 1, 1);
    let count = 0;
    for (let i = 0; count < 200; i++) {
      const form = { low: 0.5, high: 2 };
      const [p, q] = [random.placement(new Vector3(), form), random.placement(random.point(2), form)];
      const contact = scene.manifoldOf(cube, p, cube, q);
      const normal = contact && new Vector3(...contact.normal);
      const edges = normal && [edgeAlong(p, normal), edgeAlong(scene.exactly(q), normal.clone().negate())];
      if (!edges?.[0] || !edges[1]) continue;
      if ([p, q].every((matrix) => leastTurnOf(matrix, normal!) < 0.02)) continue; // nearly parallel faces touch, too
      const middle = middleOf(edges[0], edges[1]);
      if ([p, q].some((matrix) => new ConvexSolid(cube, matrix).outside(middle) > -1e-3)) continue;
      count++;
      expect(contact!.points.length).toBe(1);
      expect(contact!.points[0].distanceTo(middle), `pair ${i}`).toBeLessThan(far ? 0.2 : 1e-5);
    }
  });
});

test(`needles beside each other leave across the narrower side, whichever way they point, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const mesh = scene.mesh(boxMesh(2, 2, 2));
  for (let i = 0; i < 500; i++) {
    const thin = random.logRange(1e-6, 4e-6);
    const needle = new Matrix4().makeRotationFromQuaternion(random.rotation()).multiply(stretch(thin, 1.5 * thin, 1));
    const [x, y, z] = random.point(0.5).toArray();
    const contact = scene.manifoldOf(mesh, needle, mesh, needle.clone().multiply(at(x, y, z)))!;
    const depth = thin * Math.min(2 - Math.abs(x), 1.5 * (2 - Math.abs(y)));
    expect(contact.depth / depth, `needle ${i}`).toBeCloseTo(1, 3);
  }
});

test(`points lie in both, of 3,000 pairs of hulls and others that are squeezed and sheared, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const hulls = Array.from({ length: 30 }, (_, i) => scene.mesh(randomHull(random, i)));
  let count = 0;
  for (let i = 0; i < 3000; i++) {
    const form = { low: random.pick([1, 0.5, 0.2, 0.1]), high: 1, sheared: 0.3 };
    const from = random.placement(new Vector3(), form);
    const to = random.placement(random.point(0.8).applyMatrix4(from), form);
    const [a, b] = [random.pick(hulls), random.chance(0.5) ? random.pick(hulls) : { shape: randomSolid(random) }];
    const contact = scene.manifoldOf(a, from, b, to);
    if (!contact) continue;
    count++;
    const solids = [new ConvexSolid(a, from), new ConvexSolid(b, to)];
    const size = Math.max(1, ...solids.flatMap(({ points }) => points.map((point) => point.length())));
    for (const point of contact.points) {
      for (const solid of solids) expect(solid.outside(point), `pair ${i}`).toBeLessThan(2e-6 * size);
    }
  }
  expect(count).toBeGreaterThan(750);
});

test(`ellipsoids that are all but balls, about one centre, leave where both are narrowest, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  for (let i = 0; i < 200; i++) {
    const more = random.range(0.003, 0.006);
    const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
    const form = turn.multiply(stretch(1, 1 + more, 1 + random.range(1, 3) * more));
    const { depth } = scene.manifoldOf(ball(1), form, ball(1), form)!;
    // To the last digits of float32, where the search continues around the best direction.
    expect(Math.abs(depth / 2 - 1), `pair ${i}`).toBeLessThan(3e-7);
  }
});

/** The edge of the cube's image that is farthest along the normal, if it is unique. */
function edgeAlong(matrix: Matrix4, normal: Vector3): Ray | null {
  const columns = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(matrix, i));
  const along = columns.filter((column) => Math.abs(column.dot(normal)) < 1e-5);
  if (along.length !== 1) return null;
  const middle = new Vector3().setFromMatrixPosition(matrix);
  for (const column of columns) if (column !== along[0]) middle.addScaledVector(column, Math.sign(column.dot(normal)));
  return new Ray(middle, along[0].normalize());
}

/** The least sine of a rotation that brings a face's normal onto another. */
function leastTurnOf(matrix: Matrix4, normal: Vector3): number {
  const normals = new Matrix4().copy(matrix).invert().transpose();
  const turns = [0, 1, 2].map((i) => {
    return new Vector3().setFromMatrixColumn(normals, i).normalize().cross(normal).length();
  });
  return Math.min(...turns);
}

/** The midpoint of the shortest segment between two lines. */
function middleOf(p: Ray, q: Ray): Vector3 {
  const across = new Vector3().crossVectors(p.direction, q.direction);
  const between = q.origin.clone().sub(p.origin);
  const share = (other: Vector3) => new Vector3().crossVectors(between, other).dot(across) / across.lengthSq();
  const [onP, onQ] = [p.at(share(q.direction), new Vector3()), q.at(share(p.direction), new Vector3())];
  return onP.lerp(onQ, 0.5);
}

function insideOut({ positions, indices }: ReturnType<typeof boxMesh>) {
  return { positions, indices: indices.slice().reverse() };
}

function check(
  scene: NearScene,
  a: AnyShape,
  from: Matrix4,
  b: AnyShape,
  to: Matrix4,
  depth: number,
  normal: readonly number[] | undefined,
  points: number | undefined,
): void {
  const contact = scene.manifoldOf(a, from, b, to)!;
  expect(contact).not.toBe(null);
  const far = scene.place.length() > 0;
  expect(Math.abs(contact.depth - depth)).toBeLessThan(2e-8);
  expect(Math.hypot(...contact.normal)).toBeCloseTo(1, 6);
  if (normal) {
    const turn = new Vector3(...contact.normal).angleTo(new Vector3(...normal));
    // Where a shape is symmetric upside down, either way out is right.
    expect(Math.min(turn, depth > 0.9 ? Math.PI - turn : turn)).toBeLessThan(1e-4);
  }
  if (points !== undefined) expect(contact.points.length).toBe(points);
  const solids = [new ConvexSolid(thick(a), scene.exactly(from)), new ConvexSolid(thick(b), scene.exactly(to))];
  for (const point of contact.points) {
    for (const solid of solids) expect(solid.outside(point)).toBeLessThan(far ? 0.07 : 1e-5);
  }
}

/** Flat boxes made thick enough for the oracle to invert them. */
function thick(shape: AnyShape): AnyShape {
  if (shape.shape.type !== 'box') return shape;
  const [x, y, z] = shape.shape.halfExtents;
  return box(Math.max(x, 1e-9), Math.max(y, 1e-9), Math.max(z, 1e-9));
}
