// What a component queries in the scene of its canvas, besides events.
import {
  Collision,
  type CollisionProp,
  type CollisionQueries,
  useCollision,
  useCollisionFrame,
  useContact,
  useVisible,
} from 'collision-worker/react';
import type { SceneRayOptions } from 'collision-worker/three';
import { createRef, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { type Group, type InstancedMesh, type LOD, Matrix4, type Mesh, Object3D } from 'three';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

/** Results that arrive with frames take a number of frames, which are long on a busy machine. */
const FRAMES = { timeout: 10_000 };

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
  expect(found).toEqual([]); // a box is a surface, whose interior is empty
  stage.unmount();
  await vi.waitFor(() => expect(queries.tracker).rejects.toMatchObject({ code: 'DISPOSED' }), FRAMES);
});

test('a canvas that draws on demand draws when the worker has something new', async () => {
  let queries!: CollisionQueries;
  const visible: Record<string, boolean> = {};
  function Seen({ name, x = 0, of }: { name: string; x?: number; of?: RefObject<Mesh | null> }): ReactNode {
    const own = useRef<Mesh>(null);
    visible[name] = useVisible(of ?? own);
    if (of !== undefined) return null;
    return (
      <mesh name={name} ref={own} position-x={x}>
        <boxGeometry />
      </mesh>
    );
  }
  function Ask(): ReactNode {
    queries = useCollision();
    return null;
  }
  const wall = createRef<Mesh>();
  const scene = (...more: ReactNode[]): ReactNode => (
    <Collision>
      <Ask />
      <mesh ref={wall} position-z={-1}>
        <boxGeometry />
      </mesh>
      {more}
    </Collision>
  );
  const stage = await mount(scene(), { events: null, props: { frameloop: 'demand' } });
  // A pick waits for the view, which a frame sets.
  expect((await queries.pick(...CENTER))?.object).toBe(wall.current);
  // A new object is built behind its frame.
  await stage.render(scene(<Seen key="new" name="new" />));
  await vi.waitFor(() => expect(visible.new).toBe(true), FRAMES);
  // A component that draws nothing itself mounts without a frame of fiber's.
  await stage.render(scene(<Seen key="new" name="new" />, <Seen key="wall" name="wall" of={wall} />));
  await vi.waitFor(() => expect(visible.wall).toBe(true), FRAMES);
  // And then there are no more frames.
  const { frame } = stage.state.gl.info.render;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(stage.state.gl.info.render.frame).toBeLessThan(frame + 5);
});

test('useVisible tells of meshes, groups, instances and levels, which read what a frame shows once for all', async () => {
  const names = ['near', 'far', 'group', 'hidden', 'below hidden', 'instances', 'first level', 'second level', 'lod'];
  const refs = new Map(names.map((name) => [name, createRef<Object3D>()]));
  const refOf = <T extends Object3D>(name: string) => refs.get(name) as RefObject<T | null>;
  const visible: Record<string, boolean> = {};
  const [reads, frames] = [vi.fn(), vi.fn()];
  function Seen({ name }: { name: string }): ReactNode {
    visible[name] = useVisible(refOf(name));
    return null;
  }
  function Counting(): ReactNode {
    useCollisionFrame((frame) => {
      frames();
      const { result } = frame;
      Object.defineProperty(frame, 'result', { get: () => reads() ?? result });
    });
    return null;
  }
  function Level({ name, distance }: { name: string; distance: number }): ReactNode {
    const level = refOf<Mesh>(name);
    useEffect(() => {
      refOf<LOD>('lod').current!.addLevel(level.current!, distance);
    }, [level, distance]);
    return (
      <mesh ref={level}>
        <boxGeometry />
      </mesh>
    );
  }
  function Instances(): ReactNode {
    const mesh = refOf<InstancedMesh>('instances');
    useEffect(() => {
      for (let i = 0; i < 3; i++) mesh.current!.setMatrixAt(i, new Matrix4().makeTranslation(i === 2 ? 0 : 1000, 0, 0));
    }, [mesh]);
    return (
      <instancedMesh ref={mesh} args={[undefined, undefined, 3]}>
        <boxGeometry />
      </instancedMesh>
    );
  }
  await mount(
    <Collision>
      <Counting />
      {names.map((name) => (
        <Seen key={name} name={name} />
      ))}
      <mesh ref={refOf<Mesh>('near')}>
        <boxGeometry />
      </mesh>
      <mesh ref={refOf<Mesh>('far')} position-x={1000}>
        <boxGeometry />
      </mesh>
      <group ref={refOf<Group>('group')}>
        <group position-x={1000}>
          <mesh>
            <boxGeometry />
          </mesh>
          <mesh position-x={-1000}>
            <boxGeometry />
          </mesh>
        </group>
      </group>
      <group ref={refOf<Group>('hidden')} visible={false}>
        <mesh ref={refOf<Mesh>('below hidden')}>
          <boxGeometry />
        </mesh>
      </group>
      <Instances />
      <lOD ref={refOf<LOD>('lod')}>
        <Level name="first level" distance={0} />
        <Level name="second level" distance={500} />
      </lOD>
    </Collision>,
    { events: null },
  );
  await vi.waitFor(
    () =>
      expect(visible).toEqual({
        near: true,
        far: false,
        group: true,
        hidden: false,
        'below hidden': false,
        instances: true,
        'first level': true,
        'second level': false,
        lod: true,
      }),
    FRAMES,
  );
  expect(reads.mock.calls.length).toBeGreaterThan(0);
  expect(reads.mock.calls.length).toBeLessThanOrEqual(frames.mock.calls.length);
});

