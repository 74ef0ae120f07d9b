// An object that was removed from the scene while it still waited to
// be added in a slice was added all the same, and stayed forever.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { endSlicesEarly } from '../fixtures/hurry.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const MESHES = 1000;

const camera = frontCamera();

test('what goes before its slice does not come', async () => {
  endSlicesEarly();
  const root = new Scene();
  const tracker = await trackScene(service, root);
  const crowd = new Group();
  const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];
  for (let i = 0; i < MESHES; i++) crowd.add(new Mesh(geometry, material));
  root.add(crowd);
  root.updateMatrixWorld();
  const came = tracker.update(camera, SIZE);
  expect(tracker.pending.length).toBeGreaterThan(MESHES / 2);
  crowd.remove(crowd.children[MESHES - 1], crowd.children[MESHES - 2]);
  root.add(crowd.children[MESHES - 3]);
  await came;
  do await tracker.update(camera, SIZE);
  while (tracker.pending.length > 0);
  expect(service.stats.objects).toBe(MESHES - 2);
  // The whole crowd is removed, added and removed, one task after another.
  for (let i = 0; i < 9; i++) {
    if (crowd.parent === root) root.remove(crowd);
    else root.add(crowd);
    await tracker.update(camera, SIZE);
  }
  for (let i = 0; i < 400 && service.stats.objects !== 1; i++) await tracker.update(camera, SIZE);
  expect(crowd.parent).toBe(null);
  expect(service.stats.objects).toBe(1);
});
