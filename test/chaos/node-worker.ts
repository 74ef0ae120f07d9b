import { Worker } from 'node:worker_threads';
import type { RawWorker } from './chaos-worker.js';

const SCRIPT = new URL(import.meta.resolve('collision-worker/worker'));

export function makeNodeWorker(): RawWorker {
  const worker = new Worker(SCRIPT);
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
