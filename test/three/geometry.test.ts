import { CollisionError } from 'collision-worker';
import { boxFromGeometry, meshDataFromGeometry } from 'collision-worker/three';
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Float16BufferAttribute,
  InstancedBufferGeometry,
  Int16BufferAttribute,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  TorusKnotGeometry,
} from 'three';
import { describe, expect, test } from 'vitest';
import { runsOf, toFaceIndices } from '../../src/client/three/geometry/geometry.js';
import { GeometryVersion } from '../../src/client/three/geometry/geometry-version.js';

/** The two triangles of a square, corner by corner. */
const SQUARE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0];

function square(): BufferGeometry {
  return new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(SQUARE), 3));
}

describe('meshDataFromGeometry', () => {
  test('takes an indexed geometry as it is, without a copy', () => {
    const geometry = new TorusKnotGeometry();
    const { positions, indices } = meshDataFromGeometry(geometry);
    expect(positions.buffer).toBe(geometry.attributes.position.array.buffer);
    expect(positions).toEqual(geometry.attributes.position.array);
    expect(indices).toEqual(geometry.index!.array);
    expect(indices!.buffer).toBe(geometry.index!.array.buffer);
  });

  test('takes every three vertices where there are no indices', () => {
    const data = meshDataFromGeometry(square());
    expect([...data.positions]).toEqual(SQUARE);
    expect(data.indices).toBeUndefined();
  });

  test('reads interleaved positions', () => {
    const stride = 8;
    const floats = new Float32Array(6 * stride).fill(9);
    for (let i = 0; i < 6; i++) floats.set(SQUARE.slice(3 * i, 3 * i + 3), stride * i + 2);
    const position = new InterleavedBufferAttribute(new InterleavedBuffer(floats, stride), 3, 2);
    const data = meshDataFromGeometry(new BufferGeometry().setAttribute('position', position));
    expect([...data.positions]).toEqual(SQUARE);
  });

  test('undoes normalisation and half floats', () => {
    const normalized = new Int16BufferAttribute(
      SQUARE.map((value) => value * 32767),
      3,
      true,
    );
    expect([...meshDataFromGeometry(square().setAttribute('position', normalized)).positions]).toEqual(SQUARE);
    const halves = new Float16BufferAttribute(new Uint16Array(18), 3);
    for (let i = 0; i < 6; i++) halves.setXYZ(i, SQUARE[3 * i], SQUARE[3 * i + 1], SQUARE[3 * i + 2]);
    expect([...meshDataFromGeometry(square().setAttribute('position', halves)).positions]).toEqual(SQUARE);
  });

  test('drops a fourth component', () => {
    const four = Array.from({ length: 6 }, (_, i) => [...SQUARE.slice(3 * i, 3 * i + 3), 1]).flat();
    const position = new BufferAttribute(new Float32Array(four), 4);
    expect([...meshDataFromGeometry(square().setAttribute('position', position)).positions]).toEqual(SQUARE);
  });

  test('reads indices of 8 bits', () => {
    const geometry = square().setIndex(new BufferAttribute(new Uint8Array([0, 1, 2, 0, 2, 5]), 1));
    expect([...meshDataFromGeometry(geometry).indices!]).toEqual([0, 1, 2, 0, 2, 5]);
  });

  test.each([
    { start: 3, count: 3, expected: [3, 4, 5] },
    { start: 1, count: 4, expected: [1, 2, 3] }, // an incomplete triangle is not drawn
    { start: 3, count: Number.POSITIVE_INFINITY, expected: [3, 4, 5] },
  ])('keeps to the draw range $start, $count', ({ start, count, expected }) => {
    const geometry = square();
    geometry.setDrawRange(start, count);
    const corners = expected.flatMap((vertex) => SQUARE.slice(3 * vertex, 3 * vertex + 3));
    expect([...meshDataFromGeometry(geometry).positions]).toEqual(corners);
    geometry.setIndex([0, 1, 2, 3, 4, 5]);
    expect([...meshDataFromGeometry(geometry).indices!]).toEqual(expected);
  });

  test.each([
    { name: 'no positions', geometry: new BufferGeometry(), code: 'BAD_DATA', says: /position none/ },
    {
      name: 'flat positions',
      geometry: new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6), 2)),
      code: 'BAD_DATA',
      says: /item size 2/,
    },
    {
      name: 'an empty draw range',
      geometry: Object.assign(square(), { name: 'floor', drawRange: { start: 0, count: 2 } }),
      code: 'BAD_DATA',
      says: /"floor" with 6 vertices.*draw range \(0, 2\)/,
    },
    {
      name: 'more vertices than there are positions',
      geometry: square().setAttribute(
        'position',
        Object.assign(new BufferAttribute(new Float32Array(8), 3), { count: 3 }),
      ),
      code: 'BAD_DATA',
      says: /8 numbers for 3 positions; expected 3 for each/,
    },
    { name: 'instances', geometry: new InstancedBufferGeometry(), code: 'UNSUPPORTED', says: /shader/ },
  ])('refuses $name by name', ({ geometry, code, says }) => {
    const error = thrownBy(() => meshDataFromGeometry(geometry));
    expect(error).toBeInstanceOf(CollisionError);
    expect(error).toMatchObject({ code });
    expect((error as CollisionError).message).toMatch(says);
  });
});

