// The console had a warning for each Mesh whose tree was under way when the service was disposed.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Mesh, Scene, SphereGeometry } from 'three';
import { expect, test, vi } from 'vitest';

test('a scene that is being tracked ends with its service, in silence', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const service = await createCollisionService();
  const scene = new Scene();
  for (let i = 0; i < 20; i++) scene.add(new Mesh(new SphereGeometry(1 + i, 40, 40)));
  const tracking = trackScene(service, scene).catch((error) => error);
  await new Promise((resolve) => setTimeout(resolve, 5));
  service.dispose();
  expect(await tracking).toMatchObject({ code: 'DISPOSED' });
  expect(warn.mock.calls).toEqual([]);
  warn.mockRestore();
});
