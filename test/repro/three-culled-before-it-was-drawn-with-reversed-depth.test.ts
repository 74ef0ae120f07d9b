// With `culling` and a margin, an answer that came before the first picture of a renderer with a reversed depth buffer was trusted
// wherever the camera turned: three reverses the camera's depth in that picture, and the part behind the eye was compared.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

const COUNT = 100;

test('a camera that turns around sees what is there', async () => {
  const ring = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), COUNT);
  for (let i = 0; i < COUNT; i++) {
    const angle = (2 * Math.PI * i) / COUNT;
    ring.setMatrixAt(i, new Matrix4().makeTranslation(20 * Math.sin(angle), 0, 20 * Math.cos(angle)));
  }
  const scene = new Scene().add(ring);
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  const tracker = await trackScene(service, scene, { culling: { margin: 1 } });
  const painter = new ListPainter();
  await tracker.update(camera, { width: 100, height: 100 });
  const ahead = painter.render(scene, camera).length;
  expect(ahead).toBeGreaterThan(10);
  expect(ahead).toBeLessThan(30);
  // As WebGLRenderer does while it draws.
  Object.assign(camera, { _reversedDepth: true }).updateProjectionMatrix();
  camera.rotation.y = Math.PI;
  expect(painter.render(scene, camera).length).toBe(ahead);
});
