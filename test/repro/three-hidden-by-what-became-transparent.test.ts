// An object that became transparent kept occluding what is behind it, even after changed().
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, OrthographicCamera, Scene } from 'three';
import { expect, test } from 'vitest';

test('a wall of glass', async () => {
  const service = await createCollisionService();
  const wall = new Mesh(new BoxGeometry(30, 30, 1), new MeshBasicMaterial());
  const behind = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  behind.position.z = -10;
  const camera = new OrthographicCamera(-20, 20, 20, -20, 0.1, 100);
  camera.position.z = 50;
  const tracker = await trackScene(service, new Scene().add(wall, behind));
  const occluded = async (): Promise<number> => {
    const { result } = await tracker.update(camera, { width: 100, height: 100 }, { occlusion: true });
    return result.views.get('main')!.occluded.length;
  };
  expect(await occluded()).toBe(1);
  wall.material.transparent = true;
  expect(await occluded()).toBe(0);
  wall.material.transparent = false;
  expect(await occluded()).toBe(1);
  wall.material.alphaTest = 0.5;
  tracker.changed(wall);
  expect(await occluded()).toBe(0);
  service.dispose();
});
