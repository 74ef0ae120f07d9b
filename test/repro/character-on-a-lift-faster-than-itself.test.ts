// A lift that rises by more than the height of a character in one frame takes it along, as a slow one does: it is not in its way.
import type { Shape, Vec3 } from 'collision-worker';
import { BoxGeometry } from 'three';
import { expect, test } from 'vitest';
import { createHero, SKIN, service, translation, walk, withService } from '../fixtures/character-stage.js';
import { trianglesOf } from '../oracle/meshes.js';

withService();

const shapes: Record<string, () => Promise<Shape>> = {
  'a box': async () => ({ type: 'box', halfExtents: [2, 0.1, 2] }),
  'a mesh': async () => ({ type: 'mesh', mesh: await service.addMesh(trianglesOf(new BoxGeometry(4, 0.2, 4))) }),
  'a solid mesh': async () => ({ ...(await shapes['a mesh']()), solid: true }) as Shape,
};
const directions: Vec3[] = [
  [0, 1, 0],
  [0, -1, 0],
  [1, 1, 0],
  [1, 0, 0],
];

test.each(Object.keys(shapes))('on %s, at any speed', async (name) => {
  const shape = await shapes[name]();
  for (const speed of [0.05, 0.5, 1, 1.5, 2, 5, 100, 1000]) {
    for (const [x, y, z] of directions) {
      const lift = service.addObject({ shape, contacts: 'none' });
      const character = createHero([0, 0.1 + SKIN, 0]);
      await walk(character, [0, 0, 0], 2);
      for (let i = 1; i <= 3; i++) {
        service.setTransform(lift, translation(x * speed * i, y * speed * i, z * speed * i));
        const [px, py] = await walk(character, [0, 0, 0], 1);
        expect(px).toBeCloseTo(x * speed * i, 4);
        expect(py).toBeCloseTo(y * speed * i + 0.1 + SKIN, 4);
        expect(character.state.ground?.object).toBe(lift);
      }
      character.remove();
      service.removeObject(lift);
    }
  }
});

test('at the rate of a worker that answers late', async () => {
  const lift = service.addObject({ shape: await shapes['a box'](), contacts: 'none' });
  const character = createHero([0, 0.1 + SKIN, 0]);
  await walk(character, [0, 0, 0], 2);
  const answers: Promise<unknown>[] = [];
  for (let i = 1; i <= 100; i++) {
    service.setTransform(lift, translation(0, 0.05 * i, 0));
    character.advance([0, 0, 0], 1 / 60);
    answers.push(service.update());
  }
  await Promise.all(answers);
  expect(character.state.position[1]).toBeCloseTo(5.1 + SKIN, 4);
});

test('also if the lift is teleported', async () => {
  const lift = service.addObject({ shape: await shapes['a box'](), contacts: 'none' });
  const character = createHero([0, 0.1 + SKIN, 0]);
  await walk(character, [0, 0, 0], 2);
  for (const x of [1, 20, 500]) {
    service.setObject(lift, { matrix: translation(x, x, 0) });
    const [px, py] = await walk(character, [0, 0, 0], 1);
    expect(px).toBeCloseTo(x, 4);
    expect(py).toBeCloseTo(x + 0.1 + SKIN, 4);
    expect(character.state.ground?.object).toBe(lift);
  }
});
