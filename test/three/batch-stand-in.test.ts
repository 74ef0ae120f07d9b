// What stands for a BatchedMesh: each call that its ids, the meshes of its geometries and their matrices make.
import {
  type BatchedMesh,
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Side,
} from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import type { BuiltMesh, MeshUser } from '../../src/client/three/geometry/shared-mesh.js';
import type { AskedOptions } from '../../src/client/three/track/asked-options.js';
import { BatchContents, DELETED } from '../../src/client/three/track/batch-contents.js';
import { BatchPart } from '../../src/client/three/track/batch-part.js';
import { BatchShapes, GIVEN, geometryOf, NOTHING } from '../../src/client/three/track/batch-shapes.js';
import { BatchStandIn } from '../../src/client/three/track/batch-stand-in.js';
import { BlockMatrices } from '../../src/client/three/track/block-matrices.js';
import { PastStandings } from '../../src/client/three/track/past-standings.js';
import { SentMatrices } from '../../src/client/three/track/sent-matrices.js';
import { MOST_IN_BLOCK, type TrackerContext } from '../../src/client/three/track/stand-in.js';
import type { Shape } from '../../src/shared/types.js';

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
  meshInfo: () => ({ closed, openEdges: 1, closingWeld: null }),
};
const layers = { set: (id: number, mask: number) => log.push(['layers', id, mask]) };
const context = { service, objects, layers } as unknown as TrackerContext;
const pool = {
  acquire: (geometry: BufferGeometry, groups: null, weld: number, user: MeshUser) => {
    const mesh = { geometry, groups, built: null, error: null, isBuilding: true, isUnchanged: true };
    const use = { mesh };
    log.push(['acquire', use, weld, user]);
    return use;
  },
  review: (geometry: BufferGeometry) => log.push(['review', geometry.attributes.position.array.length]),
  release: (use: unknown) => log.push(['release', use]),
} as unknown as MeshPool;

beforeEach(() => {
  log.length = 0;
  nextId = 1;
  closed = true;
  room = Number.POSITIVE_INFINITY;
  objects.newestQuery = 0;
  objects.oldestQuery = Number.POSITIVE_INFINITY;
});

const builtOf = (id: number, end = 3): BuiltMesh =>
  ({
    id,
    geometry: new BufferGeometry(),
    index: null,
    runs: [{ start: 0, end, materialIndex: 0 }],
  }) as unknown as BuiltMesh;

describe('matrices that were sent', () => {
  test('are those by their array, its version and its source', () => {
    const sent = new SentMatrices();
    const [source, array] = [{}, new Float32Array(32)];
    const parent = new Matrix4().makeTranslation(1, 2, 3).elements;
    expect(sent.areThose(source, 1, array)).toBe(false);
    sent.note(source, 1, array, parent);
    expect(sent.areThose(source, 1, array)).toBe(true);
    expect(sent.areThose(source, 1, array.subarray(16))).toBe(true);
    expect(sent.areThose({}, 1, array)).toBe(false);
    expect(sent.areThose(source, 2, array)).toBe(false);
    expect(sent.areThose(source, 1, array.slice())).toBe(false);
    expect([sent.areBelow(parent.slice()), sent.areBelow(new Matrix4().elements)]).toEqual([true, false]);
    sent.forget();
    expect(sent.areThose(source, 1, array)).toBe(false);
  });

  test('are seen block by block, by views that are kept', () => {
    const views = new BlockMatrices();
    const array = Float32Array.from({ length: 16 * 5 }, (_, i) => i);
    const blocks = [new Uint32Array(3), new Uint32Array(2)];
    const first = views.of(array, blocks);
    expect(first.map(({ length }) => length)).toEqual([48, 32]);
    expect(first[1][0]).toBe(48);
    expect(views.of(array, blocks)).toBe(first);
    expect(views.of(array, [...blocks])).not.toBe(first);
    expect(views.of(array.slice(), blocks)[0].buffer).not.toBe(array.buffer);
    expect(new BlockMatrices().of(array, [])).toEqual([]);
  });
});

