// A character of React: an object that walks while its component is mounted.
import { useFrame } from '@react-three/fiber';
import {
  type CharacterHookOptions,
  Collision,
  type CollisionQueries,
  useCharacter,
  useCollision,
} from 'collision-worker/react';
import { createRef, type ReactNode, Suspense, use } from 'react';
import { type Group, Object3D } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

/** Results that arrive with frames take a number of frames, which are long on a busy machine. */
const FRAMES = { timeout: 10_000 };

test.each([true, false])('useCharacter makes an object walk, and ends with it, strict %s', async (isStrict) => {
  const figure = createRef<Group>();
  let hero!: ReturnType<typeof useCharacter>;
  const shape = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;
  function Walker({ stepHeight }: { stepHeight: number }): ReactNode {
    hero = useCharacter(figure, { shape, position: [0, 0.1, 0], stepHeight });
    useFrame(() => hero.current?.advance([4, 0, 0], 1 / 60));
    return (
      <group ref={figure} name="figure">
        <mesh position-y={0.9}>
          <boxGeometry args={[0.4, 1.8, 0.4]} />
        </mesh>
      </group>
    );
  }
  const scene = (stepHeight: number, isThere = true): ReactNode => (
    <Collision>
      <mesh name="floor" position-y={-0.5}>
        <boxGeometry args={[20, 1, 20]} />
      </mesh>
      <mesh name="step" position-x={2}>
        <boxGeometry args={[1, 0.8, 20]} />
      </mesh>
      {isThere && <Walker stepHeight={stepHeight} />}
    </Collision>
  );
  const stage = await mount(scene(0.1), { events: null, isStrict });
  await vi.waitFor(() => expect(hero.current?.state.touches[0]?.object.name).toBe('step'), FRAMES);
  await vi.waitFor(() => expect(figure.current!.position.x).toBeCloseTo(1.5 - 0.306, 3), FRAMES);
  expect(hero.current!.state.ground?.object.name).toBe('floor');
  // It is the same one, with another option.
  const { current } = hero;
  await stage.render(scene(0.5));
  await vi.waitFor(() => expect(figure.current!.position.x).toBeGreaterThan(1.5), FRAMES);
  expect(hero.current).toBe(current);
  await stage.render(scene(0.5, false));
  expect(hero.current).toBe(null);
  expect(() => current!.state).toThrow(expect.objectContaining({ code: 'UNKNOWN_ID' }));
});

test('useCharacter sets options that are others than before, however often it renders', async () => {
  const figure = createRef<Group>();
  const [one, other] = [new Object3D(), new Object3D()];
  let hero!: ReturnType<typeof useCharacter>;
  const shape = (radius = 0.3) => ({ type: 'capsule', radius, from: [0, 0.3, 0], to: [0, 1.5, 0] }) as const;
  function Walker(options: CharacterHookOptions): ReactNode {
    hero = useCharacter(figure, options);
    return <group ref={figure} />;
  }
  const scene = (options: CharacterHookOptions): ReactNode => <Walker {...options} />;
  const stage = await mount(scene({ shape: shape() }), { events: null });
  await vi.waitFor(() => expect(hero.current).not.toBe(null), FRAMES);
  const set = vi.spyOn(hero.current!, 'set');
  const isSet = (options: CharacterHookOptions) =>
    vi.waitFor(() => expect(set.mock.calls).toEqual([[options]]), FRAMES);
  for (const options of [
    { shape: shape(0.25), stepHeight: 0.5 },
    { shape: shape(0.25), ignore: [one, other] },
    { shape: shape(0.25), ignore: [one, one] },
    { shape: shape(0.25), ignore: [one] },
    { shape: shape(0.25) },
  ]) {
    set.mockClear();
    await stage.render(scene(options));
    await isSet(options);
    // Equal values in new objects, and another position.
    const again = { ...options, shape: shape(0.25), ...('ignore' in options && { ignore: [...options.ignore!] }) };
    await stage.render(scene({ ...again, position: [1, 2, 3] }));
    await isSet(options);
  }
});

test.each([true, false])('a character waits for its figure, and goes on with another, strict %s', async (isStrict) => {
  const figure = createRef<Group>();
  let hero!: ReturnType<typeof useCharacter>;
  let load!: () => void;
  const loaded = new Promise<void>((resolve) => (load = resolve));
  function Model(): ReactNode {
    use(loaded);
    return (
      <group ref={figure}>
        <mesh position-y={0.9}>
          <boxGeometry args={[0.4, 1.8, 0.4]} />
        </mesh>
      </group>
    );
  }
  function Walker({ skin }: { skin: string }): ReactNode {
    hero = useCharacter(figure, { position: [0, 0.1, 0] });
    useFrame(() => hero.current?.advance([0.5, 0, 0], 1 / 60));
    return (
      <Suspense>
        <Model key={skin} />
      </Suspense>
    );
  }
  let queries!: CollisionQueries;
  function Ask(): ReactNode {
    queries = useCollision();
    return null;
  }
  const scene = (skin: string): ReactNode => (
    <Collision>
      <mesh name="floor" position-y={-0.5}>
        <boxGeometry args={[200, 1, 200]} />
      </mesh>
      <Walker skin={skin} />
      <Ask />
    </Collision>
  );
  const stage = await mount(scene('first'), { events: null, isStrict });
  await queries.tracker;
  expect([figure.current, hero.current]).toEqual([null, null]);
  load();
  await vi.waitFor(() => expect(hero.current!.state.ground?.object.name).toBe('floor'), FRAMES);
  await vi.waitFor(() => expect(figure.current!.position.x).toBeGreaterThan(0.1), FRAMES);
  const { current } = hero;
  const before = figure.current;
  await stage.render(scene('second'));
  expect(figure.current).not.toBe(before);
  await vi.waitFor(() => expect(figure.current!.position.x).toBeGreaterThan(0.1), FRAMES);
  expect(hero.current).toBe(current);
});
