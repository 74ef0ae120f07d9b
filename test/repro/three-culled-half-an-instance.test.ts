// With culling, for a fractional count one instance more was drawn than WebGL draws; and an array camera, for which nothing is
// culled, had instances drawn twice that three does not cull.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  ArrayCamera,
  BoxGeometry,
  type Camera,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
} from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

const SIZE = { width: 100, height: 100 };

/** Four instances, the second of which is out of view. */
async function tracked() {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
  for (let i = 0; i < 4; i++) mesh.setMatrixAt(i, new Matrix4().setPosition(i - 1, 0, i === 1 ? 50 : 0));
  mesh.frustumCulled = false;
  const scene = new Scene().add(mesh);
  const tracker = await trackScene(service, scene, { objectOptions: () => ({ cullable: true }), culling: true });
  const painter = new ListPainter();
  return async (camera: Camera) => {
    camera.position.z = 10;
    const lines = painter.render(scene, camera);
    await tracker.update(camera, SIZE);
    return { lines, mesh };
  };
}

test.each([
  [0.5, 0],
  [1.9, 1],
  [2.7, 1],
  [3, 2],
  [Number.NaN, 0],
])('of a count of %d, %d are drawn', async (count, drawn) => {
  const draw = await tracked();
  const camera = new PerspectiveCamera();
  const { mesh } = await draw(camera);
  mesh.count = count;
  for (let i = 0; i < 3; i++) expect((await draw(camera)).lines.length).toBe(drawn);
});

test('a camera of several cameras draws each instance once', async () => {
  const draw = await tracked();
  const camera = new ArrayCamera([new PerspectiveCamera(), new PerspectiveCamera()]);
  for (let i = 0; i < 3; i++) expect((await draw(camera)).lines.length).toBe(4);
});
