// A command sent between two workers must be in the frame that waits for the next one as well: that frame is staged by
// then, and is run after everything that the next worker is sent.

import type { FrameResult } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

const SPHERE = { type: 'sphere', radius: 1 } as const;
const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 100, height: 100 },
};
const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;

/** Runs `act` between two workers; `act` returns the waiting frame. */
async function between(mortal: KillableService, act: () => Promise<FrameResult>): Promise<FrameResult> {
  let frame: Promise<FrameResult> | undefined;
  const begin = () => {
    frame = act();
  };
  mortal.service.addEventListener('lost', begin, { once: true });
  await mortal.kill();
  return (await frame!).copy();
}

test.each(['setTransform', 'setTransforms'] as const)('an object is where it was set after %s', async (how) => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const id = service.addObject({ shape: SPHERE });
  const other = service.addObject({ shape: SPHERE, matrix: at(11.5) });
  await service.update();
  const frame = await between(mortal, () => {
    if (how === 'setTransform') service.setTransform(id, at(5));
    else service.setTransforms(Uint32Array.of(id), Float32Array.from(at(5)));
    const answer = service.update();
    service.setObject(id, { matrix: at(10) });
    return answer;
  });
  expect([...frame.contacts].map(({ a, b }) => [a, b])).toEqual([[id, other]]);
});

test('a view that is removed behind the frame that waits is not in it, and its place is free', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const id = service.addObject({ shape: SPHERE });
  await service.update();
  const frame = await between(mortal, () => {
    service.setView(VIEW);
    service.setView(VIEW, 'other');
    const answer = service.update();
    service.removeView('other');
    return answer;
  });
  expect([...frame.views.keys()]).toEqual(['main']);
  service.setView(VIEW, 'third');
  const { views } = await service.update();
  expect([...views.keys()]).toEqual(['main', 'third']);
  expect([...views.get('third')!.entered]).toEqual([id]);
});

test('the last of many objects is looked for as the first is', async () => {
  const { service } = await KillableService.create();
  const ids = service.addInstances({ shape: SPHERE }, 3);
  service.removeObject(ids[2]);
  const unknown = expect.objectContaining({ code: 'UNKNOWN_ID', message: expect.stringContaining('[2]') });
  expect(() => service.setTransforms(ids, new Float32Array(48))).toThrow(unknown);
  expect(() => service.moveInstances(ids, new Float32Array(48), at(0))).toThrow(unknown);
  const ray = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;
  await expect(service.raycast(ray, { ignore: [...ids] })).rejects.toEqual(unknown);
  await expect(service.sees(VIEW, ids)).rejects.toEqual(unknown);
});
