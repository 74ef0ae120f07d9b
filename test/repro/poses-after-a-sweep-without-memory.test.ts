// A sweep that found no memory counted as under way from then on, so that every frame kept the poses that it replaced.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { PoseTable } from '../../src/client/skin/pose-table.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { createCore, type PlacedDescription } from '../../src/worker/binding/core.js';
import { bake, startCore, wasm } from '../fixtures/core.js';
import { fillMemory, OUT_OF_MEMORY } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';
import { ALL_FILTER } from '../fixtures/near-scene.js';
import { icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import { randomRig } from '../oracle/rigs.js';

const IDENTITY = new Matrix4().elements;

test('poses are freed after a sweep that found no memory', async () => {
  const core = await createCore(limitMemory(wasm, 120));
  const rig = randomRig(new Random(SEED), { bones: 3, triangles: icosphere(1, 8) });
  const mesh = core.loadMesh(bake(await startCore(), rig.data));
  const id = makeId(0, 1);
  const shape: PlacedDescription = {
    ...{ shape: layout.SHAPE_MESH, mesh, layers: 1, flags: layout.FLAG_PICKABLE, collidesWith: 0, group: 0 },
    ...{ contacts: layout.CONTACTS_NONE, center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0 },
    matrix: IDENTITY,
  };
  core.setObject(id, shape);
  const poses = new PoseTable();
  let frames = 0;
  const pose = (): number => {
    const builder = new FrameBuilder(poses);
    const bone = new Matrix4().makeTranslation(0, 0, ++frames / 100).elements;
    const bones = new Float32Array([0, 1, 2].flatMap(() => bone));
    poses.set(id, { bones, binds: new Float64Array([...IDENTITY, ...IDENTITY]), morphs: [] });
    builder.addPoses();
    core.frame(builder.seal(frames, 1), undefined);
    return core.usedBytes;
  };
  pose();
  const motion = { way: [1, 0, 0], rotation: [0, 0, 0, 1], tolerance: 1e-3 } as const;
  const snapshot = core.sweeps.keepSweep(shape, motion, ALL_FILTER, true);
  const blocks = fillMemory(core);
  expect(() => core.sweeps.beginKeptSweep(snapshot, Number.POSITIVE_INFINITY)).toThrow(OUT_OF_MEMORY);
  for (const block of blocks) core.snaps.release(block);
  pose();
  const usedBytes = pose();
  for (let i = 0; i < 10; i++) expect(pose()).toBe(usedBytes);
});
