// On an element of an iframe, a listener that captured a finger that was gone threw NotFoundError, because an error of another
// document is not of this one's class.
import { forwardPointerEvents } from 'collision-worker/pointer';
import { expect, test, vi } from 'vitest';
import { cleanups, LEFT, settleEvents, twoCubes, usePointerStage } from '../fixtures/pointer-stage.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

usePointerStage();

test('a finger that is gone can be captured without harm in an iframe', async () => {
  const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  const iframe = document.createElement('iframe');
  document.body.append(iframe);
  cleanups.push(() => iframe.remove());
  const { document: inner, PointerEvent } = iframe.contentWindow as Window & typeof globalThis;
  const element = inner.createElement('div');
  element.style.cssText = `position: fixed; left: 0; top: 0; width: ${SIZE.width}px; height: ${SIZE.height}px`;
  inner.body.append(element);
  const { left, tracker } = await twoCubes();
  await tracker.update(frontCamera(), SIZE);
  const heard: string[] = [];
  left.addEventListener('pointerdown', ({ pointerId }) => {
    left.setPointerCapture(pointerId);
    heard.push('captured');
  });
  left.addEventListener('pointerup', () => heard.push('up'));
  cleanups.push(forwardPointerEvents(tracker, element));
  const init = { pointerId: 77, pointerType: 'touch', bubbles: true, clientX: LEFT, clientY: SIZE.height / 2 };
  for (const type of ['pointerdown', 'pointerup']) element.dispatchEvent(new PointerEvent(type, init));
  await settleEvents(tracker);
  expect(reported.mock.calls).toEqual([]);
  expect(heard).toEqual(['captured', 'up']);
});
