// With a budget a pair stays until there is time to look at it; pairs of objects that went between two workers stayed too.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { Mortal } from '../node/mortal.js';
import { pairKeys } from '../oracle/events.js';

test('pairs of objects that are gone have ended, however little time there is', async () => {
  const mortal = await Mortal.create({ contactBudget: 1e-3 });
  const { service } = mortal;
  const [a, b] = [0, 1].map(() => service.addObject({ shape: { type: 'sphere', radius: 1 } }));
  let begun = false;
  while (!begun) begun = (await service.update()).contacts.count === 1;
  // Enough to be busy with.
  const matrix = new Matrix4().makeTranslation(50, 0, 0).elements;
  service.addInstances({ shape: { type: 'sphere', radius: 1 }, matrix }, 100);
  service.addEventListener('lost', () => service.removeObject(a), { once: true });
  await mortal.kill();
  const { contacts } = await service.update();
  expect(pairKeys(contacts.endedA, contacts.endedB)).toEqual([`${a}:${b}`]);
  expect([...contacts.a]).not.toContain(a);
});
