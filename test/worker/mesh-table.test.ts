// Below the public API: what the worker does with a new tree when memory runs out, or when the tree is of no use.
import { beforeEach, expect, test } from 'vitest';
import type { Core } from '../../src/worker/binding/core.js';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { MeshTable } from '../../src/worker/mesh-table.js';
import { findFeatures, withFeatures } from '../../src/worker/snap/features.js';
import { bake, startCore } from '../fixtures/core.js';
import { Random } from '../oracle/random.js';

const ID = 2049;
const floor = [-2, -2, 0, 2, -2, 0, 0, 3, 0];
/** The second triangle's corners are collinear. */
const shut = new Float32Array([...floor, -1, -1, 1, 0, 0, 1, 1, 1, 1]);
const open = new Float32Array([...floor, -1, -1, 1, 1, -1, 1, 0, 2, 1]);

/** Installs a new tree in one piece. */
const replace = (id: number, baked: ArrayBuffer | null) =>
  runToEnd(table.replaceInSlices(id, baked, Number.POSITIVE_INFINITY, () => true));

let core: Core;
let table: MeshTable;
beforeEach(async () => {
  core = await startCore();
  table = new MeshTable(core);
});

test.each(['beginLoad', 'beginRefit', 'replaceMesh'] as const)(
  'no memory in %s: all stays, and can be had again',
  (name) => {
    table.load(ID, bake(core, { positions: shut }));
    const before = core.bakeMesh(table.addressOf(ID));
    expect(table.update(ID, open)).toMatchObject({ isInEffect: false, rebuild: { positions: open } });
    expect(table.update(ID, open)).toMatchObject({ isInEffect: false, rebuild: undefined });
    const baked = bake(core, { positions: open });
    const { usedBytes } = core;
    const original = core[name];
    Object.assign(core, {
      [name]: () => {
        throw new RangeError('memory');
      },
    });
    expect(() => replace(ID, baked)).toThrow('memory');
    Object.assign(core, { [name]: original });
    expect(core.usedBytes).toBe(usedBytes);
    expect(core.bakeMesh(table.addressOf(ID))).toEqual(before);

    expect(table.update(ID, open)).toMatchObject({ isInEffect: false, rebuild: { positions: open } });
    expect(replace(ID, baked)).toMatchObject({ isInEffect: true, rebuild: undefined, info: { degenerate: 0 } });
    expect(core.check()).toBeNull();
  },
);

test('a tree that cannot take the newest vertices makes way for another', () => {
  table.load(ID, bake(core, { positions: open }));
  const crossed = open.map((x) => -x);
  expect(table.update(ID, shut)).toMatchObject({ isInEffect: true, rebuild: undefined, info: { degenerate: 1 } });
  // As if one of those had been requested.
  const { rebuild } = askFor(shut);
  expect(table.update(ID, crossed)).toMatchObject({ isInEffect: true, rebuild: undefined });
  const replaced = replace(ID, bake(core, rebuild!));
  expect(replaced).toMatchObject({ isInEffect: false, rebuild: { positions: crossed }, info: { degenerate: 0 } });
  expect(replace(ID, bake(core, replaced.rebuild!))).toMatchObject({ isInEffect: true, rebuild: undefined });
  expect(core.check()).toBeNull();
});

test('in slices, vertices that need another tree leave the mesh as it was, and others take effect', () => {
  table.load(ID, bake(core, { positions: shut }));
  const [address, before, { usedBytes }] = [table.addressOf(ID), core.bakeMesh(table.addressOf(ID)), core];
  const inSlices = (positions: Float32Array) => {
    const work = table.updateInSlices(ID, positions, 1000, () => true);
    for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
  };
  expect(inSlices(open)).toMatchObject({ isInEffect: false, rebuild: { positions: open } });
  expect(table.addressOf(ID)).toBe(address);
  expect(core.bakeMesh(address)).toEqual(before);
  expect(core.usedBytes).toBe(usedBytes);
  const moved = shut.map((x) => 2 * x);
  expect(inSlices(moved)).toMatchObject({ isInEffect: true, rebuild: undefined });
  expect(table.addressOf(ID)).not.toBe(address);
  expect(core.usedBytes).toBe(usedBytes);
  expect(core.check()).toBeNull();
});

test('no tree at all: the next update asks again', () => {
  table.load(ID, bake(core, { positions: shut }));
  expect(table.update(ID, open).rebuild).toBeDefined();
  expect(replace(ID, null)).toMatchObject({ isInEffect: false, rebuild: undefined });
  expect(table.update(ID, open).rebuild).toBeDefined();
});

