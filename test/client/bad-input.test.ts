import {
  CollisionError,
  type CollisionService,
  createCollisionService,
  type MeshId,
  type ObjectId,
  type ObjectOptions,
} from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { boxMesh, icosphere } from '../oracle/meshes.js';

const IDENTITY = new Matrix4().elements;
const NAN_MATRIX = IDENTITY.with(5, Number.NaN);
const FLAT_MATRIX = new Matrix4().makeScale(1, 0, 1).elements;
const VIEW = {
  projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
  view: IDENTITY,
  viewport: { width: 100, height: 100 },
};
const UNIT_BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
const FORWARD = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;

let service: CollisionService;
let mesh: MeshId;
let sheet: MeshId;
let staleMesh: MeshId;
let object: ObjectId;
let other: ObjectId;
let stale: ObjectId;

beforeAll(async () => {
  service = await createCollisionService();
  mesh = await service.addMesh(boxMesh(2, 2, 2));
  sheet = await service.addMesh({ positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]) });
  staleMesh = await service.addMesh(boxMesh(1, 1, 1));
  service.removeMesh(staleMesh);
  object = service.addObject({ shape: { type: 'mesh', mesh } });
  other = service.addObject({ ...UNIT_BOX, matrix: new Matrix4().makeTranslation(0, 50, 0).elements });
  stale = service.addObject(UNIT_BOX);
  service.removeObject(stale);
});
afterAll(() => service.dispose());

/** Whatever was refused, the service continues as if the call had not been made. */
afterEach(async () => {
  expect(await service.raycast(FORWARD)).toMatchObject({ object, distance: 9 });
  const { rejected, contacts } = await service.update();
  expect([rejected.length, contacts.count]).toEqual([0, 0]);
  expect(service.stats.objects).toBe(2);
});

async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(CollisionError);
    return (error as CollisionError).code;
  }
  return 'no error';
}

describe('meshes', () => {
  const { positions, indices } = icosphere(1, 1);
  const detached = () => {
    const array = positions.slice();
    structuredClone(array, { transfer: [array.buffer] });
    return array;
  };

  test.each<[string, string, () => unknown]>([
    ['empty', 'BAD_DATA', () => service.addMesh({ positions: new Float32Array() })],
    ['no triangles', 'BAD_DATA', () => service.addMesh({ positions, indices: new Uint32Array() })],
    ['a part of a vertex', 'BAD_DATA', () => service.addMesh({ positions: positions.slice(1), indices })],
    ['a part of a triangle', 'BAD_DATA', () => service.addMesh({ positions, indices: indices.slice(1) })],
    ['an index out of range', 'BAD_DATA', () => service.addMesh({ positions, indices: indices.with(7, 1000) })],
    ['a detached array', 'INVALID_ARGUMENT', () => service.addMesh({ positions: detached(), indices })],
    ['float64 positions', 'INVALID_ARGUMENT', () => service.addMesh({ positions: new Float64Array(9) as never })],
    ['only triangles without area', 'BAD_DATA', () => service.addMesh({ positions: new Float32Array(18) })],
    ['only NaN', 'BAD_DATA', () => service.addMesh({ positions: new Float32Array(9).fill(Number.NaN) })],
    ['a baked mesh that is none', 'BAD_DATA', () => service.addMesh(new ArrayBuffer(1024))],
    ['a baked mesh of no bytes', 'BAD_DATA', () => service.addMesh(new ArrayBuffer(0))],
    ['removing one twice', 'UNKNOWN_ID', () => service.removeMesh(staleMesh)],
    ['baking one that is gone', 'UNKNOWN_ID', () => service.bakeMesh(staleMesh)],
  ])('%s: %s', async (_, code, call) => {
    expect(await codeOf(call)).toBe(code);
  });

  test('a view, which is what Node reads of a file, is told from a baked mesh', async () => {
    const message = expect.stringContaining(
      'data is a Uint8Array of length 8, expected positions and indices, or a baked',
    );
    await expect(service.addMesh(new Uint8Array(8) as never)).rejects.toMatchObject({ message });
  });

  test.each<[string, unknown]>([
    ['an object of SharedArrayBuffer', new SharedArrayBuffer(8)],
    ['an object', { indices }],
  ])('%s is called that, and not a mesh whose positions are undefined', async (name, data) => {
    const message = `addMesh: data is ${name}, expected positions and indices, or a baked mesh in an ArrayBuffer`;
    await expect(service.addMesh(data as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message });
  });

  test('an abort before, and one during the build', async () => {
    const large = icosphere(1, 60);
    expect(await codeOf(() => service.addMesh(large, { signal: AbortSignal.abort() }))).toBe('ABORTED');
    const controller = new AbortController();
    const added = service.addMesh(large, { signal: controller.signal, onProgress: () => controller.abort() });
    expect(await codeOf(() => added)).toBe('ABORTED');
  });

  test('degenerate triangles are kept out, and the others keep their numbers', async () => {
    const [x, nan] = [5, Number.NaN];
    const corners = [
      [x, 0, 0, x, 0, 0, x, 1, 0], // a corner twice
      [x - 1, -1, 0, x + 1, -1, 0, x, 1, 0],
      [x - 1, 0, 1, x, 0, 1, x + 1, 0, 1], // collinear corners
      [nan, 0, 2, x, 0, 2, x, 1, 2],
      [x, 0, Infinity, x + 1, 0, 2, x, 1, 2],
      [x - 1, -1, -1, x + 1, -1, -1, x, 1, -1],
    ];
    const id = service.addObject({
      shape: { type: 'mesh', mesh: await service.addMesh({ positions: new Float32Array(corners.flat()) }) },
    });
    const down = { origin: [x, 0, 10], direction: [0, 0, -1] } as const;
    const up = { origin: [x, 0, -10], direction: [0, 0, 1] } as const;
    expect(await service.raycast(down)).toMatchObject({ object: id, triangle: 1, distance: 10 });
    expect(await service.raycast(up)).toMatchObject({ object: id, triangle: 5, distance: 9 });
    service.removeObject(id);
  });
});

