// What is different where the worker casts the rays of fiber's
// events: no ray on this thread, and handlers in order all the same.
import { meshBounds } from '@react-three/drei/core/meshBounds';
import { createPortal, type RootState, type ThreeEvent } from '@react-three/fiber';
import { type CollisionError, createCollisionService } from 'collision-worker';
import { collisionEvents } from 'collision-worker/react';
import type { ReactNode } from 'react';
import { BoxGeometry, type Intersection, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { CENTER, CORNER, HEIGHT, mount, type Stage, unmountAll, WIDTH } from '../fixtures/react-stage.js';
import { Random } from '../oracle/random.js';

let raycast: MockInstance<Mesh['raycast']>;
beforeEach(() => {
  raycast = vi.spyOn(Mesh.prototype, 'raycast');
});
afterEach(() => {
  unmountAll();
  vi.restoreAllMocks();
});

function Box(props: Record<string, unknown>): ReactNode {
  return (
    <mesh {...props}>
      <boxGeometry args={[2, 2]} />
      <meshBasicMaterial />
    </mesh>
  );
}

const seed = Number(import.meta.env.SEED);

describe('the same as fiber', () => {
  interface Placed {
    name: string;
    position: [number, number, number];
    rotation: [number, number, number];
    scale: number;
    stops: boolean;
    children: Placed[];
  }

  /** Nested boxes, each with all handlers, some of which stop their events. */
  function Node({ placed, log }: { placed: Placed; log: string[] }): ReactNode {
    const { name, position, rotation, scale, stops, children } = placed;
    const heard = (type: string) => (event: ThreeEvent<PointerEvent>) => {
      const { object, eventObject, distance, delta, face, offsetX, intersections } = event;
      const hit = [object.name, eventObject.name, distance.toFixed(4), face?.materialIndex, delta];
      log.push(`${type} ${[...hit, offsetX, intersections.length].join(' ')}`);
      if (stops && !/Out|Leave/.test(type)) event.stopPropagation();
    };
    const types = ['Over', 'Out', 'Enter', 'Leave', 'Move', 'Down', 'Up'].map((each) => `onPointer${each}`);
    const handlers = [...types, 'onClick', 'onDoubleClick', 'onContextMenu', 'onWheel'].map((type) => [
      type,
      heard(type),
    ]);
    return (
      <group name={`group of ${name}`} position={position} rotation={rotation} scale={scale}>
        <mesh name={name} {...Object.fromEntries(handlers)} onPointerMissed={() => log.push(`missed ${name}`)}>
          <boxGeometry />
          <meshBasicMaterial />
          {children.map((child) => (
            <Node key={child.name} placed={child} log={log} />
          ))}
        </mesh>
      </group>
    );
  }

  test.each([1, 2, 3])(`in random scenes: seed ${seed}, scene %i`, async (round) => {
    const random = new Random(1000 * seed + round);
    let count = 0;
    const place = (depth: number): Placed => ({
      name: `box ${count++}`,
      position: [random.range(-2, 2), random.range(-1.5, 1.5), random.range(-1, 1)],
      rotation: [random.range(-3, 3), random.range(-3, 3), random.range(-3, 3)],
      scale: random.range(0.5, 1.2),
      stops: random.chance(0.2),
      children: depth === 0 ? [] : Array.from({ length: 2 }, () => place(depth - 1)),
    });
    const scene = Array.from({ length: 5 }, () => place(2));
    const [log, truth]: [string[], string[]] = [[], []];
    const children = (to: string[]) => scene.map((each) => <Node key={each.name} placed={each} log={to} />);
    const stage = await mount(children(log));
    const peer = await mount(children(truth), { events: null });
    raycast.mockClear();
    const types = [
      'pointermove',
      'pointermove',
      'pointerdown',
      'pointerup',
      'click',
      'dblclick',
      'contextmenu',
      'wheel',
    ];
    const moments: [string, [number, number]][] = [];
    let at: [number, number] = [0, 0];
    for (let i = 0; i < 120; i++) {
      // Now and then, a click is near the previous event.
      if (random.chance(0.6)) at = [Math.floor(random.range(0, WIDTH)), Math.floor(random.range(0, HEIGHT))];
      moments.push([types[Math.floor(random.range(0, types.length))], at]);
    }
    for (const [type, point] of moments) await stage.fire(type, point);
    expect(raycast).not.toHaveBeenCalled();
    for (const [type, point] of moments) peer.dispatch(type, point);
    expect(raycast).toHaveBeenCalled();
    expect(truth.length).toBeGreaterThan(100);
    expect(log).toEqual(truth);
  });
});

describe('order', () => {
  test('is that in which events happened, of which only moves in a row are left out', async () => {
    const calls: string[] = [];
    const heard = (name: string) => (event: ThreeEvent<PointerEvent>) => calls.push(`${name} ${event.offsetX}`);
    const stage = await mount(
      <Box
        onPointerMove={heard('move')}
        onPointerDown={heard('down')}
        onPointerUp={heard('up')}
        onClick={heard('click')}
      />,
    );
    const [x, y] = CENTER;
    for (let i = 0; i < 10; i++) stage.dispatch('pointermove', [x + i, y]);
    stage.dispatch('pointerdown', [x + 9, y]);
    for (let i = 10; i < 20; i++) stage.dispatch('pointermove', [x + i, y]);
    stage.dispatch('pointerup', [x + 19, y]);
    stage.dispatch('click', [x + 19, y]);
    stage.dispatch('pointerdown', [x, y]);
    stage.dispatch('pointerup', [x, y]);
    stage.dispatch('click', [x, y]);
    expect(calls).toEqual([]); // nothing is known yet
    await stage.settle(17);
    const expected = ['move 400', 'move 409', 'down 409', 'move 419', 'up 419', 'click 419', 'down 400', 'up 400'];
    expect(calls).toEqual([...expected, 'click 400']);
  });

  test('goes on behind a handler that throws', async () => {
    const errors: unknown[] = [];
    const report = vi.spyOn(globalThis, 'reportError').mockImplementation((error) => errors.push(error));
    const failure = new Error('a handler failed');
    const onPointerUp = vi.fn();
    const stage = await mount(
      <Box
        onPointerDown={() => {
          throw failure;
        }}
        onPointerUp={onPointerUp}
      />,
    );
    stage.dispatch('pointerdown', CENTER);
    stage.dispatch('pointerup', CENTER);
    await stage.settle();
    expect(errors).toEqual([failure]);
    expect(onPointerUp).toHaveBeenCalledOnce();
    report.mockRestore();
  });

  test('an event is of the moment when it happened: the camera and the object have moved since', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />);
    const { camera, raycaster, pointer } = stage.state;
    const event = stage.dispatch('pointerdown', CENTER);
    camera.position.x = 100;
    camera.updateMatrixWorld();
    raycaster.ray.origin.set(7, 8, 9);
    pointer.set(0.5, 0.5);
    let during: unknown[] = [];
    onPointerDown.mockImplementation(({ ray, nativeEvent }) => {
      during = [ray.origin.toArray(), pointer.toArray(), nativeEvent.currentTarget, nativeEvent.offsetX];
    });
    await stage.settle();
    const [[x, y, z], at, currentTarget, offsetX] = during as [number[], number[], Element, number];
    expect([x, y]).toEqual([0, 0]);
    expect(z).toBeCloseTo(5, 6);
    expect(at.map(Math.abs)).toEqual([0, 0]);
    expect(currentTarget).toBe(stage.target);
    expect(offsetX).toBe(WIDTH / 2);
    // Everything is as it was before the handler.
    expect(raycaster.ray.origin.toArray()).toEqual([7, 8, 9]);
    expect(pointer.toArray()).toEqual([0.5, 0.5]);
    expect(event.currentTarget).toBeNull();
    expect(Object.hasOwn(event, 'currentTarget')).toBe(false);
  });

  test('handlers may cast rays of their own', async () => {
    const found: Intersection[][] = [];
    const stage = await mount(
      <Box
        onPointerDown={({ eventObject }: ThreeEvent<PointerEvent>) => {
          const { raycaster } = stage.state;
          raycaster.ray.origin.set(50, 0, 5);
          found.push(raycaster.intersectObject(eventObject));
        }}
      />,
    );
    await stage.fire('pointerdown', CENTER);
    expect(found).toEqual([[]]);
    expect(Object.hasOwn(stage.state.raycaster, 'intersectObject')).toBe(false);
  });
});

