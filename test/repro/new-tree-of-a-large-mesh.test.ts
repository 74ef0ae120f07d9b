// The input of a new tree was copied in one piece, and its skin and morph targets once more for the message: for 5 million
// triangles that took 55 ms, and for 200 morph targets of 40,000 vertices 195 ms, for which every pick waited.
import { expect, test } from 'vitest';
import { transfersOf } from '../../src/shared/calls.js';
import type { MeshUpdate } from '../../src/shared/protocol.js';
import { copyBytes } from '../../src/worker/binding/steps.js';
import { MeshTable } from '../../src/worker/mesh-table.js';
import { WorkerService } from '../../src/worker/service.js';
import { bake, startCore } from '../fixtures/core.js';
import { icosphere } from '../oracle/meshes.js';

const ID = 2049;
const TARGETS = 12;
const { positions, indices: given } = icosphere(1, 6);
const indices = Uint32Array.from(given);
const vertices = positions.length / 3;
/** Vertices that swap places, for which another tree is needed. */
const moved = positions.toReversed();
const deform = (relative: boolean) => ({
  skin: {
    bones: Uint16Array.from({ length: 4 * vertices }, (_, i) => i % 5),
    weights: Float32Array.from({ length: 4 * vertices }, () => 0.25),
    boneCount: 5,
  },
  morphs: {
    targets: Array.from({ length: TARGETS }, (_, t) =>
      relative ? positions.map((_, i) => (i % 7) / 8 - t / 64) : positions.map((x) => x + t / 64),
    ),
    relative,
  },
});

test.each([true, false])(
  'it is copied in steps, targets one by one, and is what was given; relative: %s',
  async (is) => {
    const core = await startCore();
    const table = new MeshTable(core);
    table.load(ID, bake(core, { positions, indices, ...deform(is) }));
    const update = table.updateInSlices(ID, moved, Number.POSITIVE_INFINITY, () => true);
    let step = update.next();
    let rests = 0;
    for (; !step.done; step = update.next()) rests++;
    expect(step.value.rebuild).toEqual({ positions: moved, indices, topology: 'triangles', ...deform(is) });
    expect(rests).toBe(TARGETS);
    expect(core.check()).toBeNull();
  },
);

test('a mesh that is removed meanwhile is asked nothing more', async () => {
  const core = await startCore();
  const table = new MeshTable(core);
  const { usedBytes } = core;
  table.load(ID, bake(core, { positions, indices, ...deform(true) }));
  const update = table.updateInSlices(ID, moved, Number.POSITIVE_INFINITY, () => true);
  for (let i = 0; i < TARGETS / 2; i++) update.next();
  table.remove(ID);
  expect(() => update.next()).toThrow(`mesh ${ID} was removed`);
  expect(core.usedBytes).toBe(usedBytes);
});

test('all of it is handed over, and not copied again', async () => {
  const core = await startCore();
  const service = new WorkerService(core, () => {});
  await service.loadMesh(ID, bake(core, { positions, indices, ...deform(true) }), false, true);
  const update = (await service.updateMesh(ID, moved)) as MeshUpdate;
  const { skin, morphs } = update.rebuild!;
  const given = new Set(transfersOf(update));
  for (const { buffer } of [skin!.bones, skin!.weights, ...morphs!.targets])
    expect(given.has(buffer as ArrayBuffer)).toBe(true);
});

test('many bytes are copied a part at a time, from wherever they are by then', () => {
  let from = new Uint8Array(10 << 20).map((_, i) => i % 251);
  const copy = copyBytes(from.length, (at, count) => from.subarray(at, at + count));
  let step = copy.next();
  let rests = 0;
  for (; !step.done; step = copy.next()) {
    rests++;
    const old = from;
    from = from.slice();
    old.fill(0);
  }
  expect(rests).toBe(2);
  expect(Buffer.compare(new Uint8Array(step.value), from)).toBe(0);
});
