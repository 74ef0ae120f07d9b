// Refs made by `useRef()`, as in apps without TypeScript, are undefined until their objects are mounted, which may be suspended.
// useContact then reported the contacts of all objects, useVisible threw in each frame, and useCharacter started without an object.
import { Collision, useCharacter, useContact, useVisible } from 'collision-worker/react';
import { type ReactNode, type RefObject, useRef } from 'react';
import type { Group, Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };
const CAPSULE = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;

test('hooks wait for an object whose ref is undefined', async () => {
  const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  const begun: string[] = [];
  const seen: boolean[] = [];
  let hero!: ReturnType<typeof useCharacter>;
  function Scene({ isThere }: { isThere: boolean }): ReactNode {
    const ball = useRef<Mesh>(null);
    const late = useRef(undefined) as unknown as RefObject<Mesh | null>;
    const figure = useRef(undefined) as unknown as RefObject<Group | null>;
    useContact(ball, { onContactBegin: ({ b }) => begun.push(`ball ${b.object.name}`) });
    useContact(ball, { onContactBegin: ({ b }) => begun.push(`ball and late ${b.object.name}`) }, late);
    // Contacts are looked up in another way once there are more than a few objects.
    for (let i = 0; i < 8; i++) {
      useContact(late, { onContactBegin: ({ b }) => i === 7 && begun.push(`late ${b.object.name}`) });
    }
    seen.push(useVisible(late));
    hero = useCharacter(figure, { shape: CAPSULE });
    return (
      <>
        <mesh name="ball" ref={ball}>
          <sphereGeometry args={[1]} />
        </mesh>
        <mesh name="wall" position-x={1}>
          <boxGeometry />
        </mesh>
        {isThere && (
          <>
            <mesh name="late" position-x={-1} ref={late}>
              <boxGeometry />
            </mesh>
            <group position={[0, 2, 0]} ref={figure} />
          </>
        )}
      </>
    );
  }
  const scene = (isThere: boolean): ReactNode => (
    <Collision track={{ contacts: 'any' }}>
      <Scene isThere={isThere} />
    </Collision>
  );
  const stage = await mount(scene(false), { events: null });
  await vi.waitFor(() => expect(begun).toEqual(['ball wall']), FRAMES);
  await stage.render(scene(false)); // waits for two more pictures
  expect([begun, seen.at(-1), hero.current]).toEqual([['ball wall'], false, null]);
  await stage.render(scene(true));
  const all = ['ball wall', 'ball late', 'ball and late late', 'late ball'];
  await vi.waitFor(() => expect([...begun].sort()).toEqual(all.sort()), FRAMES);
  await vi.waitFor(() => expect(hero.current?.state.position.y).toBe(2), FRAMES);
  await vi.waitFor(() => expect(seen.at(-1)).toBe(true), FRAMES);
  expect(reported).not.toHaveBeenCalled();
});
