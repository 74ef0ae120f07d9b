// An object that is put below a descendant of its own leaves the scene, and has no topmost parent any more: it stayed in the
// service, and the search for the topmost parent of another object below it did not end.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { frontCamera, settle, UNRENDERED } from '../fixtures/three-picks.js';

test('objects whose parents form a ring are not tracked until they are in the scene again', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const scene = new Scene();
  const [top, middle, bottom, late] = Array.from(
    { length: 4 },
    () => new Mesh(new BoxGeometry(), new MeshBasicMaterial()),
  );
  scene.add(top.add(middle.add(bottom)));
  const tracker = await trackScene(service, scene, UNRENDERED);
  bottom.add(top);
  middle.add(late);
  await settle(tracker, frontCamera());
  expect(service.stats.objects).toBe(0);
  scene.add(middle);
  await settle(tracker, frontCamera());
  expect(service.stats.objects).toBe(4);
});
