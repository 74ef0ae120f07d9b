// Loads, refits and bakes of one mesh in the shortest possible steps: each has the same result as in one piece, and leaves
// nothing behind if it ends early.
import { beforeEach, describe, expect, test } from 'vitest';
import type { MeshData } from '../../../src/shared/types.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { MeshTable } from '../../../src/worker/mesh-table.js';
import { bake, startCore } from '../../fixtures/core.js';
import { icosphere, merged, rods, soup } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const ID = 2049;

let core: Core;
beforeEach(async () => {
  core = await startCore();
  core.check(); // which keeps its scratch memory
});

/** A mesh of each kind, of some ten steps and more. */
const KINDS: [string, (random: Random) => MeshData][] = [
  ['triangles with indices', () => icosphere(1, 40)],
  ['triangles without indices, some of no area', (random) => unindexed(merged([rods(random, 2000, 1), flat(300)]))],
  ['a skin', (random) => skinned(random, icosphere(1, 40))],
  ['morph targets', (random) => morphed(random, icosphere(1, 40))],
  ['points', (random) => ({ positions: soup(random, 20_000, 1, 1).positions, topology: 'points' })],
  ['lines', (random) => ({ positions: soup(random, 20_000, 1, 1).positions, topology: 'lines' })],
];

describe.each(KINDS)('%s', (_, make) => {
  test(`are loaded as in one piece, seed ${SEED}`, () => {
    const baked = bake(core, make(new Random(SEED)));
    const { usedBytes } = core;
    const whole = core.loadMesh(baked);
    const load = core.beginLoad(baked);
    let steps = 0;
    for (; !load.step(0); steps++);
    expect(steps).toBeGreaterThan(5);
    const mesh = load.finish();
    expect(core.bakeMesh(mesh)).toEqual(core.bakeMesh(whole));
    expect(core.bakeMesh(mesh)).toEqual(baked);
    expect(core.check()).toBeNull();
    for (const each of [mesh, whole]) core.freeMesh(each);
    expect(core.usedBytes).toBe(usedBytes);
  });

  test(`are moved as in one piece, while the mesh stays as it was, seed ${SEED}`, () => {
    const data = make(new Random(SEED));
    const moved = data.positions.map((x) => 3 * x + 0.01 * Math.sin(50 * x));
    const baked = bake(core, data);
    const [mesh, whole] = [core.loadMesh(baked), core.loadMesh(baked)];
    expect(core.refitMesh(whole, moved)).toBe(true);
    const expected = core.bakeMesh(whole);
    const { usedBytes } = core;
    const refit = core.beginRefit(mesh, moved, true);
    let steps = 0;
    for (; refit.step(0) === undefined; steps++) if (steps === 5) expect(core.bakeMesh(mesh)).toEqual(baked);
    expect(steps).toBeGreaterThan(5);
    const copy = refit.finish();
    expect(core.check()).toBeNull();
    expect(core.bakeMesh(copy)).toEqual(expected);
    expect(core.bakeMesh(mesh)).toEqual(baked);
    core.freeMesh(copy);
    expect(core.usedBytes).toBe(usedBytes);

    const inPlace = core.beginRefit(mesh, moved, false);
    while (inPlace.step(0) === undefined);
    inPlace.abort();
    expect(core.bakeMesh(mesh)).toEqual(expected);
  });

  test(`are baked as in one piece, as they are and moved, seed ${SEED}`, () => {
    const data = make(new Random(SEED));
    const moved = data.positions.map((x) => 3 * x + 0.01 * Math.sin(50 * x));
    const baked = bake(core, data);
    const [mesh, whole] = [core.loadMesh(baked), core.loadMesh(baked)];
    const { usedBytes } = core;
    for (const positions of [undefined, moved, data.positions]) {
      if (positions) for (const each of [mesh, whole]) core.refitMesh(each, positions);
      const bake = core.beginBake(mesh);
      let steps = 0;
      let last = 0;
      for (let fraction = 0; fraction < 1; steps++) {
        fraction = bake.step(0);
        expect(fraction).toBeGreaterThanOrEqual(last);
        last = fraction;
      }
      expect(steps).toBeGreaterThan(2);
      const found = bake.finish();
      expect(core.bakeMesh(core.loadMesh(found))).toEqual(found);
      expect(found).toEqual(core.bakeMesh(whole));
    }
    expect(core.bakeMesh(mesh)).toEqual(baked);
    expect(core.check()).toBeNull();
    expect(core.usedBytes).toBeGreaterThan(usedBytes); // of what was loaded besides
  });

  test(`are baked as they were when vertices move once the bake does not read them, seed ${SEED}`, () => {
    const data = make(new Random(SEED));
    const [first, second] = [2, 3].map((times) => data.positions.map((x) => times * x));
    const mesh = core.loadMesh(bake(core, data));
    const whole = core.loadMesh(bake(core, data));
    for (const each of [mesh, whole]) core.refitMesh(each, first);
    const expected = core.bakeMesh(whole);
    const { usedBytes } = core;
    const baking = core.beginBake(mesh);
    let isMoved = false;
    while (baking.step(0) < 1) {
      if (isMoved || baking.isReading) continue;
      core.refitMesh(mesh, second);
      isMoved = true;
    }
    // Nothing is derived for points and lines: they are read to the end.
    expect(isMoved).toBe(!data.topology);
    expect(baking.finish()).toEqual(expected);
    expect(core.usedBytes).toBe(usedBytes);
  });

  test(`leave nothing where a load, a refit or a bake is aborted after any step, seed ${SEED}`, () => {
    const data = make(new Random(SEED));
    const baked = bake(core, data);
    const mesh = core.loadMesh(baked);
    const stale = core.loadMesh(baked);
    core.refitMesh(
      stale,
      data.positions.map((x) => 2 * x),
    );
    const { usedBytes } = core;
    for (let steps = 0; steps < 40; steps++) {
      for (const each of [mesh, stale]) {
        const bake = core.beginBake(each);
        for (let i = 0; i < steps && bake.step(0) < 1; i++);
        bake.abort();
        bake.abort();
        expect(bake.isReading).toBe(false);
        expect(core.usedBytes, `after ${steps} steps`).toBe(usedBytes);
      }
      const load = core.beginLoad(baked);
      for (let i = 0; i < steps && !load.step(0); i++);
      load.abort();
      load.abort();
      const refit = core.beginRefit(mesh, data.positions, true);
      for (let i = 0; i < steps && refit.step(0) === undefined; i++);
      refit.abort();
      expect(core.usedBytes, `after ${steps} steps`).toBe(usedBytes);
    }
    expect(core.bakeMesh(mesh)).toEqual(baked);
  });

  test(`are refused damaged as in one piece, seed ${SEED}`, () => {
    const random = new Random(SEED);
    const baked = bake(core, make(random));
    const { usedBytes } = core;
    for (let i = 0; i < 50; i++) {
      const damaged = baked.slice(0);
      const bytes = new Uint8Array(damaged);
      bytes[random.integer(bytes.length)] ^= 1 << random.integer(8);
      const messages = [0, Number.POSITIVE_INFINITY].map((budget) => {
        const load = core.beginLoad(damaged);
        try {
          while (!load.step(budget));
          load.abort();
          return 'none';
        } catch (error) {
          return String(error);
        }
      });
      expect(messages[0]).toBe(messages[1]);
      expect(core.usedBytes).toBe(usedBytes);
    }
  });
});

