// The transforms of a waiting frame that are sent ahead of it may find no memory. The worker ended then, and the worker of a
// command that found none did not report the rejected transforms of any later frame.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { PoseTable } from '../../src/client/skin/pose-table.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import type { FromWorker } from '../../src/shared/protocol.js';
import { type Core, createCore } from '../../src/worker/binding/core.js';
import { WorkerService } from '../../src/worker/service.js';
import { bake, startCore, wasm } from '../fixtures/core.js';
import { limitMemory } from '../fixtures/limit-memory.js';
import { icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { randomRig } from '../oracle/rigs.js';

const IDENTITY = new Matrix4().elements;
const ids = Array.from({ length: 20 }, (_, slot) => makeId(slot, 1));

/** Twenty posed objects, and a memory of which only as much is free as the test wants. */
async function createStage() {
  const core = await createCore(limitMemory(wasm, 120));
  const rig = randomRig(new Random(SEED), { bones: 3, targets: 1, triangles: icosphere(1, 8) });
  const mesh = core.loadMesh(bake(await startCore(), rig.data));
  core.addObjects(Uint32Array.from(ids), {
    ...{ shape: layout.SHAPE_MESH, mesh, layers: 1, flags: 6, collidesWith: 0, group: 0, contacts: 0 },
    ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0, matrix: IDENTITY },
  });
  const poses = new PoseTable();
  let number = 0;
  const frame = (stage: (builder: FrameBuilder) => void): ArrayBuffer => {
    const builder = new FrameBuilder(poses);
    stage(builder);
    builder.addPoses();
    return builder.seal(++number, 1);
  };
  core.frame(
    frame(() => {}),
    undefined,
  );
  const posed = frame((builder) => {
    const bones = new Float32Array([0, 1, 2].flatMap(() => IDENTITY));
    for (const id of ids) {
      builder.setSingle(id, new Matrix4().makeTranslation(1, 0, 0).elements);
      poses.set(id, { bones, binds: new Float64Array([...IDENTITY, ...IDENTITY]), morphs: [0.5] });
    }
  });
  const unplaceable = frame((builder) => builder.setSingle(ids[0], new Array(16).fill(Number.NaN)));
  return { core, posed, unplaceable };
}

/** Takes all memory; returns the addresses, the smallest blocks last. */
function fill({ snaps }: Core): number[] {
  const blocks: number[] = [];
  for (let size = 1 << 20; size >= 1024; size /= 2) {
    try {
      for (;;) blocks.push(snaps.allocate(size));
    } catch {}
  }
  return blocks;
}

test('transforms are rejected after some that had no memory', async () => {
  const { core, posed, unplaceable } = await createStage();
  const blocks = fill(core);
  // Until there is memory for the input, but not for the poses.
  const forInput = ` ${new DataView(posed).getUint32(layout.IN_BYTES, true)} more bytes`;
  for (let error = forInput; error.includes(forInput); ) {
    core.snaps.release(blocks.pop()!);
    error = '';
    try {
      core.placeAhead(posed);
    } catch (thrown) {
      error = String(thrown);
    }
    expect(error).toContain('more bytes of memory');
  }
  for (const block of blocks) core.snaps.release(block);
  const { rejected } = new FrameView(core.frame(unplaceable, undefined), []);
  expect([...rejected]).toEqual([ids[0]]);
});

test('a frame that has no memory ahead of it is answered', async () => {
  const { core, posed } = await createStage();
  const posted: FromWorker[] = [];
  const service = new WorkerService(core, (message) => posted.push(message));
  const blocks = fill(core);
  service.receive({ type: 'ahead', input: posed.slice(0) });
  service.receive({ type: 'frame', input: posed.slice(0), out: undefined });
  for (const block of blocks) core.snaps.release(block);
  service.receive({ type: 'frame', input: posed.slice(0), out: undefined });
  const results = posted.filter(({ type }) => type === 'result');
  expect(results).toMatchObject([{ failure: { code: 'OUT_OF_MEMORY' } }, { failure: undefined }]);
});
