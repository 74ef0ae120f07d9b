// A Sprite that is added to a scene is where three draws it from its first update on, turned to the camera of that update. It was
// nowhere until the update after that, and for good in an app that draws on demand.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { PerspectiveCamera, Scene, Sprite } from 'three';
import { expect, test, vi } from 'vitest';

const SIZE = { width: 100, height: 100 };

test.each(['beside another', 'alone'])('a Sprite that is added %s is hit after one update', async (name) => {
  const service = await createCollisionService();
  const scene = new Scene();
  if (name !== 'alone') scene.add(new Sprite());
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  const camera = new PerspectiveCamera();
  camera.position.set(5, 0, 0);
  camera.lookAt(0, 0, 0);
  await tracker.update(camera, SIZE);
  const sprite = new Sprite();
  sprite.position.set(0, 3, 0);
  scene.add(sprite);
  camera.position.set(0, 0, 5);
  camera.lookAt(0, 0, 0);
  await tracker.update(camera, SIZE);
  await vi.waitFor(() => expect(tracker.pending).toEqual([]));
  const hitFrom = async (origin: [number, number, number], direction: [number, number, number]) =>
    (await tracker.raycast({ origin, direction }))?.object ?? null;
  expect(await hitFrom([0.4, 3.4, 5], [0, 0, -1])).toBe(sprite);
  expect(await hitFrom([5, 3.4, 0.2], [-1, 0, 0])).toBe(null); // seen from its edge
  service.dispose();
});
