// Queries made between two workers are sent to the next one, which was sent no mesh that had been removed since.
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { icosphere } from '../oracle/meshes.js';

test('a question about a mesh is answered that is removed right after, while there is no worker', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  const mesh = await service.addMesh(icosphere(1, 1));
  await service.update();
  const answers: Promise<unknown>[] = [];
  const ask = () => {
    answers.push(service.overlap({ type: 'mesh', mesh }), service.bakeMesh(mesh));
    service.removeMesh(mesh);
  };
  service.addEventListener('lost', ask, { once: true });
  await mortal.kill();
  const [met, baked] = await Promise.all(answers);
  expect(met).toEqual(Uint32Array.of(id));
  expect((baked as ArrayBuffer).byteLength).toBeGreaterThan(0);
  expect(mortal.events).toEqual(['lost', 'restored']);
});