test('what work in slices reads stays as it was, whatever becomes of the mesh meanwhile', () => {
  table.load(ID, bake(core, { positions: open }));
  table.load(ID + 1, bake(core, { positions: open }));
  table.load(ID + 2, bake(core, { positions: open }));
  const { usedBytes } = core;
  const addresses = [0, 1, 2].map((i) => table.addressOf(ID + i));
  const before = addresses.map((address) => core.bakeMesh(address));
  table.keep();
  const moved = open.map((x) => 2 * x);
  for (let i = 0; i < 100; i++) table.update(ID, moved);
  const first = table.addressOf(ID);
  // One copy is refitted again and again, until another reader needs it.
  expect(core.usedBytes).toBeLessThan(usedBytes + 2 * before[0].byteLength + 1000);
  table.keep();
  const [ofFirst] = [core.bakeMesh(first)];
  table.update(
    ID,
    open.map((x) => 3 * x),
  );
  expect(table.addressOf(ID)).not.toBe(first);
  expect(() => table.update(ID, new Float32Array(open.length))).toThrow('area');
  expect(core.bakeMesh(first)).toEqual(ofFirst);
  table.prepareUpdate(ID + 1);
  table.update(ID + 1, moved);
  replace(ID + 1, bake(core, { positions: open }));
  table.prepareUpdate(ID + 2); // which is then not called
  table.remove(ID + 2);
  expect(addresses.map((address) => core.bakeMesh(address))).toEqual(before);
  table.release();
  table.remove(ID);
  table.remove(ID + 1);
  expect(core.usedBytes).toBeLessThan(usedBytes - 2 * before[0].byteLength);
  expect(core.check()).toBeNull();
});

test('points that work in slices reads stay as they were, where they are moved meanwhile', () => {
  const positions = Float32Array.from({ length: 300 }, (_, i) => (i * 37) % 101);
  table.load(ID, bake(core, { positions, topology: 'points' }));
  const first = table.addressOf(ID);
  const before = core.bakeMesh(first);
  table.keep();
  const moved = positions.map((x) => x + 7);
  expect(table.update(ID, moved)).toMatchObject({ isInEffect: true });
  expect(table.addressOf(ID)).not.toBe(first);
  expect(core.bakeMesh(first)).toEqual(before);
  expect(core.bakeMesh(table.addressOf(ID))).not.toEqual(before);
  table.release();
  expect(core.check()).toBeNull();
});

test('what nobody reads any more is moved where it is, and goes at once', () => {
  const baked = bake(core, { positions: open });
  const moved = open.map((x) => 2 * x);
  table.load(ID, baked);
  table.update(ID, moved);
  const { usedBytes } = core;
  for (let round = 0; round < 3; round++) {
    table.keep();
    table.keep();
    table.release();
    const address = table.addressOf(ID);
    table.update(ID, moved);
    expect(table.addressOf(ID)).toBe(address);
    expect(core.usedBytes).toBe(usedBytes);
    table.remove(ID);
    expect(core.usedBytes).toBeLessThan(usedBytes);
    table.load(ID, baked);
    table.update(ID, moved);
    expect(core.usedBytes).toBe(usedBytes);
  }
});

test('baked features are read in steps, and go with their mesh where it is removed in the midst', () => {
  const random = new Random(3);
  const baked = bake(core, { positions: Float32Array.from({ length: 9 * 10_000 }, () => random.range(-1, 1)) });
  const { usedBytes } = core;
  table.load(ID, baked);
  const features = runToEnd(findFeatures(core.snaps.getMemory, table.addressOf(ID), 35));
  const both = runToEnd(withFeatures(baked, features));
  table.remove(ID);
  const steps = (id: number, given: ArrayBuffer) => {
    table.beginLoad(id, given, false);
    for (let i = 1; ; i++) if (table.stepLoad(id, 0)) return i;
  };
  const without = steps(ID, baked);
  const more = steps(ID + 1, both) - without;
  // At most 8,192 of the words behind the mesh per step, each of which is hashed and then checked.
  expect(more).toBeGreaterThan((both.byteLength - baked.byteLength) / 4 / 8192);
  expect(table.features.featuresAt(table.addressOf(ID + 1))).toBeDefined();
  table.remove(ID);
  table.remove(ID + 1);
  for (const after of [1, without + 1, without + more / 2, without + more - 1]) {
    table.beginLoad(ID, both, false);
    for (let i = 0; i < after; i++) expect(table.stepLoad(ID, 0)).toBeUndefined();
    table.remove(ID);
    expect(core.usedBytes, `after ${after} steps`).toBe(usedBytes);
  }
  expect(core.check()).toBeNull();
});

/** A request for a mesh whose cost says that it should be rebuilt. */
function askFor(positions: Float32Array) {
  const { meshInfo } = core;
  core.meshInfo = (mesh) => ({ ...meshInfo.call(core, mesh), cost: 2 });
  const answer = table.update(ID, positions);
  core.meshInfo = meshInfo;
  return answer;
}
