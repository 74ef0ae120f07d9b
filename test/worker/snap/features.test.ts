// What meshes offer for snapping: known edges, vertices, midpoints and
// centres, and baked features that cannot be forged to cause harm.
import {
  type CollisionService,
  createCollisionService,
  type PickOptions,
  type SnapKind,
  type Vec3,
} from 'collision-worker';
import {
  BoxGeometry,
  type BufferGeometry,
  CylinderGeometry,
  ExtrudeGeometry,
  Matrix4,
  OrthographicCamera,
  Path,
  PlaneGeometry,
  Shape,
  SphereGeometry,
  Vector3,
} from 'three';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Random, SEED } from '../../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());
const added: (() => void)[] = [];
afterEach(() => {
  for (const remove of added.splice(0).reverse()) remove();
});

const SIZE = 400;

async function add(geometry: BufferGeometry, matrix = new Matrix4(), options = {}, more = {}) {
  const indexed = geometry.index ? geometry : mergeVertices(geometry);
  const mesh = await service.addMesh(
    {
      positions: new Float32Array(indexed.getAttribute('position').array),
      indices: Uint32Array.from(indexed.index!.array),
    },
    options,
  );
  return place(mesh, matrix, more);
}

function place(mesh: number, matrix = new Matrix4(), more = {}) {
  const object = service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements, ...more });
  added.push(() => {
    service.removeObject(object);
    service.removeMesh(mesh);
  });
  return { mesh, object };
}

/**
 * Looks along z, or from elsewhere, at a square of twice the half size
 * about a place, with a parallel projection, so that pixels are easy.
 */
async function look(half: number, at = new Vector3(), from = new Vector3(0, 0, 50)): Promise<void> {
  const camera = new OrthographicCamera(-half, half, half, -half, 0.1, 100 * half + 100);
  camera.position.copy(from.clone().multiplyScalar(half / 2)).add(at);
  camera.lookAt(at);
  camera.updateMatrixWorld();
  looking = camera;
  const viewport = { width: SIZE, height: SIZE };
  service.setView({ projection: camera.projectionMatrix.elements, view: camera.matrixWorldInverse.elements, viewport });
  await service.update();
}

let looking: OrthographicCamera;

async function snapAt(point: Vector3, kinds: SnapKind[], dx = 0, dy = 0, options: PickOptions = {}) {
  const p = point.clone().project(looking);
  const hit = await service.pick(((p.x + 1) / 2) * SIZE + dx, ((1 - p.y) / 2) * SIZE + dy, { snap: kinds, ...options });
  return hit?.snap ?? null;
}

const near = (a: Vec3, b: Vector3, doubt = 1e-6) => expect(new Vector3(...a).distanceTo(b)).toBeLessThan(doubt);

test('a straight edge of many is one, with one middle', async () => {
  await add(new BoxGeometry(2, 2, 2, 4, 5, 6));
  await look(2);
  const edge = await snapAt(new Vector3(0.3, 1, 1), ['vertex', 'edge'], 0, 3);
  expect(edge).toMatchObject({ kind: 'edge' });
  expect(edge!.pixels).toBeCloseTo(3, 6);
  const ends = [edge!.a, edge!.b].sort(([a], [b]) => a - b);
  near(ends[0], new Vector3(-1, 1, 1));
  near(ends[1], new Vector3(1, 1, 1));
  const middle = await snapAt(new Vector3(0, 1, 1), ['vertex', 'midpoint', 'edge'], 2, 2);
  expect(middle!.kind).toBe('midpoint');
  near(middle!.point, new Vector3(0, 1, 1));
});

test('a vertex goes before the edges that it ends, points before edges', async () => {
  await add(new BoxGeometry(2, 2, 2));
  await look(2);
  const snap = await snapAt(new Vector3(1, 1, 1), ['edge', 'midpoint', 'vertex'], -6, 1);
  expect(snap!.kind).toBe('vertex');
  near(snap!.point, new Vector3(1, 1, 1));
  expect(snap!.a).toEqual(snap!.point);
});

test.each([8, 12, 32, 100])('a cylinder of %i sides has the centres of its rims', async (sides) => {
  await add(new CylinderGeometry(1, 1, 2, sides).rotateX(Math.PI / 2));
  await look(2);
  const snap = await snapAt(new Vector3(0, 0, 1), ['center'], 4, 3);
  expect(snap).toMatchObject({ kind: 'center' });
  expect(snap!.pixels).toBeCloseTo(5, 4);
  near(snap!.point, new Vector3(0, 0, 1));
  expect(snap!.radius).toBeCloseTo(1, 5);
  expect(Math.abs(snap!.axis![2])).toBeCloseTo(1, 6);
});