describe('objects', () => {
  test('one that is removed twice at once leaves its mesh in use by the other', async () => {
    const id = service.addObject({
      shape: { type: 'mesh', mesh },
      matrix: new Matrix4().makeTranslation(0, -50, 0).elements,
    });
    service.removeObjects(Uint32Array.of(id, id));
    expect(await codeOf(() => service.removeMesh(mesh))).toBe('INVALID_ARGUMENT');
    expect(await codeOf(() => service.removeObjects(Uint32Array.of(id)))).toBe('UNKNOWN_ID');
  });

  test.each<[string, string, () => unknown]>([
    ['a stale id', 'UNKNOWN_ID', () => service.setTransform(stale, IDENTITY)],
    ['an id that never was', 'UNKNOWN_ID', () => service.setTransform(123_456_789, IDENTITY)],
    ['no id at all', 'UNKNOWN_ID', () => service.setTransform(0, IDENTITY)],
    [
      'a stale id among good ones',
      'UNKNOWN_ID',
      () => service.setTransforms(Uint32Array.of(object, stale), new Float32Array([...IDENTITY, ...IDENTITY])),
    ],
    ['setting a stale one', 'UNKNOWN_ID', () => service.setObject(stale, { layers: 2 })],
    ['removing one twice', 'UNKNOWN_ID', () => service.removeObject(stale)],
    ['a mesh that is gone', 'UNKNOWN_ID', () => service.addObject({ shape: { type: 'mesh', mesh: staleMesh } })],
    ['removing a mesh in use', 'INVALID_ARGUMENT', () => service.removeMesh(mesh)],
    ['15 numbers', 'INVALID_ARGUMENT', () => service.setTransform(object, IDENTITY.slice(1))],
    [
      'a matrix too few',
      'INVALID_ARGUMENT',
      () => service.setTransforms(Uint32Array.of(object, object), new Float32Array(16)),
    ],
    ['a projective matrix', 'INVALID_ARGUMENT', () => service.setTransform(object, IDENTITY.with(3, 1))],
    ['a new one with a NaN matrix', 'INVALID_ARGUMENT', () => service.addObject({ ...UNIT_BOX, matrix: NAN_MATRIX })],
    ['a new one with a flat matrix', 'INVALID_ARGUMENT', () => service.addObject({ ...UNIT_BOX, matrix: FLAT_MATRIX })],
    [
      'a box of negative width',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'box', halfExtents: [-1, 1, 1] } }),
    ],
    ['a sphere of no size', 'INVALID_ARGUMENT', () => service.addObject({ shape: { type: 'sphere', radius: 0 } })],
    [
      'a sphere with half extents',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'sphere', radius: 1, halfExtents: [1, 1, 1] } as never }),
    ],
    [
      'a capsule of negative radius',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'capsule', radius: -1, from: [0, 0, 0], to: [0, 1, 0] } }),
    ],
    [
      'a capsule without an end',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'capsule', radius: 1, from: [0, 0, 0] } as never }),
    ],
    [
      'a capsule to infinity',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'capsule', radius: 1, from: [0, 0, 0], to: [0, Infinity, 0] } }),
    ],
    [
      'a solid of a mesh that is open',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'mesh', mesh: sheet, solid: true } }),
    ],
    [
      'a mesh that is perhaps solid',
      'INVALID_ARGUMENT',
      () => service.addObject({ shape: { type: 'mesh', mesh, solid: 'yes' as never } }),
    ],
    ['no such contacts', 'INVALID_ARGUMENT', () => service.addObject({ ...UNIT_BOX, contacts: 'points' as never })],
    ['no such shape', 'INVALID_ARGUMENT', () => service.addObject({ shape: { type: 'cone' } as never })],
    ['no such option', 'INVALID_ARGUMENT', () => service.addObject({ ...UNIT_BOX, colour: 'red' } as never)],
    ['less than no instances', 'INVALID_ARGUMENT', () => service.addInstances(UNIT_BOX, -1)],
  ])('%s: %s', async (_, code, call) => {
    expect(await codeOf(call)).toBe(code);
  });

  const tiny = new Matrix4().makeScale(1e-200, 1e-200, 1e-200).elements;
  test.each([
    ['NaN', NAN_MATRIX],
    ['infinite', IDENTITY.with(12, Infinity)],
    ['flat', FLAT_MATRIX],
    ['zero', IDENTITY.with(0, 0).with(5, 0).with(10, 0)],
    ['with columns in one plane', IDENTITY.with(8, 1).with(9, 1).with(10, 0)],
    ['too small to invert', tiny],
  ])('a matrix that is %s is rejected in the frame, and the object keeps its old one', async (_, matrix) => {
    service.setTransform(object, matrix);
    const { rejected } = await service.update();
    expect([...rejected]).toEqual([object]);
    expect(await service.raycast(FORWARD)).toMatchObject({ object, distance: 9 });
    service.setTransforms(Uint32Array.of(object), new Float64Array(matrix));
    expect([...(await service.update()).rejected]).toEqual([object]);
  });
});

