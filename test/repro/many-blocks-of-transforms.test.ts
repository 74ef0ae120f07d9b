// Each block of transforms that took over objects was searched for among all blocks, and so was each one in every frame while
// one of its objects was gone, or the worker refused any transform: 200,000 calls of `setTransforms` before an update()
// blocked the main thread for 6 seconds.
import { expect, test } from 'vitest';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';
import { makeId } from '../../src/shared/ids.js';

/** Quadratic work on this many, in this many frames, would take more than a minute. */
const MANY = 60_000;
const FRAMES = 60;
const TIMEOUT = 30_000;

test(`${MANY} blocks, each with an object that is gone, in ${FRAMES} frames`, { timeout: TIMEOUT }, () => {
  const log = new ReplayLog(new TransformTable(), true);
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const matrices = new Float32Array([...identity, ...identity]);
  const blocks = Array.from({ length: MANY }, (_, i) => ({
    ids: Uint32Array.of(makeId(2 * i, 1), makeId(2 * i + 1, 1)),
    matrices,
  }));
  for (const { ids } of blocks) for (const id of ids) log.add(id, undefined);
  for (const { ids } of blocks) log.delete(ids[1]);
  const parent = [...identity];
  for (let frame = 1; frame <= FRAMES; frame++) {
    for (const [i, block] of blocks.entries()) {
      parent[12] = frame + i;
      log.keepBorrowed(block, parent, 0, frame);
    }
    log.answer(frame);
  }
  const f64 = new Float64Array(12 * MANY);
  const ids: number[] = [];
  const addSingle = (id: number) => 12 * (ids.push(id) - 1);
  log.replay({ f64, addSingle } as never);
  expect(ids.length).toBe(MANY);
  expect(ids.findIndex((id, i) => id !== blocks[i].ids[0])).toBe(-1);
  expect(ids.findIndex((_, i) => f64[12 * i + 9] !== FRAMES + i)).toBe(-1);
});
