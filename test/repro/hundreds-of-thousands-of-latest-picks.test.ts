// The calls with `latest` that wait behind an aborted one are all answered, however many they are.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { translation } from '../fixtures/character-stage.js';

test('the newest of many waiting picks is aborted while it is in the worker', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const ball = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  service.setView({
    projection: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -1, 0],
    view: translation(0, 0, -5),
    viewport: { width: 100, height: 100 },
  });
  const older = Promise.all(Array.from({ length: 150_000 }, () => service.pick(50, 50, { latest: true })));
  const controller = new AbortController();
  const newest = service.pick(50, 50, { latest: true, signal: controller.signal });
  const isAborted = expect(newest).rejects.toMatchObject({ code: 'ABORTED' });
  for (let i = 0; i < 20; i++) await null; // until it was sent
  controller.abort();
  await isAborted;
  expect(new Set((await older).map((hit) => hit?.object))).toEqual(new Set([ball]));
});
