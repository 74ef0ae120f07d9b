// A loop that continued after `dispose()` caused an unhandled rejection in every frame, 60 a second.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

/** Counts unhandled promise rejections, until the test ends. */
function unhandled(): unknown[] {
  const reasons: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => reasons.push(reason));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const each of others) process.on('unhandledRejection', each);
  });
  return reasons;
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

test('a loop that goes on after dispose() is told once', async () => {
  const reasons = unhandled();
  const service = await createCollisionService({ builders: 0 });
  await service.update();
  service.dispose();
  for (let frame = 0; frame < 20; frame++) {
    service.update();
    await nextTask();
  }
  expect(reasons).toEqual([expect.objectContaining({ code: 'DISPOSED', message: expect.stringMatching(/^update: /) })]);
});

test('whoever asks is told, though, each time', async () => {
  const service = await createCollisionService({ builders: 0 });
  service.dispose();
  for (let i = 0; i < 3; i++) await expect(service.update()).rejects.toMatchObject({ code: 'DISPOSED' });
  await expect(service.raycast({ origin: [0, 0, 0], direction: [1, 0, 0] })).rejects.toThrow(/^raycast: /);
});

test('and so it is when the worker is lost for good', async () => {
  const reasons = unhandled();
  const { service, workers } = await KillableService.create({ restart: false });
  await service.update();
  await workers[0].worker.terminate();
  await nextTask();
  for (let frame = 0; frame < 5; frame++) {
    service.update();
    await nextTask();
  }
  expect(reasons).toEqual([expect.objectContaining({ code: 'WORKER_LOST' })]);
});
