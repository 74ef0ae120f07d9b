// The script of a thread: it runs the tiles that it is sent, one after the other, with a service of its own.

import { parentPort, workerData } from 'node:worker_threads';
import { CollisionError, createCollisionService } from 'collision-worker';
import { reasonOf } from '../check.js';
import { placingOrder } from '../tile/placing-order.js';
import { TileRunner } from '../tile/tile-runner.js';
import { openRun } from './run.js';
import type { ThreadAnswer, ThreadData } from './thread-pool.js';

const { place, key, cache, bytes } = workerData as ThreadData;
const port = parentPort!;

/** Milliseconds without an answer after which a worker counts as lost: a busy machine swaps. */
const TIMEOUT_MS = 120_000;

const started = (async () => {
  const run = await openRun(place, cache);
  if (run.key !== key) {
    throw new CollisionError('BAD_DATA', `clash: ${place} has another run by now, or one of other files or rules`);
  }
  const { plan, source } = run;
  const service = await createCollisionService({ restart: false, builders: 0, timeout: TIMEOUT_MS });
  return { plan, runner: new TileRunner(service, plan, placingOrder(plan), source, bytes) };
})();
started.catch(() => {}); // the first request gets the error

port.on('message', async (tile: number) => {
  let answer: ThreadAnswer;
  try {
    const { plan, runner } = await started;
    answer = { result: JSON.stringify(await runner.run(plan.tiles[tile])) };
  } catch (error) {
    answer = { code: CollisionError.is(error) ? error.code : null, message: reasonOf(error) };
  }
  port.postMessage(answer);
});
