// The stand-in for a BatchedMesh: each call that its ids cause.
import {
  type BatchedMesh,
  BufferGeometry,
  DataTexture,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Plane,
  type Side,
} from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BuiltMesh } from '../../src/client/three/geometry/shared-mesh.js';
import { BatchContents, DELETED } from '../../src/client/three/track/batch-contents.js';
import type { BatchPart } from '../../src/client/three/track/batch-part.js';
import { BatchShapes, CALLER_SHAPE, geometryIdOf, NO_GEOMETRY } from '../../src/client/three/track/batch-shapes.js';
import { BatchStandIn } from '../../src/client/three/track/batch-stand-in.js';
import { ClipSetTable } from '../../src/client/three/track/clip-sets.js';
import type { ResolvedOptions } from '../../src/client/three/track/resolved-options.js';
import { MAX_BLOCK_SIZE, type TrackerContext } from '../../src/client/three/track/stand-in.js';
import type { Shape } from '../../src/shared/types.js';
import { stubMesh } from '../fixtures/built-mesh.js';

const log: unknown[][] = [];
const taken = () => log.splice(0);
const objects = {
  newestQuery: 0,
  oldestQuery: Number.POSITIVE_INFINITY,
  add: (_: unknown, ids: Uint32Array, first: number) => log.push(['added', Array.from(ids), first]),
  remove: (_: unknown, ids: Uint32Array, first: number) => log.push(['gone', Array.from(ids), first]),
};
let nextId = 1;
let closed = true;
let room = Number.POSITIVE_INFINITY;
const service = {
  addInstances(options: { shape: Shape }, count: number): Uint32Array {
    if (count > room) throw new Error('no room');
    log.push(['addInstances', options, count]);
    return Uint32Array.from({ length: count }, () => nextId++);
  },
  removeObjects: (ids: Uint32Array) => log.push(['removeObjects', Array.from(ids)]),
  setObject: (id: number, options: object) => log.push(['setObject', id, options]),
  moveInstances: (ids: Uint32Array, matrices: Float32Array, parent: ArrayLike<number>) =>
    log.push(['moveInstances', ids.length, matrices.byteOffset / 64, matrices.length / 16, parent[12]]),
  placeInstances: (ids: Uint32Array, matrices: Float32Array, parent: ArrayLike<number>) =>
    log.push(['placeInstances', ids.length, matrices.byteOffset / 64, matrices.length / 16, parent[12]]),
  meshInfo: () => ({ closed, openEdges: 1, closingWeld: null }),
};
const layers = { set: (id: number, mask: number) => log.push(['layers', id, mask]) };
const clips = new ClipSetTable(undefined);
const context = { service, objects, layers, clips } as unknown as TrackerContext;
beforeEach(() => {
  log.length = 0;
  nextId = 1;
  closed = true;
  room = Number.POSITIVE_INFINITY;
  objects.newestQuery = 0;
  objects.oldestQuery = Number.POSITIVE_INFINITY;
});

/** Parts whose built meshes a test sets. */
interface Part {
  wanted: number;
  pending: boolean;
  built: BuiltMesh | null;
  standing: BuiltMesh | null;
  refusal: unknown;
  error: unknown;
  release(): void;
}
const partOf = (built: BuiltMesh | null): Part => ({
  ...{ wanted: 0, pending: built === null, built, standing: null, refusal: null, error: null },
  release: () => log.push(['released']),
});
interface Asked {
  options: Record<string, unknown>;
  isSolid: boolean;
  shape: Shape | null;
}