test('square and hexagonal rims have no centres', async () => {
  for (const sides of [3, 4, 5, 6, 7]) await add(new CylinderGeometry(1, 1, 2, sides).rotateX(Math.PI / 2));
  await look(2);
  expect(await snapAt(new Vector3(0, 0, 1), ['center'])).toBeNull();
});

test('a hole and a fillet have centres, an ellipse has none', async () => {
  const shape = new Shape();
  shape.moveTo(-2, -2).lineTo(2, -2).lineTo(2, 1);
  shape.absarc(1, 1, 1, 0, Math.PI / 2, false);
  shape.lineTo(-2, 2).lineTo(-2, -2);
  shape.holes.push(new Path().absarc(-1, 0, 0.5, 0, 2 * Math.PI, true));
  shape.holes.push(new Path().absellipse(0.8, -1, 0.6, 0.3, 0, 2 * Math.PI, true));
  await add(new ExtrudeGeometry(shape, { depth: 0.5, bevelEnabled: false, curveSegments: 16 }));
  await look(3);
  near((await snapAt(new Vector3(-1, 0, 0.5), ['center'], 3))!.point, new Vector3(-1, 0, 0.5), 1e-5);
  const fillet = await snapAt(new Vector3(1, 1, 0.5), ['center'], 0, 4);
  near(fillet!.point, new Vector3(1, 1, 0.5), 1e-5);
  const ends = [fillet!.a, fillet!.b].sort(([a], [b]) => a - b);
  near(ends[0], new Vector3(1, 2, 0.5), 1e-5);
  near(ends[1], new Vector3(2, 1, 0.5), 1e-5);
  expect(await snapAt(new Vector3(0.8, -1, 0.5), ['center'])).toBeNull();
});

test('seams that differ in their last bits are no edges, a sphere has nothing to snap to', async () => {
  await add(new SphereGeometry(1, 48, 32));
  await look(1.5);
  const random = new Random(SEED);
  for (let i = 0; i < 50; i++) {
    const p = new Vector3(random.range(-1, 1), random.range(-1, 1), 0);
    expect(await snapAt(p, ['vertex', 'edge', 'midpoint', 'center'], 0, 0, { radius: 40 })).toBeNull();
  }
});

test('a face is all of its plane', async () => {
  await add(new BoxGeometry(2, 2, 2, 3, 3, 3));
  await look(2);
  const snap = await snapAt(new Vector3(0.1, 0.1, 1), ['vertex', 'face'], 0, 0, { radius: 2 });
  expect(snap!.kind).toBe('face');
  expect(snap!.face!.triangles.length).toBe(18);
  expect(snap!.face!.normal).toEqual([0, 0, 1]);
  const { corners } = snap!.face!;
  expect(Array.from(corners).every((value, i) => (i % 3 === 2 ? value === 1 : Math.abs(value) <= 1))).toBe(true);
});

test('boxes have vertices, edges and faces', async () => {
  const object = service.addObject({
    shape: { type: 'box', halfExtents: [1, 2, 3] },
    matrix: new Matrix4().makeTranslation(5, 0, 0).elements,
  });
  added.push(() => service.removeObject(object));
  await look(4, new Vector3(5, 0, 0));
  near((await snapAt(new Vector3(6, 2, 3), ['vertex', 'edge'], 2))!.point, new Vector3(6, 2, 3));
  expect(await snapAt(new Vector3(5, 2, 3), ['midpoint'], 2)).toMatchObject({ kind: 'midpoint', object, element: -1 });
  expect((await snapAt(new Vector3(5, 0, 3), ['face']))!.face!.corners.length).toBe(18);
});

test('lines have ends and middles, points are vertices', async () => {
  const lines = await service.addMesh({
    positions: Float32Array.of(0, 0, 0, 2, 0, 0, 2, 1, 0),
    indices: Uint32Array.of(0, 1, 1, 2),
    topology: 'lines',
  });
  const points = await service.addMesh({ positions: Float32Array.of(-1, -1, 0, -2, 0, 0), topology: 'points' });
  const [line, point] = [place(lines).object, place(points).object];
  await look(3);
  expect(await snapAt(new Vector3(2, 0, 0), ['vertex', 'edge'], 3)).toMatchObject({ kind: 'vertex', object: line });
  expect(await snapAt(new Vector3(1, 0, 0), ['midpoint'], 3)).toMatchObject({
    kind: 'midpoint',
    point: [1, 0, 0],
    a: [0, 0, 0],
    b: [2, 0, 0],
    element: 0,
  });
  expect(await snapAt(new Vector3(-2, 0, 0), ['vertex'], 3)).toMatchObject({
    object: point,
    point: [-2, 0, 0],
    element: 1,
  });
});

