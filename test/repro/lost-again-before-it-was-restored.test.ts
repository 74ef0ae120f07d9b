// A worker was lost again before it knew everything that its predecessor did: calls that waited for that kept waiting, and, for
// small meshes, all later ones did as well.
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { icosphere } from '../oracle/meshes.js';

test('meshes are added after two losses in a row', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const before = await service.addMesh(icosphere(1, 1));
  service.addObject({ shape: { type: 'mesh', mesh: before } });
  await service.update();
  const between: Promise<unknown>[] = [];
  const add = () => {
    for (const mesh of [icosphere(1, 1), icosphere(1, 60)]) between.push(Promise.allSettled([service.addMesh(mesh)]));
  };
  service.addEventListener('lost', add, { once: true });
  const first = mortal.workers[0];
  await first.worker.terminate();
  while (mortal.workers.length < 2) await new Promise(setImmediate);
  await mortal.kill();
  expect(mortal.workers.length).toBe(3);
  expect(mortal.events).toEqual(['lost', 'lost', 'restored']);
  await Promise.all(between);
  const mesh = await service.addMesh(icosphere(1, 2));
  service.addObject({ shape: { type: 'mesh', mesh } });
  expect((await service.update()).frame).toBeGreaterThan(0);
  expect((await service.overlap({ type: 'sphere', radius: 2 })).length).toBe(2);
});
