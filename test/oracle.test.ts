// The oracle on cases that can be worked out by hand: a reference that cannot fail would prove nothing.
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  type Intersection,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  Quaternion,
  Ray,
  Raycaster,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { aimedRays } from './fixtures/ray-differences.js';
import { box, depthInside, separation, triangle } from './oracle/convex.js';
import { dragon } from './oracle/dragon.js';
import { type Corners, trianglesIntersect } from './oracle/exact.js';
import { frustumPlanes, frustumState } from './oracle/frustum.js';
import { boxMesh, icosphere, merged, soup, type Triangles, transformed } from './oracle/meshes.js';
import { findContacts } from './oracle/pairs.js';
import { boxShape, meshShape, PlacedShape } from './oracle/placed.js';
import { Random } from './oracle/random.js';
import { rayHits } from './oracle/ray.js';
import { RaycastedMesh } from './oracle/raycaster.js';

const cube = (x: number, y: number, z: number, half = 1) =>
  box(new Matrix4().makeScale(half, half, half).setPosition(x, y, z));
const v = (x: number, y: number, z: number) => new Vector3(x, y, z);

describe('random', () => {
  test('a seed replays, and another gives something else', () => {
    const draw = (seed: number) =>
      new Random(seed).placement(new Random(seed).point(10), { low: 0.1, high: 3 }).elements;
    expect(draw(5)).toEqual(draw(5));
    expect(draw(5)).not.toEqual(draw(6));
  });

  test('directions and rotations have no preference', () => {
    const random = new Random(1);
    const sum = v(0, 0, 0);
    for (let i = 0; i < 10_000; i++) sum.add(random.direction()).add(v(1, 0, 0).applyQuaternion(random.rotation()));
    expect(sum.length() / 20_000).toBeLessThan(0.02);
  });

  test('mirrored matrices are mirrored', () => {
    const random = new Random(1);
    for (let i = 0; i < 100; i++) {
      expect(random.placement(v(0, 0, 0), { mirrored: 1 }).determinant()).toBeLessThan(0);
      expect(random.placement(v(0, 0, 0), { low: 0.1, high: 9 }).determinant()).toBeGreaterThan(0);
    }
  });
});

describe('meshes', () => {
  test.each([
    ['box', boxMesh(1, 2, 3), 12],
    ['icosphere', icosphere(1, 3), 320],
    ['large icosphere', icosphere(1, 9), 2000],
  ])('%s is closed: each edge is there once either way', (_, mesh, triangles) => {
    expect(mesh.indices.length / 3).toBe(triangles);
    const edges = new Set<string>();
    for (let i = 0; i < mesh.indices.length; i++) {
      edges.add(`${mesh.indices[i]} ${mesh.indices[i % 3 === 2 ? i - 2 : i + 1]}`);
    }
    expect(edges.size).toBe(mesh.indices.length);
    for (const edge of edges) expect(edges).toContain(edge.split(' ').reverse().join(' '));
  });

  test('faces point outwards', () => {
    const hit = rayHits(
      [new PlacedShape(1, meshShape(icosphere(1, 3)), new Matrix4())],
      new Ray(v(0.1, 0.2, 5), v(0, 0, -1)),
    );
    expect(hit.map(({ front }) => front)).toEqual([true, false]);
    expect(hit[0].normal.z).toBeGreaterThan(0.9);
  });

  test('the dragon has its triangles', () => {
    expect(dragon(11_102).indices.length / 3).toBe(11_102);
    expect(dragon(47_794).indices.length / 3).toBe(47_794);
  });

  test('merged keeps each part', () => {
    const parts = [boxMesh(1, 1, 1), soup(new Random(1), 5, 1, 2)];
    const { positions, indices } = merged(parts);
    expect(indices.length / 3).toBe(17);
    expect(positions[3 * indices[36]]).toBe(parts[1].positions[0]);
  });
});

