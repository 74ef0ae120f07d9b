// An object that a handler unmounts, before the handlers of later events of the same click have run, is not tracked any more: a
// model that stays together outside of React was tracked once more, on its own, for as long as the canvas was there, and stood
// in the way of characters and casts, unseen.
import { flushSync } from '@react-three/fiber';
import { createCollisionService } from 'collision-worker';
import { type ReactNode, useState } from 'react';
import { BoxGeometry, Group, Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test('a model that pointerup has unmounted leaves the service, though a click follows', async () => {
  const service = await createCollisionService();
  const model = new Group();
  model.add(new Mesh(new BoxGeometry()));
  const log: string[] = [];
  function Model(): ReactNode {
    const [isThere, setThere] = useState(true);
    const handlers = {
      onPointerUp() {
        log.push('up');
        flushSync(() => setThere(false));
      },
      onClick: () => log.push('click'),
    };
    return isThere && <primitive object={model} {...handlers} />;
  }
  const stage = await mount(<Model />, { events: { service } });
  await vi.waitFor(() => expect(service.stats.objects).toBe(1), 10_000);
  for (const type of ['pointerdown', 'pointerup', 'click']) stage.dispatch(type, CENTER);
  await stage.settle();
  await vi.waitFor(() => expect(service.stats.objects).toBe(0), 10_000);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect([log, service.stats.objects]).toEqual([['up'], 0]);
  unmountAll();
  service.dispose();
});