describe('what decides what is hit', () => {
  test('raycast={null}, of an object and of a part of one', async () => {
    const [own, group] = [vi.fn(), vi.fn()];
    const stage = await mount(
      <group onPointerDown={group}>
        <Box raycast={null} onPointerDown={own} />
      </group>,
    );
    await stage.fire('pointerdown', CENTER);
    expect(own).not.toHaveBeenCalled();
    expect(group).not.toHaveBeenCalled();
  });

  test('a raycast of its own: meshBounds', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(
      <mesh raycast={meshBounds} onPointerDown={onPointerDown}>
        <torusGeometry args={[1, 0.1]} />
        <meshBasicMaterial />
      </mesh>,
    );
    await stage.fire('pointerdown', CENTER); // through the hole
    expect(onPointerDown).toHaveBeenCalledOnce();
    expect(raycast).not.toHaveBeenCalled();
  });

  test('a raycast of its own that keeps its children out', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(
      <group onPointerDown={onPointerDown} raycast={() => false as unknown as undefined}>
        <points>
          <boxGeometry />
        </points>
      </group>,
    );
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).not.toHaveBeenCalled();
  });

  test('layers', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box layers={3} onPointerDown={onPointerDown} />);
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).not.toHaveBeenCalled();
    stage.state.raycaster.layers.enable(3);
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
  });

  test('near and far of the raycaster', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />, { props: { raycaster: { far: 4 } } });
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).not.toHaveBeenCalled();
    stage.state.raycaster.far = 5;
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
  });

  test('events.filter of the caller', async () => {
    const [front, back] = [vi.fn(), vi.fn()];
    const stage = await mount(
      <>
        <Box onPointerDown={front} />
        <Box position-z={-3} onPointerDown={back} />
      </>,
    );
    stage.state.setEvents({ filter: (hits: Intersection[]) => hits.slice(1) });
    stage.dispatch('pointerdown', CENTER);
    await vi.waitFor(() => expect(back).toHaveBeenCalledOnce(), 10_000);
    expect(front).not.toHaveBeenCalled();
  });

  test('events that are switched off', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />);
    stage.state.setEvents({ enabled: false });
    await stage.fire('pointerdown', CENTER);
    stage.state.setEvents({ enabled: true });
    expect(onPointerDown).not.toHaveBeenCalled();
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
  });

  test('eventPrefix', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />, { props: { eventPrefix: 'client' } });
    stage.host.style.left = '300px';
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
  });

  test('what is invisible, as fiber has it, is asked here', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<Box visible={false} onPointerDown={onPointerDown} />);
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
    expect(raycast).toHaveBeenCalledOnce();
  });

  test('an object that came after the last frame', async () => {
    const onPointerDown = vi.fn();
    const stage = await mount(<group onPointerDown={onPointerDown} />);
    stage.state.scene.children[0].add(new Mesh(new BoxGeometry(2, 2), new MeshBasicMaterial()));
    await stage.fire('pointerdown', CENTER);
    expect(onPointerDown).toHaveBeenCalledOnce();
    expect(raycast).not.toHaveBeenCalled();
  });
});

