// A canvas that was hidden for a while has no size, and its view sees nothing. With `culling`, the next pictures by its camera
// had no instances of what had not moved since, the coarsest levels of detail, and with `minPixels` nothing at all.
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

test.each([
  ['of no width', 0, {}],
  ['of no height', 100, {}],
  ['of no width, without what is small', 0, { minPixels: 2 }],
])('all is drawn by the camera of a canvas %s', async (_, width, options) => {
  const material = new MeshBasicMaterial();
  const instances = new InstancedMesh(new BoxGeometry(), material, 3);
  for (let i = 0; i < 3; i++) instances.setMatrixAt(i, new Matrix4().setPosition(2 * i - 2, 0, 0));
  const lod = new LOD()
    .addLevel(new Mesh(new SphereGeometry(), material))
    .addLevel(new Mesh(new BoxGeometry(), material), 50);
  lod.position.y = 2;
  const scene = new Scene().add(instances, lod, new Mesh(new BoxGeometry(), material).translateY(-2));
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  const levels = (object: object) => (object === lod ? [{ pixels: 5 }] : []);
  const tracker = await trackScene(service, scene, { culling: { levels, ...options } });
  const painter = new ListPainter();
  const shown = painter.render(scene, camera);
  expect(shown).toHaveLength(5);
  for (let i = 0; i < 2; i++) {
    await tracker.update(camera, { width, height: 0 });
    expect(painter.render(scene, camera)).toEqual(shown);
  }
  await tracker.update(camera, { width: 100, height: 100 });
  expect(painter.render(scene, camera)).toEqual(shown);
});
