// A mesh that was built after everything else waited for another frame, which an app that renders on demand requests when the
// mouse moves: a pick before it found nothing.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, BufferAttribute, Mesh, PerspectiveCamera, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

const SIZE = { width: 100, height: 100 };

test('what a frame has built is there without another one', async () => {
  const scene = new Scene();
  const camera = new PerspectiveCamera(50, 1, 0.1, 100);
  camera.position.z = 5;
  camera.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  const mesh = new Mesh(new BoxGeometry());
  scene.add(mesh);
  scene.updateMatrixWorld();
  await tracker.update(camera, SIZE);
  await vi.waitFor(() => expect(tracker.pending).toEqual([]));
  expect((await tracker.pick(50, 50))?.object).toBe(mesh);

  // Its triangles are different, in another place.
  const index = mesh.geometry.index!;
  mesh.geometry.translate(2, 0, 0).setIndex(new BufferAttribute(index.array.slice(6), 1));
  await tracker.update(camera, SIZE);
  await vi.waitFor(() => expect(tracker.pending).toEqual([]));
  expect(await tracker.pick(50, 50)).toBe(null);
});
