// Node warned of a leak if more than ten calls waited for one signal: each had a listener of its own.
import { getEventListeners } from 'node:events';
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';

let service: CollisionService;
const warnings: Error[] = [];
const note = (warning: Error) => warnings.push(warning);

beforeEach(async () => {
  service = await createCollisionService();
  process.on('warning', note);
});
afterEach(() => {
  process.off('warning', note);
  service.dispose();
});

const ray = (signal: AbortSignal) =>
  service.raycast({ origin: [0, 0, 5], direction: [0, 0, -1] }, { signal }).catch((error) => error.code);

test('calls that share a signal share a listener, which goes with the last of them', async () => {
  service.addObject({ shape: { type: 'sphere', radius: 1 } });
  await service.update();
  const { signal } = new AbortController();
  for (let round = 0; round < 2; round++) {
    const hits = Array.from({ length: 30 }, () => ray(signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(await Promise.all(hits)).toEqual(hits.map(() => expect.objectContaining({ distance: 4 })));
    await new Promise(setImmediate);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
  expect(warnings).toEqual([]);
});

test('all of them hear of it, and those that are asked later', async () => {
  const controller = new AbortController();
  const others = new AbortController();
  const calls = Array.from({ length: 30 }, () => ray(controller.signal));
  const other = ray(others.signal);
  controller.abort();
  expect(await Promise.all(calls)).toEqual(calls.map(() => 'ABORTED'));
  expect(await Promise.all([ray(controller.signal), other])).toEqual(['ABORTED', null]);
  await new Promise(setImmediate);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
});