/** A BatchedMesh of r187 with this many instances, all of geometry 0, and its stand-in. */
function batchOf(count: number, parts: Part[], asked: Partial<Asked> = {}) {
  const instances = Array.from({ length: count }, () => ({ visible: true, active: true, geometryIndex: 0 }));
  const matrices = new Float32Array(16 * Math.max(4, count));
  for (let i = 0; i < count; i++) new Matrix4().makeTranslation(i, 0, 0).toArray(matrices, 16 * i);
  const texture = new DataTexture(matrices, 4, Math.max(4, count));
  const material = new MeshBasicMaterial();
  const mesh = Object.assign(new Mesh(new BufferGeometry(), material), {
    ...{ name: 'many', _matricesTexture: texture, _instanceInfo: instances, _geometryInfo: [] },
  }) as unknown as BatchedMesh;
  const all: Asked = { options: {}, isSolid: false, shape: null, ...asked };
  const shapes = new BatchShapes(mesh, all as unknown as ResolvedOptions);
  shapes.parts.push(...(parts as unknown as BatchPart[]));
  const owner = { object: mesh, isInstanced: true, reject() {} };
  const standIn = new BatchStandIn(context, owner, all as unknown as ResolvedOptions, shapes, new BatchContents(mesh));
  standIn.reserve(count);
  for (let i = 0; i < count; i++) standIn.note(i, 0);
  return { standIn, shapes, mesh, material, texture, matrices, asked: all, parts };
}
const MESH = (mesh: number, solid = false) => ({ type: 'mesh', mesh, solid });
const PLACEHOLDER = { type: 'sphere', radius: 1 };

describe('the meshes of a BatchedMesh', () => {
  test('are renewed where they are built anew, and refused where they are open and shall be solid', () => {
    const parts = [partOf(stubMesh(5)), partOf(null), partOf(stubMesh(6))];
    const { shapes, asked } = batchOf(1, parts);
    const renew = () => shapes.renew(() => service.meshInfo() as never);
    expect(renew()).toEqual(
      new Map([
        [0, null],
        [2, null],
      ]),
    );
    expect(renew().size).toBe(0);
    parts[0].built = stubMesh(5, 6); // elsewhere, but the same mesh
    expect(renew().size).toBe(0);
    const before = parts[2].standing;
    parts[2].built = stubMesh(9);
    expect(renew()).toEqual(new Map([[2, before]]));
    asked.isSolid = true;
    closed = false;
    expect([...renew().keys()]).toEqual([0, 2]);
    expect(String(parts[2].refusal)).toContain(
      'the triangles of geometry 2 of the Mesh "many" are open, expected closed ones as it shall',
    );
    expect(parts[1].refusal).toBeNull();
    closed = true;
    expect([...renew().keys()]).toEqual([0, 2]);
    expect(parts[0].refusal).toBeNull();
    (shapes.parts as unknown[]).push(undefined);
    expect(renew().size).toBe(0);
    expect(shapes.areBuilding).toBe(true);
    parts[1].pending = false;
    expect(shapes.areBuilding).toBe(false);
    parts[0].error = new Error('no');
    parts[2].error = new Error('neither');
    parts[0].wanted = 0;
    parts[2].wanted = 1;
    expect(shapes.error).toBe(parts[2].error);
    parts[2].wanted = 0;
    expect(shapes.error).toBeNull();
    taken();
    shapes.release();
    expect([taken().length, shapes.parts.length]).toEqual([3, 0]);
  });

  test('are found by what an instance is, and counted', () => {
    const parts = [partOf(stubMesh(5)), partOf(null)];
    const { shapes, asked } = batchOf(0, parts);
    shapes.renew(() => service.meshInfo() as never);
    expect([0, ~0, 1, ~1, 7].map((state) => shapes.targetOf(state, NO_GEOMETRY))).toEqual([
      0,
      0,
      NO_GEOMETRY,
      NO_GEOMETRY,
      NO_GEOMETRY,
    ]);
    expect([NO_GEOMETRY, CALLER_SHAPE, 0].map((standing) => shapes.targetOf(DELETED, standing))).toEqual([
      NO_GEOMETRY,
      NO_GEOMETRY,
      0,
    ]);
    expect([0, 1, NO_GEOMETRY].map((number) => shapes.shapeOf(number))).toEqual([MESH(5), PLACEHOLDER, PLACEHOLDER]);
    asked.isSolid = true;
    expect(shapes.shapeOf(0)).toEqual(MESH(5, true));
    asked.shape = { type: 'box', halfExtents: [1, 1, 1] };
    expect([0, DELETED].map((state) => shapes.targetOf(state, 0))).toEqual([CALLER_SHAPE, CALLER_SHAPE]);
    expect(shapes.shapeOf(CALLER_SHAPE)).toBe(asked.shape);
    shapes.count(DELETED, ~1);
    shapes.count(~1, 0);
    shapes.count(DELETED, 0);
    expect(parts.map(({ wanted }) => wanted)).toEqual([2, 0]);
    expect([0, ~0, 3, ~3, DELETED].map(geometryIdOf)).toEqual([0, 0, 3, 3, NO_GEOMETRY]);
    // If the built mesh is the standing one, it is used with its current runs; else the standing one.
    const moved = stubMesh(5, 9);
    parts[0].built = moved;
    expect(shapes.standingOn(0)).toBe(moved);
    parts[0].built = stubMesh(6);
    expect(shapes.standingOn(0)).toBe(parts[0].standing);
    expect([shapes.standingOn(NO_GEOMETRY), shapes.standingOn(1)]).toEqual([null, null]);
  });
});

