// A frame behind a command that ran out of memory was run, and its answer was the error: events that began and views
// that entered in it were never reported.
import { createCollisionService, type WorkerLike } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { createLimitedWorker } from '../fixtures/limited-memory.js';

test('what begins in a frame that is refused begins in the next one', async () => {
  const createWorker = () => createLimitedWorker(100) as unknown as WorkerLike;
  const service = await createCollisionService({ createWorker, builders: 0 });
  onTestFinished(() => service.dispose());
  const projection = new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements;
  const view = new Matrix4().makeTranslation(0, 0, -10).elements;
  service.setView({ projection, view, viewport: { width: 100, height: 100 } });
  const [a, b] = [0, 1].map(() => service.addObject({ shape: { type: 'sphere', radius: 1 } }));
  const unseen = { layers: 0, collidesWith: 0, contacts: 'none', cullable: false } as const;
  const crowd = service.addInstances({ shape: { type: 'sphere', radius: 1 }, ...unseen }, 40_000);
  await expect(service.update()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
  for (const id of crowd) service.removeObject(id);
  const { contacts, visible } = await service.update();
  expect([...contacts.a, ...contacts.b]).toEqual([a, b]);
  expect([...contacts.begun]).toEqual([1]);
  expect([...visible.entered]).toEqual([a, b]);
});
