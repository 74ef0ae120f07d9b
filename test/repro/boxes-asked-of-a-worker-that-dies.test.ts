// Queries of a mesh's boxes, and a bake, change nothing, and are sent to the next worker like every other query. All three
// rejected with WORKER_LOST.
import type { CollisionService, MeshId } from 'collision-worker';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { boxMesh } from '../oracle/meshes.js';

test.each<[string, (service: CollisionService, mesh: MeshId) => Promise<unknown>]>([
  ['meshBoxes', (service, mesh) => service.meshBoxes(mesh, { level: 1 })],
  [
    'checkBoxes',
    (service, mesh) => service.checkBoxes(mesh, [{ name: 'all', center: [0, 0, 0], halfExtents: [1, 1, 1] }]),
  ],
  ['bakeMesh', async (service, mesh) => new Uint8Array(await service.bakeMesh(mesh))],
])('%s', async (_, ask) => {
  const { service, workers } = await KillableService.create();
  const mesh = await service.addMesh(boxMesh(1, 1, 1));
  const truth = await ask(service, mesh);
  workers[0].holdAll();
  const asked = ask(service, mesh);
  // It is sent before the worker dies.
  await Promise.resolve();
  await workers[0].worker.terminate();
  expect(await asked).toEqual(truth);
});
