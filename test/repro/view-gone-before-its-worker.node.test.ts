// The next worker was told of the last frame as it was sent, with a view that had been removed since: it was there again,
// and had the place of the next one.
import { createCollisionService } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { HeldWorker } from '../node/held-worker.js';

const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 100, height: 100 },
};

test.each(['before the worker is lost', 'between two workers'])('a view removed %s is gone', async (when) => {
  const workers: HeldWorker[] = [];
  const createWorker = () => {
    workers.push(new HeldWorker());
    return workers[workers.length - 1];
  };
  const service = await createCollisionService({ createWorker, builders: 0 });
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  service.setView(VIEW);
  service.setView(VIEW, 'other');
  await service.update();
  if (when === 'before the worker is lost') service.removeView('other');
  else service.addEventListener('lost', () => service.removeView('other'), { once: true });
  const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
  await workers[0].worker.terminate();
  await restored;
  expect([...(await service.update()).views.keys()]).toEqual(['main']);
  service.setView(VIEW, 'third');
  const third = (await service.update()).views.get('third');
  expect([...third!.entered]).toEqual([id]);
  service.dispose();
});
