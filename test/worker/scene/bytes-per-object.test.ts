// The core's memory for a scene of very many instances, including holes and the reserves of tables.
import { PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import { ViewTable } from '../../../src/client/frame/view-table.js';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { bake, startCore } from '../../fixtures/core.js';
import { icosphere } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 200_000;
const MOST_BYTES = 350;
const BLOCK = 10_000;

test(`${COUNT} static instances of which nobody asks contacts, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const core = await startCore();
  const mesh = core.loadMesh(bake(core, icosphere(1, 1)));
  const before = core.memoryBytes;
  const description = {
    ...{ shape: layout.SHAPE_MESH, mesh, layers: 1, collidesWith: 1, group: 0, contacts: layout.CONTACTS_NONE },
    flags: layout.FLAG_STATIC | layout.FLAG_PICKABLE | layout.FLAG_CULLABLE,
    ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0 },
  };
  const view = new ViewTable().recordOf('test', 'view', {
    projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
    view: new PerspectiveCamera().matrixWorldInverse.elements,
    viewport: { width: 100, height: 100 },
  });
  let frame = 0;
  const run = () => {
    const staging = new FrameBuilder();
    staging.setView(view);
    return new FrameView(core.frame(staging.seal(++frame, 1), undefined), ['main']);
  };
  const bytesEach = (alive: number) => (core.memoryBytes - before) / alive;
  for (let i = 0; i < COUNT; i++) {
    const matrix = random.placement(random.point(150)).elements;
    core.addObjects(Uint32Array.of(makeId(i, 1)), { ...description, matrix });
    if (i % BLOCK === 0) run();
  }
  expect(run().visible.ids.length).toBeGreaterThan(COUNT / 100);
  expect(bytesEach(COUNT)).toBeLessThan(MOST_BYTES);

  // As many new objects in the slots of removed ones need no memory.
  for (let i = 0; i < COUNT; i += 2) core.removeObject(makeId(i, 1));
  run();
  for (let i = 0; i < COUNT; i += 2) {
    const matrix = random.placement(random.point(150)).elements;
    core.addObjects(Uint32Array.of(makeId(i, 2)), { ...description, matrix });
  }
  run();
  expect(core.check()).toBeNull();
  expect(bytesEach(COUNT)).toBeLessThan(MOST_BYTES);
});
