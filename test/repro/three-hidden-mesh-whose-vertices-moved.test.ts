// A Mesh behind a wall whose vertices move out from behind the wall was culled between the moment when its new triangles were
// installed in the worker and the next update: by an answer that knew the old ones.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

test('a Mesh that is hidden is drawn as soon as its vertices are elsewhere', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const [wall, hidden] = [6, 1].map((size) => new Mesh(new BoxGeometry(size, size, 1), new MeshBasicMaterial()));
  hidden.position.z = -10;
  const scene = new Scene().add(wall, hidden);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const camera = new PerspectiveCamera(90, 1, 0.1, 100);
  camera.position.z = 10;
  const painter = new ListPainter();
  const isDrawn = () => painter.render(scene, camera).includes(hidden.uuid);
  const update = () => tracker.update(camera, { width: 100, height: 100 });
  for (let i = 0; i < 8; i++) {
    painter.render(scene, camera);
    await update();
  }
  expect(isDrawn()).toBe(false);
  const { position } = hidden.geometry.attributes;
  for (let i = 0; i < position.count; i++) position.setX(i, position.getX(i) + 14);
  position.needsUpdate = true;
  hidden.geometry.boundingSphere = null;
  hidden.geometry.boundingBox = null;
  expect(isDrawn()).toBe(true); // nothing has been sent
  const drawn: boolean[] = [];
  for (let i = 0; i < 8; i++) {
    await tracker.settled();
    drawn.push(isDrawn());
    await update();
    drawn.push(isDrawn());
  }
  expect(drawn).not.toContain(false);
});
