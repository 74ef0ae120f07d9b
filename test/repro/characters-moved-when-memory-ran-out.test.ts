// Characters that had moved when a frame ran out of memory made the same moves again in the next frame.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { createCore } from '../../src/worker/binding/core.js';
import { wasm } from '../fixtures/core.js';
import { fillMemory, OUT_OF_MEMORY } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';

const COUNT = 300;
/** The bytes that are free in the first attempt, and how many more in each of the next. */
const STEP = 4096;

/** A core with characters before walls, and a frame in which each moves to its wall and along it. */
async function createStage() {
  const core = await createCore(limitMemory(wasm, 150));
  const builder = new FrameBuilder();
  for (let slot = 0; slot < COUNT; slot++) {
    const id = makeId(slot, 1);
    core.setObject(id, {
      ...{ shape: layout.SHAPE_BOX, mesh: 0, layers: 1, flags: layout.FLAG_PICKABLE, collidesWith: 0, group: 0 },
      ...{
        contacts: layout.CONTACTS_NONE,
        center: [0, 0, 0],
        extent: [0.1, 2, 100],
        rotation: [0, 0, 0, 1],
        radius: 0,
      },
      matrix: new Matrix4().makeTranslation(10 * slot + 1, 0, 0).elements,
    });
    core.putCharacter(id, {
      ...{ from: [0, -0.5, 0], to: [0, 0.5, 0], radius: 0.3, up: [0, 1, 0], skin: 0.01, slope: 0.7, stepHeight: 0 },
      ...{ snap: 0, gravity: 0, step: 1 / 60, position: [10 * slot, 0, 0], speed: 0, time: 0, layers: 1, object: 0 },
      ...{ ignore: new Uint32Array(), flags: 0 },
    });
    builder.moves.add(id, layout.MOVE_BY, [1, 0, 1], 0);
  }
  core.frame(new FrameBuilder().seal(0, 1), undefined); // it builds the tree
  return { core, input: builder.seal(1, 1) };
}

/** Returns where the characters are along their walls after a frame. */
function positionsIn(answer: ArrayBuffer): number[] {
  const view = new DataView(answer);
  const at = view.getUint32(layout.OUT_CHARACTERS, true) + layout.OUT_CHARACTER_POSITION + 16;
  return Array.from({ length: COUNT }, (_, i) => view.getFloat64(at + i * layout.OUT_CHARACTER_BYTES, true));
}

test('characters make a move once, however often memory runs out on the way', async () => {
  let failuresOnTheWay = 0;
  for (let free = STEP, isDone = false; !isDone; free += STEP) {
    const { core, input } = await createStage();
    const room = core.snaps.allocate(free);
    const blocks = fillMemory(core);
    core.snaps.release(room);
    let hasBegun = false;
    try {
      core.beginFrame(input);
      hasBegun = true;
      core.stepFrame(Number.POSITIVE_INFINITY, undefined);
    } catch (error) {
      expect(error).toEqual(OUT_OF_MEMORY);
    }
    for (const block of blocks) core.snaps.release(block);
    isDone = hasBegun && core.areCharactersMoved;
    if (isDone) continue;
    if (hasBegun) failuresOnTheWay++;
    for (const z of positionsIn(core.frame(input, undefined))) expect(z, `${free} bytes`).toBeCloseTo(1, 3);
  }
  expect(failuresOnTheWay).toBeGreaterThan(1);
});