test('what was derived anew while a mesh is copied goes along', () => {
  const data = icosphere(1, 40);
  const [first, second] = [data.positions.map((x) => 2 * x), data.positions.map((x) => 3 * x)];
  const mesh = core.loadMesh(bake(core, data));
  const refit = core.beginRefit(mesh, second, true);
  refit.step(0);
  refit.step(0);
  // From now on, the derived data is that of the previous vertices.
  expect(core.refitMesh(mesh, first)).toBe(true);
  while (refit.step(0) === undefined);
  const copy = refit.finish();
  expect(core.refitMesh(mesh, second)).toBe(true);
  expect(core.bakeMesh(copy)).toEqual(core.bakeMesh(mesh));
  expect(core.check()).toBeNull();
});

test.each([1, 2])(
  'elements with %i vertices that are not finite are found at any place, and nothing has changed',
  (size) => {
    const { positions } = soup(new Random(SEED), 20_000, 1, 1);
    const baked = bake(core, { positions, topology: size === 1 ? 'points' : 'lines' });
    const mesh = core.loadMesh(baked);
    const { usedBytes } = core;
    for (const vertex of [0, 30_001, positions.length / 3 - 1]) {
      const bad = positions.slice();
      bad[3 * vertex + 2] = Number.NaN;
      const refit = core.beginRefit(mesh, bad, true);
      expect(() => {
        while (refit.step(0) === undefined);
      }).toThrow(`vertex ${vertex} of positions is`);
      expect(core.usedBytes).toBe(usedBytes);
    }
    expect(core.bakeMesh(mesh)).toEqual(baked);

    // Triangles that had no place in the tree and need one now require another tree.
    const partly = positions.slice();
    partly.fill(Number.NaN, 3 * 500, 3 * 504);
    const left = core.loadMesh(bake(core, { positions: partly, topology: size === 1 ? 'points' : 'lines' }));
    const before = core.bakeMesh(left);
    const refit = core.beginRefit(left, positions, true);
    let isMoved: boolean | undefined;
    while (isMoved === undefined) isMoved = refit.step(0);
    expect(isMoved).toBe(false);
    refit.abort();
    expect(core.refitMesh(left, positions)).toBe(false);
    expect(core.bakeMesh(left)).toEqual(before);
  },
);

