// A worker was lost again while a mesh was copied for it: the copy was then sent where there was no worker, and its answer
// awaited for ever. A worker that had nothing to do was taken for silent because of that, and Node's process did not end.
import { expect, test, vi } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { icosphere } from '../oracle/meshes.js';

test('nothing waits for a worker that is gone', async () => {
  const mortal = await KillableService.create();
  const { service, workers } = mortal;
  const mesh = await service.addMesh(icosphere(1, 40));
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
  await workers[0].worker.terminate();
  while (workers.length < 2) await new Promise(setImmediate);
  let time = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 5)); // each part in a task of its own
  await new Promise((resolve) => workers[1].addEventListener('message', resolve, { once: true }));
  expect(workers[1].sent).toEqual([]);
  workers[1].dispatchEvent(Object.assign(new Event('error'), { message: 'killed' }));
  clock.mockRestore();
  await restored;
  expect(mortal.events).toEqual(['lost', 'lost', 'restored']);
  await service.update();
  expect(service.stats.pending).toBe(0);
  expect((await service.overlap({ type: 'sphere', radius: 2 })).length).toBe(1);
});
