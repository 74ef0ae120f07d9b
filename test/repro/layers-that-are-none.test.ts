// Invalid `layers` of `objectOptions` were accepted: NaN and strings hid the object, and 1.5 was 1.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BatchedMesh, BoxGeometry, Matrix4, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';

test.each([1.5, Number.NaN, 'all', 2 ** 32])('%s is refused', async (layers) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const batch = new BatchedMesh(1, 24, 36, new MeshBasicMaterial());
  batch.setMatrixAt(batch.addInstance(batch.addGeometry(new BoxGeometry())), new Matrix4());
  const scene = new Scene().add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()), batch);
  const tracker = await trackScene(service, scene, { objectOptions: () => ({ layers: layers as number }) });
  for (const each of scene.children) {
    const error = tracker.untracked.get(each);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('layers is') });
  }
  expect(service.stats.objects).toBe(0);
});
