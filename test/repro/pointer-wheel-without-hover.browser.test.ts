// preventDefault of forwardPointerEvents gets what is under the pointer, also if that listens to nothing but wheels. Moves, and
// each frame, do not ask for such objects, so a wheel over one scrolled the page.
import { expect, test } from 'vitest';
import {
  CENTER_X,
  dispatchPointer,
  forward,
  LEFT,
  RIGHT,
  settleEvents,
  twoCubes,
  usePointerStage,
} from '../fixtures/pointer-stage.js';

usePointerStage();

test('an object with a wheel listener alone keeps the page from scrolling, from the first wheel on', async () => {
  const { left, right, tracker } = await twoCubes();
  const hits: unknown[] = [];
  left.addEventListener('wheel', () => {});
  right.addEventListener('click', () => {});
  forward(tracker, {
    preventDefault: ({ type }, hit) => {
      hits.push(hit?.object ?? null);
      return type === 'wheel' && hit !== null;
    },
  });
  for (const [x, object] of [
    [LEFT, left],
    [CENTER_X, null],
    [RIGHT, right],
    [LEFT, left],
  ] as const) {
    dispatchPointer('pointermove', x);
    await settleEvents(tracker);
    expect(dispatchPointer('wheel', x).defaultPrevented).toBe(object !== null);
    await settleEvents(tracker); // a frame, too
    expect(dispatchPointer('wheel', x).defaultPrevented).toBe(object !== null);
    dispatchPointer('click', x);
    expect(hits.splice(0)).toEqual([object, object, object === left ? null : object]);
  }
  dispatchPointer('pointerleave', LEFT);
  await settleEvents(tracker);
  expect(dispatchPointer('wheel', LEFT).defaultPrevented).toBe(false);
});
