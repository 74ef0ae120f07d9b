// An update() that joins the waiting one sends commands ahead: the removal of a mesh overtook queries about it.
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { icosphere } from '../oracle/meshes.js';

test('a mesh is baked that is removed right after', async () => {
  const { service, workers } = await KillableService.create();
  const mesh = await service.addMesh(icosphere(1, 1));
  workers[0].hold();
  const frames = [service.update(), service.update()];
  const baked = service.bakeMesh(mesh);
  const around = service.overlap({ type: 'mesh', mesh });
  service.removeMesh(mesh);
  frames.push(service.update());
  await workers[0].letGo();
  await Promise.all(frames);
  expect((await baked).byteLength).toBeGreaterThan(0);
  expect([...(await around)]).toEqual([]);
  expect(service.stats.meshes).toBe(0);
});
