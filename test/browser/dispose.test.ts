// dispose(), whenever it comes: nothing waits, no worker and no timer is left.
import { expect, test } from 'vitest';
import { disposeAt, MOMENTS } from '../oracle/disposed.js';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url).href;

test.each(MOMENTS)('%s', async (...moment) => {
  const ended = new Set<Worker>();
  const workers = await disposeAt(moment, () => {
    const worker = new Worker(SCRIPT, { type: 'module' });
    const terminate = worker.terminate.bind(worker);
    worker.terminate = () => {
      ended.add(worker);
      terminate();
    };
    return worker;
  });
  expect(ended.size).toBe(workers.length);
});