test('useVisible tells of a group of more than there is to be seen', async () => {
  const groups = [createRef<Group>(), createRef<Group>()];
  const visible: boolean[] = [];
  function Crowd({ far }: { far: number }): ReactNode {
    visible[far] = useVisible(groups[far]);
    return (
      <group ref={groups[far]} position-x={1000}>
        {Array.from({ length: 40 }, (_, i) => (
          <mesh key={i} position-x={i === 39 && far === 0 ? -1000 : 0}>
            <boxGeometry />
          </mesh>
        ))}
      </group>
    );
  }
  await mount(
    <Collision>
      <Crowd far={0} />
      <Crowd far={1} />
    </Collision>,
    { events: null },
  );
  await vi.waitFor(() => expect(visible).toEqual([true, false]), FRAMES);
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
  await vi.waitFor(() => expect(visible.at(-1)).toBe(true), FRAMES);
  expect(onContactBegin).not.toHaveBeenCalled();
  wall.current!.position.x = 1;
  await vi.waitFor(() => expect(onContact.mock.calls.length).toBeGreaterThan(1), FRAMES);
  expect(onContactBegin.mock.calls).toEqual([['ball', 'wall']]);
  expect(onContactEnd).not.toHaveBeenCalled();
  wall.current!.position.x = 5;
  await vi.waitFor(() => expect(onContactEnd.mock.calls).toEqual([['wall']]), FRAMES);
});

test('useContact tells of two objects and of no other pair, with the handlers of the last render', async () => {
  const calls: string[] = [];
  const others: Record<string, Mesh> = {};
  function Ball({ round }: { round: number }): ReactNode {
    const [ball, wall] = [useRef<Mesh>(null), useRef<Mesh>(null)];
    useContact(
      ball,
      {
        onContactBegin: ({ a, b }) => calls.push(`${round} begin ${a.object.name} ${b.object.name}`),
        onContactEnd: ({ name }) => calls.push(`${round} end ${name}`),
      },
      wall,
    );
    const place = (name: string) => (mesh: Mesh | null) => {
      if (mesh) others[name] = mesh;
    };
    return (
      <>
        <mesh name="floor" position-x={-5} ref={place('floor')}>
          <boxGeometry />
        </mesh>
        <mesh
          name="wall"
          position-x={5}
          ref={(mesh) => {
            wall.current = mesh;
            place('wall')(mesh);
          }}
        >
          <boxGeometry />
        </mesh>
        <mesh name="ball" ref={ball}>
          <sphereGeometry args={[1]} />
        </mesh>
      </>
    );
  }
  let touching = 0;
  function Count(): ReactNode {
    useCollisionFrame((frame) => {
      touching = 0;
      frame.forEachContact(() => touching++);
    });
    return null;
  }
  const scene = (round: number): ReactNode => (
    <Collision track={{ contacts: 'any' }}>
      <Ball round={round} />
      <Count />
    </Collision>
  );
  const stage = await mount(scene(1), { events: null });
  others.floor.position.x = -1;
  await vi.waitFor(() => expect(touching).toBe(1), FRAMES);
  others.floor.position.x = -5;
  await vi.waitFor(() => expect(touching).toBe(0), FRAMES);
  expect(calls).toEqual([]);
  await stage.render(scene(2));
  others.wall.position.x = 1;
  await vi.waitFor(() => expect(calls).toEqual(['2 begin ball wall']), FRAMES);
  others.wall.position.x = 5;
  await vi.waitFor(() => expect(calls).toEqual(['2 begin ball wall', '2 end wall']), FRAMES);
});

