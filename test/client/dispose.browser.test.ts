// dispose() at any time: no promise stays pending, and no worker or timer is left.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';
import { cdp } from 'vitest/browser';
import { runShortLife } from '../soak/short-life.js';
import { disposeAt, MOMENTS } from '../suites/disposed.js';

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

test('services that come and go leave memory as it was', { timeout: 120_000 }, async () => {
  const heap = async () => {
    await cdp().send('HeapProfiler.collectGarbage');
    return cdp().send('Runtime.getHeapUsage');
  };
  for (let i = 0; i < 10; i++) await runShortLife(i);
  const before = await heap();
  for (let i = 0; i < 30; i++) await runShortLife(i);
  const after = await heap();
  expect(after.usedSize - before.usedSize).toBeLessThan(2 * 2 ** 20);
});

test('the browser knows of no worker then', async () => {
  const workers = async () => {
    const { targetInfos } = await cdp().send('Target.getTargets');
    return targetInfos.filter(({ type }) => type === 'worker').map(({ targetId }) => targetId);
  };
  const others = await workers(); // left by earlier and concurrent tests
  const own = async () => (await workers()).filter((id) => !others.includes(id)).length;
  const service = await createCollisionService();
  await service.addMesh({ positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]) });
  expect(await own()).toBe(2);
  service.dispose();
  await expect.poll(own).toBe(0);
});