test('what stood before is told of to the queries that may have seen it', () => {
  const past = new PastStandings(objects as never);
  const [a, b] = [builtOf(1), builtOf(2)];
  past.note(4, a);
  expect(past.seenBy(0, 4)).toBeUndefined(); // nobody waited
  [objects.oldestQuery, objects.newestQuery] = [2, 3];
  past.note(4, a);
  past.note(5, null);
  objects.newestQuery = 5;
  past.note(4, b);
  expect([2, 3, 4, 5, 6].map((query) => past.seenBy(query, 4))).toEqual([a, a, b, b, undefined]);
  expect([past.seenBy(3, 5), past.seenBy(3, 6)]).toEqual([null, undefined]);
  [objects.oldestQuery, objects.newestQuery] = [4, 7];
  past.note(4, a);
  expect([3, 6, 8].map((query) => past.seenBy(query, 4))).toEqual([b, a, undefined]);
  [objects.oldestQuery, objects.newestQuery] = [Number.POSITIVE_INFINITY, 7];
  past.note(9, a);
  expect(past.seenBy(5, 4)).toBeUndefined();
});

describe('a part', () => {
  const user = { isStatic: false, onMeshChange() {} };
  /** Two geometries of three vertices each, with their indices one behind the other. */
  const buffersOf = (indices: number[] | null = [0, 1, 2, 4, 3, 5]) => {
    const buffers = new BufferGeometry();
    buffers.setAttribute(
      'position',
      new BufferAttribute(
        Float32Array.from({ length: 18 }, (_, i) => i),
        3,
      ),
    );
    if (indices !== null) buffers.setIndex(indices);
    return buffers;
  };
  const SECOND = { start: 3, count: 3, vertexStart: 3, vertexCount: 3 };
  const make = (buffers: BufferGeometry, range = SECOND) => {
    const part = new BatchPart(pool, user, 0.5, 'batch', buffers, range);
    const use = log.at(-1)?.[1] as {
      mesh: { geometry: BufferGeometry; built: BuiltMesh | null; isBuilding: boolean; error: unknown };
    };
    return { part, use };
  };

  test('has a copy of its vertices and indices, which count from its first one', () => {
    const { part, use } = make(buffersOf());
    expect(taken()).toEqual([['acquire', use, 0.5, user]]);
    const { geometry } = use.mesh;
    expect(Array.from(geometry.attributes.position.array)).toEqual([9, 10, 11, 12, 13, 14, 15, 16, 17]);
    expect(Array.from(geometry.index!.array)).toEqual([1, 0, 2]);
    expect([geometry.name, geometry.drawRange, part.pending]).toEqual(['batch', { start: 0, count: 3 }, true]);
    expect([part.error, part.built, part.wanted]).toEqual([null, null, 0]);
    const plain = make(buffersOf(null)).use.mesh.geometry;
    expect([plain.index, plain.drawRange.count]).toEqual([null, 3]);
    // Of a range that ends behind the indices, those that are there.
    const short = make(buffersOf([0, 1, 2, 4]), SECOND).use.mesh.geometry;
    expect([Array.from(short.index!.array), short.drawRange.count]).toEqual([[1], 1]);
  });

  test('is looked at again, and handed on only where it is another', () => {
    const buffers = buffersOf();
    const { part, use } = make(buffers);
    const { geometry } = use.mesh;
    const position = geometry.attributes.position as BufferAttribute;
    taken();
    part.review(buffers, SECOND);
    (buffers.attributes.position.array as Float32Array)[0] = 99; // of the other one
    part.review(buffers, SECOND);
    expect([taken(), position.version]).toEqual([[], 0]);
    (buffers.attributes.position.array as Float32Array)[17] = 99;
    part.review(buffers, SECOND);
    expect([taken(), geometry.attributes.position === position, position.version]).toEqual([[['review', 9]], true, 1]);
    expect(position.array[8]).toBe(99);
    buffers.index!.array[4] = 5;
    part.review(buffers, SECOND);
    expect([taken(), Array.from(geometry.index!.array)]).toEqual([[['review', 9]], [1, 2, 2]]);
    part.review(buffers, { ...SECOND, count: 2 });
    expect([taken(), geometry.drawRange.count]).toEqual([[['review', 9]], 2]);
    part.review(buffers, { ...SECOND, vertexStart: 2, vertexCount: 4 });
    expect([taken(), Array.from(geometry.index!.array)]).toEqual([[['review', 12]], [2, 3, 3]]);
    part.release();
    part.release();
    expect(taken()).toEqual([['release', use]]);
  });

  test('that cannot be read says so until it can', () => {
    const buffers = buffersOf([0, 1, 2, 4, 3, 2]);
    const { part } = make(buffers);
    expect(taken()).toEqual([]);
    expect(part.error!.message).toBe(
      'trackScene: index 5 of a BatchedMesh is 2, expected a vertex of its own geometry: 3 from 3 on',
    );
    expect([part.error!.code, part.built, part.pending]).toEqual(['BAD_DATA', null, false]);
    part.release();
    expect(taken()).toEqual([]);
    buffers.index!.array[5] = 6;
    part.review(buffers, SECOND);
    expect(part.error!.message).toContain('index 5 of a BatchedMesh is 6, expected');
    buffers.index!.array[5] = 5;
    part.review(buffers, SECOND);
    expect([part.error, taken()[0][0]]).toEqual([null, 'acquire']);
    // What stands does not, while it cannot be read.
    part.review(buffers, { ...SECOND, vertexStart: 4 });
    expect(part.error!.message).toContain('the range of vertices is [4, 7], expected one of 6');
    buffers.index = {
      get array() {
        throw new Error('no');
      },
    } as never;
    part.review(buffers, SECOND);
    expect(part.error!.message).toBe('trackScene: batch cannot be read: Error: no');
  });

  test('that is built is where it is in the buffers now', () => {
    const buffers = buffersOf();
    const { part, use } = make(buffers);
    const built = builtOf(7);
    Object.assign(use.mesh, { built, isBuilding: false });
    const view = part.built!;
    expect(view).toMatchObject({
      id: 7,
      geometry: buffers,
      index: buffers.index,
      primitive: 'triangles',
      bones: 0,
      morphs: 0,
    });
    expect(view.runs).toEqual([{ start: 3, end: 6, materialIndex: 0 }]);
    expect([part.built, part.pending]).toEqual([view, false]);
    for (const change of [
      () => part.review(buffers, { ...SECOND, start: 0, vertexStart: 0 }),
      () => part.review(Object.assign(buffersOf(), { index: buffers.index }), SECOND),
      () => buffers.setIndex([0, 1, 2, 4, 3, 5]) && part.review(buffers, SECOND),
      () => Object.assign(use.mesh, { built: builtOf(8) }),
    ]) {
      const before = part.built;
      expect(part.built).toBe(before);
      change();
      expect(part.built).not.toBe(before);
    }
    expect(part.built!.id).toBe(8);
    const error = new Error('no');
    Object.assign(use.mesh, { error });
    expect(part.error).toBe(error);
    Object.assign(use.mesh, { error: null });
    part.refusal = error as never;
    expect(part.error).toBe(error);
  });
});

