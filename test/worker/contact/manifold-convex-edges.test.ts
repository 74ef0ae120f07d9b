// Manifolds of convex pairs that touch, coincide, contain each other or are flat.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, merged, type Triangles, transformed } from '../../oracle/meshes.js';
import { ConvexSolid, penetration, wayAlong } from '../../oracle/penetration.js';
import type { AnyShape } from '../../oracle/shapes.js';

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
  /** Where there is but one. */
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

  test('boxes at every angle to each other, from flush to crossed', async () => {
    const scene = await NearScene.at(place);
    for (const exponent of [0, -1, -2, -3, -4, -5, -6, -7, -8, -10, -12, -16]) {
      const tilt = turned('x', 10 ** exponent).multiply(turned('y', 0.7 * 10 ** exponent));
      const [p, q] = [box(1, 1, 1), box(2, 1, 0.5)];
      const matrix = at(0.1, 0.2, 1.4).multiply(tilt);
      const contact = found(scene, p, HERE, q, matrix)!;
      const [solid, other] = [new ConvexSolid(p, HERE), new ConvexSolid(q, matrix)];
      expect(wayAlong(solid, other, ...contact.normal)).toBeCloseTo(contact.depth, 5);
      expect(contact.depth).toBeGreaterThan(0.09);
      if (exponent < -2) expect(contact.points.length).toBe(4);
    }
  });
});

describe('which meshes are convex', () => {
  // In a bay of a mesh, its hull is far deeper.
  test.each([
    ['a box', () => boxMesh(1, 2, 3), true, at(0.6, 0, 0)],
    ['a ball', () => icosphere(1, 5), true, at(0, 0.5, 0.9)],
    ['a ball far from its origin', () => moved(icosphere(1, 3), 1000), true, at(999.1, 0, 0)],
    ['two boxes', () => merged([boxMesh(1, 1, 1), moved(boxMesh(1, 1, 1), 3)]), false, at(0.6, 0, 0)],
    ['a ball with a dent', () => dented(icosphere(1, 4)), false, at(0, 0, 0.9)],
    ['an open box', () => openBox(), false, at(0.3, 0, 0.4)],
  ])('%s', async (_, make, isConvex, place) => {
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(make());
    const contact = found(scene, mesh, HERE, ball(0.2), place);
    const hull = penetration(new ConvexSolid(mesh, HERE), new ConvexSolid(ball(0.2), place));
    expect(Math.abs((contact?.depth ?? 0) - hull) < 1e-4).toBe(isConvex);
  });

  test('a mesh that is dented and mended', async () => {
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(icosphere(1, 4));
    const depthNow = () => found(scene, mesh, HERE, ball(0.2), at(0, 0, 0.9))?.depth ?? 0;
    const address = mesh.shape.type === 'mesh' ? mesh.shape.mesh : 0;
    const whole = depthNow();
    expect(whole).toBeGreaterThan(0.25);
    scene.core.refitMesh(address, dented(icosphere(1, 4)).positions);
    expect(depthNow()).toBeLessThan(0.2);
    scene.core.refitMesh(address, icosphere(1, 4).positions);
    expect(depthNow()).toBe(whole);
  });
});

function moved(mesh: Triangles, x: number): Triangles {
  return transformed(mesh, (vertex) => vertex.setX(vertex.x + x));
}

function dented(mesh: Triangles): Triangles {
  return transformed(mesh, (vertex) => vertex.multiplyScalar(vertex.z > 0.9 ? 0.8 : 1));
}

function insideOut({ positions, indices }: ReturnType<typeof boxMesh>) {
  return { positions, indices: indices.slice().reverse() };
}

function openBox() {
  const { positions, indices } = boxMesh(1, 1, 1);
  return { positions, indices: indices.slice(6) };
}

interface Found {
  depth: number;
  normal: [number, number, number];
  points: Vector3[];
}

function found(scene: NearScene, a: AnyShape, from: Matrix4, b: AnyShape, to: Matrix4): Found | null {
  const [p, q] = [scene.add(a, from), scene.add(b, to)];
  const contact = scene.core.queries.contact(p.id, q.id, layout.CONTACTS_MANIFOLD);
  if (!contact) return null;
  const { depths, normals, points } = contact;
  return {
    depth: depths[0],
    normal: [normals[0], normals[1], normals[2]],
    points: Array.from(depths, (_, i) => new Vector3().fromArray(points, 3 * i).sub(scene.place)),
  };
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
  const contact = found(scene, a, from, b, to)!;
  expect(contact).not.toBe(null);
  const far = scene.place.length() > 0;
  expect(Math.abs(contact.depth - depth)).toBeLessThan(2e-8);
  expect(Math.hypot(...contact.normal)).toBeCloseTo(1, 6);
  if (normal) {
    const turn = new Vector3(...contact.normal).angleTo(new Vector3(...normal));
    // Where a shape is the same upside down, either way out is right.
    expect(Math.min(turn, depth > 0.9 ? Math.PI - turn : turn)).toBeLessThan(1e-4);
  }
  if (points !== undefined) expect(contact.points.length).toBe(points);
  const solids = [new ConvexSolid(thick(a), scene.exactly(from)), new ConvexSolid(thick(b), scene.exactly(to))];
  for (const point of contact.points) {
    for (const solid of solids) expect(solid.outside(point)).toBeLessThan(far ? 0.07 : 1e-5);
  }
}

/** Flat boxes as the oracle can turn them back. */
function thick(shape: AnyShape): AnyShape {
  if (shape.shape.type !== 'box') return shape;
  const [x, y, z] = shape.shape.halfExtents;
  return box(Math.max(x, 1e-9), Math.max(y, 1e-9), Math.max(z, 1e-9));
}
