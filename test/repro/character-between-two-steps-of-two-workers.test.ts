// Until its next step, a character in the worker after a lost one stood on triangle 0, whose normal was 0, 0, 0. It was drawn where
// its last step ended, and moved without making a step.
import { expect, test } from 'vitest';
import { CAPSULE } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

test('a character between two steps has the same state in the next worker', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const positions = new Float32Array([
    0, 9, 0, 1, 9, 0, 0, 9, 1, -9, 0, -9, -9, 0, 9, 9, 0, -9, 9, 0, -9, -9, 0, 9, 9, 0, 9,
  ]);
  const mesh = await service.addMesh({ positions });
  service.addObject({ shape: { type: 'mesh', mesh }, motion: 'static' });
  const character = service.createCharacter({ shape: CAPSULE, position: [-2, 0.1, -2], step: 1 / 8 });
  for (let i = 0; i < 3; i++) {
    character.advance([1, 0, 0], 3 / 16);
    await service.update();
  }
  const { frame, ...before } = character.state;
  expect(before).toMatchObject({ isStanding: true, ground: { triangle: 1 }, steps: 4 });
  expect(before.interpolated[0]).toBeLessThan(before.position[0]);
  await mortal.kill();
  await service.update();
  expect(character.state).toEqual({ ...before, frame: frame + 1 });
});
