// With `culling`, WebGPURenderer drew wrong motion vectors of instances: it finds the former matrix of an instance by its number,
// and culling renumbers the instances whenever others come into view.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Scene } from 'three';
import { mrt, output, pass, velocity } from 'three/tsl';
import { RenderPipeline, WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { pictureCamera } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { PICTURE, readPixels } from '../fixtures/flights.js';

withService();

/** Returns pictures of the motion vectors of a row of boxes, as the camera turns along it; and how many boxes were culled. */
async function pictures(isCulled: boolean) {
  const painter = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await painter.init();
  painter.setSize(PICTURE.width, PICTURE.height);
  const row = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 41);
  for (let i = 0; i < 41; i++) row.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - 20), 0, -10));
  const scene = new Scene().add(row);
  const camera = pictureCamera();
  const scenePass = pass(scene, camera);
  scenePass.setMRT(mrt({ output, velocity }));
  const pipeline = new RenderPipeline(painter, scenePass.getTextureNode('velocity').mul(0.5).abs());
  const tracker = isCulled ? await trackScene(service, scene, { culling: true }) : null;
  const seen: Uint8ClampedArray[] = [];
  for (let frame = 0; frame < 6; frame++) {
    await tracker?.update(camera, PICTURE);
    camera.rotation.y = 0.15 * frame;
    // The renderer counts frames, in each of which it draws a pass once.
    await new Promise<void>((done) => {
      painter.setAnimationLoop(() => {
        painter.setAnimationLoop(null);
        pipeline.render();
        seen.push(readPixels(painter));
        done();
      });
    });
  }
  tracker?.dispose();
  pipeline.dispose();
  painter.dispose();
  return seen;
}

test('motion vectors of instances', async () => {
  const [plain, culled] = [await pictures(false), await pictures(true)];
  for (let frame = 1; frame < 6; frame++) {
    const different = culled[frame].filter((each, i) => each !== plain[frame][i]).length;
    const painted = plain[frame].filter((each, i) => i % 4 < 3 && each > 0).length;
    expect([frame, different, painted > 500]).toEqual([frame, 0, true]);
  }
});
