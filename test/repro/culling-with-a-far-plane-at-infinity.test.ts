// With `culling`, nothing was culled for a camera with its far plane at infinity: three has no normal for that plane, and NaN
// does not equal itself, so that the renderer's frustum tests were taken for foreign ones.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

test.each([false, true])(
  'what is beside the picture, or too small, is left out, at infinity: %s',
  async (isEndless) => {
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    const [box, small] = [1, 0.01].map((size) => new Mesh(new BoxGeometry(size, size, size), new MeshBasicMaterial()));
    const many = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 100);
    // Half of them are behind the camera, and the rest farther and farther away.
    for (let i = 0; i < 100; i++) many.setMatrixAt(i, new Matrix4().setPosition(0, 0, i < 50 ? 20 + i : -i));
    const scene = new Scene().add(box, small, many);
    const tracker = await trackScene(service, scene, { culling: { minPixels: 1 } });
    onTestFinished(() => tracker.dispose());
    const camera = new PerspectiveCamera(60, 2, 0.5, 200);
    camera.position.z = 10;
    if (isEndless) camera.projectionMatrix.elements.splice(10, 5, -1, -1, 0, 0, -1);
    const painter = new ListPainter();
    let drawn: string[] = [];
    for (let frame = 0; frame < 6; frame++) {
      camera.rotation.y = frame < 3 ? 0 : 0.01 * frame;
      drawn = painter.render(scene, camera);
      await tracker.update(camera, { width: 200, height: 100 });
    }
    expect(drawn.filter((line) => line.startsWith(many.uuid)).length).toBe(50);
    expect(drawn).toContain(box.uuid);
    expect(drawn).not.toContain(small.uuid);
    expect(tracker.culled).toMatchObject({ objects: 1, instances: 50 });
  },
);
