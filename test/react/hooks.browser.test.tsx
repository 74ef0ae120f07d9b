// What a component asks of the scene of its canvas, beside events.
import { Collision, type CollisionQueries, useCollision, useContact, useVisible } from 'collision-worker/react';
import { createRef, type ReactNode, useRef } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test.each([true, false])('useCollision asks the scene of its canvas, strict %s', async (isStrict) => {
  const seen = new Set<CollisionQueries>();
  function Ask(): ReactNode {
    seen.add(useCollision());
    return null;
  }
  const scene = (
    <>
      <mesh name="box">
        <boxGeometry args={[2, 2, 1]} />
      </mesh>
      <Ask />
    </>
  );
  const stage = await mount(scene, { isStrict });
  await stage.render(scene);
  const queries = [...seen].at(-1)!;
  const hit = await queries.raycast({ origin: [0, 0, 5], direction: [0, 0, -1] });
  expect(hit?.object.name).toBe('box');
  expect(hit?.distance).toBeCloseTo(4.5, 6);
  const found = await queries.overlap({ type: 'sphere', radius: 0.1 });
  expect(found).toEqual([]); // a box is a surface, of which the middle is empty
  stage.unmount();
  await vi.waitFor(() => expect(queries.tracker).rejects.toMatchObject({ code: 'DISPOSED' }));
});

test('useContact tells of what begins to touch, touches and parts; useVisible of what is seen', async () => {
  const [onContactBegin, onContact, onContactEnd] = [vi.fn(), vi.fn(), vi.fn()];
  const visible: boolean[] = [];
  const wall = createRef<Mesh>();
  function Ball(): ReactNode {
    const ball = useRef<Mesh>(null);
    useContact(ball, {
      onContactBegin: ({ a, b }) => onContactBegin(a.object.name, b.object.name),
      onContact,
      onContactEnd: ({ name }) => onContactEnd(name),
    });
    visible.push(useVisible(ball));
    return (
      <mesh name="ball" ref={ball}>
        <sphereGeometry args={[1]} />
      </mesh>
    );
  }
  await mount(
    <Collision track={{ contacts: 'any' }}>
      <Ball />
      <mesh name="wall" position-x={5} ref={wall}>
        <boxGeometry />
      </mesh>
    </Collision>,
    { events: null, isStrict: true },
  );
  await vi.waitFor(() => expect(visible.at(-1)).toBe(true));
  expect(onContactBegin).not.toHaveBeenCalled();
  wall.current!.position.x = 1;
  await vi.waitFor(() => expect(onContact.mock.calls.length).toBeGreaterThan(1));
  expect(onContactBegin.mock.calls).toEqual([['ball', 'wall']]);
  expect(onContactEnd).not.toHaveBeenCalled();
  wall.current!.position.x = 5;
  await vi.waitFor(() => expect(onContactEnd.mock.calls).toEqual([['wall']]));
});