describe('queries and views', () => {
  const ray =
    (origin: number[], direction: number[], more = {}) =>
    () =>
      service.raycast({ origin, direction, ...more } as never);

  test.each<[string, string, () => unknown]>([
    ['a direction of no length', 'INVALID_ARGUMENT', ray([0, 0, 0], [0, 0, 0])],
    ['a direction that is NaN', 'INVALID_ARGUMENT', ray([0, 0, 0], [0, Number.NaN, 1])],
    ['an infinite origin', 'INVALID_ARGUMENT', ray([Infinity, 0, 0], [0, 0, 1])],
    ['two coordinates', 'INVALID_ARGUMENT', ray([0, 0], [0, 0, 1])],
    ['tMax before tMin', 'INVALID_ARGUMENT', ray([0, 0, 0], [0, 0, 1], { tMin: 2, tMax: 1 })],
    ['a part of a ray', 'INVALID_ARGUMENT', () => service.raycastMany(new Float32Array(9))],
    [
      'a key that is not its own',
      'INVALID_ARGUMENT',
      () => service.raycastMany(Float32Array.of(0, 0, 9, 0, 0, 0, -1, 99), { strangers: [] } as never),
    ],
    [
      'one bad ray of two',
      'INVALID_ARGUMENT',
      () => service.raycastMany(new Float32Array([0, 0, 9, 0, 0, 0, -1, 99, 0, 0, 9, 0, 0, 0, 0, 99])),
    ],
    ['ignoring a stale id', 'UNKNOWN_ID', () => service.raycast(FORWARD, { ignore: [object, stale] })],
    ['stale among ids', 'UNKNOWN_ID', () => service.raycast(FORWARD, { ignore: Uint32Array.of(object, stale) })],
    ['no direction for all hits', 'INVALID_ARGUMENT', () => service.raycastAll({ ...FORWARD, direction: [0, 0, 0] })],
    ['no ray for all hits', 'INVALID_ARGUMENT', () => service.raycastAll(undefined as never)],
    ['an option that there is not', 'INVALID_ARGUMENT', () => service.raycastAll(FORWARD, { sides: 'front' } as never)],
    ['all hits but of a stale id', 'UNKNOWN_ID', () => service.raycastAll(FORWARD, { ignore: [stale] })],
    ['no such precision', 'INVALID_ARGUMENT', () => service.raycastAll(FORWARD, { precision: 'box' as never })],
    ['a signal that is none', 'INVALID_ARGUMENT', () => service.raycast(FORWARD, { signal: {} as never })],
    ['all under a pixel that is NaN', 'INVALID_ARGUMENT', () => service.pickAll(1, Number.NaN)],
    ['all in a view that was not set', 'INVALID_ARGUMENT', () => service.pickAll(1, 1, { view: 'nowhere' })],
    ['no such method', 'INVALID_ARGUMENT', () => service.pick(1, 1, { method: 'touch' as never })],
    ['a negative radius', 'INVALID_ARGUMENT', () => service.pick(1, 1, { method: 'screen', radius: -1 })],
    ['a radius that is NaN', 'INVALID_ARGUMENT', () => service.pickAll(1, 1, { method: 'screen', radius: Number.NaN })],
    ['latest that is 1', 'INVALID_ARGUMENT', () => service.pick(1, 1, { latest: 1 as never })],
    ['no such side', 'INVALID_ARGUMENT', () => service.raycast(FORWARD, { side: 'left' as never })],
    ['a view that was not set', 'INVALID_ARGUMENT', () => service.pick(1, 1, { view: 'nowhere' })],
    ['picking at NaN', 'INVALID_ARGUMENT', () => service.pick(Number.NaN, 1)],
    [
      'a projection with NaN',
      'INVALID_ARGUMENT',
      () => service.setView({ ...VIEW, projection: VIEW.projection.with(0, Number.NaN) }),
    ],
    [
      'a viewport of a negative width',
      'INVALID_ARGUMENT',
      () => service.setView({ ...VIEW, viewport: { width: -1, height: 9 } }),
    ],
    ['a flat view matrix', 'INVALID_ARGUMENT', () => service.setView({ ...VIEW, view: FLAT_MATRIX })],
    [
      'a viewport without width',
      'INVALID_ARGUMENT',
      () => service.setView({ ...VIEW, viewport: { height: 9 } as never }),
    ],
    ['removing no view', 'INVALID_ARGUMENT', () => service.removeView('nowhere')],
  ])('%s: %s', async (_, code, call) => {
    expect(await codeOf(call)).toBe(code);
  });
});

