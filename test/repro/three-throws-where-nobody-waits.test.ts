// An exception of a scene object in a task of the tracker's own was an unhandled rejection, which ends Node.
import { CollisionError, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, LOD, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';

test('the object alone is left out, which is said once', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
  });
  const service = await createCollisionService();
  const scene = new Scene();
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  camera.updateMatrixWorld();
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  const update = () => tracker.update(camera, { width: 100, height: 100 });

  const group = new Group();
  const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];
  const { proxy, revoke } = Proxy.revocable(new Mesh(geometry, material), {});
  const lod = new LOD();
  lod.levels.push({ object: proxy, distance: 0, hysteresis: 0 });
  // So many that they are added in several slices; it is far from both ends.
  for (let i = 0; i < 20_000; i++) group.add(i === 10_000 ? lod : new Mesh(geometry, material));
  revoke();
  scene.add(group);
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  await expect.poll(async () => (await update()) && service.stats.objects, { timeout: 20_000 }).toBe(19_999);
  expect((await tracker.pick(50, 50))?.object.parent).toBe(group);
  expect(tracker.untracked.get(lod)).toBeInstanceOf(CollisionError);
  expect(said).toHaveBeenCalledTimes(1);
  expect(unhandled).toEqual([]);
  service.dispose();
});
