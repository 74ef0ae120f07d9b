// A query with the shape of a mesh waits for the next worker, which never gets the mesh: it was removed meanwhile. The
// query was valid, and must not be rejected for an unknown mesh. Found by chaos on a busy machine.
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh } from '../oracle/meshes.js';

test('is answered with the loss of the worker', async () => {
  const { service, workers } = await KillableService.create();
  const mesh = await service.addMesh(boxMesh(1, 1, 1));
  workers[0].holdAll();
  const asked = service.overlap({ type: 'mesh', mesh }).catch((error) => error);
  // It is sent before the mesh is removed.
  await Promise.resolve();
  service.removeMesh(mesh);
  await workers[0].worker.terminate();
  expect(await asked).toMatchObject({ code: 'WORKER_LOST', message: expect.stringMatching(/^overlap: .*gone since/) });
});
