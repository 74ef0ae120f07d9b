// A handler of useContact that threw kept the other handlers from the events of that frame, so the end of a contact was lost for good.
import { Collision, useContact } from 'collision-worker/react';
import { type ReactNode, useRef } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

test('handlers of a contact that throw are reported, and the others are called', async () => {
  const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  const calls: string[] = [];
  const said = (text: string) => {
    calls.push(text);
    throw new Error(text);
  };
  const walls: Mesh[] = [];
  function Ball(): ReactNode {
    const ball = useRef<Mesh>(null);
    useContact(ball, {
      onContactBegin: ({ b }) => said(`begin ${b.object.name}`),
      onContactEnd: ({ name }) => said(`end ${name}`),
    });
    return (
      <mesh ref={ball}>
        <boxGeometry args={[4, 1, 1]} />
      </mesh>
    );
  }
  await mount(
    <Collision track={{ contacts: 'any' }}>
      <Ball />
      {[0, 1, 2, 3].map((i) => (
        <mesh
          key={i}
          name={`${i}`}
          position={[i - 1.5, i < 2 ? 0.8 : 5, 0]}
          ref={(mesh) => {
            if (mesh !== null) walls[i] = mesh;
          }}
        >
          <boxGeometry args={[0.5, 1, 1]} />
        </mesh>
      ))}
    </Collision>,
    { events: null },
  );
  await vi.waitFor(() => expect([...calls].sort()).toEqual(['begin 0', 'begin 1']), FRAMES);
  // Two contacts end and two begin in one frame.
  for (const [i, wall] of walls.entries()) wall.position.y = i < 2 ? 5 : 0.8;
  const all = ['begin 0', 'begin 1', 'begin 2', 'begin 3', 'end 0', 'end 1'];
  await vi.waitFor(() => expect([...calls].sort()).toEqual(all), FRAMES);
  expect(reported.mock.calls.map(([error]) => (error as Error).message)).toEqual(calls);
});