test('what is cut away is not snapped to, an edge where it is left', async () => {
  await add(new BoxGeometry(2, 2, 2));
  await look(2);
  const clip = [-1, 0, 0, 0.5]; // keeps x below 0.5
  expect(await snapAt(new Vector3(1, 1, 1), ['vertex'], 0, 0, { clip })).toBeNull();
  const edge = await snapAt(new Vector3(0.5, 1, 1), ['edge'], 4, 0, { clip });
  near(edge!.point, new Vector3(0.5, 1, 1));
  expect(edge!.pixels).toBeCloseTo(4, 5);
});

test('of an edge whose middle is cut away both ends are left', async () => {
  await add(new BoxGeometry(2, 2, 2));
  await look(2);
  // Geometry between -0.5 and 0.5 along x is clipped by both planes.
  const options = { clip: [1, 0, 0, -0.5, -1, 0, 0, -0.5], clipIntersection: true };
  for (const sign of [-1, 1]) {
    for (const [x, dx, expected] of [
      [0.8, 0, 0.8],
      [0.95, 0, 0.95],
      [0.5, -4, 0.5],
    ] as const) {
      const edge = await snapAt(new Vector3(sign * x, 1, 1), ['edge'], sign * dx, 0, options);
      near(edge!.point, new Vector3(sign * expected, 1, 1));
      expect(edge!.pixels).toBeCloseTo(Math.abs(dx), 5);
    }
  }
  expect(await snapAt(new Vector3(0, 1, 1), ['edge'], 0, 0, options)).toBeNull();
});

test.each([-1, 1])('a line that is seen end on is snapped to at its nearer end, which is at %d', async (end) => {
  const mesh = await service.addMesh({
    topology: 'lines',
    positions: new Float32Array([0, 0, -end, 0, 0, end]),
    indices: Uint32Array.of(0, 1),
  });
  place(mesh);
  await look(2, new Vector3(), new Vector3(0, 0, 50 * end));
  const edge = await snapAt(new Vector3(), ['edge'], 3, 0);
  near(edge!.point, new Vector3(0, 0, end));
  expect(edge!.pixels).toBeCloseTo(3, 5);
});

test('only what shows is snapped to', async () => {
  await add(new PlaneGeometry(2, 2), new Matrix4(), {}, { side: 'back' });
  await look(2);
  expect(await snapAt(new Vector3(1, 1, 0), ['vertex'])).toBeNull();
  expect(await snapAt(new Vector3(1, 1, 0), ['vertex'], 0, 0, { side: 'double' })).not.toBeNull();
});

test('features that were found by the builder are baked, and go with the mesh', async () => {
  const geometry = new CylinderGeometry(1, 1, 2, 12).rotateX(Math.PI / 2);
  const { mesh } = await add(geometry, new Matrix4(), { features: { angle: 10 } });
  const baked = await service.bakeMesh(mesh);
  const other = await service.addMesh(baked.slice(0));
  const { object } = place(other, new Matrix4().makeTranslation(10, 0, 0));
  await look(2, new Vector3(10, 0, 0));
  // With an angle of 10 degrees, sides 30 degrees apart are edges.
  await look(2, new Vector3(10, 0, 0), new Vector3(0, 50, 0.001));
  expect(await snapAt(new Vector3(10, 1, 0), ['midpoint'], 1, 1, { radius: 5 })).toMatchObject({ object });
  expect(new Uint8Array(await service.bakeMesh(other))).toEqual(new Uint8Array(baked));
});

test('baked features that were changed are refused, and never lead astray', async () => {
  const { mesh } = await add(new BoxGeometry(1, 1, 1), new Matrix4(), { features: true });
  const baked = await service.bakeMesh(mesh);
  const meshBytes = new DataView(baked).getUint32(8, true);
  expect(meshBytes).toBeLessThan(baked.byteLength);
  const random = new Random(SEED);
  for (let i = 0; i < 60; i++) {
    const bytes = new Uint8Array(baked.slice(0));
    bytes[random.integer(baked.byteLength - meshBytes - 16) + meshBytes + 16] ^= 1 << random.integer(8);
    const load = service.addMesh(bytes.buffer).then((id) => service.removeMesh(id));
    await load.catch((error) => expect(error).toMatchObject({ code: 'BAD_DATA' }));
  }
  // A regression: the highest bit of every second word was not checked.
  const refused: unknown[] = [];
  const refuse = async (at: number, bit: number): Promise<void> => {
    const bytes = new Uint8Array(baked.slice(0));
    bytes[at] ^= bit;
    await service.addMesh(bytes.buffer).catch((error) => refused.push(error.code));
  };
  const highest = Array.from({ length: (baked.byteLength - meshBytes) / 4 - 4 }, (_, i) => meshBytes + 4 * i + 19);
  await Promise.all(highest.map((at) => refuse(at, 0x80)));
  await Promise.all([1, 2, 4, 8].map((bit) => refuse(baked.byteLength - 4, bit)));
  expect(refused).toEqual(Array.from({ length: highest.length + 4 }, () => 'BAD_DATA'));
  await expect(service.addMesh(baked.slice(0, meshBytes + 40))).rejects.toMatchObject({ code: 'BAD_DATA' });
});

