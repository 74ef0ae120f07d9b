// A tracker that a callback disposed of in the midst of a render with `culling` freed the matrices of instances that the render
// had yet to draw.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { PICTURE, readPixels } from '../fixtures/flights.js';

withService();

test('a tracker that ends in the midst of a render', async () => {
  const row = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 41);
  for (let i = 0; i < 41; i++) row.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - 20), 0, -10));
  const first = new Mesh(new BoxGeometry(), new MeshBasicMaterial({ color: 0xff0000 }));
  first.position.set(0, 2, -10);
  first.renderOrder = -1;
  const scene = new Scene().add(row, first);
  const camera = pictureCamera();
  renderer.render(scene, camera);
  const before = readPixels(renderer);
  const tracker = await trackScene(service, scene, { culling: true });
  for (let frame = 0; frame < 3; frame++) {
    await tracker.update(camera, PICTURE);
    renderer.render(scene, camera);
  }
  expect(tracker.culled.instances).toBeGreaterThan(20);
  first.onBeforeRender = () => tracker.dispose();
  for (let frame = 0; frame < 2; frame++) {
    renderer.render(scene, camera);
    expect([frame, readPixels(renderer).filter((each, i) => each !== before[i]).length]).toEqual([frame, 0]);
  }
  expect(row.children).toEqual([]);
});
