// A character that was repositioned while a frame was in progress moved back to its old position with that frame's answer, and so
// did its object: for one render, or permanently if the worker was lost then.
import type { Character } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Mesh, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { createHero, service, withService } from '../fixtures/character-stage.js';
import { KillableService } from '../fixtures/mortal.js';

withService();

const xOf = ({ state }: Character): number => state.position[0];

test('it is where it was placed, whichever answer comes', async () => {
  const character = createHero([0, 0, 0]);
  character.set({ gravity: 0 });
  for (let x = 1; x < 6; x++) {
    await service.update();
    // One is in the worker, and one that waits is requested again.
    const frames = [service.update(), service.update()];
    character.set({ position: [x, 0, 0] });
    if (x > 3) frames.push(service.update());
    for (const frame of frames) {
      await frame;
      expect(xOf(character)).toBe(x);
    }
  }
  character.advance([1, 0, 0], 1 / 60);
  await service.update();
  expect(xOf(character)).toBeCloseTo(5 + 1 / 60, 9);
});

test('it is there in the next worker', async () => {
  const mortal = await KillableService.create();
  const shape = { type: 'capsule', radius: 0.3, from: [0, 0, 0], to: [0, 1, 0] } as const;
  const character = mortal.service.createCharacter({ shape, gravity: 0 });
  await mortal.service.update();
  const frame = mortal.service.update();
  character.set({ position: [5, 0, 0] });
  await frame;
  await mortal.kill();
  await mortal.service.update();
  expect(xOf(character)).toBe(5);
});

test('its object is there, too', async () => {
  const object = new Mesh();
  const tracker = await trackScene(service, new Scene().add(object));
  const shape = { type: 'capsule', radius: 0.3, from: [0, 0, 0], to: [0, 1, 0] } as const;
  const character = tracker.createCharacter({ object, shape, gravity: 0 });
  const update = () => tracker.update(new PerspectiveCamera(), { width: 9, height: 9 });
  await update();
  const frame = update();
  character.set({ position: [5, 0, 0] });
  await frame;
  expect(object.position.x).toBe(5);
  await update();
  expect(object.position.x).toBe(5);
});
