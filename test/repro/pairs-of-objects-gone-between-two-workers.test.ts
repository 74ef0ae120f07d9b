// The next worker is sent the existing pairs. Those of which both objects had been removed since were kept: nothing in it
// had moved that would have triggered another check.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { pairKeys } from '../oracle/events.js';

test.each([
  ['nothing else', 0, {}],
  ['more than there is time for', 100, { contactBudget: 1e-3 }],
])('pairs of objects that are gone have ended, beside %s', async (_, others, options) => {
  const mortal = await KillableService.create(options);
  const { service } = mortal;
  const pair = [0, 1].map(() => service.addObject({ shape: { type: 'sphere', radius: 1 } }));
  for (let count = 0; count < 1; ) count = (await service.update()).contacts.count;
  const matrix = new Matrix4().makeTranslation(50, 0, 0).elements;
  service.addInstances({ shape: { type: 'sphere', radius: 1 }, matrix }, others);
  const removeBoth = () => {
    for (const id of pair) service.removeObject(id);
  };
  service.addEventListener('lost', removeBoth, { once: true });
  await mortal.kill();
  const { contacts } = await service.update();
  expect(pairKeys(contacts.endedA, contacts.endedB)).toEqual([pair.join(':')]);
  expect([...contacts.a, ...contacts.b]).not.toContain(pair[0]);
});
