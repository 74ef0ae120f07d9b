// A pick that snaps to faces waits until the faces of the mesh that it hits are found. Meanwhile, another mesh may be hit
// instead: its faces were not computed, and the pick snapped to nothing.
import { createCollisionService } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { boxMesh, icosphere } from '../oracle/meshes.js';

test('a pick snaps to the face of what it strikes when the features are found', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: new Matrix4().makeTranslation(0, 0, -8).elements,
    viewport: { width: 100, height: 100 },
  });
  const at = (x: number, z: number) => new Matrix4().makeTranslation(x, 0, z).elements;
  const large = await service.addMesh(icosphere(1, 80));
  const small = await service.addMesh(boxMesh(1, 1, 1));
  const front = service.addObject({ shape: { type: 'mesh', mesh: large }, matrix: at(0, 0), contacts: 'none' });
  const behind = service.addObject({ shape: { type: 'mesh', mesh: small }, matrix: at(0, -5), contacts: 'none' });
  await service.update();
  const pick = service.pick(50, 50, { snap: ['face'] });
  service.setTransform(front, at(100, 0));
  const { frame } = await service.update();
  const hit = await pick;
  expect(hit).toMatchObject({ object: behind, frame });
  expect(hit!.snap).toMatchObject({ kind: 'face', object: behind });
});
