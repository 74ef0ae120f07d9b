// React renders what a handler has set before the handlers of the next event run, as in fiber, even if several events have waited
// for their answers: their handlers ran at once, all with the state of the first, so a switch that was clicked twice was on.
import { collisionEvents } from 'collision-worker/react';
import { type ReactNode, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { ReactPage } from '../fixtures/react-page.js';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

let page: ReactPage | null = null;
afterEach(() => {
  unmountAll();
  page?.unmount();
  page = null;
});

const TWO_CLICKS = ['pointerdown', 'pointerup', 'click', 'pointerdown', 'pointerup', 'click', 'dblclick'];
const SWITCHED = ['off', 'on', 'twice, and off'];

/** A switch that a click turns on, and the next one off. */
function switchOf(log: string[], isOn: boolean, set: (isOn: boolean) => void, isPressed = false): ReactNode {
  const handlers = {
    onClick: () => {
      log.push(`${isPressed ? 'pressed and ' : ''}${isOn ? 'on' : 'off'}`);
      set(!isOn);
    },
    onDoubleClick: () => log.push(`twice, and ${isOn ? 'on' : 'off'}`),
  };
  return (
    <mesh {...handlers}>
      <boxGeometry />
    </mesh>
  );
}

test('the state of a component in the canvas is that of the event before', async () => {
  const log: string[] = [];
  function Switch(): ReactNode {
    const [isOn, setOn] = useState(false);
    const [isPressed, setPressed] = useState(false);
    return (
      <group onPointerDown={() => setPressed(true)} onPointerUp={() => setPressed(false)}>
        {switchOf(log, isOn, setOn, isPressed)}
      </group>
    );
  }
  const stage = await mount(<Switch />);
  const event = Object.getOwnPropertyDescriptor(globalThis, 'event');
  for (const type of TWO_CLICKS) stage.dispatch(type, CENTER);
  await vi.waitFor(() => expect(log).toHaveLength(3), 10_000);
  expect(log).toEqual(SWITCHED);
  await vi.waitFor(() => expect(Object.getOwnPropertyDescriptor(globalThis, 'event')).toEqual(event), 10_000);
});

test('so is the state of the page around the canvas', async () => {
  const log: string[] = [];
  const onCreated = vi.fn();
  const props = { onCreated, events: collisionEvents() };
  page = new ReactPage();
  const render = (isOn: boolean): void => page!.render(props, switchOf(log, isOn, render), false);
  render(false);
  await vi.waitFor(() => expect(onCreated).toHaveBeenCalled(), 10_000);
  await vi.waitFor(() => expect(onCreated.mock.calls[0][0].internal.interaction).toHaveLength(1), 10_000);
  const [clientX, clientY] = CENTER;
  const init = { pointerId: 1, bubbles: true, cancelable: true, clientX, clientY };
  for (const type of TWO_CLICKS) page.canvas.dispatchEvent(new PointerEvent(type, init));
  await vi.waitFor(() => expect(log).toHaveLength(3), 10_000);
  expect(log).toEqual(SWITCHED);
});
