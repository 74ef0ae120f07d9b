// The steps of a character that was put elsewhere were 0 until the next answer, and without those of a lost worker from then on.
import { expect, test } from 'vitest';
import { CAPSULE } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

test('a character that is put elsewhere keeps its count of steps', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const character = service.createCharacter({ shape: CAPSULE, step: 1 / 8 });
  const walk = () => {
    character.advance([1, 0, 0], 1 / 4);
    return service.update();
  };
  const put = (x: number) => character.set({ position: [x, 0, 0] });
  await walk();
  put(5);
  expect(character.state.steps).toBe(2);
  await walk();
  expect(character.state.steps).toBe(4);
  put(6);
  await mortal.kill();
  expect(character.state).toMatchObject({ steps: 4, position: [6, 0, 0] });
  await walk();
  expect(character.state.steps).toBe(6);
  put(7);
  await walk();
  expect(character.state.steps).toBe(8);
  await mortal.kill();
  await walk();
  expect(character.state.steps).toBe(10);
});
