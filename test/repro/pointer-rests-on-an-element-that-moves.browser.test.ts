// A page scrolls, or an element is scaled, under a pointer that rests: browsers send no pointermove then, and what was under the
// pointer before stayed hovered. Browsers do not report either that a pointer leaves an element that is removed.
import type { SceneTracker } from 'collision-worker/three';
import type { Object3D } from 'three';
import { expect, test } from 'vitest';
import {
  canvas,
  dispatchPointer,
  forward,
  LEFT,
  RIGHT,
  settleEvents,
  twoCubes,
  usePointerStage,
} from '../fixtures/pointer-stage.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

usePointerStage();

/** Waits for another frame, and for what is asked in it. */
async function draw(tracker: SceneTracker): Promise<void> {
  await tracker.update(frontCamera(), SIZE);
  await settleEvents(tracker);
}

interface Cubes {
  readonly tracker: SceneTracker;
  readonly left: Object3D;
  readonly right: Object3D;
}

async function named() {
  const cubes = await twoCubes();
  cubes.left.name = 'left';
  cubes.right.name = 'right';
  return { cubes, tracker: cubes.tracker };
}

/** By what follows the pointer, how to know what is under it. */
const FOLLOWERS: [string, (cubes: Cubes) => () => string | null][] = [
  [
    'hover',
    ({ tracker }) => {
      let hovered: string | null = null;
      tracker.hover(canvas, (hit) => {
        hovered = hit?.object.name ?? null;
      });
      return () => hovered;
    },
  ],
  [
    'forwardPointerEvents',
    ({ tracker, left, right }) => {
      let hovered: string | null = null;
      for (const cube of [left, right]) {
        cube.addEventListener('pointerenter' as never, () => {
          hovered = cube.name;
        });
        cube.addEventListener('pointerleave' as never, () => {
          if (hovered === cube.name) hovered = null;
        });
      }
      forward(tracker);
      return () => hovered;
    },
  ],
];

test.each(FOLLOWERS)('%s finds what has come under it', async (_, follow) => {
  const { cubes, tracker } = await named();
  const hovered = follow(cubes);
  dispatchPointer('pointermove', LEFT);
  await draw(tracker);
  expect(hovered()).toBe('left');
  const { style } = canvas;
  style.left = `${10 + LEFT - RIGHT}px`;
  await draw(tracker);
  expect(hovered()).toBe('right');
  // From its upper left corner, the pointer is as far away as before, and the left cube twice as far.
  style.left = '10px';
  style.transformOrigin = '0 0';
  style.transform = `scale(${LEFT / RIGHT})`;
  style.top = `${20 + (canvas.offsetHeight / 2) * (1 - LEFT / RIGHT)}px`;
  await draw(tracker);
  expect(hovered()).toBe('right');
  style.transform = '';
  style.top = '20px';
  await draw(tracker);
  expect(hovered()).toBe('left');
});

test.each(FOLLOWERS)('%s finds nothing once the element is removed, nor when it comes back', async (_, follow) => {
  const { cubes, tracker } = await named();
  const hovered = follow(cubes);
  dispatchPointer('pointermove', LEFT);
  await draw(tracker);
  expect(hovered()).toBe('left');
  const parent = canvas.parentElement!;
  canvas.remove();
  await draw(tracker);
  expect(hovered()).toBe(null);
  parent.append(canvas);
  await draw(tracker);
  expect(hovered()).toBe(null);
  dispatchPointer('pointermove', LEFT);
  await draw(tracker);
  expect(hovered()).toBe('left');
});
