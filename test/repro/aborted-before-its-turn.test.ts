// Sections wait for one another in the worker, as do lists of boxes. Those that were aborted while they waited were made all
// the same, and what was asked for next waited for all of them.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

/** More picks than there are slices in what is asked for here, but for what is aborted. */
const PICKS = 400;

test.each(['section', 'inspect'] as const)('what is aborted before its turn is not begun: %s', async (method) => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  const mesh = await service.addMesh(icosphere(1, 16));
  const objects = [...service.addInstances({ shape: { type: 'mesh', mesh }, contacts: 'none' }, 20)];
  await service.update();
  const ask = (signal?: AbortSignal): Promise<unknown> =>
    method === 'section'
      ? service.section([0, 1, 0, 0], { signal })
      : service.inspect({ objects: objects.slice(0, 4), maxBoxes: 1e6, signal });
  const pick = () => service.raycast({ origin: [0, 100, 0], direction: [0, 1, 0] });
  const alone = await worker.answeredWithin(PICKS, ask, pick);
  expect(alone.answered).toBeGreaterThan(10);
  const abort = new AbortController();
  const aborted: Promise<unknown>[] = [];
  await worker.untilAnswer(() => {
    for (let i = 0; i < 5; i++) aborted.push(expect(ask(abort.signal)).rejects.toMatchObject({ code: 'ABORTED' }));
    return pick();
  });
  abort.abort();
  await Promise.all(aborted);
  const behind = await worker.answeredWithin(PICKS, ask, pick);
  expect(behind.answered).toBeLessThan(2 * alone.answered);
});
