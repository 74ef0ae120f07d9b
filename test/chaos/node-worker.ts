import { Worker } from 'node:worker_threads';
import { limitMemory } from '../fixtures/limit-memory.js';
import type { MakeWorker, RawWorker, StartMode } from './chaos-worker.js';
import { shortSlices, sourceOf } from './worker-source.js';

const SCRIPT = import.meta.resolve('collision-worker/worker');

export function makeNodeWorker(start: StartMode, pages: number | undefined): RawWorker {
  return rawWorker(workerOf(start, pages));
}

/** Makes workers whose slices end at random at one in `interval` readings of the clock. */
export function withShortSlices(interval: number, seed: number): MakeWorker {
  let count = 0;
  return (start, pages) => {
    if (start !== 'well') return makeNodeWorker(start, pages);
    const source = sourceOf(start, pages, SCRIPT, limitMemory);
    return rawWorker(new Worker(shortSlices(interval, seed + count++) + source, { eval: true }));
  };
}

function rawWorker(worker: Worker): RawWorker {
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

function workerOf(start: StartMode, pages: number | undefined): Worker {
  if (start === 'no script') return new Worker(new URL('there-is-no-such-script.js', import.meta.url));
  if (start === 'well' && pages === undefined) return new Worker(new URL(SCRIPT));
  return new Worker(sourceOf(start, pages, SCRIPT, limitMemory), { eval: true });
}
