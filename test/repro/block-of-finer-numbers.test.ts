// An update() that joins the waiting one replaced a block of float32 matrices by one of float64, which was kept for the next
// worker as float32.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

test('the next worker gets the matrices as they were given last', async () => {
  const mortal = await KillableService.create();
  const { service, workers } = mortal;
  const ids = service.addInstances({ shape: { type: 'sphere', radius: 1 } }, 2);
  const matricesAt = (x: number) => [x, x + 100].flatMap((each) => new Matrix4().makeTranslation(each, 0, 0).toArray());
  const x = 1e7 + 0.3;
  workers[0].hold();
  const frames = [service.update()];
  for (const matrices of [new Float32Array(matricesAt(0)), new Float64Array(matricesAt(x))]) {
    service.setTransforms(ids, matrices);
    frames.push(service.update());
  }
  await workers[0].letGo();
  await Promise.all(frames);
  const nearest = async () => (await service.closestPoint([x, 10, 0]))!.point;
  expect(await nearest()).toEqual([x, 1, 0]);
  await mortal.kill();
  expect(await nearest()).toEqual([x, 1, 0]);
});
