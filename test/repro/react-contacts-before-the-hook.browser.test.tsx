// useContact reports the begin of what touches already when its component is mounted, or when its ref names another object. It
// reported nothing, and later an end without a begin.
import { Collision, useContact } from 'collision-worker/react';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

type Ref = RefObject<Mesh | null>;

/** A floor, two balls, of which one touches it, and whatever listens. */
function Scene({ y, children }: { y: number; children: (floor: Ref, balls: [Ref, Ref]) => ReactNode }): ReactNode {
  const floor = useRef<Mesh>(null);
  const balls: [Ref, Ref] = [useRef<Mesh>(null), useRef<Mesh>(null)];
  return (
    <Collision track={{ contacts: 'any' }}>
      <mesh name="floor" ref={floor}>
        <boxGeometry args={[10, 1, 10]} />
      </mesh>
      {balls.map((ref, i) => (
        <mesh key={i} name={`ball ${i}`} ref={ref} position={[4 * i - 2, i === 0 ? y : 5, 0]}>
          <sphereGeometry args={[1]} />
        </mesh>
      ))}
      {children(floor, balls)}
    </Collision>
  );
}

function Listener({ of, name, log }: { of: Ref; name: string; log: string[] }): ReactNode {
  useContact(of, {
    onContactBegin: ({ a, b }) => log.push(`${name} ${a.object.name} begins ${b.object.name}`),
    onContactEnd: (other) => log.push(`${name} ends ${other.name}`),
  });
  return null;
}

test('a component that is mounted later is told what touches, once, and of its end', async () => {
  const log: string[] = [];
  const scene = (y: number, isLate: boolean): ReactNode => (
    <Scene y={y}>
      {(floor) => (
        <>
          <Listener of={floor} name="first" log={log} />
          {isLate && <Listener of={floor} name="late" log={log} />}
        </>
      )}
    </Scene>
  );
  const stage = await mount(scene(1, false), { events: null });
  await vi.waitFor(() => expect(log).toEqual(['first floor begins ball 0']), FRAMES);
  await stage.render(scene(1, true));
  await vi.waitFor(() => expect(log.slice(1)).toEqual(['late floor begins ball 0']), FRAMES);
  await stage.render(scene(1, true)); // waits for two more pictures
  await stage.render(scene(5, true));
  await vi.waitFor(() => expect(log.slice(2)).toEqual(['first ends ball 0', 'late ends ball 0']), FRAMES);
});

test('a ref that names another object reports what that touches', async () => {
  const log: string[] = [];
  const chosen: Ref = { current: null };
  let balls!: [Ref, Ref];
  const scene = (): ReactNode => (
    <Scene y={1}>
      {(floor, refs) => {
        balls = refs;
        return (
          <>
            <Listener of={floor} name="any" log={log} />
            <Listener of={chosen} name="chosen" log={log} />
          </>
        );
      }}
    </Scene>
  );
  const stage = await mount(scene(), { events: null });
  chosen.current = balls[1].current;
  await vi.waitFor(() => expect(log).toEqual(['any floor begins ball 0']), FRAMES);
  await stage.render(scene()); // waits for two more pictures
  chosen.current = balls[0].current;
  await vi.waitFor(() => expect(log.slice(1)).toEqual(['chosen ball 0 begins floor']), FRAMES);
});

test('a ref that is made in each render does not make what touches begin again', async () => {
  let counts: number[] = [];
  function Counter({ of }: { of: Ref }): ReactNode {
    const [count, setCount] = useState(0);
    useContact({ current: of.current }, { onContactBegin: () => setCount((previous) => previous + 1) });
    counts.push(count);
    return null;
  }
  const scene = (): ReactNode => <Scene y={1}>{(floor) => <Counter of={floor} />}</Scene>;
  const stage = await mount(scene(), { events: null });
  await stage.render(scene()); // now the floor is there
  await vi.waitFor(() => expect(counts.at(-1)).toBe(1), FRAMES);
  counts = [];
  for (let i = 0; i < 3; i++) await stage.render(scene());
  expect(new Set(counts)).toEqual(new Set([1]));
});
