// When all of a BatchedMesh was built at once, the side of each of
// its instances was sent once more: a command for each of thousands.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BatchedMesh, BoxGeometry, Matrix4, MeshBasicMaterial, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { HAS_INSTANCES } from '../fixtures/three-batches.js';

const COUNT = 100;

test('instances of a shape come with all of their options', async () => {
  const service = await createCollisionService();
  const geometry = new BoxGeometry();
  const copies = HAS_INSTANCES ? 1 : COUNT;
  const batch = new BatchedMesh(COUNT, copies * 24, copies * 36, new MeshBasicMaterial());
  const numbers = Array.from({ length: copies }, () => batch.addGeometry(geometry));
  for (let i = 0; i < COUNT; i++) {
    const instance = HAS_INSTANCES ? batch.addInstance(numbers[0]) : numbers[i];
    batch.setMatrixAt(instance, new Matrix4().setPosition(2 * i, 0, 0));
  }
  const scene = new Scene().add(batch);
  const set = vi.spyOn(service, 'setObject');
  const tracker = await trackScene(service, scene, { shapeOf: () => ({ type: 'box', halfExtents: [0.5, 0.5, 0.5] }) });
  expect(service.stats.objects).toBe(COUNT);
  expect(set).not.toHaveBeenCalled();
  tracker.dispose();
  service.dispose();
});
