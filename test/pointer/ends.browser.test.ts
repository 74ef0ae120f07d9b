// Pointer events from the first update on, until the forwarding, the tracker, the worker or the service ends.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { causeAccident, createFragileWorker } from '../fixtures/accidents.js';
import {
  CENTER_X,
  cleanups,
  dispatchPointer,
  forward,
  LEFT,
  recordEvents,
  service,
  settleEvents,
  twoCubes,
  usePointerStage,
} from '../fixtures/pointer-stage.js';
import { frontCamera, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

usePointerStage();

describe('forwardPointerEvents', () => {
  test('waits for the first update', async () => {
    const box = cube();
    const tracker = await trackScene(service, new Scene().add(box), UNRENDERED);
    const heard = recordEvents({ box }, ['pointerdown', 'click']);
    forward(tracker);
    dispatchPointer('pointerdown', CENTER_X);
    dispatchPointer('pointerup', CENTER_X);
    await settle(tracker, frontCamera());
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerdown@box', 'click@box']);
  });

  test('ends by its function, its signal and with the tracker, and lets go of what it is over', async () => {
    const abort = new AbortController();
    for (const by of ['function', 'signal', 'tracker'] as const) {
      const { left, tracker } = await twoCubes();
      const heard = recordEvents({ left }, ['pointerover', 'pointerout', 'pointermove']);
      const before = globalThis.pointerEventspointerMap!.size;
      const end = forward(tracker, { signal: abort.signal });
      dispatchPointer('pointermove', LEFT);
      await settleEvents(tracker);
      dispatchPointer('pointermove', LEFT + 1); // nobody waits for it any more
      if (by === 'function') end();
      else if (by === 'signal') abort.abort();
      else tracker.dispose();
      dispatchPointer('pointermove', LEFT);
      await service.update();
      await new Promise((resolve) => setTimeout(resolve, 20));
      const ended = by === 'tracker' ? [] : ['pointerover@left', 'pointermove@left', 'pointerout@left'];
      expect(heard, by).toEqual(ended); // the signal is aborted by then: the third never begins
      expect(globalThis.pointerEventspointerMap!.size).toBe(before);
      tracker.dispose();
      expect(() => forward(tracker)).toThrow(/disposed/);
    }
    const { left, tracker } = await twoCubes();
    const heard = recordEvents({ left }, ['pointerover', 'pointerout']);
    forward(tracker);
    dispatchPointer('pointermove', LEFT);
    await settleEvents(tracker);
    tracker.dispose();
    expect(heard).toEqual(['pointerover@left', 'pointerout@left']);
  });

  test('goes on over a lost worker, and ends with the service', async () => {
    const workers: Worker[] = [];
    const createWorker = () => {
      workers.push(createFragileWorker());
      return workers.at(-1)!;
    };
    const mortal = await createCollisionService({ createWorker, builders: 0, timeout: 3000 });
    const box = cube();
    const tracker = await track(mortal, new Scene().add(box));
    const heard = recordEvents({ box }, ['pointerdown', 'pointerout']);
    forward(tracker);
    causeAccident(workers[0], 'ends itself');
    dispatchPointer('pointerdown', CENTER_X);
    await vi.waitFor(() => expect(heard).toEqual(['pointerdown@box']), { timeout: 20_000 });
    expect(workers.length).toBe(2);
    mortal.dispose();
    dispatchPointer('pointerdown', CENTER_X);
    await vi.waitFor(() => expect(heard).toEqual(['pointerdown@box', 'pointerout@box']), 10_000);
    dispatchPointer('pointerdown', CENTER_X);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard.length).toBe(2);
  });

  test('where no worker starts any more three casts the rays', async () => {
    const workers: Worker[] = [];
    const createWorker = () => {
      if (workers.length > 0) throw new Error('no more');
      workers.push(createFragileWorker());
      return workers[0];
    };
    const mortal = await createCollisionService({ createWorker, builders: 0, timeout: 3000 });
    cleanups.push(() => mortal.dispose());
    const box = cube();
    const tracker = await track(mortal, new Scene().add(box));
    const heard = recordEvents({ box }, ['pointerdown', 'click']);
    forward(tracker);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    causeAccident(workers[0], 'ends itself');
    dispatchPointer('pointerdown', CENTER_X);
    dispatchPointer('pointerup', CENTER_X);
    await vi.waitFor(() => expect(heard).toEqual(['pointerdown@box', 'click@box']), { timeout: 20_000 });
    expect(warn.mock.calls.flat().filter((each) => String(each).startsWith('forwardPointerEvents')).length).toBe(1);
    warn.mockRestore();
  });
});
