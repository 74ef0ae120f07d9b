// Objects in one place that cannot form pairs were compared pair by pair, and many that touch lost the worker.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';

const RAY = { origin: [0, 0, 5], direction: [0, 0, -1] } as const;

test.each([undefined, 4])('100,000 boxes in one place that touch, contactBudget %s', async (contactBudget) => {
  // Its clock is the machine's, since a budget is in real milliseconds.
  const worker = new GatedWorker(1);
  const options = contactBudget ? { contactBudget } : {};
  const service = await createCollisionService({ ...options, createWorker: () => worker, builders: 0, restart: false });
  const box = { type: 'box', halfExtents: [1, 1, 1] } as const;
  const ids = Array.from({ length: 100_000 }, () => service.addObject({ shape: box, contacts: 'any' }));
  const update = () => service.update();
  const { answer, answered } = await worker.answeredWithin(10, update, async () => {
    expect((await service.raycast(RAY))?.distance).toBe(4);
  });
  expect(answered).toBeGreaterThan(0);
  const { contacts } = answer;
  expect(contacts.truncated).toBe(true);
  expect(contacts.count).toBeGreaterThan(0);
  if (contactBudget) expect(contacts.waiting).toBeGreaterThan(0);
  // They separate, and everything works again.
  for (const [i, id] of ids.entries()) {
    service.setTransform(id, new Matrix4().makeTranslation(3 * (i >> 1), 0, 0).elements);
  }
  for (let frame = 0, left = 1; left > 0; frame++) {
    expect(frame).toBeLessThan(200);
    const result = (await service.update()).contacts;
    expect(result.truncated).toBe(false);
    left = result.waiting + result.stale.reduce((sum, of) => sum + of, 0);
    if (left === 0) expect(result.count).toBe(50_000);
  }
  await service.dispose();
});

test('100,000 boxes of one group in one place', async () => {
  const service = await createCollisionService({ restart: false });
  const box = { type: 'box', halfExtents: [1, 1, 1] } as const;
  for (let i = 0; i < 100_000; i++) service.addObject({ shape: box, group: 5 });
  const { contacts } = await service.update();
  expect(contacts).toMatchObject({ count: 0, truncated: false });
  await service.dispose();
});
