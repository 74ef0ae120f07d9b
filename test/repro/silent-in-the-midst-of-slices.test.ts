// Many sweeps, a section or an inspection in slices sent nothing until they were answered: a worker that took longer than the
// timeout for one counted as lost, and so did the next one, which was sent it again.
import { afterEach, expect, test, vi } from 'vitest';
import type { Core } from '../../src/worker/binding/core.js';
import { LongWork } from '../../src/worker/long-work.js';
import type { MeshTable } from '../../src/worker/mesh-table.js';
import { NO_MESSAGES } from '../../src/worker/slices.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test('work in slices tells now and then that it goes on', async () => {
  const told: string[] = [];
  const meshes = { keep() {}, release() {} } as unknown as MeshTable;
  const work = new LongWork({} as Core, meshes, NO_MESSAGES, (type) => told.push(type));
  let now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  await work.inSlices(async (slices) => {
    for (let i = 0; i < 10; i++) {
      now += 60;
      await slices.next();
    }
  });
  expect(told).toEqual(Array(5).fill('alive'));
});
