// The contents of a BatchedMesh, in each layout that versions of three have used.
import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  FloatType,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  RGBAFormat,
} from 'three';
import { describe, expect, test } from 'vitest';
import {
  BatchBuffers,
  BatchContents,
  DELETED,
  readInstanceMatrix,
} from '../../src/client/three/track/batch-contents.js';

/** Six instances: of geometries 0, 1, 0, …; the second is not visible, and the fourth was deleted. */
const INSTANCES = [0, 1, 2, 3, 4, 5].map((i) => ({ visible: i !== 1, active: i !== 3, geometryIndex: i % 2 }));
const RANGES = [0, 1, 2, 3, 4, 5].map((i) => ({ start: 30 * i, count: 30, vertexStart: 10 * i, vertexCount: 10 }));

const KEPT: Record<string, object> = {
  'r187, and from r170 on': {
    _instanceInfo: INSTANCES,
    _geometryInfo: RANGES.slice(0, 2).map((range, i) => ({ ...range, active: i === 0 })),
  },
  'r166 to r169': { _drawInfo: INSTANCES, _drawRanges: RANGES.slice(0, 2), _reservedRanges: RANGES.slice(0, 2) },
  'r160 to r165, where each geometry is an instance': {
    _visibility: INSTANCES.map(({ visible }) => visible),
    _active: INSTANCES.map(({ active }) => active),
    _drawRanges: RANGES,
    _reservedRanges: RANGES,
  },
};

function batchOf(insides: object, material: unknown = new MeshBasicMaterial()): never {
  const _matricesTexture = new DataTexture(new Float32Array(16 * 6), 8, 3, RGBAFormat, FloatType);
  return Object.assign(new Mesh(new BufferGeometry(), material as never), { _matricesTexture, ...insides }) as never;
}

describe.each(Object.entries(KEPT))('in %s', (version, insides) => {
  const isFirst = version.startsWith('r160');
  const contents = new BatchContents(batchOf(insides));
  const states = INSTANCES.map(({ visible, active, geometryIndex }, i) => {
    const geometry = isFirst ? i : geometryIndex;
    return !active ? DELETED : visible ? geometry : ~geometry;
  });

  test('instances are told apart', () => {
    contents.check();
    expect(contents.count).toBe(6);
    expect(contents.instances).toHaveLength(6);
    expect(states.map((_, i) => contents.stateOf(i))).toEqual(states);
  });

  test('those that are another are listed behind what was found', () => {
    const find = (before: number[], first = 0, end = 6, found = 0) => {
      const changed = new Uint32Array(8).fill(99);
      const listed = contents.findChanged(Int32Array.from(before), first, end, changed, found);
      return Array.from(changed.subarray(0, listed));
    };
    expect(find(states)).toEqual([]);
    for (let i = 0; i < 6; i++) {
      for (const other of [DELETED, 5, ~5, 0, ~0, 1]) {
        if (other !== states[i]) expect(find(states.with(i, other)), `${i}: ${other}`).toEqual([i]);
      }
    }
    const all = states.map(() => 77);
    expect(find(all)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(find(all, 2, 5)).toEqual([2, 3, 4]);
    expect(find(all, 4, 6, 2)).toEqual([99, 99, 4, 5]);
    expect(find(states.with(0, 77).with(5, 77), 1, 5)).toEqual([]);
  });

  test('geometries have ranges', () => {
    const count = isFirst ? 6 : 2;
    expect(contents.geometryCount).toBe(count);
    for (let i = 0; i < count; i++) expect(contents.rangeOf(i)).toMatchObject(RANGES[i]);
    const active =
      '_geometryInfo' in insides ? [true, false] : isFirst ? INSTANCES.map((each) => each.active) : [true, true];
    expect(active.map((_, i) => contents.hasGeometry(i))).toEqual(active);
  });
});

test('a three that keeps it in another way is not known, nor what three draws nothing of', () => {
  const [newest, middle, oldest] = Object.values(KEPT);
  const check = (insides: object, material?: unknown) => () => new BatchContents(batchOf(insides, material)).check();
  const unknown = /expected one of three r160 to r187 that was not disposed/;
  for (const insides of [newest, middle, oldest]) {
    expect(check(insides)).not.toThrow();
    expect(check({ ...insides, _matricesTexture: null })).toThrow(unknown);
    for (const key of Object.keys(insides)) {
      expect(check({ ...insides, [key]: undefined }), key).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    }
  }
  expect(check(newest, [new MeshBasicMaterial()])).toThrow(/an array of materials .*expected one material/);
});

test('a matrix is read where there is one', () => {
  const batch = batchOf(KEPT['r166 to r169']);
  const { matrices } = new BatchContents(batch);
  matrices!.set(new Matrix4().makeTranslation(1, 2, 3).elements, 16 * 5);
  expect(readInstanceMatrix(batch, 5, new Matrix4()).elements.slice(12)).toEqual([1, 2, 3, 1]);
  const own = new Matrix4().makeScale(7, 7, 7);
  expect(readInstanceMatrix(batch, 6, own.clone())).toEqual(own);
  expect(readInstanceMatrix(batchOf({ _matricesTexture: null }), 0, own.clone())).toEqual(own);
});

test('buffers are others where an attribute, its version or the indices are', () => {
  const geometry = new BufferGeometry();
  const position = () => new BufferAttribute(new Float32Array(9), 3);
  const buffers = new BatchBuffers();
  const changes: [string, () => void][] = [
    ['the first time', () => {}],
    ['a position', () => geometry.setAttribute('position', position())],
    ['another position', () => geometry.setAttribute('position', position())],
    ['a newer one', () => (geometry.attributes.position.needsUpdate = true)],
    ['indices', () => geometry.setIndex([0, 1, 2])],
    ['newer ones', () => (geometry.index!.needsUpdate = true)],
    ['other ones', () => geometry.setIndex([0, 1, 2])],
    ['none', () => geometry.setIndex(null)],
    ['forgotten', () => buffers.forget()],
  ];
  for (const [name, change] of changes) {
    change();
    expect(buffers.areThose(geometry), name).toBe(false);
    expect(buffers.haveChanged(geometry), name).toBe(true);
    expect(buffers.areThose(geometry), name).toBe(true);
    expect(buffers.haveChanged(geometry), name).toBe(false);
  }
  expect(buffers.areThose(geometry.clone())).toBe(false);
});
