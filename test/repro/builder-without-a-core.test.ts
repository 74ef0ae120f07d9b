// A builder whose core did not start, for example for lack of memory, rejected addMesh with UNSUPPORTED, as if the
// platform could never support it.
import { Worker } from 'node:worker_threads';
import { createCollisionService, type WorkerLike } from 'collision-worker';
import { expect, test } from 'vitest';
import { sourceOf } from '../chaos/worker-source.js';
import { limitMemory } from '../fixtures/limit-memory.js';
import { icosphere } from '../oracle/meshes.js';

const SCRIPT = import.meta.resolve('collision-worker/worker');

test('a builder that does not start is lost, and the next one builds', async () => {
  let made = 0;
  const createWorker = () => {
    const isFirstBuilder = made++ === 1;
    if (!isFirstBuilder) return new Worker(new URL(SCRIPT)) as unknown as WorkerLike;
    return new Worker(sourceOf('no wasm', undefined, SCRIPT, limitMemory), { eval: true }) as unknown as WorkerLike;
  };
  const service = await createCollisionService({ createWorker });
  await expect(service.addMesh(icosphere(1, 1))).rejects.toMatchObject({ code: 'WORKER_LOST' });
  expect(await service.addMesh(icosphere(1, 1))).toBeGreaterThan(0);
  service.dispose();
});