describe('regions, frusta and nearness', () => {
  const rect = { x: 10, y: 10, width: 20, height: 20 };
  const sphere = { type: 'sphere', radius: 1 } as const;
  const detached = () => {
    const planes = Float32Array.of(1, 0, 0, 0);
    structuredClone(planes, { transfer: [planes.buffer] });
    return planes;
  };

  test.each<[string, string, () => unknown]>([
    ['no region', 'INVALID_ARGUMENT', () => service.pickRegion(undefined as never)],
    ['a region that is null', 'INVALID_ARGUMENT', () => service.pickRegion(null as never)],
    ['a region without height', 'INVALID_ARGUMENT', () => service.pickRegion({ x: 0, y: 0, width: 1 } as never)],
    ['an infinite region', 'INVALID_ARGUMENT', () => service.pickRegion({ ...rect, width: Infinity })],
    ['a region with a corner', 'INVALID_ARGUMENT', () => service.pickRegion({ ...rect, left: 1 } as never)],
    ['a line', 'INVALID_ARGUMENT', () => service.pickRegion(Float32Array.of(0, 0, 9, 9))],
    ['half a vertex', 'INVALID_ARGUMENT', () => service.pickRegion(new Float32Array(7))],
    ['a vertex that is NaN', 'INVALID_ARGUMENT', () => service.pickRegion(Float32Array.of(0, 0, 9, 9, 0, Number.NaN))],
    ['a lasso of numbers', 'INVALID_ARGUMENT', () => service.pickRegion([0, 0, 9, 9, 0, 9] as never)],
    ['no such mode', 'INVALID_ARGUMENT', () => service.pickRegion(rect, { mode: 'inside' as never })],
    ['a region of no view', 'INVALID_ARGUMENT', () => service.pickRegion(rect, { view: 'nowhere' })],
    ['a region but of a stale id', 'UNKNOWN_ID', () => service.pickRegion(rect, { ignore: [stale] })],
    ['levels that go down', 'INVALID_ARGUMENT', () => service.inspect({ levels: [2, 1] })],
    ['a level that is half', 'INVALID_ARGUMENT', () => service.inspect({ levels: [0.5, 1] })],
    ['no box at all', 'INVALID_ARGUMENT', () => service.inspect({ maxBoxes: 0 })],
    ['an unknown key to inspect', 'INVALID_ARGUMENT', () => service.inspect({ cells: true } as never)],
    ['how an unknown view sees', 'INVALID_ARGUMENT', () => service.inspect({ views: ['nowhere'] })],
    ['an origin that is NaN', 'INVALID_ARGUMENT', () => service.inspect({ origin: [0, Number.NaN, 0] })],
    ['the tree of no object', 'UNKNOWN_ID', () => service.inspect({ objects: [4711 << 11] })],
    ['no frustum', 'INVALID_ARGUMENT', () => service.frustum(undefined as never)],
    ['a frustum of a view that was not set', 'INVALID_ARGUMENT', () => service.frustum('nowhere')],
    ['a frustum of no planes', 'INVALID_ARGUMENT', () => service.frustum(new Float32Array())],
    ['half a plane', 'INVALID_ARGUMENT', () => service.frustum(new Float32Array(6).fill(1))],
    ['a plane without a normal', 'INVALID_ARGUMENT', () => service.frustum(Float32Array.of(0, 0, 0, 1))],
    ['a plane that is NaN', 'INVALID_ARGUMENT', () => service.frustum(Float32Array.of(0, 0, 1, Number.NaN))],
    ['more planes than there can be', 'INVALID_ARGUMENT', () => service.frustum(new Float32Array(132).fill(1))],
    ['planes that are detached', 'INVALID_ARGUMENT', () => service.frustum(detached())],
    [
      'a frustum without a viewport',
      'INVALID_ARGUMENT',
      () => service.frustum({ ...VIEW, viewport: undefined } as never),
    ],
    ['seeing from nowhere', 'INVALID_ARGUMENT', () => service.sees('nowhere', [object])],
    ['seeing what is gone', 'UNKNOWN_ID', () => service.sees(VIEW, [object, stale])],
    ['seeing nothing at all', 'INVALID_ARGUMENT', () => service.sees(VIEW, undefined as never)],
    ['an overlap with nothing', 'INVALID_ARGUMENT', () => service.overlap(undefined as never)],
    ['an overlap with no such shape', 'INVALID_ARGUMENT', () => service.overlap({ type: 'cone' } as never)],
    ['an overlap with a mesh that is gone', 'UNKNOWN_ID', () => service.overlap({ type: 'mesh', mesh: staleMesh })],
    ['an overlap with a flat shape', 'INVALID_ARGUMENT', () => service.overlap(sphere, FLAT_MATRIX)],
    ['an overlap nowhere', 'INVALID_ARGUMENT', () => service.overlap(sphere, NAN_MATRIX)],
    ['an overlap but with a stale id', 'UNKNOWN_ID', () => service.overlap(sphere, IDENTITY, { ignore: [stale] })],
    ['containing no point', 'INVALID_ARGUMENT', () => service.containing(undefined as never)],
    ['containing NaN', 'INVALID_ARGUMENT', () => service.containing([0, Number.NaN, 0])],
    ['the closest to two coordinates', 'INVALID_ARGUMENT', () => service.closestPoint([0, 0] as never)],
    ['nothing closer than -1', 'INVALID_ARGUMENT', () => service.closestPoint([0, 0, 0], { maxDistance: -1 })],
    ['the contact of one with itself', 'INVALID_ARGUMENT', () => service.contact(object, object)],
    ['the contact with what is gone', 'UNKNOWN_ID', () => service.contact(object, stale)],
    ['the contact of what is gone', 'UNKNOWN_ID', () => service.contact(stale, object)],
    ['the contact of what is gone with itself', 'UNKNOWN_ID', () => service.contact(stale, stale)],
    ['the contact with what never was', 'UNKNOWN_ID', () => service.contact(object, 123_456_789)],
    ['the contact with nothing', 'UNKNOWN_ID', () => service.contact(object, undefined as never)],
    ['the contact with half an id', 'UNKNOWN_ID', () => service.contact(object, object + 0.5)],
    ['the contact with a group', 'UNKNOWN_ID', () => service.contact(object, { group: 1 } as never)],
    ['the distance of one to itself', 'INVALID_ARGUMENT', () => service.distance(object, object)],
    ['the distance to what is gone', 'UNKNOWN_ID', () => service.distance(object, stale)],
    ['the distance of nothing', 'UNKNOWN_ID', () => service.distance(undefined as never, object)],
    ['a distance of less than none', 'INVALID_ARGUMENT', () => service.distance(object, other, { maxDistance: -1 })],
    ['no distance', 'INVALID_ARGUMENT', () => service.distance(object, other, { maxDistance: Number.NaN })],
    ['a distance by layers', 'INVALID_ARGUMENT', () => service.distance(object, other, { layers: 1 } as never)],
    ['no such detail', 'INVALID_ARGUMENT', () => service.contact(object, other, { detail: 'points' as never })],
    ["detail 'none'", 'INVALID_ARGUMENT', () => service.contact(object, other, { detail: 'none' as never })],
    ['a detail that is null', 'INVALID_ARGUMENT', () => service.contact(object, other, { detail: null as never })],
    ['a contact by layers', 'INVALID_ARGUMENT', () => service.contact(object, other, { layers: 1 } as never)],
    ['contact options that are none', 'INVALID_ARGUMENT', () => service.contact(object, other, 'any' as never)],
    ['a contact with no such signal', 'INVALID_ARGUMENT', () => service.contact(object, other, { signal: 1 as never })],
    ['nothing closer than NaN', 'INVALID_ARGUMENT', () => service.closestPoint([0, 0, 0], { maxDistance: Number.NaN })],
  ])('%s: %s', async (_, code, call) => {
    service.setView(VIEW);
    expect(await codeOf(call)).toBe(code);
  });
});