test('meshDataFromGeometry reads each vertex, and none behind the last', () => {
  const read: number[] = [];
  class Packed extends Int16BufferAttribute {
    override getX(index: number): number {
      read.push(index);
      return super.getX(index);
    }
  }
  expect([...meshDataFromGeometry(square().setAttribute('position', new Packed(SQUARE, 3))).positions]).toEqual(SQUARE);
  expect(read).toEqual([0, 1, 2, 3, 4, 5]);
});

describe('a geometry is another than before', () => {
  const grouped = () => {
    const geometry = square().setIndex([0, 1, 2, 3, 4, 5]);
    geometry.addGroup(0, 3, 0);
    geometry.addGroup(3, 3, 1);
    return geometry;
  };

  test('not for what has nothing to do with its triangles', () => {
    const [geometry, version] = [grouped(), new GeometryVersion()];
    version.copy(geometry);
    geometry.setAttribute('uv', new BufferAttribute(new Float32Array(12), 2)).computeBoundingBox();
    geometry.groups = geometry.groups.map((group) => ({ ...group }));
    expect(version.equals(geometry)).toBe(true);
  });

  test.each<[string, (geometry: BufferGeometry) => unknown]>([
    ['its index', (geometry) => geometry.setIndex([0, 1, 2, 3, 4, 5])],
    ['what is in its index', ({ index }) => Object.assign(index!, { needsUpdate: true })],
    ['the start of its draw range', (geometry) => geometry.setDrawRange(3, 3)],
    ['the end of its draw range', (geometry) => geometry.setDrawRange(0, 3)],
    ['where a group begins', ({ groups }) => Object.assign(groups[1], { start: 0 })],
    ['how long a group is', ({ groups }) => Object.assign(groups[1], { count: 0 })],
    ['the material of a group', ({ groups }) => Object.assign(groups[1], { materialIndex: 0 })],
    ['the number of its groups', (geometry) => geometry.addGroup(0, 6, 0)],
    [
      'the number of its vertices',
      (geometry) => geometry.setAttribute('position', new BufferAttribute(new Float32Array(21), 3)),
    ],
  ])('by %s: in its triangles', (_, change) => {
    const [geometry, version] = [grouped(), new GeometryVersion()];
    version.copy(geometry);
    change(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([false, false]);
    version.copy(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([true, true]);
  });

  test.each<[string, (geometry: BufferGeometry) => unknown]>([
    ['other positions', (geometry) => geometry.setAttribute('position', geometry.attributes.position.clone())],
    ['what is in them', ({ attributes }) => Object.assign(attributes.position, { needsUpdate: true })],
  ])('by %s: in its vertices alone', (_, change) => {
    const [geometry, version] = [grouped(), new GeometryVersion()];
    version.copy(geometry);
    change(geometry);
    expect([version.equals(geometry), version.hasSameTriangles(geometry)]).toEqual([false, true]);
  });
});

test('boxFromGeometry is the bounding box', () => {
  const geometry = new BoxGeometry(2, 4, 6).translate(1, 0, -1);
  expect(boxFromGeometry(geometry)).toEqual({ type: 'box', center: [1, 0, -1], halfExtents: [1, 2, 3] });
});

test('toFaces counts as three does: in one of two, over runs in any order, and leaves what is none of them', () => {
  const runs = [
    { start: 30, end: 36, materialIndex: 0 },
    { start: 3, end: 9, materialIndex: 1 },
  ];
  const pairs = Uint32Array.of(0, 0, 1, 1, 2, 2, 3, 3, 4, 4);
  toFaceIndices(runs, pairs, 1, 2);
  expect([...pairs]).toEqual([0, 10, 1, 11, 2, 1, 3, 2, 4, 4]);
  toFaceIndices([{ start: 0, end: 9, materialIndex: 0 }], pairs, 0, 2);
  expect([...pairs]).toEqual([0, 10, 1, 11, 2, 1, 3, 2, 4, 4]);
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

test('groups that have gone since are drawn no more', () => {
  const geometry = square();
  geometry.addGroup(0, 3, 1);
  geometry.addGroup(3, 3, 0);
  const runs = [
    { start: 0, end: 3, materialIndex: 1 },
    { start: 3, end: 6, materialIndex: 0 },
  ];
  expect(runsOf(geometry, [0, 1])).toEqual(runs);
  expect(runsOf(geometry, [1])).toEqual(runs.slice(1));
  geometry.groups.length = 1;
  expect(runsOf(geometry, [0, 1])).toEqual(runs.slice(0, 1));
  expect(runsOf(geometry, [1, 7])).toEqual([]);
});
