// A custom element is inline unless its style says otherwise: the browser's offset is then relative to the block around it, and
// something else was under the pointer. And with an iframe that was removed, its element still had the pointer over it.
import { forwardPointerEvents } from 'collision-worker/pointer';
import { expect, test, vi } from 'vitest';
import { cleanups, LEFT, RIGHT, settleEvents, twoCubes, usePointerStage } from '../fixtures/pointer-stage.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

usePointerStage();

const CANVAS = `display: block; width: ${SIZE.width}px; height: ${SIZE.height}px`;

/** Follows the pointer over an element in both ways, and returns what is under it. */
async function follow(element: HTMLElement) {
  const { left, right, tracker } = await twoCubes();
  const over: Record<string, string> = { hover: '', events: '' };
  for (const [name, cube] of Object.entries({ left, right })) {
    cube.name = name;
    cube.addEventListener('pointerover' as never, () => {
      over.events = name;
    });
    cube.addEventListener('pointerout' as never, () => {
      over.events = '';
    });
  }
  tracker.hover(element, (hit) => {
    over.hover = hit?.object.name ?? '';
  });
  cleanups.push(forwardPointerEvents(tracker, element));
  const draw = async (): Promise<void> => {
    await tracker.update(frontCamera(), SIZE);
    await settleEvents(tracker);
  };
  await draw();
  return { over, draw };
}

test.each([
  ['left', LEFT],
  ['right', RIGHT],
])('what is %s in a canvas in the shadow of an inline element', async (name, x) => {
  const around = document.createElement('div');
  around.style.cssText = 'position: fixed; left: 0; top: 0; white-space: nowrap';
  around.innerHTML = '<span style="display: inline-block; width: 200px"></span><span></span>';
  document.body.append(around);
  cleanups.push(() => around.remove());
  const host = around.lastElementChild as HTMLElement;
  const shadow = host.attachShadow({ mode: 'open' });
  shadow.innerHTML = `<canvas style="${CANVAS.replace('block', 'inline-block')}; vertical-align: top"></canvas>`;
  const { over, draw } = await follow(host);
  const inner = shadow.querySelector('canvas')!;
  const { left, top } = inner.getBoundingClientRect();
  expect(left).toBeGreaterThan(100);
  const init = { clientX: left + x, clientY: top + SIZE.height / 2, bubbles: true, composed: true, isPrimary: true };
  inner.dispatchEvent(new PointerEvent('pointermove', { ...init, pointerId: 1, pointerType: 'mouse' }));
  await draw();
  expect(over).toEqual({ hover: name, events: name });
});

test('nothing, once its iframe is removed', async () => {
  const iframe = document.createElement('iframe');
  iframe.style.cssText = 'position: fixed; left: 0; top: 0; width: 900px; height: 700px';
  document.body.append(iframe);
  cleanups.push(() => iframe.remove());
  const { document: inner, PointerEvent } = iframe.contentWindow as Window & typeof globalThis;
  const element = inner.createElement('div');
  element.style.cssText = CANVAS;
  inner.body.append(element);
  const { over, draw } = await follow(element);
  const { left, top } = element.getBoundingClientRect();
  const init = { clientX: left + LEFT, clientY: top + SIZE.height / 2, isPrimary: true };
  element.dispatchEvent(new PointerEvent('pointermove', { ...init, pointerId: 1, pointerType: 'mouse' }));
  await draw();
  expect(over).toEqual({ hover: 'left', events: 'left' });
  iframe.remove();
  await vi.waitFor(async () => {
    await draw();
    expect(over).toEqual({ hover: '', events: '' });
  }, 3000);
});