test('useCollisionFrame tells of all that is visible, until it is unmounted', async () => {
  let visible: string[] = [];
  let frames = 0;
  function List(): ReactNode {
    useCollisionFrame((frame) => {
      frames++;
      visible = [];
      frame.forEachVisible(({ object }) => visible.push(object.name));
    });
    return null;
  }
  const boxes = createRef<Group>();
  const scene = (isListening: boolean): ReactNode => (
    <>
      <group ref={boxes}>
        {[0, 1, 100].map((x) => (
          <mesh key={x} name={`at ${x}`} position-x={x}>
            <boxGeometry />
          </mesh>
        ))}
      </group>
      <Collision>{isListening && <List />}</Collision>
    </>
  );
  const stage = await mount(scene(true), { events: null, isStrict: true });
  await vi.waitFor(() => expect(visible.sort()).toEqual(['at 0', 'at 1']), FRAMES);
  boxes.current!.position.x = -100;
  await vi.waitFor(() => expect(visible).toEqual(['at 100']), FRAMES);
  await stage.render(scene(false));
  const before = frames;
  await stage.render(scene(false)); // which waits for two more renders
  expect(frames).toBe(before);
});

/** An answer without its time of arrival and its duration. */
const untimed = (answer: unknown): unknown => {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { ms: _, frame: __, ...rest } = answer as Record<string, unknown>;
  return rest;
};

test('useCollision asks each question as the tracker does', async () => {
  let queries!: CollisionQueries;
  function Ask(): ReactNode {
    queries = useCollision();
    return null;
  }
  const box = createRef<Mesh>();
  const ball = createRef<Mesh>();
  const stage = await mount(
    <>
      <mesh name="box" ref={box} collision={{ solid: true }}>
        <boxGeometry args={[2, 2, 1]} />
      </mesh>
      <mesh name="ball" ref={ball} position-x={1}>
        <sphereGeometry args={[1]} />
      </mesh>
      <Ask />
    </>,
    { events: null },
  );
  const tracker = await queries.tracker;
  const { width, height } = stage.state.size;
  await tracker.update(stage.state.camera, { width, height });
  const ray = { origin: [-0.5, 0, 5], direction: [0, 0, -1] } as const;
  const calls: { [K in Exclude<keyof CollisionQueries, 'tracker'>]: Parameters<CollisionQueries[K]> } = {
    pick: [width / 2, height / 2],
    pickAll: [width / 2, height / 2],
    pickRegion: [{ x: 0, y: 0, width, height }],
    raycast: [ray],
    raycastAll: [ray],
    lineOfSight: [
      [-0.5, 0, 5],
      [-0.5, 0, -5],
    ],
    overlap: [{ type: 'sphere', radius: 0.1 }],
    containing: [[-0.5, 0, 0]],
    closestPoint: [[-3, 0, 0]],
    section: [[0, 0, 1, 0]],
    sweep: [{ type: 'sphere', radius: 0.1 }, new Matrix4().makeTranslation(-5, 0, 0), new Matrix4()],
    place: [{ type: 'sphere', radius: 0.1 }, new Matrix4()],
    sweepAll: [{ type: 'sphere', radius: 0.1 }, new Matrix4().makeTranslation(-5, 0, 0), new Matrix4()],
    contact: [box.current!, ball.current!],
    distance: [box.current!, ball.current!],
    sees: [[box.current!, ball.current!]],
  };
  for (const [name, given] of Object.entries(calls)) {
    const asked = queries as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>;
    const own = tracker as unknown as typeof asked;
    const [answer, truth] = await Promise.all([asked[name](...given), own[name](...given)]);
    expect(untimed(answer), name).toEqual(untimed(truth));
    expect(answer, name).not.toBeNull();
    if (Array.isArray(answer)) expect(answer.length, name).toBeGreaterThan(0);
  }
});

