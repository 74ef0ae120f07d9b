// With culling, instances that are `cullable: true` and not `frustumCulled` were drawn twice where a renderer tests nothing
// against the frustum, as WebGPURenderer in a BundleGroup, which it records for all pictures; of a BatchedMesh, only those in view
// were recorded.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  REVISION,
  Scene,
} from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

test.skipIf(Number(REVISION) < 166)('what is recorded has all instances once', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const instanced = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
  const batch = new BatchedMesh(4, 24, 36, new MeshBasicMaterial());
  const box = batch.addGeometry(new BoxGeometry());
  for (let i = 0; i < 4; i++) {
    const matrix = new Matrix4().setPosition(i - 1, 0, i === 1 ? 50 : 0); // the second is out of view
    instanced.setMatrixAt(i, matrix);
    batch.setMatrixAt(batch.addInstance(box), matrix);
  }
  instanced.frustumCulled = batch.frustumCulled = batch.perObjectFrustumCulled = false;
  const scene = new Scene().add(instanced, batch);
  const tracker = await trackScene(service, scene, { culling: true, objectOptions: () => ({ cullable: true }) });
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  const painter = new ListPainter();
  for (let i = 0; i < 4; i++) {
    painter.render(scene, camera);
    await tracker.update(camera, { width: 100, height: 100 });
  }
  painter.render(scene, camera);
  expect(tracker.culled.instances).toBe(2);
  const renderer = painter as never;
  const none = null as never;
  const record = (): number => {
    const list: Object3D[] = [];
    scene.onBeforeRender(renderer, scene, camera, none, none, none);
    scene.traverseVisible((each) => list.push(each));
    let count = 0;
    for (const each of list) {
      const { geometry, material, isInstancedMesh, count: instances } = each as InstancedMesh;
      each.onBeforeRender(renderer, scene, camera, geometry, material as never, none);
      if (isInstancedMesh) count += instances;
    }
    scene.onAfterRender(renderer, scene, camera, none, none, none);
    return count;
  };
  expect(record()).toBe(4);
  expect((batch as unknown as { _multiDrawCount: number })._multiDrawCount).toBe(4);
  expect([instanced.frustumCulled, batch.frustumCulled, instanced.children.length]).toEqual([false, false, 0]);
});
