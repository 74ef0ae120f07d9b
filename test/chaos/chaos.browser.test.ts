import { expect, test } from 'vitest';
import { SEED } from '../oracle/random.js';
import { runChaos } from './chaos.js';
import { total } from './report.js';
import { makeWebWorker } from './web-worker.js';

const STEPS = 1000;

test(`${STEPS} random steps with accidents in web workers: every answer is right or a declared error, seed ${SEED}`, {
  timeout: 240_000,
}, async () => {
  const report = await runChaos({ seed: SEED, steps: STEPS, makeWorker: makeWebWorker });
  expect(report.wrong).toEqual([]);
  expect(report.lost + report.pending).toBe(0);
  expect(total(report.right)).toBeGreaterThan(STEPS / 10);
  expect(total(report.faults)).toBeGreaterThan(5);
  expect(report.recoveries.length).toBeGreaterThan(0);
});
