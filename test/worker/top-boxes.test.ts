// The boxes of a level of a mesh's tree: which ones, and the rotations of their frames.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import type { CoreInspector } from '../../src/worker/binding/inspector.js';
import type { Slices } from '../../src/worker/slices.js';
import { topBoxes } from '../../src/worker/top-boxes.js';
import { Random, SEED } from '../oracle/random.js';

interface Node {
  frame: number[];
  level: number;
  leaves: number;
}

/** A tree as the core lists it, each step of which is a slice. */
function treeOf(nodes: readonly Node[], cut = false) {
  const log: unknown[] = [];
  let steps = 0;
  const leafStart = [0];
  for (const { leaves } of nodes) leafStart.push(leafStart.at(-1)! + leaves);
  const inspector = {
    beginMesh: (...asked: number[]) => log.push(asked),
    stepTree: (end: number) => {
      expect(end).toBe(42);
      return ++steps === 3;
    },
    readTree: (places: number) => ({
      places,
      boxes: Float64Array.from(nodes.flatMap(({ frame }) => frame)),
      levels: nodes.map(({ level }) => level),
      leafStart,
      cut,
    }),
    end: () => log.push('end'),
  };
  const slices = { end: 42, next: vi.fn(async () => {}), run: async (work: unknown) => work };
  const ask = (level: number, most: number) =>
    topBoxes(inspector as unknown as CoreInspector, 7, level, most, slices as unknown as Slices);
  return { ask, log, slices };
}

/** Half axes, and the centre. */
function frameOf(rotation: Quaternion, half: readonly number[], centre: Vector3, mirrored: number): number[] {
  const axes = [new Vector3(), new Vector3(), new Vector3()];
  new Matrix4().makeRotationFromQuaternion(rotation).extractBasis(axes[0], axes[1], axes[2]);
  for (let k = 0; k < 3; k++) axes[k].multiplyScalar(half[k] * (k === mirrored ? -1 : 1));
  return [...axes.flatMap((axis) => axis.toArray()), ...centre.toArray()];
}

test(`a box is its middle, its half sizes and its rotation, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const halves = [0, 1, 2].map((axis) =>
    new Quaternion().setFromAxisAngle(new Vector3().setComponent(axis, 1), Math.PI),
  );
  const rotations = [new Quaternion(), ...halves, ...Array.from({ length: 60 }, () => random.rotation())];
  const nodes = rotations.map((rotation, i): Node & { half: number[]; axes: Vector3[] } => {
    const half = [random.range(0.1, 9), random.range(0.1, 9), random.range(0.1, 9)];
    const frame = frameOf(rotation, half, random.point(5), (i % 4) - 1);
    const axes = [0, 3, 6].map((at, k) => new Vector3().fromArray(frame, at).divideScalar(half[k]));
    return { frame, level: 1, leaves: 0, half, axes };
  });
  const found = (await treeOf(nodes).ask(1, 99))!;
  expect(found.length).toBe(10 * nodes.length);
  nodes.forEach(({ frame, half, axes }, i) => {
    const record = Array.from(found.subarray(10 * i, 10 * i + 10));
    expect(record.slice(0, 3)).toEqual(frame.slice(9));
    for (let k = 0; k < 3; k++) expect(record[3 + k]).toBeCloseTo(half[k], 12);
    const rotation = new Quaternion(...record.slice(6));
    expect(rotation.length()).toBeCloseTo(1, 12);
    for (let k = 0; k < 3; k++) {
      const axis = new Vector3().setComponent(k, 1).applyQuaternion(rotation);
      // A box is its own mirror image: the third axis may be reversed.
      const along = axis.dot(axes[k]);
      expect(k < 2 ? along : Math.abs(along)).toBeCloseTo(1, 12);
    }
  });
});

test('the boxes are those of the level and the leaves above it, if they are not too many', async () => {
  const frame = (x: number) => frameOf(new Quaternion(), [1, 2, 3], new Vector3(x, 0, 0), -1);
  const nodes = [
    { frame: frame(0), level: 1, leaves: 0 },
    { frame: frame(1), level: 1, leaves: 2 },
    { frame: frame(2), level: 2, leaves: 0 },
    { frame: frame(3), level: 2, leaves: 1 },
  ];
  const { ask, log, slices } = treeOf(nodes);
  const found = (await ask(2, 3))!;
  expect([0, 1, 2].map((i) => found[10 * i])).toEqual([1, 2, 3]);
  expect(log).toEqual([[7, 2, 16], 'end']);
  expect(slices.next).toHaveBeenCalledTimes(2);
  expect(await treeOf(nodes).ask(2, 2)).toBeNull();
  const cut = treeOf(nodes, true);
  expect(await cut.ask(2, 3)).toBeNull();
  expect(cut.log.at(-1)).toBe('end');
});