test('a signal ends every query, before it and during it', async () => {
  const sphere = { type: 'sphere', radius: 1 } as const;
  service.setView(VIEW);
  const queries: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal) => service.pick(1, 1, { signal }),
    (signal) => service.pick(1, 1, { method: 'screen', signal }),
    (signal) => service.pickAll(1, 1, { signal }),
    (signal) => service.pickRegion({ x: 0, y: 0, width: 9, height: 9 }, { signal }),
    (signal) => service.raycast(FORWARD, { signal }),
    (signal) => service.raycastAll(FORWARD, { signal }),
    (signal) => service.raycastMany(new Float32Array([0, 0, 9, 0, 0, 0, -1, 99]), { signal }),
    (signal) => service.lineOfSight([0, 0, 0], [0, 0, 9], { signal }),
    (signal) => service.frustum(VIEW, { signal }),
    (signal) => service.sees(VIEW, [object], { signal }),
    (signal) => service.overlap(sphere, undefined, { signal }),
    (signal) => service.containing([0, 0, 0], { signal }),
    (signal) => service.closestPoint([0, 0, 0], { signal }),
    (signal) => service.contact(object, other, { signal }),
    (signal) => service.distance(object, other, { signal }),
  ];
  for (const query of queries) {
    expect(await codeOf(() => query(AbortSignal.abort())), String(query)).toBe('ABORTED');
    const controller = new AbortController();
    const asked = query(controller.signal);
    controller.abort();
    expect(await codeOf(() => asked), String(query)).toBe('ABORTED');
    expect(await codeOf(() => query(new AbortController().signal)), String(query)).toBe('no error');
  }
  expect(service.stats.pending).toBe(0);
});