/** Parts of which a test writes what is built. */
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

/** A BatchedMesh of r187 with so many instances, all of geometry 0, and what is to stand for it. */
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
  const shapes = new BatchShapes(mesh, all as unknown as AskedOptions);
  shapes.parts.push(...(parts as unknown as BatchPart[]));
  const owner = { object: mesh, isInstanced: true, reject() {} };
  const standIn = new BatchStandIn(context, owner, all as unknown as AskedOptions, shapes, new BatchContents(mesh));
  standIn.reserve(count);
  for (let i = 0; i < count; i++) standIn.note(i, 0);
  return { standIn, shapes, mesh, material, texture, matrices, asked: all, parts };
}
const MESH = (mesh: number, solid = false) => ({ type: 'mesh', mesh, solid });
const PLACEHOLDER = { type: 'sphere', radius: 1 };

describe('the meshes of a BatchedMesh', () => {
  test('are renewed where they are built anew, and refused where they are open and shall be solid', () => {
    const parts = [partOf(builtOf(5)), partOf(null), partOf(builtOf(6))];
    const { shapes, asked } = batchOf(1, parts);
    const renew = () => shapes.renew(() => service.meshInfo() as never);
    expect(renew()).toEqual(
      new Map([
        [0, null],
        [2, null],
      ]),
    );
    expect(renew().size).toBe(0);
    parts[0].built = builtOf(5, 6); // elsewhere, but the same mesh
    expect(renew().size).toBe(0);
    const before = parts[2].standing;
    parts[2].built = builtOf(9);
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
    const parts = [partOf(builtOf(5)), partOf(null)];
    const { shapes, asked } = batchOf(0, parts);
    shapes.renew(() => service.meshInfo() as never);
    expect([0, ~0, 1, ~1, 7].map((state) => shapes.targetOf(state, NOTHING))).toEqual([
      0,
      0,
      NOTHING,
      NOTHING,
      NOTHING,
    ]);
    expect([NOTHING, GIVEN, 0].map((standing) => shapes.targetOf(DELETED, standing))).toEqual([NOTHING, NOTHING, 0]);
    expect([0, 1, NOTHING].map((number) => shapes.shapeOf(number))).toEqual([MESH(5), PLACEHOLDER, PLACEHOLDER]);
    asked.isSolid = true;
    expect(shapes.shapeOf(0)).toEqual(MESH(5, true));
    asked.shape = { type: 'box', halfExtents: [1, 1, 1] };
    expect([0, DELETED].map((state) => shapes.targetOf(state, 0))).toEqual([GIVEN, GIVEN]);
    expect(shapes.shapeOf(GIVEN)).toBe(asked.shape);
    shapes.count(DELETED, ~1);
    shapes.count(~1, 0);
    shapes.count(DELETED, 0);
    expect(parts.map(({ wanted }) => wanted)).toEqual([2, 0]);
    expect([0, ~0, 3, ~3, DELETED].map(geometryOf)).toEqual([0, 0, 3, 3, NOTHING]);
    // What is built of the same mesh is where it is now; else what stood.
    const moved = builtOf(5, 9);
    parts[0].built = moved;
    expect(shapes.standingOn(0)).toBe(moved);
    parts[0].built = builtOf(6);
    expect(shapes.standingOn(0)).toBe(parts[0].standing);
    expect([shapes.standingOn(NOTHING), shapes.standingOn(1)]).toEqual([null, null]);
  });
});