describe('rays', () => {
  const hits = (item: PlacedShape, origin: Vector3, direction: Vector3) => rayHits([item], new Ray(origin, direction));
  const square: Triangles = {
    positions: new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]),
    indices: new Uint32Array([0, 1, 2, 0, 2, 3]),
  };

  test('a triangle, its side, its distance, its normal', () => {
    const item = new PlacedShape(7, meshShape(square), new Matrix4().makeScale(2, 2, 2).setPosition(0, 0, 3));
    const [hit, ...more] = hits(item, v(1.5, 0.5, 10), v(0, 0, -1));
    expect(more).toEqual([]);
    expect(hit).toMatchObject({
      id: 7,
      triangle: 0,
      distance: 7,
      front: true,
      point: v(1.5, 0.5, 3),
      normal: v(0, 0, 1),
    });
    expect(hits(item, v(0.5, 1.5, -1), v(0, 0, 1))).toMatchObject([{ triangle: 1, distance: 4, front: false }]);
    expect(hits(item, v(2.1, 0.5, 10), v(0, 0, -1))).toEqual([]);
    expect(hits(item, v(1.5, 0.5, 10), v(0, 0, 1))).toEqual([]);
  });

  test('a mirrored matrix turns no face', () => {
    const item = new PlacedShape(1, meshShape(square), new Matrix4().makeScale(1, 1, -1));
    expect(hits(item, v(0.7, 0.5, 10), v(0, 0, -1))).toMatchObject([{ front: false }]);
  });

  test('a box, from outside and from inside', () => {
    const turned = new Quaternion().setFromAxisAngle(v(0, 0, 1), Math.PI / 2);
    const item = new PlacedShape(1, boxShape(v(1, 2, 3), v(5, 0, 0), turned), new Matrix4().makeScale(-1, 1, 1));
    const outside = hits(item, v(10, 0.5, 1), v(-1, 0, 0));
    expect(outside).toMatchObject([{ front: true }, { front: false }]);
    expect(outside.map(({ distance }) => distance)).toEqual([expect.closeTo(13), expect.closeTo(17)]);
    expect(outside[0].normal.distanceTo(v(1, 0, 0))).toBeLessThan(1e-12);
    const inside = hits(item, v(-5, 0, 0), v(0, 0, 1));
    expect(inside).toMatchObject([{ front: false, distance: 3, normal: v(0, 0, 1) }]);
    expect(hits(item, v(10, 1.01, 0), v(-1, 0, 0))).toEqual([]);
  });
});

test("a mesh in pieces gives three's Raycaster what the whole gives it", () => {
  const random = new Random(1);
  const mesh = dragon(11_102);
  const matrix = random.placement(v(1, 2, 3), { low: 5, high: 10, mirrored: 1 });
  const whole = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ side: DoubleSide }));
  whole.geometry.setAttribute('position', new BufferAttribute(mesh.positions, 3));
  whole.geometry.setIndex(new BufferAttribute(mesh.indices, 1));
  whole.matrixWorld.copy(matrix);
  const pieces = new RaycastedMesh(mesh);
  const answers = (hits: Intersection[]) => hits.map(({ distance, faceIndex }) => `${distance} ${faceIndex}`).sort();
  let hits = 0;
  for (const { origin, direction } of aimedRays(random, 200, new Vector3(0, 0.12, 0).applyMatrix4(matrix), 0.5)) {
    const raycaster = new Raycaster(origin, direction);
    const found = answers(pieces.intersect(raycaster, matrix, whole.material));
    expect(found).toEqual(answers(raycaster.intersectObject(whole)));
    hits += found.length;
  }
  expect(hits).toBeGreaterThan(100);
});

