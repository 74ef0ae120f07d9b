// An object that a character has moved is where the character left it, also in the next worker.
import { expect, test } from 'vitest';
import { CAPSULE, translation } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

test.each([
  ['is gone', true],
  ['takes it along no more', false],
])('an object stays where its character left it, which %s', async (_, isRemoved) => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const others = [0, 2].map((z) => service.addObject({ shape: CAPSULE, matrix: translation(0, 0, z) }));
  const body = service.addObject({ shape: CAPSULE });
  service.setTransform(body, [0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 3, 0, 9, 1]);
  const character = service.createCharacter({ shape: CAPSULE, gravity: 0, position: [3, 0, 9], object: body });
  const free = service.createCharacter({ shape: CAPSULE, gravity: 0, position: [3, 0, 20] });
  for (let i = 0; i < 2; i++) {
    character.move([2, 0, 0]);
    free.move([2, 0, 0]);
    await service.update();
  }
  if (isRemoved) character.remove();
  else character.set({ object: 0 });
  for (let i = 0; i < 2; i++) {
    expect(await service.containing([7, 1, 9])).toEqual(Uint32Array.of(body));
    expect(await service.containing([3, 1, 9])).toEqual(new Uint32Array());
    expect(await service.containing([0, 1, 0])).toEqual(Uint32Array.of(others[0]));
    expect(await service.containing([0, 1, 2])).toEqual(Uint32Array.of(others[1]));
    await mortal.kill();
    await service.update();
  }
});
