// The service does not know which of several clipping planes cut which triangle of an object: a pick that snaps reported faces, and
// hits on them, that the planes of their own material cut away.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Plane, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

test('a face that its own material cuts away is not snapped to', async () => {
  const size = { width: 800, height: 600 };
  const camera = new PerspectiveCamera(50, 4 / 3, 0.1, 100);
  camera.position.set(0, 0, 12);
  camera.updateMatrixWorld();
  const plane = new Plane(new Vector3(-1, 0, 0), 0);
  const [whole, cut] = [new MeshBasicMaterial(), new MeshBasicMaterial({ clippingPlanes: [plane] })];
  const box = new Mesh(new BoxGeometry(2, 2, 2), [whole, whole, whole, whole, cut, whole]);
  const inner = new Mesh(new BoxGeometry(0.5, 0.5, 0.5), whole);
  inner.position.set(0.5, 0, 0);
  const scene = new Scene().add(box, inner);
  const renderer = { localClippingEnabled: true, clippingPlanes: [] };
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true, renderer: renderer as never });
  await tracker.update(camera, size);
  const faceAt = (x: number, y: number) => {
    const point = new Vector3(x, y, 1).project(camera);
    return tracker.pick((point.x + 1) * 400, (1 - point.y) * 300, { snap: ['face'] });
  };
  expect(await faceAt(-0.5, 0.5)).toMatchObject({ object: box, snap: { kind: 'face', object: box } });
  // Where its front is cut away, its back shows no side.
  expect(await faceAt(0.5, 0.6)).toBeNull();
  expect(await faceAt(0.5, 0.1)).toMatchObject({ object: inner, snap: null });
  plane.constant = 2; // moved: nothing is cut away
  expect(await faceAt(0.5, 0.6)).toMatchObject({ object: box, snap: { kind: 'face', object: box } });
  tracker.dispose();
});