test('region picks with `latest` that wait are answered by the newest', async () => {
  service.setView(VIEW);
  const ask = () => service.pickRegion({ x: 0, y: 0, width: 100, height: 100 }, { latest: true });
  const [first, second, third] = await Promise.all([ask(), ask(), ask()]);
  expect(first).toBe(third);
  expect(second).toBe(third);
});

test('after dispose every call is DISPOSED, and so is what was pending', async () => {
  const gone = await createCollisionService();
  const id = gone.addObject(UNIT_BOX);
  gone.setView(VIEW);
  const other = gone.addObject(UNIT_BOX);
  const queries = [gone.raycast(FORWARD), gone.pick(1, 1), gone.contact(id, other)];
  const pending = [...queries, gone.update(), gone.addMesh(icosphere(1, 1))];
  const codes = Promise.all(pending.map((promise) => codeOf(() => promise)));
  gone.dispose();
  expect(new Set(await codes)).toEqual(new Set(['DISPOSED']));
  const calls: (() => unknown)[] = [
    () => gone.addMesh(icosphere(1, 1)),
    () => gone.bakeMesh(1),
    () => gone.removeMesh(1),
    () => gone.addObject(UNIT_BOX),
    () => gone.addInstances(UNIT_BOX, 2),
    () => gone.setObject(id, { layers: 2 }),
    () => gone.removeObject(id),
    () => gone.setTransform(id, IDENTITY),
    () => gone.setTransforms(Uint32Array.of(id), new Float32Array(IDENTITY)),
    () => gone.setView(VIEW),
    () => gone.removeView('main'),
    () => gone.update(),
    () => gone.pick(1, 1),
    () => gone.pickAll(1, 1),
    () => gone.raycast(FORWARD),
    () => gone.raycastAll(FORWARD),
    () => gone.raycastMany(new Float32Array(8)),
    () => gone.lineOfSight([0, 0, 0], [1, 1, 1]),
    () => gone.pickRegion({ x: 0, y: 0, width: 1, height: 1 }),
    () => gone.frustum(VIEW),
    () => gone.sees(VIEW, [id]),
    () => gone.overlap({ type: 'sphere', radius: 1 }),
    () => gone.containing([0, 0, 0]),
    () => gone.closestPoint([0, 0, 0]),
    () => gone.contact(id, id),
  ];
  for (const call of calls) expect(await codeOf(call), String(call)).toBe('DISPOSED');
  gone.dispose(); // disposing twice is no error
});

