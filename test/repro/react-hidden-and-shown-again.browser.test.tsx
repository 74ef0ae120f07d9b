// A component in a hidden <Activity> does not listen to contacts. Shown again, it reports what has parted meanwhile: useContact
// reported a second begin instead, or nothing, so what a component counted or kept as state was wrong from then on.
import { Collision, useContact } from 'collision-worker/react';
import { Activity, type ReactNode, useRef } from 'react';
import type { InstancedMesh, Mesh } from 'three';
import { Matrix4 } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

type Mode = 'visible' | 'hidden';

const ACTIVE = [
  ['in a canvas that is tracked on', true],
  ['with all that uses the service', false],
] as const;

/** Two instances that touch a ball at the origin. */
function place(mesh: InstancedMesh | null): void {
  for (const i of [0, 1]) mesh?.setMatrixAt(i, new Matrix4().makeTranslation(2 * i - 1, 0, 0));
}

test.each(ACTIVE)('what touches again is reported as ended before: %s', async (_, isTrackedOn) => {
  const calls: string[] = [];
  function Ball(): ReactNode {
    const ball = useRef<Mesh>(null);
    useContact(ball, {
      onContactBegin: ({ b }) => calls.push(`begin ${b.object.name} ${b.instanceId ?? ''}`),
      onContactEnd: ({ name }) => calls.push(`end ${name}`),
    });
    return (
      <mesh name="ball" ref={ball}>
        <sphereGeometry />
      </mesh>
    );
  }
  const scene = (mode: Mode): ReactNode => {
    const content = (
      <>
        <Activity mode={mode}>
          <Ball />
        </Activity>
        <instancedMesh name="posts" args={[undefined, undefined, 2]} ref={place}>
          <boxGeometry />
        </instancedMesh>
      </>
    );
    return isTrackedOn ? <Collision track={{ contacts: 'any' }}>{content}</Collision> : content;
  };
  const begins = ['begin posts 0', 'begin posts 1'];
  const stage = await mount(scene('visible'), { events: null });
  await vi.waitFor(() => expect(calls).toEqual(begins), FRAMES);
  await stage.render(scene('hidden'));
  expect(calls).toEqual(begins);
  await stage.render(scene('visible'));
  await vi.waitFor(() => expect(calls.slice(2)).toEqual(['end posts', 'end posts', ...begins]), FRAMES);
});

test('what has parted while it was hidden is reported as ended', async () => {
  const calls: string[] = [];
  const wall = { current: null as Mesh | null };
  function Listener(): ReactNode {
    useContact(wall, {
      onContactBegin: ({ b }) => calls.push(`begin ${b.object.name}`),
      onContactEnd: ({ name }) => calls.push(`end ${name}`),
    });
    return null;
  }
  const scene = (mode: Mode, x: number): ReactNode => (
    <Collision track={{ contacts: 'any' }}>
      <Activity mode={mode}>
        <Listener />
      </Activity>
      <mesh name="wall" ref={wall}>
        <boxGeometry />
      </mesh>
      <mesh name="ball" position-x={x}>
        <sphereGeometry />
      </mesh>
      <mesh name="floor" position-y={-1}>
        <boxGeometry />
      </mesh>
    </Collision>
  );
  const stage = await mount(scene('visible', 1), { events: null });
  await vi.waitFor(() => expect(calls.sort()).toEqual(['begin ball', 'begin floor']), FRAMES);
  await stage.render(scene('hidden', 1));
  await stage.render(scene('hidden', 5));
  await stage.render(scene('hidden', 5)); // waits for two more pictures
  expect(calls).toHaveLength(2);
  await stage.render(scene('visible', 5));
  await vi.waitFor(() => expect(calls.slice(2)).toEqual(['end ball']), FRAMES);
  await stage.render(scene('visible', 1));
  await vi.waitFor(() => expect(calls.slice(2)).toEqual(['end ball', 'begin ball']), FRAMES);
});
