// A lift that moves while there is no worker takes the character on it along in the next worker's first frame.
import { expect, test } from 'vitest';
import { CAPSULE, FRAME_SECONDS, SKIN, translation } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

test.each([
  [0.5, 0],
  [0, 1.5],
  [0, -1.5],
  [300, 20],
])('a lift that moves by %d, %d', async (x, y) => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const lift = service.addObject({ shape: { type: 'box', halfExtents: [2, 0.1, 2] }, contacts: 'none' });
  const character = service.createCharacter({ shape: CAPSULE, position: [0, 0.1 + SKIN, 0] });
  const step = () => {
    character.advance([0, 0, 0], FRAME_SECONDS);
    return service.update();
  };
  await step();
  await step();
  const isDown = new Promise((resolve) => service.addEventListener('lost', resolve));
  const isRestored = mortal.kill();
  await isDown;
  service.setTransform(lift, translation(x, y, 0));
  await Promise.all([step(), isRestored]);
  for (let i = 0; i < 2; i++) {
    await step();
    expect(character.state.position[0]).toBeCloseTo(x, 6);
    expect(character.state.position[1]).toBeCloseTo(y + 0.1 + SKIN, 6);
    expect(character.state.ground?.object).toBe(lift);
  }
  // Where it is set is not its ground's affair.
  character.set({ position: [x + 1, y + 0.1 + SKIN, 0] });
  service.setTransform(lift, translation(x, y, 1));
  await step();
  expect(character.state.position[2]).toBe(0);
});
