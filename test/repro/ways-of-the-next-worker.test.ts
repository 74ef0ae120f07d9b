// Continuous objects have the same ways in the first frame of the next worker as in one that was not lost.
import { expect, test } from 'vitest';
import { CAPSULE, translation } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

async function withWall() {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const wall = service.addObject({ shape: { type: 'box', halfExtents: [0.1, 5, 5] }, motion: 'static' });
  const ball = { shape: { type: 'sphere', radius: 0.1 }, continuous: true, group: 1 } as const;
  return { mortal, service, wall, ball };
}

test.each([1, 2])('what is new, was put somewhere or became continuous before %d losses has no way', async (losses) => {
  const { mortal, service, wall, ball } = await withWall();
  const [put, changed, moved] = [0, 1, 2].map((y) => service.addObject({ ...ball, matrix: translation(-5, y, 0) }));
  service.setObject(changed, { continuous: false });
  await service.update();
  const added = service.addObject({ ...ball, matrix: translation(-5, 3, 0) });
  service.setObject(put, { matrix: translation(-4, 0, 0) });
  service.setObject(changed, { continuous: true });
  for (let i = 0; i < losses; i++) await mortal.kill();
  for (const [y, id] of [put, changed, moved, added].entries()) service.setTransform(id, translation(5, y, 0));
  const { contacts } = await service.update();
  expect([...contacts].map(({ a, b }) => [a, b])).toEqual([[wall, moved]]);
  // From then on all have one.
  for (const [y, id] of [put, changed, moved, added].entries()) service.setTransform(id, translation(-5, y, 0));
  expect((await service.update()).contacts.count).toBe(4);
});

test('what a character takes along has its way', async () => {
  const { mortal, service, wall, ball } = await withWall();
  const body = service.addObject(ball);
  const hero = service.createCharacter({
    ...{ shape: CAPSULE, position: [-5, 0, 0], object: body, ignore: [wall] },
  });
  await service.update();
  await mortal.kill();
  hero.move([10, 0, 0]);
  const { contacts } = await service.update();
  expect(hero.state.position[0]).toBe(5);
  expect([...contacts].map(({ a, b }) => [a, b])).toEqual([[wall, body]]);
  // Where it is put, it has none.
  hero.set({ position: [-5, 0, 0] });
  await mortal.kill();
  expect((await service.update()).contacts.count).toBe(0);
});
