// Without a name, `setView` of a tracker set the service's default view, from which the tracker's
// own picks are made: they answered for another camera, until the next update().
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Vector3 } from 'three';
import { expect, test } from 'vitest';
import { frontCamera, pickCenter, SIZE } from '../fixtures/three-picks.js';
import { overlappingCubes } from '../fixtures/three-scenes.js';

test('a view without a name is an error, and the others stay as they are', async () => {
  const service = await createCollisionService();
  const camera = frontCamera();
  const { scene } = overlappingCubes(new Vector3(), camera);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await tracker.update(camera, SIZE);
  const before = await pickCenter(tracker);
  expect(before?.object.name).toBe('left');

  const away = frontCamera();
  away.rotation.y = Math.PI;
  expect(() => tracker.setView(away, SIZE, undefined as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', message: 'setView: name is undefined, expected a name' }),
  );
  expect((await pickCenter(tracker))?.object.name).toBe('left');
  service.dispose();
});