describe('portals', () => {
  test('have a scene, a camera and a priority of their own', async () => {
    const scene = new Scene();
    const camera = new PerspectiveCamera(75, WIDTH / HEIGHT, 0.1, 100);
    camera.position.set(1000, 0, 5);
    camera.updateMatrixWorld();
    const [front, back] = [vi.fn((event) => event.stopPropagation()), vi.fn()];
    const portal = (priority: number): ReactNode =>
      createPortal(<Box position={[1000, 0, 0]} onPointerDown={front} />, scene, {
        camera,
        events: { priority },
      } as never);
    const stage = await mount([<Box key="box" onPointerDown={back} position-z={3} />, portal(2)]);
    scene.updateMatrixWorld();
    await stage.fire('pointerdown', CENTER);
    expect(front).toHaveBeenCalledOnce(); // though it is farther away
    expect(front.mock.calls[0][0].point.x).toBeCloseTo(1000, 4);
    expect(back).not.toHaveBeenCalled();
    expect(raycast).not.toHaveBeenCalled();
  });

  test('may leave out an event by their compute', async () => {
    const onPointerDown = vi.fn();
    const compute = vi.fn((_: unknown, state: RootState) => {
      (state.raycaster as { camera: unknown }).camera = undefined;
    });
    const stage = await mount(
      createPortal(<Box onPointerDown={onPointerDown} />, new Scene(), { events: { priority: 1, compute } } as never),
    );
    await stage.fire('pointerdown', CENTER);
    expect(compute).toHaveBeenCalledOnce();
    expect(onPointerDown).not.toHaveBeenCalled();
  });
});