describe('the ids of a BatchedMesh', () => {
  const OPTIONS = { layers: 0, side: 'front', cullable: true, occluder: false };

  test('come by their geometries, and are shown once they have a place', () => {
    const batch = batchOf(4, [partOf(builtOf(5)), partOf(builtOf(6)), partOf(null)], {
      options: { group: 3, occluder: true },
    });
    const { standIn } = batch;
    for (const [i, state] of [0, 1, ~0, 2].entries()) standIn.note(i, state);
    expect(batch.parts.map(({ wanted }) => wanted)).toEqual([2, 1, 1]);
    standIn.reconcile(4);
    expect([taken(), standIn.pending]).toEqual([[], false]); // one of the meshes is still built
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
      ['moveInstances', 4, 0, 4, 0],
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
    const batch = batchOf(3, [partOf(builtOf(5)), partOf(builtOf(6))]);
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
    batch.parts[0].built = builtOf(8);
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
    batch.parts[1].built = builtOf(9);
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
    expect(taken()).toEqual([]); // a mesh is built, which nobody knows to be in vain
    const given = batchOf(2, [], { shape });
    given.standIn.setLayers(1);
    given.standIn.note(1, DELETED);
    given.standIn.reconcile(2);
    given.standIn.move();
    expect(taken().map(([name]) => name)).toEqual(['addInstances', 'added', 'layers', 'moveInstances']);
    given.standIn.forget(2);
    expect(Array.from(given.standIn.states)).toEqual([DELETED, DELETED]);
    given.standIn.note(0, 0);
    given.standIn.stand(0);
    expect(taken()).toEqual([['setObject', given.standIn.ids[0], { shape }]]);
  });

  test('are in blocks, of which one comes at a time', () => {
    const count = 2 * MOST_IN_BLOCK + 3;
    const { standIn, texture } = batchOf(count, [partOf(builtOf(5))]);
    standIn.renew();
    standIn.reconcile(10);
    expect([standIn.ids.length, standIn.pending]).toEqual([10, false]);
    standIn.reconcile(count);
    expect([standIn.ids.length, standIn.pending]).toEqual([MOST_IN_BLOCK, true]);
    standIn.move();
    standIn.reconcile(count);
    standIn.reconcile(count);
    expect([standIn.ids.length, standIn.pending]).toEqual([count, false]);
    taken();
    standIn.move();
    const moves = () =>
      taken()
        .filter(([name]) => name === 'moveInstances')
        .map((call) => call.slice(1, 4));
    // Those of the first block were sent.
    expect(moves()).toEqual([
      [MOST_IN_BLOCK, MOST_IN_BLOCK, MOST_IN_BLOCK],
      [3, 2 * MOST_IN_BLOCK, 3],
    ]);
    standIn.move();
    expect(taken()).toEqual([]);
    texture.needsUpdate = true;
    standIn.move();
    expect(moves().length).toBe(3);
    standIn.reconcile(MOST_IN_BLOCK + 1);
    const [[, removed]] = taken();
    expect((removed as number[]).length).toBe(MOST_IN_BLOCK + 2);
    texture.needsUpdate = true;
    standIn.move();
    expect(moves()).toEqual([
      [MOST_IN_BLOCK, 0, MOST_IN_BLOCK],
      [1, MOST_IN_BLOCK, 1],
    ]);
    standIn.clear();
    expect([standIn.ids.length, standIn.states.every((state) => state === DELETED)]).toEqual([0, true]);
    taken();
    standIn.shrink(0);
    expect(taken()).toEqual([]);
  });

  test('that are not all taken are all given back', () => {
    const { standIn } = batchOf(5, [partOf(builtOf(5)), partOf(builtOf(6))]);
    standIn.renew();
    for (const i of [1, 3, 4]) standIn.note(i, 1);
    room = 2;
    expect(() => standIn.reconcile(5)).toThrow('no room');
    expect(taken().slice(1)).toEqual([['removeObjects', [1, 2]]]);
    expect(standIn.ids.length).toBe(0);
  });

  test('are told the side and whether they are seen, where these change', () => {
    const { standIn, material, asked } = batchOf(2, [partOf(builtOf(5))]);
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
      expect(told()).toEqual({ side: expected, cullable: true });
      expect(told()).toBeUndefined();
    }
    material.visible = false;
    expect(told()).toEqual({ side: 'front', cullable: false });
    material.visible = true;
    asked.options.cullable = false;
    expect(told()).toBeUndefined();
    asked.options = { side: 'back', layers: 7, matrix: [], group: 5 };
    expect(told()).toEqual({ side: 'back', cullable: true });
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
      ...{ side: 'back', cullable: true },
    });
    expect(told()).toBeUndefined();
  });

  test('of which the matrix is none are hidden until it is one', () => {
    const { standIn, matrices, texture, mesh } = batchOf(3, [partOf(builtOf(5))]);
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
    expect(taken()).toEqual([]); // it has a better one since
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
    const batch = batchOf(1, [partOf(builtOf(5))]);
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
