// The parts of a BatchedMesh's stand-in: a copy of each of its geometries, its matrices, and the previous state.
import { BufferAttribute, BufferGeometry, Matrix4 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import type { BuiltMesh, MeshUser } from '../../src/client/three/geometry/shared-mesh.js';
import { BatchPart } from '../../src/client/three/track/batch-part.js';
import { BlockMatrices } from '../../src/client/three/track/block-matrices.js';
import { FormerMeshes } from '../../src/client/three/track/former-meshes.js';
import { SentMatrices } from '../../src/client/three/track/sent-matrices.js';
import { stubMesh } from '../fixtures/built-mesh.js';

const log: unknown[][] = [];
const taken = () => log.splice(0);
const objects = { newestQuery: 0, oldestQuery: Number.POSITIVE_INFINITY };
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
  objects.newestQuery = 0;
  objects.oldestQuery = Number.POSITIVE_INFINITY;
});

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
  const past = new FormerMeshes(objects as never);
  const [a, b] = [stubMesh(1), stubMesh(2)];
  past.note(4, a);
  expect(past.seenBy(0, 4)).toBeUndefined(); // no query was waiting
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
  /** Two geometries of three vertices each, with consecutive indices. */
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
    // Of a range that ends beyond the indices, the existing ones.
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
    (buffers.attributes.position.array as Float32Array)[0] = 99; // of the other geometry
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
    // The standing mesh does not change while the geometry cannot be read.
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
    const built = stubMesh(7);
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
      () => Object.assign(use.mesh, { built: stubMesh(8) }),
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
