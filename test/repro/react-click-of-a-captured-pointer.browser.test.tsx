// An object that has captured a pointer receives its click, too, wherever the pointer is: fiber ends a capture in the frame after
// pointerup, and browsers send the click before. The capture ended with pointerup, so a knob that was turned had no onClick, and
// the canvas was told that the click missed.
import type { ThreeEvent } from '@react-three/fiber';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, CORNER, mount, type Stage, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const STARTED = { timeout: 10_000 };

const TYPES = ['onPointerDown', 'onPointerMove', 'onPointerUp', 'onClick', 'onPointerOut'] as const;

/** Two boxes, of which the first captures pointers, and moves away if it shall. */
function boxes(log: string[], { moves = false } = {}): ReactNode {
  const handlersOf = (name: string) => {
    const listen = (type: (typeof TYPES)[number]) => (event: ThreeEvent<PointerEvent>) => {
      log.push(`${type} ${name}`);
      if (type !== 'onPointerDown' || name !== 'knob') return;
      (event.target as Element).setPointerCapture(event.pointerId);
      if (moves) event.eventObject.position.x = 100;
    };
    return Object.fromEntries(TYPES.map((type) => [type, listen(type)]));
  };
  return (
    <>
      <mesh name="knob" {...handlersOf('knob')} onPointerMissed={() => log.push('missed knob')}>
        <boxGeometry />
      </mesh>
      <mesh name="other" position-x={2} {...handlersOf('other')}>
        <boxGeometry />
      </mesh>
    </>
  );
}

/** Sends events as browsers do, where a click has the id of its pointer. */
function send({ canvas }: Stage, [clientX, clientY]: readonly [number, number], ...types: string[]): void {
  const init = { pointerId: 1, bubbles: true, cancelable: true, clientX, clientY };
  for (const type of types) canvas.dispatchEvent(new PointerEvent(type, init));
}

const OF_KNOB = ['onPointerDown knob', 'onPointerUp knob', 'onClick knob'];

test.each([true, false])('what has captured a pointer is clicked with it, events at once: %s', async (atOnce) => {
  const log: string[] = [];
  const stage = await mount(boxes(log));
  send(stage, CENTER, 'pointerdown');
  if (!atOnce) await vi.waitFor(() => expect(log).toHaveLength(1), STARTED);
  send(stage, CORNER, 'pointerup', 'click');
  await vi.waitFor(() => expect(log).toEqual(OF_KNOB), STARTED);
  send(stage, CORNER, 'pointermove');
  send(stage, CENTER, 'pointerdown');
  await vi.waitFor(() => expect(log.slice(3)).toEqual(['onPointerDown knob']), STARTED); // the move is not the knob's
});

test('what has moved from under a pointer that it has captured is clicked, and the canvas is not missed', async () => {
  const log: string[] = [];
  const stage = await mount(boxes(log, { moves: true }), { props: { onPointerMissed: () => log.push('missed all') } });
  send(stage, CENTER, 'pointerdown');
  await vi.waitFor(
    () => expect(stage.state.scene.getObjectByName('knob')!.matrixWorld.elements[12]).toBe(100),
    STARTED,
  );
  send(stage, CENTER, 'pointerup', 'click');
  await vi.waitFor(() => expect(log).toHaveLength(3), STARTED);
  expect(log).toEqual(OF_KNOB);
});

test('a press behind a click is that of another object, however late the answers are', async () => {
  const log: string[] = [];
  const stage = await mount(boxes(log));
  const other = [CENTER[0] + 155, CENTER[1]] as const;
  send(stage, CENTER, 'pointerdown');
  send(stage, CORNER, 'pointerup', 'click');
  send(stage, other, 'pointerdown', 'pointerup', 'click');
  await vi.waitFor(() => expect(log.at(-1)).toBe('onClick other'), STARTED);
  const ofOther = ['onPointerDown other', 'onPointerUp other', 'onClick other'];
  expect(log.filter((each) => each !== 'missed knob')).toEqual([...OF_KNOB, ...ofOther]);
});