test.each([undefined, 'none'] as const)('useContact has contacts looked at unless %s was said', async (contacts) => {
  const begun = vi.fn();
  let queries!: CollisionQueries;
  function Late({ isListening }: { isListening: boolean }): ReactNode {
    queries = useCollision();
    return isListening && <Listener />;
  }
  const ball = createRef<Mesh>();
  function Listener(): ReactNode {
    useContact(ball, { onContactBegin: ({ b, depths }) => begun(b.object.name, depths.length > 0) });
    return null;
  }
  const scene = (isListening: boolean): ReactNode => (
    <Collision {...(contacts && { track: { contacts } })}>
      <mesh name="ball" ref={ball}>
        <sphereGeometry args={[1]} />
      </mesh>
      <mesh name="wall" position-x={1}>
        <boxGeometry />
      </mesh>
      <mesh name="ghost" position-x={-1} collision={{ contacts: 'none' }}>
        <boxGeometry />
      </mesh>
      <Late isListening={isListening} />
    </Collision>
  );
  const stage = await mount(scene(false), { events: null });
  const tracker = await queries.tracker;
  const { width, height } = stage.state.size;
  const frame = () => tracker.update(stage.state.camera, { width, height });
  expect([...(await frame()).contactsBetween(ball.current!)]).toEqual([]);
  await stage.render(scene(true));
  await frame();
  if (contacts === undefined) await vi.waitFor(() => expect(begun.mock.calls).toEqual([['wall', true]]), 10_000);
  else for (let i = 0; i < 5; i++) await frame();
  expect(begun).toHaveBeenCalledTimes(contacts === undefined ? 1 : 0);
});

test('options that are passed over are told once; questions before there is a canvas are refused', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const early: unknown[] = [];
  function Early(): ReactNode {
    const { tracker } = useCollision();
    tracker.catch((error) => early.push(error));
    return null;
  }
  const scene = (
    <Collision track={{ contacts: 'any' }}>
      <Early />
    </Collision>
  );
  const stage = await mount(scene, { events: { track: { contacts: 'bounds' }, onError: () => {} } });
  await stage.render(scene);
  const said = warn.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith('collision-worker'));
  const warning = (name: string) => expect.stringContaining(`${name} of <Collision> or collisionEvents is passed over`);
  expect(said).toEqual([warning('track'), warning('onError')]);
  expect(early[0]).toMatchObject({ code: 'DISPOSED', message: expect.stringContaining('not mounted') });
  warn.mockRestore();
});

