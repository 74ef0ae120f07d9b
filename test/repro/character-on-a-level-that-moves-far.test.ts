// A level that moves far in one frame, because the app moves its origin, takes characters along. The worker looks only at
// obstacles near them, not at all on the way: it needs no more memory than for a step.
import { PlaneGeometry } from 'three';
import { expect, test } from 'vitest';
import { addBlock, createHero, SKIN, service, translation, walk, withService } from '../fixtures/character-stage.js';
import { trianglesOf } from '../oracle/meshes.js';

withService();

test.each([30, 1000])('a level of 80,000 triangles moves by %i units', async (way) => {
  const mesh = await service.addMesh(trianglesOf(new PlaneGeometry(100, 100, 200, 200).rotateX(-Math.PI / 2)));
  const level = service.addObject({ shape: { type: 'mesh', mesh }, motion: 'static' });
  const character = createHero();
  await walk(character, [0, 0, 0], 5);
  const { usedBytes } = service.stats;
  service.setTransform(level, translation(way, 0, 0));
  const [x, y] = await walk(character, [0, 0, 0], 1);
  expect(x).toBeCloseTo(way, 6);
  expect(y).toBeCloseTo(SKIN, 6);
  expect(character.state.ground?.object).toBe(level);
  expect(service.stats.usedBytes - usedBytes).toBeLessThan(2 ** 20);
});

test('a wall on the way stops the character, on ground that moves by many of its sizes', async () => {
  const platform = addBlock(0, -0.1, 0, [100, 0.1, 100]);
  const wall = addBlock(20, 1, 0, [0.01, 1, 5]);
  const character = createHero();
  await walk(character, [0, 0, 0], 5);
  service.setTransform(platform, translation(50, -0.1, 0));
  const [x] = await walk(character, [0, 0, 0], 1);
  expect(x).toBeCloseTo(20 - 0.01 - 0.3 - SKIN, 6);
  expect(character.state.touches.map(({ object }) => object)).toContain(wall);
});