describe('the ids of a BatchedMesh', () => {
  const OPTIONS = { layers: 0, side: 'front', cullable: true, clipSet: 0, occluder: false };

  test('come by their geometries, and are shown once they have a place', () => {
    const batch = batchOf(4, [partOf(stubMesh(5)), partOf(stubMesh(6)), partOf(null)], {
      options: { group: 3, occluder: true },
    });
    const { standIn } = batch;
    for (const [i, state] of [0, 1, ~0, 2].entries()) standIn.note(i, state);
    expect(batch.parts.map(({ wanted }) => wanted)).toEqual([2, 1, 1]);
    standIn.reconcile(4);
    expect([taken(), standIn.pending]).toEqual([[], false]); // one of the meshes is still being built
    batch.parts[2].pending = false;
    standIn.renew();
    standIn.setLayers(9);
    standIn.reconcile(4);
    expect(taken()).toEqual([
      ['addInstances', { ...OPTIONS, group: 3, shape: MESH(5) }, 2],
      ['addInstances', { ...OPTIONS, group: 3, shape: MESH(6) }, 1],
      ['addInstances', { ...OPTIONS, group: 3, shape: PLACEHOLDER }, 1],
      ['added', [1, 3, 2, 4], 0],
    ]);
    expect(Array.from(standIn.ids)).toEqual([1, 3, 2, 4]);
    standIn.move();
    expect(taken()).toEqual([
      ['layers', 1, 9],
      ['layers', 3, 9],
      ['placeInstances', 4, 0, 4, 0],
    ]);
    standIn.setLayers(9);
    expect(taken()).toEqual([]);
    standIn.setLayers(0);
    expect(taken()).toEqual([
      ['layers', 1, 0],
      ['layers', 3, 0],
    ]);
    expect([0, 1, 2, 3].map((i) => standIn.seenBy(1, i)?.id)).toEqual([5, 6, 5, undefined]);
    expect([
      standIn.standsOnGeometry(0, 0),
      standIn.standsOnGeometry(0, 1),
      standIn.standsOnGeometry(2, 0),
      standIn.standsOnGeometry(3, 2),
    ]).toEqual([true, false, false, false]);
  });

  test('are another shape where the geometry is, or its mesh', () => {
    const batch = batchOf(3, [partOf(stubMesh(5)), partOf(stubMesh(6))]);
    const { standIn } = batch;
    standIn.renew();
    standIn.setLayers(1);
    standIn.reconcile(3);
    standIn.move();
    taken();
    [objects.oldestQuery, objects.newestQuery] = [1, 1];
    standIn.note(1, 1);
    standIn.stand(1);
    standIn.place(1);
    standIn.stand(1);
    standIn.stand(9);
    standIn.place(9);
    expect(taken()).toEqual([['setObject', 2, { shape: MESH(6) }]]);
    expect([standIn.seenBy(1, 1)?.id, standIn.seenBy(2, 1)?.id]).toEqual([5, 6]);
    standIn.note(2, ~0);
    standIn.stand(2);
    standIn.place(2);
    expect(taken()).toEqual([['layers', 3, 0]]);
    batch.parts[0].built = stubMesh(8);
    standIn.renew();
    expect(taken()).toEqual([1, 3].map((id) => ['setObject', id, { shape: MESH(8) }]));
    standIn.renew();
    expect(taken()).toEqual([]);
    batch.parts[1].built = null;
    standIn.renew();
    expect(taken()).toEqual([
      ['setObject', 2, { shape: PLACEHOLDER }],
      ['layers', 2, 0],
    ]);
    batch.parts[1].built = stubMesh(9);
    standIn.renew();
    expect(taken()).toEqual([
      ['setObject', 2, { shape: MESH(9) }],
      ['layers', 2, 1],
    ]);
    standIn.leave(1);
    expect(taken()).toEqual([
      ['setObject', 2, { shape: PLACEHOLDER }],
      ['layers', 2, 0],
    ]);
  });

  test('are forgotten where the shape of the caller is another one', () => {
    const shape: Shape = { type: 'box', halfExtents: [1, 1, 1] };
    const { standIn } = batchOf(2, [partOf(null)], { shape });
    standIn.note(1, DELETED);
    standIn.reconcile(2);
    expect(taken()).toEqual([]); // a mesh is being built, and nobody knows yet that it will not be needed
    const given = batchOf(2, [], { shape });
    given.standIn.setLayers(1);
    given.standIn.note(1, DELETED);
    given.standIn.reconcile(2);
    given.standIn.move();
    expect(taken().map(([name]) => name)).toEqual(['addInstances', 'added', 'layers', 'placeInstances']);
    given.standIn.forget(2);
    expect(Array.from(given.standIn.states)).toEqual([DELETED, DELETED]);
    given.standIn.note(0, 0);
    given.standIn.stand(0);
    expect(taken()).toEqual([['setObject', given.standIn.ids[0], { shape }]]);
  });

  test('are in blocks, of which one comes at a time', () => {
    const count = 2 * MAX_BLOCK_SIZE + 3;
    const { standIn, texture } = batchOf(count, [partOf(stubMesh(5))]);
    standIn.renew();
    standIn.reconcile(10);
    expect([standIn.ids.length, standIn.pending]).toEqual([10, false]);
    standIn.reconcile(count);
    expect([standIn.ids.length, standIn.pending]).toEqual([MAX_BLOCK_SIZE, true]);
    standIn.move();
    standIn.reconcile(count);
    standIn.reconcile(count);
    expect([standIn.ids.length, standIn.pending]).toEqual([count, false]);
    taken();
    standIn.move();
    const sent = (name: string) => taken().flatMap((call) => (call[0] === name ? [call.slice(1, 4)] : []));
    // The instances of the first block were sent.
    expect(sent('placeInstances')).toEqual([
      [MAX_BLOCK_SIZE, MAX_BLOCK_SIZE, MAX_BLOCK_SIZE],
      [3, 2 * MAX_BLOCK_SIZE, 3],
    ]);
    standIn.move();
    expect(taken()).toEqual([]);
    texture.needsUpdate = true;
    standIn.move();
    expect(sent('moveInstances').length).toBe(3);
    standIn.reconcile(MAX_BLOCK_SIZE + 1);
    const [[, removed]] = taken();
    expect((removed as number[]).length).toBe(MAX_BLOCK_SIZE + 2);
    texture.needsUpdate = true;
    standIn.move();
    expect(sent('moveInstances')).toEqual([
      [MAX_BLOCK_SIZE, 0, MAX_BLOCK_SIZE],
      [1, MAX_BLOCK_SIZE, 1],
    ]);
    standIn.clear();
    expect([standIn.ids.length, standIn.states.every((state) => state === DELETED)]).toEqual([0, true]);
    taken();
    standIn.shrink(0);
    expect(taken()).toEqual([]);
  });

  test('that are not all taken are all given back', () => {
    const { standIn } = batchOf(5, [partOf(stubMesh(5)), partOf(stubMesh(6))]);
    standIn.renew();
    for (const i of [1, 3, 4]) standIn.note(i, 1);
    room = 2;
    expect(() => standIn.reconcile(5)).toThrow('no room');
    expect(taken().slice(1)).toEqual([['removeObjects', [1, 2]]]);
    expect(standIn.ids.length).toBe(0);
  });

  test('are told the side and whether they are seen, where these change', () => {
    const { standIn, material, asked } = batchOf(2, [partOf(stubMesh(5))]);
    standIn.renew();
    standIn.reconcile(2);
    taken();
    const told = () => {
      standIn.reconcile(2);
      const calls = taken();
      expect(calls.map(([name, id]) => [name, id])).toEqual(
        calls.length === 0
          ? []
          : [
              ['setObject', 1],
              ['setObject', 2],
            ],
      );
      return calls[0]?.[2];
    };
    for (const [side, expected] of [
      [1, 'back'],
      [2, 'double'],
      [0, 'front'],
    ] as const) {
      material.side = side as Side;
      expect(told()).toEqual({ side: expected, cullable: true, clipSet: 0 });
      expect(told()).toBeUndefined();
    }
    material.visible = false;
    expect(told()).toEqual({ side: 'front', cullable: false, clipSet: 0 });
    material.visible = true;
    asked.options.cullable = false;
    expect(told()).toBeUndefined();
    asked.options = { side: 'back', layers: 7, matrix: [], group: 5 };
    expect(told()).toEqual({ side: 'back', cullable: true, clipSet: 0 });
    standIn.forgetOptions();
    expect(told()).toEqual({
      ...{
        motion: 'moving',
        collidesWith: 0xffffffff,
        group: 5,
        pickable: true,
        clearance: 0,
        continuous: false,
        boxes: [],
      },
      ...{ side: 'back', cullable: true, clipSet: 0 },
    });
    expect(told()).toBeUndefined();
    for (const planes of [[new Plane()], [new Plane(), new Plane()]]) {
      Object.assign(material, { clippingPlanes: planes });
      expect(told()).toMatchObject({ clipSet: expect.toSatisfy((set: number) => set > 1) });
      expect(told()).toBeUndefined();
    }
    expect(clips.read('pick')).toBeDefined();
    standIn.clear();
    expect(clips.read('pick')).toBeUndefined();
    taken();
  });

  test('of which the matrix is none are hidden until it is one', () => {
    const { standIn, matrices, texture, mesh } = batchOf(3, [partOf(stubMesh(5))]);
    standIn.renew();
    standIn.setLayers(1);
    standIn.reconcile(3);
    const place = (i: number, x: number) => {
      matrices[16 * i + 12] = x;
      texture.needsUpdate = true;
      standIn.move();
    };
    place(1, Number.NaN);
    expect(taken().filter(([name]) => name === 'layers')).toEqual([
      ['layers', 1, 1],
      ['layers', 3, 1],
    ]);
    place(1, 5);
    expect(taken().filter(([name]) => name === 'layers')).toEqual([['layers', 2, 1]]);
    standIn.reject(1);
    standIn.reject(7);
    expect(taken()).toEqual([]); // it has got a valid one since
    place(2, Number.NaN);
    taken();
    standIn.reject(2);
    expect(taken()).toEqual([['layers', 3, 0]]);
    standIn.reject(2);
    standIn.onRestore();
    expect(taken()).toEqual([]);
    mesh.matrixWorld.elements[13] = Number.NaN;
    standIn.onRestore();
    expect(taken()).toEqual([
      ['layers', 1, 0],
      ['layers', 2, 0],
    ]);
  });

  test('were seen by the updates since something was said of them last', () => {
    const batch = batchOf(1, [partOf(stubMesh(5))]);
    const { standIn, texture, mesh } = batch;
    standIn.renew();
    standIn.setLayers(6);
    standIn.reconcile(1);
    expect(standIn.wasSeen(9, 6)).toBe(false);
    objects.newestQuery = 3;
    standIn.move();
    expect([3, 4, 5].map((update) => standIn.wasSeen(update, 2))).toEqual([false, true, true]);
    expect(standIn.wasSeen(4, 1)).toBe(false);
    mesh.matrixWorld.elements[12] = 1;
    expect(standIn.wasSeen(4, 2)).toBe(false);
    mesh.matrixWorld.elements[12] = 0;
    texture.needsUpdate = true;
    expect(standIn.wasSeen(4, 2)).toBe(false);
    standIn.move();
    expect(standIn.wasSeen(4, 2)).toBe(true);
    objects.newestQuery = 6;
    for (const [i, say] of [() => standIn.setLayers(2), () => standIn.note(0, 0), () => standIn.speak()].entries()) {
      objects.newestQuery += 2;
      say();
      expect([standIn.wasSeen(8 + 2 * i, 2), standIn.wasSeen(9 + 2 * i, 2)]).toEqual([false, true]);
    }
    (mesh as unknown as { _matricesTexture: unknown })._matricesTexture = null;
    expect(standIn.wasSeen(99, 2)).toBe(false);
  });
});
