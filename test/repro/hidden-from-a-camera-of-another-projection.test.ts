// With `occlusion`, a PerspectiveCamera whose projection matrix the app has set to a parallel one could turn, and what the turn
// revealed was not drawn. The same held for one whose lines of sight meet beside it.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

test.each([
  ['parallel', new Matrix4().makeOrthographic(-5, 5, 5, -5, 0.1, 100), 0.12],
  [
    'shifted',
    new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.clone().multiply(new Matrix4().makeTranslation(-10, 0, 0)),
    0.25,
  ],
])('a %s projection', async (_, projection, angle) => {
  const material = new MeshBasicMaterial();
  const wall = new Mesh(new BoxGeometry(4, 4, 0.1), material);
  const box = new Mesh(new BoxGeometry(), material);
  const scene = new Scene().add(wall, box);
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  camera.projectionMatrix.copy(projection);
  camera.projectionMatrixInverse.copy(projection).invert();
  const eyeX = projection.elements[15] === 0 ? 10 : 0;
  wall.position.set(eyeX, 0, -20);
  box.position.set(eyeX, 0, -40);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const painter = new ListPainter();
  for (let frame = 0; frame < 3; frame++) await tracker.update(camera, { width: 100, height: 100 });
  expect(painter.render(scene, camera)).toEqual([wall.uuid]);
  camera.rotation.y = angle;
  expect(painter.render(scene, camera)).toEqual([wall.uuid, box.uuid]);
});
