// What a handler replaces by an object of another key receives the events that have waited meanwhile, as in fiber: only what was
// there at the time of the event was asked about, so they hit nothing, and the canvas was told that the click missed.
import { type ReactNode, useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test('an object that replaces the only one in pointerdown receives pointerup, and is not missed', async () => {
  const log: string[] = [];
  function Box(): ReactNode {
    const [key, setKey] = useState(0);
    const handlers = {
      onPointerDown() {
        log.push(`down on ${key}`);
        setKey(key + 1);
      },
      onPointerUp: () => log.push(`up on ${key}`),
    };
    return (
      <mesh key={key} {...handlers}>
        <boxGeometry />
      </mesh>
    );
  }
  const stage = await mount(<Box />, { props: { onPointerMissed: () => log.push('missed') } });
  for (const type of ['pointerdown', 'pointerup', 'click', 'pointerdown']) stage.dispatch(type, CENTER);
  await vi.waitFor(() => expect(log.at(-1)).toBe('down on 1'), 10_000);
  expect(log).toEqual(['down on 0', 'up on 1', 'down on 1']);
});
