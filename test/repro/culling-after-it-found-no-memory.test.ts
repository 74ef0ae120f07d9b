// A view that was culled when memory ran out left objects on a list, which the next view then saw whatever its layers are.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { type Core, createCore } from '../../src/worker/binding/core.js';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { wasm } from '../fixtures/core.js';
import { fillMemory, OUT_OF_MEMORY, VIEW } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';
import { ALL_FILTER } from '../fixtures/near-scene.js';
import { Random, SEED } from '../oracle/random.js';

const FILTER = { ...ALL_FILTER, precision: layout.PRECISION_OBB };

/** Returns what a view of these layers sees. */
function see(core: Core, layers: number): number[] {
  const record = new ViewTable().recordOf('test', 'view', { ...VIEW, layers });
  return [...runToEnd(core.volumes.frustum(record, FILTER)).ids];
}

/** A core in which only as little memory is free as `count` small blocks have. */
async function createStage(count: number) {
  const core = await createCore(limitMemory(wasm, 120));
  const random = new Random(SEED);
  // Large ones lie across many cells, and the sides of the view cut them.
  for (let slot = 0; slot < 1000; slot++) {
    const { x, y, z } = random.point(20);
    core.addObjects(Uint32Array.of(makeId(slot, 1)), {
      ...{ shape: layout.SHAPE_BOX, mesh: 0, layers: 1, flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE },
      ...{ collidesWith: 0, group: 0, contacts: layout.CONTACTS_NONE, center: [0, 0, 0], radius: 0 },
      ...{ extent: slot % 25 === 0 ? [20, 20, 20] : [0.1, 0.1, 0.1], rotation: [0, 0, 0, 1] },
      matrix: new Matrix4().makeTranslation(x, y, z).elements,
    });
  }
  core.rays.raycastMany(new Float32Array(8), FILTER); // it builds the tree
  const blocks = fillMemory(core);
  const release = (block: number | undefined) => core.snaps.release(block!);
  for (let i = 0; i < count; i++) release(blocks.pop());
  return { core, releaseAll: () => blocks.splice(0).forEach(release) };
}

test(`a view sees only its layers after another one found no memory, seed ${SEED}`, async () => {
  let failures = 0;
  for (let isDone = false; !isDone; ) {
    const { core, releaseAll } = await createStage(failures);
    try {
      expect(see(core, 1).length).toBeGreaterThan(100);
      isDone = true;
    } catch (error) {
      expect(error).toEqual(OUT_OF_MEMORY);
      failures++;
    }
    releaseAll();
    expect(see(core, 2), `after failure ${failures}`).toEqual([]);
  }
  expect(failures).toBeGreaterThan(1);
});
