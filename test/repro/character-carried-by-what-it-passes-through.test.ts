// A platform that is hidden from a character and moved away in the same frame takes the character along no more.
import type { Character, ObjectId } from 'collision-worker';
import { expect, test } from 'vitest';
import {
  addBlock,
  addFloor,
  createHero,
  SKIN,
  service,
  translation,
  walk,
  withService,
} from '../fixtures/character-stage.js';

withService();

test.each<[string, (platform: ObjectId, character: Character) => void]>([
  ['is not pickable', (platform) => service.setObject(platform, { pickable: false })],
  ['is in none of its layers', (platform) => service.setObject(platform, { layers: 2 })],
  ['is ignored', (platform, character) => character.set({ ignore: [platform] })],
  ['is its own object', (platform, character) => character.set({ object: platform })],
  ['was removed', (platform) => service.removeObject(platform)],
])('a character falls off ground that %s and moves away', async (_, leave) => {
  addFloor();
  const platform = addBlock(0, 2, 0, [1, 0.1, 1]);
  const character = createHero([0, 2.1 + SKIN, 0]);
  character.set({ layers: 1 });
  await walk(character, [0, 0, 0], 5);
  expect(character.state.ground?.object).toBe(platform);
  service.setTransform(platform, translation(10, 2, 0));
  leave(platform, character);
  const [x, y] = await walk(character, [0, 0, 0], 60);
  expect(x).toBe(0);
  expect(y).toBeCloseTo(SKIN, 6);
});
