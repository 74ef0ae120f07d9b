// The console showed a warning for each Mesh whose
// tree was being built when the service was disposed.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Mesh, Scene, SphereGeometry } from 'three';
import { expect, test, vi } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';

test('a scene that is being tracked ends with its service, in silence', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const worker = new HeldWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const scene = new Scene();
  for (let i = 0; i < 20; i++) scene.add(new Mesh(new SphereGeometry(1 + i, 40, 40)));
  worker.holdAll();
  const tracking = trackScene(service, scene).catch((error) => error);
  while (!worker.sent.includes('call')) await new Promise(setImmediate);
  service.dispose();
  expect(await tracking).toMatchObject({ code: 'DISPOSED' });
  expect(warn.mock.calls).toEqual([]);
  warn.mockRestore();
});
