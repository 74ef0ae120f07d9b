// What had passed through something in a frame that ran out of memory after the scene had changed was not found in the next one.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { createCore } from '../../src/worker/binding/core.js';
import { wasm } from '../fixtures/core.js';
import { fillMemory, OUT_OF_MEMORY } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';

const COUNT = 80;

/** Runs a frame in which balls go through walls, until it finds no memory; the scene may change after a number of its steps. */
async function pairsAfterFailure(stepsBefore: number): Promise<{ isUnderWay: boolean; pairs: number }> {
  const core = await createCore(limitMemory(wasm, 150));
  const description = { mesh: 0, layers: 1, collidesWith: 1, contacts: layout.CONTACTS_ANY, center: [0, 0, 0] };
  const builder = new FrameBuilder();
  for (let i = 0; i < COUNT; i++) {
    core.setObject(makeId(i, 1), {
      ...{ ...description, shape: layout.SHAPE_SPHERE, flags: layout.FLAG_CONTINUOUS, group: 1, extent: [0, 0, 0] },
      ...{ rotation: [0, 0, 0, 1], radius: 0.1, matrix: new Matrix4().makeTranslation(-5, 0, 5 * i).elements },
    });
    core.setObject(makeId(COUNT + i, 1), {
      ...{ ...description, shape: layout.SHAPE_BOX, flags: layout.FLAG_STATIC, group: 2, extent: [0.1, 1, 1] },
      ...{ rotation: [0, 0, 0, 1], radius: 0, matrix: new Matrix4().makeTranslation(0, 0, 5 * i).elements },
    });
    builder.setSingle(makeId(i, 1), new Matrix4().makeTranslation(5, 0, 5 * i).elements);
  }
  core.frame(new FrameBuilder().seal(1, 1), undefined);
  core.beginFrame(builder.seal(2, 1));
  for (let i = 0; i < stepsBefore; i++) if (core.stepFrame(0, undefined)) return { isUnderWay: false, pairs: 0 };
  const isUnderWay = core.goAhead();
  const blocks = fillMemory(core);
  expect(() => core.stepFrame(Number.POSITIVE_INFINITY, undefined)).toThrow(OUT_OF_MEMORY);
  for (const block of blocks) core.snaps.release(block);
  const answer = core.frame(new FrameBuilder().seal(3, 1), undefined);
  return { isUnderWay, pairs: [...new FrameView(answer, []).contacts].length };
}

test('what goes through walls is found in the frame after one without memory', async () => {
  let count = 0;
  for (let steps = 1, isUnderWay = true; isUnderWay || steps < 4; steps++) {
    const result = await pairsAfterFailure(steps);
    isUnderWay = result.isUnderWay;
    if (!isUnderWay) continue;
    count++;
    expect(result.pairs, `${steps} steps`).toBe(COUNT);
  }
  expect(count).toBeGreaterThan(2);
});