test('a mesh of which the vertices move is snapped to where they are', async () => {
  const geometry = new BoxGeometry(2, 2, 2);
  const { mesh } = await add(geometry);
  await look(4);
  near((await snapAt(new Vector3(1, 1, 1), ['vertex'], 2))!.point, new Vector3(1, 1, 1));
  const positions = new Float32Array(geometry.getAttribute('position').array).map((value) => 1.5 * value);
  await service.updateMesh(mesh, positions);
  near((await snapAt(new Vector3(1.5, 1.5, 1.5), ['vertex'], 2))!.point, new Vector3(1.5, 1.5, 1.5));
  expect(await snapAt(new Vector3(1, 1, 1), ['vertex'], 0, 0, { radius: 5 })).toBeNull();
});

test('vertices that move all the time are snapped to all the same', async () => {
  const geometry = new BoxGeometry(2, 2, 2, 60, 60, 60);
  const { mesh } = await add(geometry);
  await look(4);
  const rest = new Float32Array(geometry.getAttribute('position').array);
  let isDone = false;
  const answer = snapAt(new Vector3(1, 1, 1), ['vertex'], 0, 0, { radius: 60 }).finally(() => {
    isDone = true;
  });
  for (let i = 0; i < 2000 && !isDone; i++)
    await service.updateMesh(
      mesh,
      rest.map((value) => (1 + 0.001 * (i % 20)) * value),
    );
  expect(isDone).toBe(true);
  expect(await answer).toMatchObject({ kind: 'vertex' });
});

test('morphed objects are snapped to where they are', async () => {
  const geometry = new BoxGeometry(2, 2, 2);
  const positions = new Float32Array(geometry.getAttribute('position').array);
  const target = positions.map((value) => 0.5 * value);
  const mesh = await service.addMesh({
    positions,
    indices: Uint32Array.from(geometry.index!.array),
    morphs: { targets: [target], relative: true },
  });
  const { object } = place(mesh);
  service.setPose(object, { morphs: [1] });
  await look(4);
  const snap = await snapAt(new Vector3(1.5, 1.5, 1.5), ['vertex', 'edge', 'center'], 3);
  expect(snap).toMatchObject({ kind: 'vertex', object });
  near(snap!.point, new Vector3(1.5, 1.5, 1.5));
  near((await snapAt(new Vector3(0, 1.5, 1.5), ['midpoint'], 3))!.point, new Vector3(0, 1.5, 1.5));
});

test('the cursor may be beside the object', async () => {
  const { object } = await add(new BoxGeometry(2, 2, 2));
  await look(2);
  const p = new Vector3(1, 1, 1).project(looking);
  const hit = await service.pick(((p.x + 1) / 2) * SIZE + 3, ((1 - p.y) / 2) * SIZE - 4, { snap: ['vertex'] });
  expect(hit).toMatchObject({ object, point: [1, 1, 1], snap: { kind: 'vertex', pixels: expect.closeTo(5, 6) } });
  expect(hit!.triangle).toBeGreaterThanOrEqual(0);
  expect(hit!.barycentric.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
  const [x, y, z] = hit!.normal;
  expect(Math.hypot(x, y, z)).toBeCloseTo(1, 9);
});

describe('options', () => {
  test.each([
    [{ snap: 'vertex' }, /snap is "vertex", expected a list of vertex/],
    [{ snap: ['corner'] }, /snap\[0\] is "corner"/],
    [{ snap: ['vertex'], method: 'screen' }, /snap is .*expected none with method 'screen'/],
    [{ snap: ['vertex'], precision: 'obb' }, /expected none with precision 'obb'/],
  ])('%j is refused', async (options, message) => {
    await look(2);
    await expect((async () => service.pick(1, 1, options as never))()).rejects.toThrowError(message);
  });

  test.each([{ angle: -1 }, { angle: 181 }, { angle: Number.NaN }, { degrees: 3 }, 5])(
    'features %j is refused',
    async (features) => {
      const data = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0) };
      await expect(service.addMesh(data, { features: features as never })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    },
  );
});
