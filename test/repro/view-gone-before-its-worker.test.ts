// The next worker was sent the last frame as it was, with a view that had been removed since: the view existed again, and
// occupied the slot of the next one.
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 100, height: 100 },
};

const WHEN = ['before the worker is lost', 'between two workers', 'behind an update() between two workers'] as const;

test.each(WHEN)('a view removed %s is gone', async (when) => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  service.setView(VIEW);
  service.setView(VIEW, 'other');
  await service.update();
  const waiting: Promise<unknown>[] = [];
  const remove = () => {
    if (when === 'behind an update() between two workers') {
      service.setView(VIEW, 'other');
      waiting.push(service.update());
    }
    service.removeView('other');
  };
  if (when === 'before the worker is lost') remove();
  else service.addEventListener('lost', remove, { once: true });
  await mortal.kill();
  await Promise.all(waiting);
  expect([...(await service.update()).views.keys()]).toEqual(['main']);
  service.setView(VIEW, 'third');
  const third = (await service.update()).views.get('third');
  expect([...third!.entered]).toEqual([id]);
});
