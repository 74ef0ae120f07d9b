// Frames that join a waiting one are written to the same buffer one after the other. The ids of a block were taken to be in it
// still, although a larger block of a frame in between had been written over them.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, PerspectiveCamera, Ray, Scene, Vector3 } from 'three';
import { expect, onTestFinished, test } from 'vitest';

const DOWN = new Vector3(0, 0, -1);
const SIZE = { width: 100, height: 100 };

test('instances that move in every other update, and many others between them, all without awaiting', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const [first, second, crowd] = [4, 4, 40].map((count, row) => {
    const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
    for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 2 * row, 0));
    return mesh;
  });
  const tracker = await trackScene(service, new Scene().add(first, second, crowd), { updateMatrixWorld: true });
  const camera = new PerspectiveCamera();
  const move = (mesh: InstancedMesh, x: number): void => {
    mesh.position.x = x;
  };
  const updates = [tracker.update(camera, SIZE), tracker.update(camera, SIZE)]; // one in the worker, one waits
  for (let x = 100; x <= 300; x += 100) {
    move(first, x);
    move(second, x);
    updates.push(tracker.update(camera, SIZE));
    move(crowd, x);
    updates.push(tracker.update(camera, SIZE));
  }
  await Promise.all(updates);
  for (const [row, mesh] of [first, second, crowd].entries()) {
    for (let instanceId = 0; instanceId < mesh.count; instanceId++) {
      const hit = await tracker.raycast(new Ray(new Vector3(300 + 2 * instanceId, 2 * row, 30), DOWN));
      expect([hit?.object === mesh, hit?.instanceId]).toEqual([true, instanceId]);
    }
  }
});
