// Two trackers of one service set the view of the same name, as they do by default: the second one that was disposed threw
// INVALID_ARGUMENT, since the first had removed the view. While the camera stood still, an `update` did not set it again: picks
// rejected if another tracker had removed it, and used the camera that another one had set.
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

test('both can be disposed, and all is gone then', async () => {
  const scene = new Scene().add(cube());
  scene.updateMatrixWorld();
  const trackers = [await trackScene(service, scene), await trackScene(service, scene)];
  for (const tracker of trackers) await tracker.update(frontCamera(), SIZE);
  expect(service.stats.objects).toBe(2);
  for (const tracker of trackers) tracker.dispose();
  expect(service.stats.objects).toBe(0);
});

test('one that is left picks by its own camera, which did not move', async () => {
  const box = cube();
  const scene = new Scene().add(box);
  scene.updateMatrixWorld();
  const [tracker, other] = [await trackScene(service, scene), await trackScene(service, scene)];
  const [camera, away] = [frontCamera(), frontCamera()];
  away.rotation.y = Math.PI;
  away.updateMatrixWorld();
  const pick = () => tracker.pick(SIZE.width / 2, SIZE.height / 2);
  await tracker.update(camera, SIZE);
  await other.update(away, SIZE);
  await tracker.update(camera, SIZE);
  expect((await pick())?.object).toBe(box);
  other.dispose();
  expect((await pick())?.object).toBe(box);
  const last = await trackScene(service, scene);
  await last.update(away, SIZE);
  last.dispose();
  await tracker.update(camera, SIZE);
  expect((await pick())?.object).toBe(box);
  tracker.dispose();
});
