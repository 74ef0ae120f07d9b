// A touching component that was unmounted, so that its ref was empty: useContact never reported that the contact had ended. And
// with renders faster than answers, the frame that they shared was reported several times.
import { Collision, useCollisionFrame, useContact } from 'collision-worker/react';
import { createRef, type ReactNode, useRef } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

test.each(['ball', 'wall'])('useContact tells that what touched has parted where the %s is unmounted', async (gone) => {
  const calls: string[] = [];
  function Pair({ has }: { has: (name: string) => boolean }): ReactNode {
    const [ball, wall] = [useRef<Mesh>(null), useRef<Mesh>(null)];
    const onContactBegin = ({ b }: { b: { object: { name: string } } }): unknown =>
      calls.push(`begin ${b.object.name}`);
    useContact(ball, { onContactBegin, onContactEnd: ({ name }) => calls.push(`end ${name}`) }, wall);
    return (
      <>
        {has('ball') && (
          <mesh name="ball" ref={ball}>
            <sphereGeometry />
          </mesh>
        )}
        {has('wall') && (
          <mesh name="wall" position-x={1} ref={wall}>
            <boxGeometry />
          </mesh>
        )}
      </>
    );
  }
  const scene = (has: (name: string) => boolean): ReactNode => (
    <Collision track={{ contacts: 'any' }}>
      <Pair has={has} />
    </Collision>
  );
  const stage = await mount(
    scene(() => true),
    { events: null },
  );
  await vi.waitFor(() => expect(calls).toEqual(['begin wall']), FRAMES);
  await stage.render(scene((name) => name !== gone));
  await vi.waitFor(() => expect(calls).toEqual(['begin wall', 'end wall']), FRAMES);
  await stage.render(scene(() => true));
  await vi.waitFor(() => expect(calls).toEqual(['begin wall', 'end wall', 'begin wall']), FRAMES);
});

test('a frame that several pictures share is told once', async () => {
  const told: number[] = [];
  function List(): ReactNode {
    useCollisionFrame(({ frame }) => told.push(frame));
    return null;
  }
  const box = createRef<Mesh>();
  const stage = await mount(
    <Collision>
      <mesh ref={box}>
        <boxGeometry />
      </mesh>
      <List />
    </Collision>,
    { events: null },
  );
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(0), FRAMES);
  const before = told.length;
  for (let i = 0; i < 6; i++) stage.state.advance(performance.now());
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(before + 3), FRAMES);
  expect(told).toEqual([...new Set(told)]);
});
