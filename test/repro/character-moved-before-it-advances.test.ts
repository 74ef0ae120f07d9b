// A vector that a character was moved by was lost if it advanced after that in the same frame.
import { expect, test } from 'vitest';
import { addFloor, createHero, service, walk, withService } from '../fixtures/character-stage.js';

withService();

test('a character moves by a vector and by steps in one frame, in their order', async () => {
  const [before, after, both] = [0, 5, 10].map((z) => createHero([0, 0, z]));
  for (const character of [before, after, both]) character.set({ gravity: 0 });
  // A wall in the way of a step shows whether the vector came first.
  service.addObject({ shape: { type: 'box', halfExtents: [0.1, 9, 9], center: [2, 0, 0] }, contacts: 'none' });
  before.move([0, 20, 0]);
  before.advance([60, 0, 0], 1 / 10);
  after.advance([60, 0, 0], 1 / 10);
  after.move([0, 20, 0]);
  both.move([0, 10, 0]);
  both.advance([0, 0, 60], 1 / 10);
  both.move([0, 10, 0]);
  await service.update();
  expect(before.state.position).toEqual([6, 20, 0].map((x) => expect.closeTo(x, 3)));
  expect(after.state.position).toEqual([1.594, 20, 5].map((x) => expect.closeTo(x, 3)));
  expect(both.state.position).toEqual([0, 20, 16].map((x) => expect.closeTo(x, 3)));
  expect([before, after, both].map(({ state }) => state.steps)).toEqual([6, 6, 6]);
  // It is drawn between its last two steps, and nowhere on the way of the vector.
  expect(before.state.interpolated).toEqual([5, 20, 0].map((x) => expect.closeTo(x, 3)));
});

test('a character that jumps and is moved before it advances still jumps', async () => {
  addFloor();
  const hero = createHero();
  const [, floor] = await walk(hero, [0, 0, 0], 2);
  expect(hero.state.isStanding).toBe(true);
  hero.jump(3);
  hero.move([0, 0, 1]);
  hero.advance([0, 0, 0], 1 / 10);
  await service.update();
  expect(hero.state).toMatchObject({ isStanding: false });
  expect(hero.state.position[1]).toBeGreaterThan(floor + 0.2);
  expect(hero.state.position[2]).toBeCloseTo(1, 6);
});
