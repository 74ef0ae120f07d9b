// A listener ended the forwarding, or disposed the tracker, during an event: later listeners of the same event were still called,
// and the object was never notified that the pointer left.
import { expect, test, vi } from 'vitest';
import {
  dispatchPointer,
  forward,
  LEFT,
  recordEvents,
  settleEvents,
  twoCubes,
  usePointerStage,
} from '../fixtures/pointer-stage.js';

usePointerStage();

test.each(['function', 'tracker'] as const)('a listener that ends the forwarding by the %s', async (by) => {
  for (const type of ['pointerover', 'pointerenter', 'pointerdown'] as const) {
    const { left, tracker } = await twoCubes();
    const heard = recordEvents({ left });
    const end = forward(tracker);
    left.addEventListener(type, () => (by === 'function' ? end() : tracker.dispose()));
    dispatchPointer('pointerdown', LEFT);
    await vi.waitFor(() => expect(heard.at(-1)).toBe('pointerleave@left'));
    const ways = ['pointerover@left', 'pointerenter@left'];
    const down = type === 'pointerdown' ? ['pointerdown@left', 'pointercancel@left'] : [];
    expect(heard).toEqual([...ways, ...down, 'pointerout@left', 'pointerleave@left']);
    dispatchPointer('pointerup', LEFT);
    if (by === 'function') await settleEvents(tracker);
    expect(heard.length).toBe(4 + down.length);
    tracker.dispose();
  }
});
