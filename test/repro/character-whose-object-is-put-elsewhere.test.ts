// An object that is put elsewhere with its character passes through nothing on its way there.
import { expect, test } from 'vitest';
import { addBlock, CAPSULE, createHero, FRAME_SECONDS, service, withService } from '../fixtures/character-stage.js';

withService();

test('a continuous object touches nothing between two places of its character', async () => {
  const wall = addBlock(10, 0, 0, [0.1, 5, 5]);
  service.setObject(wall, { contacts: 'manifold' });
  const body = service.addObject({ shape: CAPSULE, continuous: true });
  const character = createHero();
  character.set({ object: body, gravity: 0 });
  await service.update();
  for (const x of [20, 0, 20]) {
    character.set({ position: [x, 0, 0] });
    character.advance([1, 0, 0], FRAME_SECONDS);
    expect((await service.update()).contacts.count).toBe(0);
    expect((await service.update()).contacts.count).toBe(0);
  }
  character.move([-8, 0, 0]);
  await service.update();
  character.set({ ignore: [wall] });
  character.move([-4, 0, 0]);
  const [contact] = (await service.update()).contacts;
  expect(contact).toMatchObject({ a: wall, b: body });
  expect(contact.time).toBeLessThan(1);
});
