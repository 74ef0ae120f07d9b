// A geometry that changed once more while it was being built or
// refitted kept its earlier state if no other update() followed.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Ray, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';

const SIZE = { width: 100, height: 100 };

test.each(['moved', 'built'])('a geometry that is being %s', async (state) => {
  const service = await createCollisionService();
  const mesh = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const root = new Scene();
  if (state === 'moved') root.add(mesh);
  root.updateMatrixWorld();
  const camera = new PerspectiveCamera();
  const tracker = await trackScene(service, root);
  await tracker.update(camera, SIZE);
  if (state === 'built') root.add(mesh);
  else mesh.geometry.translate(3, 0, 0);
  const first = tracker.update(camera, SIZE);
  expect(tracker.pending).toEqual([mesh]);
  mesh.geometry.translate(6, 0, 0);
  await Promise.all([first, tracker.update(camera, SIZE)]);
  await expect.poll(() => tracker.pending).toEqual([]);
  const ray = new Ray(new Vector3(state === 'moved' ? 9 : 6, 0, 30), new Vector3(0, 0, -1));
  expect((await tracker.raycast(ray))?.object).toBe(mesh);
  service.dispose();
});
