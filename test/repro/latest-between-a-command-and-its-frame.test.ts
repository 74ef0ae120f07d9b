// A pick with `latest` that waited for the previous one was sent as soon as that was
// answered: between a command that was sent ahead of a joined frame, and the frame. It saw
// an object removed that another one had replaced, and the other one not yet moved there.
import { createCollisionService } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';

const turn = () => new Promise((resolve) => setTimeout(resolve, 50));

test('a pick with latest sees the scene as it was at some time', async () => {
  const worker = new HeldWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const camera = new OrthographicCamera(-50, 50, 50, -50, 0.1, 100);
  camera.position.z = 10;
  camera.updateMatrixWorld();
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: { width: 100, height: 100 },
  });
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  const ball = { shape: { type: 'sphere', radius: 1 } } as const;
  const [first, second] = [
    service.addObject({ ...ball, matrix: at(0) }),
    service.addObject({ ...ball, matrix: at(40) }),
  ];
  await service.update();
  const pick = () => service.pick(50, 50, { method: 'screen', radius: 10, latest: true });

  worker.holdAll();
  const before = pick();
  await turn();
  const frame = service.update();
  const pickedThen = pick();
  await turn();
  // The second moves to the first one's position; then the first is removed, in a frame that joins the waiting one.
  service.setTransform(second, at(0));
  service.update();
  service.removeObject(first);
  const joined = service.update();
  await turn();
  await worker.release();
  await turn();
  await worker.letGo();
  expect((await before)?.object).toBe(first);
  expect((await pickedThen)?.object).toBe(second);
  await Promise.all([frame, joined]);
  service.dispose();
});
