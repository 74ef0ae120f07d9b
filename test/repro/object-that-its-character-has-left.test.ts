// An object that its character has left goes where it is set, also to where it was set before the character took it along.
import { expect, test } from 'vitest';
import { CAPSULE, createHero, service, translation, withService } from '../fixtures/character-stage.js';

withService();

test.each<[string, (character: ReturnType<typeof createHero>) => void]>([
  ['is removed', (character) => character.remove()],
  ['takes no object along', (character) => character.set({ object: 0 })],
])('an object goes back to its first place when its character %s', async (_, leave) => {
  const body = service.addObject({ shape: CAPSULE });
  service.setTransform(body, translation(3, 0, 0));
  await service.update();
  const character = createHero([3, 0, 0]);
  character.set({ object: body });
  for (let i = 0; i < 2; i++) {
    service.setTransform(body, translation(3, 0, 0));
    character.move([2, 0, 0]);
    await service.update();
  }
  expect(await service.containing([7, 1, 0])).toEqual(Uint32Array.of(body));
  service.setTransform(body, translation(3, 0, 0));
  leave(character);
  await service.update();
  expect(await service.containing([3, 1, 0])).toEqual(Uint32Array.of(body));
  expect(await service.containing([7, 1, 0])).toEqual(new Uint32Array());
});
