// A worker in Node hands over what its core was compiled to, so that the next one need not compile it.
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

test('the first message of a worker has both of its compiled modules', async () => {
  const worker = new Worker(new URL('../../dist/worker.js', import.meta.url));
  const message = await new Promise<{ type: string; compiled: WebAssembly.Module[] }>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  expect(message.type).toBe('ready');
  const exported = message.compiled.map((module) => WebAssembly.Module.exports(module).map(({ name }) => name));
  expect(exported).toEqual([expect.arrayContaining(['stepFrame']), expect.arrayContaining(['asyncify_start_unwind'])]);
});