test('a vertex that is not finite is found at any place, and nothing has changed', () => {
  const data = icosphere(1, 40);
  const baked = bake(core, data);
  const mesh = core.loadMesh(baked);
  const { usedBytes } = core;
  for (const vertex of [0, 7000, data.positions.length / 3 - 1]) {
    const positions = data.positions.slice();
    positions[3 * vertex + 1] = Number.NaN;
    const refit = core.beginRefit(mesh, positions, true);
    expect(() => {
      while (refit.step(0) === undefined);
    }).toThrow(`vertex ${vertex} of positions is`);
    expect(core.usedBytes).toBe(usedBytes);
  }
  expect(() => core.beginRefit(mesh, new Float32Array(3), true)).toThrow('the length of positions is 3');
  expect(core.bakeMesh(mesh)).toEqual(baked);
});

describe('in the table', () => {
  const data = icosphere(1, 40);
  const moved = data.positions.map((x) => 2 * x);
  const always = () => true;
  let table: MeshTable;
  let baked: ArrayBuffer;
  let empty: number;
  beforeEach(() => {
    table = new MeshTable(core);
    baked = bake(core, data);
    empty = core.usedBytes;
  });

  test('a mesh that is removed while it is loaded, moved or replaced leaves nothing', () => {
    table.beginLoad(ID, baked, false);
    expect(table.stepLoad(ID, 0)).toBeUndefined();
    table.remove(ID);
    expect(() => table.stepLoad(ID, 0)).toThrow(expect.objectContaining({ code: 'ABORTED' }));
    expect(core.usedBytes).toBe(empty);

    for (const begin of [
      () => table.updateInSlices(ID, moved, 0, always),
      () => table.replaceInSlices(ID, baked, 0, always),
      () => table.updateInSlices(ID, moved, Number.POSITIVE_INFINITY, () => false),
    ]) {
      table.load(ID, baked);
      const work = begin();
      for (let i = 0; i < 4; i++) expect(work.next().done).toBe(false);
      table.remove(ID);
      expect(() => work.next()).toThrow(expect.objectContaining({ code: 'ABORTED' }));
      expect(core.usedBytes).toBe(empty);
    }
  });

  test('a mesh is put in the place of the other only when it may be', () => {
    table.load(ID, baked);
    const before = table.addressOf(ID);
    let mayPut = false;
    const work = table.updateInSlices(ID, moved, Number.POSITIVE_INFINITY, () => mayPut);
    for (let i = 0; i < 3; i++) expect(work.next().done).toBe(false);
    expect(table.addressOf(ID)).toBe(before);
    expect(core.bakeMesh(before)).toEqual(baked);
    mayPut = true;
    expect(work.next()).toMatchObject({ done: true, value: { isInEffect: true } });
    expect(table.addressOf(ID)).not.toBe(before);
    table.remove(ID);
    expect(core.usedBytes).toBe(empty);
  });
});

function unindexed({ positions, indices }: { positions: Float32Array; indices: Uint32Array }): MeshData {
  return { positions: Float32Array.from([...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)])) };
}

/** Triangles whose corners coincide. */
function flat(count: number) {
  return { positions: new Float32Array(9 * count), indices: Uint32Array.from({ length: 3 * count }, (_, i) => i) };
}

function skinned(random: Random, mesh: MeshData): MeshData {
  const count = mesh.positions.length / 3;
  const bones = Uint16Array.from({ length: 4 * count }, () => random.integer(12));
  const weights = Float32Array.from({ length: 4 * count }, () => 0.25);
  return { ...mesh, skin: { bones, weights, boneCount: 12 } };
}

function morphed(random: Random, mesh: MeshData): MeshData {
  const targets = [0, 1, 2].map(() => mesh.positions.map(() => random.range(-0.1, 0.1)));
  return { ...mesh, morphs: { targets, relative: true } };
}
