// The scene of a canvas lives as long as any component that uses it, also when React mounts components again.
import RefreshRuntime from 'react-refresh/runtime';

RefreshRuntime.injectIntoGlobalHook(window); // before React DOM and fiber look for it

const { Collision, useCollision, useContact, useVisible } = await import('collision-worker/react');
const { lazy, Suspense, use, useRef } = await import('react');
const { mount, unmountAll } = await import('../fixtures/react-stage.js');

import type { CollisionQueries } from 'collision-worker/react';
import type { SceneTracker } from 'collision-worker/three';
import type { ReactNode } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  unmountAll();
  vi.restoreAllMocks();
});

let queries: CollisionQueries;
function Ask(): ReactNode {
  queries = useCollision();
  return null;
}

function Box({ x, onBegin }: { x: number; onBegin?: (other: string) => void }): ReactNode {
  const mesh = useRef<Mesh>(null);
  useContact(mesh, { onContactBegin: ({ b }) => onBegin?.(b.object.name) });
  const isVisible = useVisible(mesh);
  return (
    <mesh ref={mesh} name={`box at ${x}`} position-x={x} userData={{ isVisible }}>
      <boxGeometry />
    </mesh>
  );
}

const distanceAt = async (x: number): Promise<number | undefined> => {
  return (await queries.raycast({ origin: [x, 0, 10], direction: [0, 0, -1] }))?.distance;
};

test.each([true, false])(
  'what is suspended comes when it is ready, and goes and comes again, in one service, strict %s',
  async (isStrict) => {
    const errors = vi.spyOn(console, 'error');
    let load!: (module: { default: () => ReactNode }) => void;
    const Late = lazy(() => new Promise<{ default: () => ReactNode }>((resolve) => (load = resolve)));
    const begun = vi.fn();
    const Waits = ({ on }: { on: Promise<string> }): ReactNode => {
      use(on);
      return <Box x={0.5} onBegin={begun} />;
    };
    const [ready, wait] = [Promise.resolve(''), new Promise<string>(() => {})];
    const scene = (on: Promise<string>): ReactNode => (
      <Collision track={{ contacts: 'any' }}>
        <Ask />
        <Box x={0} />
        <Suspense>
          <Late />
        </Suspense>
        <Suspense>
          <Waits on={on} />
        </Suspense>
      </Collision>
    );
    const stage = await mount(scene(ready), { events: null, isStrict });
    const tracker: SceneTracker = await queries.tracker;
    expect(await distanceAt(0.25)).toBeCloseTo(9.5);
    expect(await distanceAt(3)).toBeUndefined();
    load({ default: () => <Box x={3} /> });
    await vi.waitFor(async () => expect(await distanceAt(3)).toBeCloseTo(9.5), 10_000);
    await vi.waitFor(() => expect(begun).toHaveBeenCalledWith('box at 0'), 10_000);
    // fiber hides suspended components again, and shows them when the suspension is over.
    for (let round = 0; round < 2; round++) {
      await stage.render(scene(wait));
      await vi.waitFor(async () => expect(await distanceAt(0.75)).toBeUndefined(), 10_000);
      expect(await distanceAt(-0.25)).toBeCloseTo(9.5);
      begun.mockClear();
      await stage.render(scene(ready));
      await vi.waitFor(async () => expect(await distanceAt(0.75)).toBeCloseTo(9.5), 10_000);
      await vi.waitFor(() => expect(begun).toHaveBeenCalledWith('box at 0'), 10_000);
    }
    expect(await queries.tracker).toBe(tracker);
    stage.unmount();
    await vi.waitFor(() => expect(queries.tracker).rejects.toMatchObject({ code: 'DISPOSED' }), 10_000);
    expect(errors).not.toHaveBeenCalled();
  },
);

test.each([true, false])('fast refresh keeps the service and what is tracked, strict %s', async (isStrict) => {
  const begun = vi.fn();
  /** Simulates a bundler's transform of a reloaded module; effects run anew with each. */
  const edit = (x: number): ((props: object) => ReactNode) => {
    function Edited(): ReactNode {
      queries = useCollision();
      return (
        <Collision track={{ contacts: 'any' }}>
          <Box x={0} onBegin={begun} />
          <Box x={x} />
        </Collision>
      );
    }
    RefreshRuntime.register(Edited, 'Edited');
    const signature = RefreshRuntime.createSignatureFunctionForTransform();
    signature(Edited, 'useCollision', true); // it is as after an edit of its hooks: all state and effects restart
    return Edited;
  };
  const First = edit(3);
  await mount(<First />, { events: null, isStrict });
  const tracker = await queries.tracker;
  expect(await distanceAt(3)).toBeCloseTo(9.5);
  for (const x of [4, 5, 0.75]) {
    edit(x);
    expect(RefreshRuntime.performReactRefresh()).not.toBeNull();
    await vi.waitFor(async () => expect(await distanceAt(x)).toBeCloseTo(9.5), 10_000);
    expect(await distanceAt(3)).toBeUndefined();
    expect(await queries.tracker).toBe(tracker);
  }
  await vi.waitFor(() => expect(begun).toHaveBeenCalledWith('box at 0.75'), 10_000);
});
