// The next worker was told of the last frame as it was sent, with a view that had been removed since: it was there again,
// and had the place of the next one.
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { Mortal } from '../fixtures/mortal.js';

const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 100, height: 100 },
};

test.each(['before the worker is lost', 'between two workers'])('a view removed %s is gone', async (when) => {
  const mortal = await Mortal.create();
  const { service } = mortal;
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  service.setView(VIEW);
  service.setView(VIEW, 'other');
  await service.update();
  if (when === 'before the worker is lost') service.removeView('other');
  else service.addEventListener('lost', () => service.removeView('other'), { once: true });
  await mortal.kill();
  expect([...(await service.update()).views.keys()]).toEqual(['main']);
  service.setView(VIEW, 'third');
  const third = (await service.update()).views.get('third');
  expect([...third!.entered]).toEqual([id]);
});
