// With occlusion, what is inside of a mirrored instance was not drawn, nor what is behind a flat one. three turns the sides of
// a mirrored mesh, but not those of a mirrored instance: it draws the inner faces of the one, and nothing of the other.
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  DoubleSide,
  FrontSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  type Side,
} from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

/** Returns whether a small box is drawn, with an instance before it or around it. */
async function isDrawn(geometry: BufferGeometry, side: Side, matrix: Matrix4): Promise<boolean> {
  const small = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  small.position.z = -3;
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial({ side }), 1);
  mesh.setMatrixAt(0, matrix);
  const scene = new Scene().add(mesh, small);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const camera = new PerspectiveCamera();
  camera.position.z = 20;
  const painter = new ListPainter();
  for (let i = 0; i < 5; i++) {
    painter.render(scene, camera);
    await tracker.update(camera, { width: 200, height: 200 });
  }
  const lines = painter.render(scene, camera);
  tracker.dispose();
  return lines.includes(small.uuid);
}

test.each([
  ['a box around it', new BoxGeometry(10, 10, 10)],
  ['a square before it', new PlaneGeometry(10, 10)],
])('%s', async (_, geometry) => {
  expect(await isDrawn(geometry, FrontSide, new Matrix4())).toBe(false);
  expect(await isDrawn(geometry, FrontSide, new Matrix4().makeScale(-1, 1, 1))).toBe(true);
  expect(await isDrawn(geometry, DoubleSide, new Matrix4().makeScale(-1, 1, 1))).toBe(false);
});
