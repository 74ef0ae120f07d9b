// Lists of boxes wait for one another in the worker. That of a mesh which was removed meanwhile was said to be lost with a worker.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

test('boxes of a mesh that is removed right after', async () => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  const [mesh, other] = [await service.addMesh(icosphere(1, 16)), await service.addMesh(icosphere(1, 16))];
  const objects = [...service.addInstances({ shape: { type: 'mesh', mesh: other }, contacts: 'none' }, 4)];
  await service.update();
  const expected = await service.meshBoxes(mesh);
  const [, boxes] = await worker.atOnce(() => {
    const asked = Promise.all([service.inspect({ objects, maxBoxes: 1e6 }), service.meshBoxes(mesh)]);
    service.removeMesh(mesh);
    return asked;
  });
  expect(boxes).toEqual(expected);
});