describe('the browser', () => {
  test('is told at once what not to do, by the newest known hits', async () => {
    const asked = vi.fn(({ type }: Event, hits: readonly Intersection[]) => type === 'wheel' && hits.length > 0);
    const stage = await mount(<Box onPointerMove={() => {}} onWheel={() => {}} />, {
      events: { preventDefault: asked },
    });
    expect((await stage.fire('wheel', CENTER)).defaultPrevented).toBe(false); // nothing is known yet
    await stage.fire('pointermove', CENTER);
    expect(stage.dispatch('contextmenu', CENTER).defaultPrevented).toBe(false);
    expect(stage.dispatch('wheel', CENTER).defaultPrevented).toBe(true);
    await stage.fire('pointermove', CORNER);
    expect(stage.dispatch('wheel', CENTER).defaultPrevented).toBe(false);
  });
});

describe('a worker', () => {
  const down = async (stage: Stage): Promise<void> => {
    stage.dispatch('pointerdown', CENTER);
    stage.dispatch('pointerup', CENTER);
    await stage.settle();
  };

  test('that is lost meanwhile, takes no event with it', async () => {
    const workers: Worker[] = [];
    const service = await createCollisionService({
      createWorker: () => {
        const worker = new Worker(new URL('../../dist/worker.js', import.meta.url), { type: 'module' });
        workers.push(worker);
        return worker;
      },
    });
    const lost = vi.fn();
    service.addEventListener('lost', lost);
    const calls: string[] = [];
    const handlers = { onPointerDown: () => calls.push('down'), onPointerUp: () => calls.push('up') };
    const stage = await mount(<Box {...handlers} />, { events: { service } });
    await down(stage);
    stage.dispatch('pointerdown', CENTER);
    for (const worker of workers.slice()) worker.dispatchEvent(new ErrorEvent('error', { message: 'it is broken' }));
    stage.dispatch('pointerup', CENTER);
    await stage.settle();
    await down(stage);
    expect(calls).toEqual(['down', 'up', 'down', 'up', 'down', 'up']);
    expect(lost).toHaveBeenCalledOnce();
    service.dispose();
  });

  test('that never starts, leaves the rays to fiber, and is reported once', async () => {
    const errors: CollisionError[] = [];
    const failing = createCollisionService({
      createWorker: () => {
        throw new Error('no worker here');
      },
    });
    failing.catch(() => {}); // until the canvas has it
    const onError = (error: unknown): void => void errors.push(error as CollisionError);
    const onPointerDown = vi.fn();
    const stage = await mount(<Box onPointerDown={onPointerDown} />, { events: { service: failing, onError } });
    await down(stage);
    await down(stage);
    expect(onPointerDown).toHaveBeenCalledTimes(2);
    expect(raycast).toHaveBeenCalled();
    expect(errors.map(({ code }) => code)).toEqual(['WORKER_LOST']);
  });

  test('goes with its canvas, but one of the caller stays', async () => {
    const terminate = vi.spyOn(Worker.prototype, 'terminate');
    const own = await mount(<Box onPointerDown={() => {}} />, { isStrict: true });
    await down(own);
    own.unmount();
    await vi.waitFor(() => expect(terminate).toHaveBeenCalled(), 5000);
    terminate.mockClear();
    const service = await createCollisionService();
    const shared = await mount(<Box onPointerDown={() => {}} />, { events: { service } });
    await down(shared);
    expect(service.stats.objects).toBe(1);
    shared.unmount();
    await vi.waitFor(() => expect(service.stats.objects).toBe(0), 5000);
    // The view could not be queried: there may not have been a frame.
    expect(await service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] })).toBeNull();
    service.dispose();
  });
});

describe('bad options', () => {
  test.each([
    ['an unknown one', { servise: null }, /servise/],
    ['no function', { onError: 'log' }, /onError is "log", expected a function/],
    ['no function either', { preventDefault: true }, /preventDefault is true, expected a function/],
    ['no service', { service: 7 }, /service is 7, expected/],
  ])('are refused: %s', (_, options, message) => {
    expect(() => collisionEvents(options as never)).toThrow(message);
  });
});
