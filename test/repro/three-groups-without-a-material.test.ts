// Groups whose material is null are not drawn, and all others of the same Mesh are, as in three. The whole Mesh was left out.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, type Material, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';

test('a Mesh with null among its materials is hit where it is drawn', async () => {
  const service = await createCollisionService();
  const scene = new Scene();
  const materials: (Material | null)[] = Array.from({ length: 6 }, () => new MeshBasicMaterial());
  materials[4] = null; // the front
  const mesh = new Mesh(new BoxGeometry(), materials as Material[]);
  scene.add(mesh);
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  expect(tracker.untracked.size).toBe(0);
  const update = () => tracker.update(new PerspectiveCamera(), { width: 1, height: 1 });
  const isHit = async (z: number) =>
    (await tracker.raycast({ origin: [0.1, 0.2, 5 * z], direction: [0, 0, -z] })) !== null;
  expect([await isHit(1), await isHit(-1)]).toEqual([false, true]);
  materials.splice(4, 2, new MeshBasicMaterial(), null);
  await update();
  await tracker.settled();
  await update();
  expect([await isHit(1), await isHit(-1)]).toEqual([true, false]);
  service.dispose();
});
