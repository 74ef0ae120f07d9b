// A frame that found no memory for pairs that are near each other left them on a list, and the next frame reported them, even
// if they must not collide any more.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { type Core, createCore } from '../../src/worker/binding/core.js';
import { wasm } from '../fixtures/core.js';
import { fillMemory, OUT_OF_MEMORY } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';

const COUNT = 1500;

/** Sets a row of boxes, each of which is near the next one. */
function setRow(core: Core, collidesWith: number): void {
  for (let slot = 0; slot < COUNT; slot++) {
    core.setObject(makeId(slot, 1), {
      ...{ shape: layout.SHAPE_BOX, mesh: 0, layers: 1, flags: layout.FLAG_CLEARANCE, clearance: 0.2, collidesWith },
      ...{ group: 0, contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1] },
      ...{ radius: 0, matrix: new Matrix4().makeTranslation(2.3 * slot, 0, 0).elements },
    });
  }
}

/** Returns the number of pairs in a frame. */
function countPairs(core: Core): number {
  return [...new FrameView(core.frame(new FrameBuilder().seal(1, 1), undefined), []).contacts].length;
}

test('pairs of a frame without memory are not those of the next', async () => {
  const core = await createCore(limitMemory(wasm, 120));
  setRow(core, 0);
  expect(countPairs(core)).toBe(0);
  let failures = 0;
  for (let isDone = false; !isDone; ) {
    setRow(core, 1);
    const blocks = fillMemory(core);
    for (let i = 0; i < failures; i++) core.snaps.release(blocks.pop()!);
    try {
      expect(countPairs(core)).toBe(COUNT - 1);
      isDone = true;
    } catch (error) {
      expect(error).toEqual(OUT_OF_MEMORY);
      failures++;
    }
    for (const block of blocks) core.snaps.release(block);
    setRow(core, 0);
    expect(countPairs(core), `after failure ${failures}`).toBe(0);
  }
  expect(failures).toBeGreaterThan(1);
});
