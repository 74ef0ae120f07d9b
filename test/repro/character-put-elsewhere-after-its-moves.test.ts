// A character that was put elsewhere made there the moves that were asked for before: those of the same frame, and those of a
// frame that waited for the worker.
import { expect, test } from 'vitest';
import { CAPSULE, createHero, service, withService } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

withService();

test('a character that is put elsewhere leaves the moves before that behind, and makes those after it', async () => {
  const character = createHero();
  const other = createHero([0, 0, 9]);
  for (const hero of [character, other]) {
    hero.set({ gravity: 0 });
    hero.advance([6, 0, 0], 1 / 6);
    hero.move([5, 0, 0]);
  }
  character.set({ position: [10, 0, 0] });
  await service.update();
  expect(character.state.position).toEqual([10, 0, 0]);
  expect(other.state.position[0]).toBeCloseTo(6, 9);
  character.move([5, 0, 0]);
  character.set({ position: [10, 0, 0] });
  character.move([0.5, 0, 0]);
  character.set({ layers: 1 });
  await service.update();
  expect(character.state.position).toEqual([10.5, 0, 0]);
});

test('it leaves those of a frame behind that waits, and is joined', async () => {
  const character = createHero();
  const frames = [service.update()];
  character.move([5, 0, 0]);
  frames.push(service.update());
  character.set({ position: [10, 0, 0] });
  character.move([1, 0, 0]);
  frames.push(service.update());
  await Promise.all(frames);
  expect(character.state.position).toEqual([11, 0, 0]);
});

test('it leaves those of a frame behind that waits for the next worker', async () => {
  const mortal = await KillableService.create();
  const character = mortal.service.createCharacter({ shape: CAPSULE, gravity: 0 });
  await mortal.service.update();
  const lost = new Promise((resolve) => mortal.service.addEventListener('lost', resolve, { once: true }));
  const restored = mortal.kill();
  await lost;
  character.move([5, 0, 0]);
  const frame = mortal.service.update();
  character.set({ position: [10, 0, 0] });
  await Promise.all([frame, restored]);
  await mortal.service.update();
  expect(character.state.position).toEqual([10, 0, 0]);
});
