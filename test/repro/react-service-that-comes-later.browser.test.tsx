// A service that <Collision> got in a later render, for example one that is kept as state, was ignored without a warning: the canvas
// had already started its own.
import { createCollisionService } from 'collision-worker';
import { Collision, type CollisionQueries, useCollision } from 'collision-worker/react';
import type { ReactNode } from 'react';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test('a service that comes later is ignored with a warning, once', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const warn = vi.spyOn(console, 'warn');
  const warned = () => warn.mock.calls.filter(([text]) => /service of <Collision>/.test(text));
  let queries!: CollisionQueries;
  function Ask(): ReactNode {
    queries = useCollision();
    return null;
  }
  const scene = (given?: typeof service): ReactNode => (
    <Collision service={given}>
      <Ask />
    </Collision>
  );
  const stage = await mount(scene(), { events: null, isStrict: true });
  const { service: own } = await queries.tracker;
  await stage.render(scene());
  expect(warned()).toEqual([]);
  await stage.render(scene(service));
  await stage.render(scene());
  await stage.render(scene(service));
  expect(warned().length).toBe(1);
  expect((await queries.tracker).service).toBe(own);
  stage.unmount();
  // There is no warning if the service is there from the start.
  const next = await mount(scene(service), { events: null, isStrict: true });
  await next.render(scene(service));
  expect((await queries.tracker).service).toBe(service);
  expect(warned().length).toBe(1);
});
