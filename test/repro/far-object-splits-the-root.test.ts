// A full root was split around its contents: the next object, far from all of them, was put into the child on its side, which all
// queries nearby then had to visit.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../src/shared/layout.js';
import { ball, World } from '../fixtures/exact-answers.js';

test.each([1e3, 1e6, 1e9])('what comes %d away from a full root is in a cell of its own', async (distance) => {
  const world = await World.create();
  const flags = layout.FLAG_STATIC | layout.FLAG_PICKABLE | layout.FLAG_CULLABLE;
  const add = (x: number, y: number) => world.add(ball(0.1), new Matrix4().makeTranslation(x, y, 0), { flags });
  // A leaf takes 64: the next object, far away, splits it.
  for (let i = 0; i < 64; i++) add(i % 8, Math.floor(i / 8));
  world.frame();
  add(distance, -distance);
  world.frame();
  expect(world.core.check()).toBeNull();
});
