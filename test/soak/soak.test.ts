// A minute's worth of `npm run soak`: it checks memory, which does not depend on other load on the machine.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CollisionService, FrameResult } from 'collision-worker';
import { expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';
import { SEED } from '../oracle/random.js';
import { growth, soak } from './soak.js';

const MINUTE = 3600;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test(`${MINUTE} frames in which objects and meshes come and go leave memory flat in both threads, seed ${SEED}`, {
  timeout: 400_000,
}, async () => {
  const samples = await soak({ seed: SEED, frames: MINUTE, samples: 12, collectGarbage });
  expect(samples.at(-1)?.frame).toBe(MINUTE);
  expect(growth(samples)).toEqual([]);
});

const LEAKS: Record<string, [where: string, leak: (result: FrameResult, service: CollisionService) => unknown]> = {
  'results that are kept': ['buffers', leaking((result) => Array.from({ length: 10 }, () => result.copy()))],
  'objects of JavaScript that are kept': ['heap', leaking(() => Array.from({ length: 200 }, (_, i) => ({ i })))],
  'meshes that are not removed': ['used', (_, service) => service.addMesh(icosphere(1, 8)).catch(() => {})],
};

test.each(Object.entries(LEAKS))('%s do not pass for flat', { timeout: 200_000 }, async (_, [where, onFrame]) => {
  const samples = await soak({ seed: SEED, frames: 480, samples: 12, collectGarbage, onFrame });
  expect(growth(samples).join('\n')).toMatch(where);
});

function leaking(make: (result: FrameResult) => unknown) {
  const leaked: unknown[] = [];
  return (result: FrameResult) => leaked.push(make(result));
}
