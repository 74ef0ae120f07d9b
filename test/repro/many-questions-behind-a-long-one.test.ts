// Contacts and distances that had waited for a long frame were
// all computed in one piece when it ended: 1,500 took 240 ms.
import { afterEach, expect, test, vi } from 'vitest';
import type { Core } from '../../src/worker/binding/core.js';
import { FRAME_SLICE_MS, LongWork } from '../../src/worker/long-work.js';
import type { MeshTable } from '../../src/worker/mesh-table.js';
import { NO_MESSAGES } from '../../src/worker/slices.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const MANY = 5 * FRAME_SLICE_MS;

test('what has waited for long work is asked in slices, in order, between which messages are served', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const events: string[] = [];
  const meshes = { keep: () => 1, release: () => events.push('forgotten') } as unknown as MeshTable;
  const turns = { ...NO_MESSAGES, release: () => events.push('served') };
  const work = new LongWork({ isDerivationPending: false } as Core, meshes, turns, () => {});
  work.beginFrame();
  const asked: number[] = [];
  const all = new Promise<void>((resolve) => {
    for (let i = 0; i < MANY; i++) {
      work.waitForPair(() => {
        now++;
        if (asked.push(i) === MANY) resolve();
      });
    }
  });
  work.endFrame();
  work.release();
  expect(asked).toHaveLength(FRAME_SLICE_MS);
  expect(events).toEqual(['served']); // meshes are kept for the ones that wait
  await all;
  await Promise.resolve();
  expect(asked).toEqual(Array.from({ length: MANY }, (_, i) => i));
  expect(events.filter((each) => each === 'served')).toHaveLength(MANY / FRAME_SLICE_MS);
  expect(events.filter((each) => each === 'forgotten')).toHaveLength(1);
});