describe("what the caller's own code throws is the cause, as it is", () => {
  const thrown = new TypeError('of the caller');
  const hostile = (key: string) => Object.defineProperty({}, key, { get: () => fail(), enumerable: true }) as never;
  const fail = (): never => {
    throw thrown;
  };

  test.each<[string, (service: CollisionService, id: number) => unknown]>([
    ['a getter of an option', (service) => service.addObject(hostile('shape'))],
    ['a getter of an array', (service, id) => service.setTransform(id, new Proxy([], { get: fail }))],
    ['a proxy of options', (service) => service.setView(new Proxy({} as typeof VIEW, { ownKeys: fail }))],
    ['a getter of a query', (service) => service.raycast(hostile('origin'))],
    ['a getter of a signal', (service) => service.pick(1, 1, { signal: hostile('aborted') })],
  ])('%s', async (_, call) => {
    const service = await createCollisionService({ builders: 0 });
    onTestFinished(() => service.dispose());
    service.setView(VIEW);
    const id = service.addObject(UNIT_BOX);
    const error = await Promise.resolve()
      .then(() => call(service, id))
      .then(
        () => null,
        (reason) => reason,
      );
    expect(error).toMatchObject({ name: 'CollisionError', code: 'INVALID_ARGUMENT' });
    expect(error.cause).toBe(thrown);
  });

  test('the reason of a signal', async () => {
    const service = await createCollisionService({ builders: 0 });
    onTestFinished(() => service.dispose());
    service.setView(VIEW);
    const error = await service.pick(1, 1, { signal: AbortSignal.abort(thrown) }).catch((reason) => reason);
    expect(error.code).toBe('ABORTED');
    expect(error.cause).toBe(thrown);
  });

  test('but an error of a call that a getter makes goes on itself', async () => {
    const service = await createCollisionService({ builders: 0 });
    onTestFinished(() => service.dispose());
    const options = {
      get shape(): never {
        service.removeObject(77);
        throw thrown;
      },
    };
    expect(() => service.addObject(options)).toThrow(expect.objectContaining({ code: 'UNKNOWN_ID' }));
  });
});