describe('frusta', () => {
  const state = (projection: Matrix4, body: ReturnType<typeof cube>, depth: 'webgl' | 'webgpu' = 'webgl') =>
    frustumState(body, frustumPlanes(projection.elements, new Matrix4().elements, depth));

  test('perspective: 90°, near 1, far 100', () => {
    const { projectionMatrix } = new PerspectiveCamera(90, 1, 1, 100);
    expect(state(projectionMatrix, cube(0, 0, -10))).toEqual({
      state: 'inside',
      margin: expect.closeTo(8 / Math.SQRT2),
    });
    expect(state(projectionMatrix, cube(0, 0, -1)).state).toBe('crossing');
    expect(state(projectionMatrix, cube(0, 0, 10))).toEqual({ state: 'outside', margin: expect.closeTo(10) });
    expect(state(projectionMatrix, cube(0, 0, -102)).state).toBe('outside');
    expect(state(projectionMatrix, cube(13, 0, -10))).toEqual({
      state: 'outside',
      margin: expect.closeTo(1 / Math.SQRT2),
    });
  });

  test('clip depth 0 … 1 puts the near plane elsewhere', () => {
    const { projectionMatrix } = new OrthographicCamera(-5, 5, 5, -5, 1, 11);
    const halfway = new Matrix4().makeScale(1, 1, 0.5).setPosition(0, 0, 0.5).multiply(projectionMatrix);
    for (const [z, expected] of [
      [0.1, 'outside'],
      [-1.5, 'crossing'],
      [-6, 'inside'],
      [-12.1, 'outside'],
    ] as const) {
      expect(state(projectionMatrix, cube(0, 0, z)).state).toBe(expected);
      expect(state(halfway, cube(0, 0, z), 'webgpu').state).toBe(expected);
    }
  });

  test('a far plane at infinity bounds nothing', () => {
    const infinite = new PerspectiveCamera(90, 1, 1, 100).projectionMatrix.clone();
    infinite.elements[10] = -1;
    infinite.elements[14] = -2;
    expect(state(infinite, cube(0, 0, -1e9)).state).toBe('inside');
  });
});

describe('separation', () => {
  const flat = triangle(v(0, 0, 0), v(1, 0, 0), v(0, 1, 0));

  test('boxes face to face, touching and overlapping', () => {
    expect(separation(cube(0, 0, 0), cube(3, 0.5, 0.5))).toBe(1);
    expect(separation(cube(0, 0, 0), cube(2, 1, 1))).toBe(0);
    expect(separation(cube(0, 0, 0), cube(1.75, 1, 0))).toBe(-0.25);
  });

  test('boxes edge to edge', () => {
    const turned = (axis: Vector3, x: number) =>
      box(new Matrix4().makeRotationAxis(axis, Math.PI / 4).setPosition(x, 0, 0));
    const [a, b] = [turned(v(0, 0, 1), 0), turned(v(0, 1, 0), 2 * Math.SQRT2 + 0.1)];
    expect(separation(a, b)).toBeCloseTo(0.1, 12);
    expect(separation(a, turned(v(0, 1, 0), 2 * Math.SQRT2 - 0.1))).toBeCloseTo(-0.1, 12);
  });

  test('triangles', () => {
    expect(separation(flat, triangle(v(0.2, 0.2, -1), v(0.2, 0.2, 1), v(0.3, 0.2, 1)))).toBeLessThan(0);
    expect(separation(flat, triangle(v(0.2, 0.2, 0.5), v(0.2, 0.2, 1), v(0.3, 0.2, 1)))).toBe(0.5);
    expect(separation(flat, triangle(v(0.5, 0.5, -1), v(0.5, 0.5, 1), v(2, 2, 0)))).toBe(0);
  });

  test('triangles in one plane', () => {
    expect(separation(flat, triangle(v(0.2, 0.2, 0), v(0.3, 0.2, 0), v(0.2, 0.3, 0)))).toBe(0);
    expect(separation(flat, triangle(v(1, 1, 0), v(2, 1, 0), v(1, 2, 0)))).toBeCloseTo(Math.SQRT1_2, 12);
    expect(separation(flat, triangle(v(1, 0, 0), v(2, 0, 0), v(1, 1, 0)))).toBe(0);
  });

  test('a triangle and a box, which is solid', () => {
    expect(separation(cube(0, 0, 0, 3), flat)).toBeLessThan(0);
    expect(separation(cube(0, 0, 3), flat)).toBe(2);
  });

  test('depth inside', () => {
    expect(depthInside([v(0, 0, 0), v(0.5, 0, 0.25)], cube(0, 0, 0))).toBe(0.5);
    expect(depthInside([v(0, 0, 0), v(0, 0, -1.5)], cube(0, 0, 0))).toBe(-0.5);
  });
});

