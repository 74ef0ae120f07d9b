// Two trackers of one service set the view of the same name, as they do by default: the second one that was disposed threw
// INVALID_ARGUMENT, as the first had removed the view.
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';
import { service } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

test('both can be disposed, and all is gone then', async () => {
  const scene = new Scene().add(cube());
  scene.updateMatrixWorld();
  const trackers = [await trackScene(service, scene), await trackScene(service, scene)];
  for (const tracker of trackers) await tracker.update(frontCamera(), SIZE);
  expect(service.stats.objects).toBe(2);
  for (const tracker of trackers) tracker.dispose();
  expect(service.stats.objects).toBe(0);
});
