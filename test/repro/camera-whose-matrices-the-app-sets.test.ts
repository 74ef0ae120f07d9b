// `update` overwrote the view matrix of a camera whose matrices three leaves to the app, without `matrixWorldAutoUpdate`: the next
// picture was that of another view. And `occlusion` did not notice that such a camera had moved.
import { trackScene, viewFromCamera } from 'collision-worker/three';
import { BoxGeometry, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

const SIZE = { width: 100, height: 100 };

function cameraAt(x: number): PerspectiveCamera {
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  camera.matrixWorldAutoUpdate = false;
  camera.matrixWorldInverse.makeTranslation(-x, 0, 0);
  return camera;
}

test('a view is made of its matrices as they are', () => {
  const camera = cameraAt(7);
  const { view } = viewFromCamera(camera, SIZE);
  expect(Array.from(view)).toEqual(new Matrix4().makeTranslation(-7, 0, 0).elements);
});

test('what its motion reveals is drawn', async () => {
  const material = new MeshBasicMaterial();
  const wall = new Mesh(new BoxGeometry(4, 4, 0.1), material);
  const box = new Mesh(new BoxGeometry(), material);
  wall.position.z = -20;
  box.position.z = -40;
  const scene = new Scene().add(wall, box);
  const camera = cameraAt(0);
  // The painter updates what three would not.
  camera.updateMatrixWorld = () => {};
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const painter = new ListPainter();
  for (let frame = 0; frame < 3; frame++) await tracker.update(camera, SIZE);
  expect(painter.render(scene, camera)).toEqual([wall.uuid]);
  camera.matrixWorldInverse.makeTranslation(-5, 0, 0);
  expect(painter.render(scene, camera)).toEqual([wall.uuid, box.uuid]);
});