describe('exact triangles', () => {
  const flat: Corners = [v(0, 0, 0), v(4, 0, 0), v(0, 4, 0)];
  const hair = 2 ** -40;

  test.each<[string, boolean, Corners]>([
    ['pierced', true, [v(1, 1, -1), v(1, 1, 1), v(5, 5, 1)]],
    ['passed by', false, [v(3, 3, -1), v(3, 3, 1), v(5, 5, 1)]],
    ['touched by a corner', true, [v(1, 1, 0), v(1, 1, 1), v(2, 1, 1)]],
    ['not quite touched', false, [v(1, 1, hair), v(1, 1, 1), v(2, 1, 1)]],
    ['touched on an edge by an edge', true, [v(2, 2, -1), v(2, 2, 1), v(5, 5, 0)]],
    ['not quite, as before', false, [v(2, 2 + hair, -1), v(2, 2 + hair, 1), v(5, 5, 0)]],
    ['sharing a corner', true, [v(0, 0, 0), v(-1, 0, 1), v(0, -1, 1)]],
    ['in its plane, inside', true, [v(1, 1, 0), v(2, 1, 0), v(1, 2, 0)]],
    ['in its plane, around', true, [v(-9, -9, 0), v(20, -9, 0), v(-9, 20, 0)]],
    ['in its plane, across', true, [v(1, -1, 0), v(2, -1, 0), v(1, 9, 0)]],
    ['in its plane, edge along edge', true, [v(1, 0, 0), v(9, 0, 0), v(1, -9, 0)]],
    ['in its plane, in line with an edge', false, [v(5, 0, 0), v(9, 0, 0), v(5, -9, 0)]],
    ['in its plane, apart', false, [v(3, 3, 0), v(9, 3, 0), v(3, 9, 0)]],
  ])('%s: %s', (_, meets, other) => {
    expect(trianglesIntersect(flat, other)).toBe(meets);
    expect(trianglesIntersect(other, flat)).toBe(meets);
  });
});

describe('pairs', () => {
  const boxAt = (id: number, x: number, half = 1) =>
    new PlacedShape(id, boxShape(v(half, half, half)), new Matrix4().setPosition(x, 0, 0));
  const ballAt = (id: number, x: number, radius = 1) =>
    new PlacedShape(id, meshShape(icosphere(radius, 1)), new Matrix4().setPosition(x, 0, 0));
  const found = (...items: PlacedShape[]) => findContacts(items, 1e-5).map(({ a, b, contained }) => [a, b, contained]);

  test('touching is contact, a gap is not', () => {
    expect(found(boxAt(2, 0), boxAt(1, 2), boxAt(3, -2.1))).toEqual([[1, 2, 0]]);
    expect(found(ballAt(1, 0), ballAt(2, 1.8), ballAt(3, 4))).toEqual([[1, 2, 0]]);
  });

  test('a box holds boxes and meshes; a mesh holds nothing', () => {
    expect(found(boxAt(1, 0), boxAt(2, 0, 3))).toEqual([[1, 2, 1]]);
    expect(found(boxAt(1, 0, 3), ballAt(2, 0))).toEqual([[1, 2, 2]]);
    expect(found(boxAt(1, 0, 0.1), ballAt(2, 0, 3))).toEqual([]);
    expect(found(ballAt(1, 0), ballAt(2, 0, 3))).toEqual([]);
    expect(found(boxAt(1, 2.5, 3), ballAt(2, 0))).toEqual([[1, 2, 0]]);
  });
});

test('triangles of a moved mesh are where its matrix puts them', () => {
  const mesh = transformed(boxMesh(2, 2, 2), (vertex) => vertex.add(v(1, 0, 0)));
  const item = new PlacedShape(1, meshShape(mesh), new Matrix4().makeScale(2, 1, 1).setPosition(0, 5, 0));
  expect(item.bounds.aabb).toMatchObject({ min: v(0, 4, -1), max: v(4, 6, 1) });
  expect(item.partsNear(item.bounds.aabb, 0)).toHaveLength(12);
  const [far] = item.partsNear(new Box3(v(4, 0, 0), v(5, 9, 0)), 0);
  expect(item.part(far).aabb).toMatchObject({ min: v(4, 4, -1), max: v(4, 6, 1) });
});
