// The result of the caller's functions was compared with itself if it was changed in place: changed() did nothing.
import { createCollisionService, type NamedBox } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BatchedMesh, BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Ray, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';

const SIZE = { width: 100, height: 100 };
const camera = new PerspectiveCamera();

const rayAt = (x: number): Ray => new Ray(new Vector3(x, 0, 30), new Vector3(0, 0, -1));

function batched(): BatchedMesh {
  const batch = new BatchedMesh(1, 100, 200, new MeshBasicMaterial());
  const geometry = batch.addGeometry(new BoxGeometry());
  if ('addInstance' in batch) batch.addInstance(geometry); // before r166 a geometry is its only instance
  return batch;
}

test.each([
  ['a Mesh', new Mesh(new BoxGeometry(), new MeshBasicMaterial())],
  ['a BatchedMesh', batched()],
])('the shape of %s', async (_, object) => {
  const service = await createCollisionService();
  const shape = { type: 'sphere' as const, radius: 1, center: [0, 0, 0] as [number, number, number] };
  const tracker = await trackScene(service, new Scene().add(object), { shapeOf: () => shape });
  await tracker.update(camera, SIZE);
  expect(await tracker.raycast(rayAt(2))).toBe(null);
  shape.radius = 1.5;
  shape.center[0] = 1;
  tracker.changed(object);
  await tracker.update(camera, SIZE);
  expect((await tracker.raycast(rayAt(2)))?.object).toBe(object);
  service.dispose();
});

test('the boxes of a Mesh', async () => {
  const service = await createCollisionService();
  const mesh = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const center: [number, number, number] = [0, 0, 0];
  const boxes: NamedBox[] = [{ name: 'a', center, halfExtents: [1, 1, 1] }];
  const tracker = await trackScene(service, new Scene().add(mesh), { objectOptions: () => ({ boxes }) });
  await tracker.update(camera, SIZE);
  center[0] = 3;
  tracker.changed(mesh);
  await tracker.update(camera, SIZE);
  expect((await tracker.raycast(rayAt(3.5), { precision: 'obb' }))?.box).toBe('a');
  service.dispose();
});
