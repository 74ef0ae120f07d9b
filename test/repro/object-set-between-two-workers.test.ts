// An object set between two workers, behind an update() that waits for the next one, was where that update() had it.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

test('an object is where it was set last', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  await service.update();
  const answers: Promise<unknown>[] = [];
  const set = () => {
    service.setTransform(id, at(5));
    answers.push(service.update());
    service.setObject(id, { matrix: at(10) });
  };
  service.addEventListener('lost', set, { once: true });
  await mortal.kill();
  await Promise.all(answers);
  for (let i = 0; i < 2; i++) {
    expect(await service.raycast(down(5))).toBeNull();
    expect(await service.raycast(down(10))).toMatchObject({ object: id });
    await service.update();
  }
});
