// A BatchedMesh that left the scene between a question and its answer was reported without faces, and the faces of its section
// were not numbered as three does: the meshes of its instances were forgotten with their ids.
import { createCollisionService } from 'collision-worker';
import { BatchedMesh, BoxGeometry, Matrix4, MeshBasicMaterial, Scene, SphereGeometry } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';
import { frontCamera, SIZE, track, UNRENDERED } from '../fixtures/three-picks.js';

test('hits on a BatchedMesh that is removed meanwhile have faces', async () => {
  const worker = new HeldWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  const batch = new BatchedMesh(1, 1000, 3000, new MeshBasicMaterial());
  batch.addGeometry(new SphereGeometry(1, 16, 8)); // so that the faces of the box have other numbers
  batch.setMatrixAt(batch.addInstance(batch.addGeometry(new BoxGeometry(2, 2, 2))), new Matrix4());
  const scene = new Scene().add(batch);
  const tracker = await track(service, scene, undefined, UNRENDERED);
  const ask = () =>
    Promise.all([
      tracker.raycast({ origin: [0.1, 0.2, 10], direction: [0, 0, -1] }),
      tracker.pick(SIZE.width / 2, SIZE.height / 2 - 3),
      tracker.closestPoint([0.1, 0.2, 3]),
      tracker.section([0, 0, 1, -0.5]),
    ]);
  const expected = await ask();
  worker.holdAll();
  const answers = ask();
  // A section cuts each object as it is at its turn: the worker is done before the batch leaves, and only its answers come later.
  while (worker.heldAnswers < expected.length) await new Promise(setImmediate);
  scene.remove(batch);
  const update = tracker.update(frontCamera(), SIZE);
  await worker.letGo();
  const [raycast, pick, closest, section] = await answers;
  [raycast, pick, closest].forEach((answer, i) => {
    const { face, faceIndex } = expected[i] as NonNullable<typeof raycast>;
    expect(face).not.toBeNull();
    expect(answer).toMatchObject({ object: batch, face, faceIndex });
  });
  expect(raycast).toEqual(expected[0]);
  expect(section.triangles).toEqual(expected[3].triangles);
  await update;
});