describe('the prop collision', () => {
  const rays = { left: -3, middle: 0, right: 3 };

  /** Returns the object hit at each place, by its distance from z = 10. */
  async function distances({ raycast }: CollisionQueries, options: SceneRayOptions = {}): Promise<(number | null)[]> {
    const hits = Object.values(rays).map((x) => raycast({ origin: [x, 0, 10], direction: [0, 0, -1] }, options));
    return (await Promise.all(hits)).map((hit) => (hit === null ? null : Number(hit.distance.toFixed(4))));
  }

  function Box({ x, collision }: { x: number; collision?: CollisionProp | undefined }): ReactNode {
    return (
      <mesh position-x={x} {...(collision !== undefined && { collision })}>
        <boxGeometry />
      </mesh>
    );
  }

  const sphere = (radius: number): CollisionProp => ({ shape: { type: 'sphere', radius } });

  test.each([true, false])(
    'says what stands for an object, before and behind the tracker, strict %s',
    async (isStrict) => {
      let queries!: CollisionQueries;
      function Ask(): ReactNode {
        queries = useCollision();
        return null;
      }
      const scene = (left?: CollisionProp, right?: CollisionProp, all?: CollisionProp): ReactNode => (
        <Collision
          track={{
            shapeOf: ({ position }) => (position.x === 0 ? { type: 'sphere', radius: 2 } : undefined),
            objectOptions: ({ position }) => (position.x === 0 ? { layers: 2 } : { layers: 4 }),
          }}
        >
          <group {...(all && { collision: all })}>
            <Box x={rays.left} collision={left} />
            <Box x={rays.middle} />
            <Box x={rays.right} collision={right} />
          </group>
          <Ask />
        </Collision>
      );
      const stage = await mount(scene(sphere(1)), { events: null, isStrict });
      expect(await distances(queries)).toEqual([9, 8, 9.5]);
      // One changes, one is mounted.
      await stage.render(scene(sphere(0.75), sphere(0.25)));
      expect(await distances(queries)).toEqual([9.25, 8, 9.75]);
      // One is unmounted; the group's props apply to all that do not set their own.
      await stage.render(scene(undefined, sphere(0.25), sphere(1.5)));
      expect(await distances(queries)).toEqual([8.5, 8.5, 9.75]);
      // All are unmounted.
      await stage.render(scene());
      expect(await distances(queries)).toEqual([9.5, 8, 9.5]);
      // Where the props are silent, the caller's functions decide.
      expect(await distances(queries, { layers: 2 })).toEqual([null, 8, null]);
      await stage.render(scene({ ...sphere(1), layers: 2 }, sphere(1)));
      expect(await distances(queries, { layers: 2 })).toEqual([9, 8, null]);
      expect(await distances(queries, { layers: 4 })).toEqual([null, null, 9]);
    },
  );

  test('one that is wrong leaves out its object and no other, until it is right; nothing stays on the objects', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    let queries!: CollisionQueries;
    function Ask(): ReactNode {
      queries = useCollision();
      return null;
    }
    const scene = (left: unknown): ReactNode => (
      <>
        <Box x={rays.left} collision={left as CollisionProp} />
        <Box x={rays.right} />
        <Ask />
      </>
    );
    const stage = await mount(scene({ shape: { type: 'sphere', radius: -1 } }), { events: null });
    expect(await distances(queries)).toEqual([null, null, 9.5]);
    for (const wrong of ['sphere', { colour: 'red' }]) {
      await stage.render(scene(wrong));
      expect(await distances(queries)).toEqual([null, null, 9.5]);
      const [error] = [...(await queries.tracker).untracked.values()];
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    await stage.render(scene(sphere(1)));
    expect(await distances(queries)).toEqual([9, null, 9.5]);
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
    stage.state.scene.traverse((object) => expect(Object.hasOwn(object, 'collision')).toBe(false));
    stage.unmount();
    await vi.waitFor(() => expect('collision' in Object3D.prototype).toBe(false), FRAMES);
  });

  test('it is typed', () => {
    // Compiled, not drawn.
    const elements = [
      <primitive key="primitive" object={new Object3D()} collision={{ group: 1 }} />,
      <group key="group" collision={{ contacts: 'any', solid: true }} />,
      <instancedMesh key="instanced" args={[undefined, undefined, 3]} collision={{ motion: 'static' }} />,
      <mesh key="none" collision={undefined as CollisionProp | undefined} />,
      // @ts-expect-error a group is a number
      <mesh key="mesh" collision={{ group: 'walls' }} />,
      // @ts-expect-error there is no such option
      <mesh key="unknown" collision={{ colour: 'red' }} />,
      // @ts-expect-error a geometry is no object
      <boxGeometry key="box" collision={{ group: 1 }} />,
    ];
    expect(elements.length).toBe(7);
  });
});
