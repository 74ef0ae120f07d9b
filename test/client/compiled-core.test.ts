// A worker in Node passes its compiled core on, and the next worker is given it.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url);

interface First {
  type: string;
  compiled?: WebAssembly.Module[];
  usedBytes: number;
}

async function firstMessage(options?: WorkerOptions): Promise<First> {
  const worker = new Worker(SCRIPT, options);
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  } finally {
    await worker.terminate();
  }
}

test('the first message of a worker has both of its compiled modules, and a worker that is handed them starts with them', async () => {
  const { type, compiled, usedBytes } = await firstMessage();
  expect(type).toBe('ready');
  const exported = compiled!.map((module) => WebAssembly.Module.exports(module).map(({ name }) => name));
  expect(exported).toEqual([expect.arrayContaining(['stepFrame']), expect.arrayContaining(['asyncify_start_unwind'])]);
  const second = await firstMessage({ workerData: compiled });
  expect(second.type).toBe('ready');
  expect(second.compiled).toBeUndefined();
  expect(second.usedBytes).toBe(usedBytes);
});

test('a worker with other data compiles the core', async () => {
  for (const workerData of [null, [], 'text', { 1: 2 }, [1, 2]]) {
    expect((await firstMessage({ workerData })).compiled).toHaveLength(2);
  }
});

test('workers of services after the first are handed what that one has compiled, and answer', async () => {
  const handed: number[] = [];
  const threads = createRequire(import.meta.url)('node:worker_threads');
  threads.Worker = class extends Worker {
    constructor(script: URL, options: WorkerOptions) {
      super(script, options);
      handed.push(options.workerData.length);
    }
  };
  syncBuiltinESMExports();
  try {
    for (let i = 0; i < 2; i++) {
      const service = await createCollisionService({ builders: 0 });
      const object = service.addObject({ shape: { type: 'sphere', radius: 1 } });
      await service.update();
      expect(await service.raycast({ origin: [0, 0, 5], direction: [0, 0, -1] })).toMatchObject({
        object,
        distance: 4,
      });
      service.dispose();
    }
  } finally {
    threads.Worker = Worker;
    syncBuiltinESMExports();
  }
  expect(handed).toEqual([0, 2]);
});
