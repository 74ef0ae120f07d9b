// Hooks with several canvases or portals. Two canvases of one service used the same name for their views, so that each got what the
// other's camera saw. Hooks in a portal into the scene of their canvas started their own service, which knew only the objects in the
// portal.
import { createPortal } from '@react-three/fiber';
import { createCollisionService } from 'collision-worker';
import { Collision, type CollisionQueries, useCollision, useCollisionFrame, useContact } from 'collision-worker/react';
import { type ReactNode, useRef, useState } from 'react';
import { type Group, type Mesh, Scene } from 'three';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { HEIGHT, mount, type Stage, unmountAll, WIDTH } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

function Box({ name, x = 0 }: { name: string; x?: number }): ReactNode {
  return (
    <mesh name={name} position-x={x}>
      <boxGeometry />
    </mesh>
  );
}

test('two canvases of one service are told what their own cameras see', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const seen: Record<string, Set<string>> = { left: new Set(), right: new Set() };
  const queries: Record<string, CollisionQueries> = {};
  let told = 0;
  function Ask({ of }: { of: string }): ReactNode {
    queries[of] = useCollision();
    useCollisionFrame((frame) => {
      told++;
      frame.forEachVisible(({ object }) => seen[of].add(object.name));
    });
    return null;
  }
  // Each canvas sees one of its boxes; another one of its boxes is in front of the other canvas' camera.
  const mounted: Stage[] = [];
  for (const [name, x] of [
    ['left', 0],
    ['right', 100],
  ] as const) {
    const scene = (
      <Collision service={service}>
        <Box name={`${name} at 0`} />
        <Box name={`${name} at 100`} x={100} />
        <Ask of={name} />
      </Collision>
    );
    const camera = { position: [x, 0, 5], rotation: [0, 0, 0] } as const;
    mounted.push(await mount(scene, { events: null, props: { camera } }));
  }
  for (const set of Object.values(seen)) set.clear();
  // Pictures that come faster than answers share an answer, also those of two canvases.
  const before = told;
  for (let i = 0; i < 6; i++) mounted[0].state.advance(performance.now());
  await vi.waitFor(() => expect(told).toBeGreaterThan(before + 10), FRAMES);
  expect(seen).toEqual({ left: new Set(['left at 0']), right: new Set(['right at 100']) });
  const all = { x: 0, y: 0, width: WIDTH, height: HEIGHT };
  for (const [name, box] of Object.entries({ left: 'left at 0', right: 'right at 100' })) {
    expect((await queries[name].pickRegion(all)).map((each) => (each as Mesh).name)).toEqual([box]);
  }
});

/** A box in a portal that reports its contacts, and the queries that are available there. */
function InPortal({ onBegin, onAsk }: { onBegin: (name: string) => void; onAsk: (own: CollisionQueries) => void }) {
  const mesh = useRef<Mesh>(null);
  onAsk(useCollision());
  useContact(mesh, { onContactBegin: ({ b }) => onBegin(b.object.name) });
  return (
    <mesh ref={mesh} name="crate">
      <boxGeometry />
    </mesh>
  );
}

test('hooks in a portal into the scene of their canvas know all of it', async () => {
  const begun = vi.fn();
  let [inside, outside] = [undefined, undefined] as (CollisionQueries | undefined)[];
  function Scene(): ReactNode {
    outside = useCollision();
    const [hand, setHand] = useState<Group | null>(null);
    const portal = <InPortal onBegin={begun} onAsk={(own) => (inside = own)} />;
    return (
      <>
        <Box name="wall" x={0.75} />
        <group ref={setHand} />
        {hand !== null && createPortal(createPortal(portal, hand), hand)}
      </>
    );
  }
  await mount(
    <Collision track={{ contacts: 'any' }}>
      <Scene />
    </Collision>,
    { events: null },
  );
  await vi.waitFor(() => expect(begun).toHaveBeenCalledWith('wall'), FRAMES);
  expect(await inside!.tracker).toBe(await outside!.tracker);
});

test.each([false, true])(
  'hooks in a portal into a scene of its own know that one, one service %s',
  async (isShared) => {
    const service = isShared ? await createCollisionService() : undefined;
    onTestFinished(() => service?.dispose());
    const begun = vi.fn();
    const scene = new Scene();
    let [inside, outside] = [undefined, undefined] as (CollisionQueries | undefined)[];
    function Outside(): ReactNode {
      outside = useCollision();
      return <Box name="wall" x={0.75} />;
    }
    await mount(
      <Collision service={service} track={{ contacts: 'any' }}>
        <Outside />
        {createPortal(
          <Collision service={service}>
            <Box name="own wall" x={0.5} />
            <InPortal onBegin={begun} onAsk={(own) => (inside = own)} />
          </Collision>,
          scene,
        )}
      </Collision>,
      { events: null },
    );
    await vi.waitFor(() => expect(begun).toHaveBeenCalledWith('own wall'), FRAMES);
    const [own, other] = [await inside!.tracker, await outside!.tracker];
    expect(own.root).toBe(scene);
    expect(own.service === other.service).toBe(isShared);
    const all = { x: 0, y: 0, width: WIDTH, height: HEIGHT };
    const names = async (queries: CollisionQueries) =>
      (await queries.pickRegion(all)).map((each) => (each as Mesh).name).sort();
    expect(await names(inside!)).toEqual(['crate', 'own wall']);
    expect(await names(outside!)).toEqual(['wall']);
    expect(begun).not.toHaveBeenCalledWith('wall');
  },
);
