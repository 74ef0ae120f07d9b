// The planes of its material and of the renderer cut a BatchedMesh as they cut any Mesh.
import type { SceneTracker } from 'collision-worker/three';
import { BatchedMesh, BoxGeometry, Matrix4, MeshBasicMaterial, Plane, REVISION, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, SIZE, settle, track } from '../fixtures/three-picks.js';

withService();

/** Two boxes behind each other, at z = 3 and z = 0. */
function boxes(): BatchedMesh {
  const batch = new BatchedMesh(2, 24, 36, new MeshBasicMaterial());
  const geometryId = batch.addGeometry(new BoxGeometry());
  for (const z of [3, 0]) batch.setMatrixAt(batch.addInstance(geometryId), new Matrix4().makeTranslation(0, 0, z));
  return batch;
}

/** Returns the instance in the middle of the picture, and how many objects are in the middle of it. */
async function seenIn(tracker: SceneTracker): Promise<{ instance: number | undefined; selected: number }> {
  await settle(tracker, frontCamera());
  const region = await tracker.pickRegion({ x: SIZE.width / 2, y: SIZE.height / 2, width: 1, height: 1 });
  return { instance: (await pickCenter(tracker))?.batchId, selected: region.length };
}

test.skipIf(Number.parseInt(REVISION, 10) < 166)('planes cut a batch', async () => {
  const batch = boxes();
  const material = batch.material as MeshBasicMaterial;
  const renderer: { clippingPlanes: Plane[]; localClippingEnabled: boolean } = {
    clippingPlanes: [],
    localClippingEnabled: true,
  };
  const tracker = await track(service, new Scene().add(batch), frontCamera(), { renderer });
  expect(await seenIn(tracker)).toEqual({ instance: 0, selected: 1 });

  const behind = (z: number) => new Plane(new Vector3(0, 0, -1), z);
  material.clippingPlanes = [behind(1)];
  expect(await seenIn(tracker)).toEqual({ instance: 1, selected: 1 });
  material.clippingPlanes = [behind(1), behind(-1)];
  expect(await seenIn(tracker)).toEqual({ instance: undefined, selected: 0 });
  material.clipIntersection = true;
  expect(await seenIn(tracker)).toEqual({ instance: 1, selected: 1 });
  renderer.localClippingEnabled = false;
  expect(await seenIn(tracker)).toEqual({ instance: 0, selected: 1 });
  renderer.clippingPlanes = [behind(1)];
  expect(await seenIn(tracker)).toEqual({ instance: 1, selected: 1 });

  // Also an instance that is added later, and all of them with another material.
  batch.setInstanceCount(3);
  batch.setMatrixAt(batch.addInstance(0), new Matrix4().makeTranslation(0, 0, 5));
  expect(await seenIn(tracker)).toEqual({ instance: 1, selected: 1 });
  renderer.clippingPlanes = [];
  expect(await seenIn(tracker)).toEqual({ instance: 2, selected: 1 });
  renderer.localClippingEnabled = true;
  batch.material = new MeshBasicMaterial({ clippingPlanes: [behind(4)] });
  expect(await seenIn(tracker)).toEqual({ instance: 0, selected: 1 });
});

test.skipIf(Number.parseInt(REVISION, 10) < 166)('without a renderer, only the planes of the material do', async () => {
  const batch = boxes();
  (batch.material as MeshBasicMaterial).clippingPlanes = [new Plane(new Vector3(0, 0, -1), 1)];
  const tracker = await track(service, new Scene().add(batch));
  expect(await seenIn(tracker)).toEqual({ instance: 1, selected: 1 });
});
