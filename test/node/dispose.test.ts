// dispose(), whenever it comes: nothing waits, no worker and no timer is left.
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { disposeAt, MOMENTS } from '../oracle/disposed.js';

const SCRIPT = new URL(import.meta.resolve('collision-worker/worker'));

test.each(MOMENTS)('%s', async (...moment) => {
  let running = 0;
  const workers = await disposeAt(moment, () => {
    const worker = new Worker(SCRIPT);
    running++;
    worker.on('exit', () => running--);
    return worker as never;
  });
  await expect.poll(() => running).toBe(0);
  expect(workers.length).toBeGreaterThan(0);
});
