import { Worker } from 'node:worker_threads';
import { limitMemory } from '../fixtures/limit-memory.js';
import type { RawWorker, Start } from './chaos-worker.js';
import { sourceOf } from './worker-source.js';

const SCRIPT = import.meta.resolve('collision-worker/worker');

export function makeNodeWorker(start: Start, pages: number | undefined): RawWorker {
  const worker = workerOf(start, pages);
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer as ArrayBuffer[]),
    terminate: () => worker.terminate(),
    listen: (onMessage, onError) => {
      worker.on('message', onMessage);
      worker.on('error', ({ message }) => onError(message));
      worker.on('exit', (code) => onError(`exit code ${code}`));
    },
  };
}

function workerOf(start: Start, pages: number | undefined): Worker {
  if (start === 'no script') return new Worker(new URL('there-is-no-such-script.js', import.meta.url));
  if (start === 'well' && pages === undefined) return new Worker(new URL(SCRIPT));
  return new Worker(sourceOf(start, pages, SCRIPT, limitMemory), { eval: true });
}
