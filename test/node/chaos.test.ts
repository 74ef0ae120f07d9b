import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { runChaos } from '../chaos/chaos.js';
import { SEED } from '../oracle/random.js';

const SCRIPT = new URL(import.meta.resolve('collision-worker/worker'));
const STEPS = 4000;

test(`${STEPS} random steps with accidents: every answer is right or a declared error, seed ${SEED}`, {
  timeout: 120_000,
}, async () => {
  const makeWorker = () => {
    const worker = new Worker(SCRIPT);
    return {
      postMessage: (message: unknown, transfer: Transferable[]) =>
        worker.postMessage(message, transfer as ArrayBuffer[]),
      terminate: () => worker.terminate(),
      listen: (onMessage: (data: unknown) => void, onError: (message: string) => void) => {
        worker.on('message', onMessage);
        worker.on('error', ({ message }) => onError(message));
        worker.on('exit', (code) => onError(`exit code ${code}`));
      },
    };
  };
  const report = await runChaos({ seed: SEED, steps: STEPS, makeWorker });
  console.log(JSON.stringify({ ...report, recoveries: report.recoveries.length }));
  expect(report.wrong).toEqual([]);
  expect(report.right).toBeGreaterThan(STEPS / 10);
  expect(report.recoveries.length).toBeGreaterThan(2);
});
