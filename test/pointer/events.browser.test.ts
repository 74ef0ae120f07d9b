// Pointer events on three's objects, in a real browser: over an element that receives pointer events.
import { type ForwardPointerOptions, forwardPointerEvents } from 'collision-worker/pointer';
import { type Object3D, type PerspectiveCamera, Raycaster, Scene, Vector2 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { page, server, userEvent } from 'vitest/browser';
import {
  CENTER_X,
  CENTER_Y,
  canvas,
  dispatchPointer,
  EVENT_TYPES,
  forward,
  LEFT,
  RIGHT,
  recordEvents,
  service,
  settleEvents,
  twoCubes,
  usePointerStage,
} from '../fixtures/pointer-stage.js';
import { frontCamera, SIZE, settle, track } from '../fixtures/three-picks.js';
import { cube, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

type Heard = { type: string; currentTarget: Object3D; target: Object3D } & Record<string, unknown>;

usePointerStage();

describe('forwardPointerEvents', () => {
  test('has objects hear of each kind of event, in order', async () => {
    const { left, right, tracker } = await twoCubes();
    const heard = recordEvents({ left, right });
    forward(tracker);
    dispatchPointer('pointerenter', LEFT);
    dispatchPointer('pointermove', LEFT);
    for (let i = 0; i < 2; i++) {
      dispatchPointer('pointerdown', LEFT, CENTER_Y, { buttons: 1 });
      dispatchPointer('pointerup', LEFT);
    }
    dispatchPointer('pointerdown', LEFT, CENTER_Y, { button: 2, buttons: 2 });
    dispatchPointer('pointerup', LEFT, CENTER_Y, { button: 2 });
    dispatchPointer('wheel', RIGHT, CENTER_Y, { deltaY: 5 });
    dispatchPointer('pointermove', RIGHT);
    dispatchPointer('pointerdown', RIGHT, CENTER_Y, { buttons: 1 });
    dispatchPointer('pointercancel', RIGHT);
    dispatchPointer('pointerleave', RIGHT);
    await settleEvents(tracker);
    await vi.waitFor(() => expect(heard.at(-1)).toBe('pointerleave@right'), 10_000);
    expect(heard).toEqual([
      ...['pointerover@left', 'pointerenter@left', 'pointermove@left'],
      ...['pointerdown@left', 'pointerup@left', 'click@left'],
      ...['pointerdown@left', 'pointerup@left', 'click@left', 'dblclick@left'],
      ...['pointerdown@left', 'contextmenu@left', 'pointerup@left', 'wheel@right'],
      ...['pointerout@left', 'pointerleave@left', 'pointerover@right', 'pointerenter@right', 'pointermove@right'],
      ...['pointerdown@right', 'pointercancel@right', 'pointerout@right', 'pointerleave@right'],
    ]);
  });

  test('has objects hear what a real mouse does, as elements would', async ({ skip }) => {
    skip(server.provider !== 'playwright', 'only the driver of Chromium moves a real mouse');
    await page.viewport(SIZE.width + 50, SIZE.height + 50);
    const { left, right, tracker } = await twoCubes();
    const [heard, expected]: string[][] = [recordEvents({ left, right }), []];
    // Elements where the cubes are drawn get the same events of the same mouse.
    const elements = [LEFT, RIGHT].map((x, i) => {
      const element = document.createElement('div');
      element.style.cssText = `position:absolute; left:${x - 10}px; top:${CENTER_Y - 10}px; width:20px; height:20px`;
      for (const type of EVENT_TYPES) {
        element.addEventListener(type, (event) => {
          if (type === 'contextmenu') event.preventDefault();
          expected.push(`${type}@${['left', 'right'][i]}`);
        });
      }
      canvas.append(element);
      return element;
    });
    forward(tracker);
    const [first, second] = elements;
    await userEvent.hover(first);
    await userEvent.click(first);
    await userEvent.dblClick(second);
    await userEvent.click(second, { button: 'right' });
    await userEvent.wheel(second, { delta: { y: 10 } });
    await userEvent.hover(document.body, { position: { x: 1, y: 1 } });
    await settleEvents(tracker);
    await tracker.update(frontCamera(), SIZE);
    await settleEvents(tracker);
    const withoutMoves = (all: string[]) => all.filter((each) => !each.startsWith('pointermove'));
    expect(withoutMoves(heard)).toEqual(withoutMoves(expected));
    for (const name of ['left', 'right']) {
      expect([name, heard.includes(`pointermove@${name}`)]).toEqual([name, expected.includes(`pointermove@${name}`)]);
    }
    const kinds = new Set(expected.map((each) => each.split('@')[0]));
    expect(EVENT_TYPES.filter((type) => !kinds.has(type))).toEqual(['pointercancel']);
  });

  test('bubbles up the scene until it is stopped, wheels too; enter and leave do not', async () => {
    const { left, right, group, tracker } = await twoCubes();
    const scene = group.parent!;
    for (const type of ['click', 'wheel'] as const) right.addEventListener(type, (event) => event.stopPropagation());
    const heard = recordEvents({ left, group, scene }, ['click', 'wheel', 'pointerenter', 'pointerleave']);
    const targets: unknown[] = [];
    group.addEventListener('click', (event) => targets.push(event.target, event.currentTarget));
    forward(tracker);
    for (const x of [LEFT, RIGHT]) {
      dispatchPointer('pointermove', x);
      dispatchPointer('pointerdown', x);
      dispatchPointer('pointerup', x);
      dispatchPointer('wheel', x);
    }
    await settleEvents(tracker);
    expect(heard).toEqual([
      ...['pointerenter@scene', 'pointerenter@group', 'pointerenter@left'],
      ...['click@left', 'click@group', 'click@scene', 'wheel@left', 'wheel@group', 'wheel@scene'],
      'pointerleave@left',
    ]);
    expect(targets).toEqual([left, group]);
  });

  test('an object that has captured a pointer hears of it everywhere, until it goes up', async () => {
    const { left, right, tracker } = await twoCubes();
    const heard = recordEvents({ left, right }, ['pointermove', 'pointerup']);
    const native: string[] = [];
    canvas.setPointerCapture = (id) => native.push(`set ${id}`);
    canvas.hasPointerCapture = () => true;
    canvas.releasePointerCapture = (id) => native.push(`release ${id}`);
    left.addEventListener('pointerdown', ({ pointerId }) => left.setPointerCapture(pointerId));
    forward(tracker);
    dispatchPointer('pointerdown', LEFT, CENTER_Y, { buttons: 1, pointerId: 7 });
    dispatchPointer('pointermove', RIGHT, CENTER_Y, { buttons: 1, pointerId: 7 });
    dispatchPointer('pointerup', RIGHT, CENTER_Y, { pointerId: 7 });
    dispatchPointer('pointermove', RIGHT, CENTER_Y, { pointerId: 7 });
    await settleEvents(tracker);
    expect(heard).toEqual(['pointermove@left', 'pointerup@left', 'pointermove@right']);
    expect(native).toEqual(['set 7', 'release 7']);
  });

  test('a finger that is gone when its listener captures it does no harm', async () => {
    const { left, tracker } = await twoCubes();
    const failed = vi.fn();
    window.addEventListener('error', failed);
    left.addEventListener('pointerdown', ({ pointerId }) => left.setPointerCapture(pointerId));
    const heard = recordEvents({ left }, ['pointerdown', 'pointerup']);
    forward(tracker);
    dispatchPointer('pointerdown', LEFT, CENTER_Y, { pointerId: 99, pointerType: 'touch' });
    dispatchPointer('pointerup', LEFT, CENTER_Y, { pointerId: 99, pointerType: 'touch' });
    await settleEvents(tracker);
    window.removeEventListener('error', failed);
    expect(heard).toEqual(['pointerdown@left', 'pointerup@left']);
    expect(failed).not.toHaveBeenCalled();
  });

  test('fingers and pens are pointers of their own', async () => {
    const { left, right, tracker } = await twoCubes();
    const heard: unknown[] = [];
    const numbers = new Set<number>();
    for (const [name, object] of Object.entries({ left, right })) {
      for (const type of ['pointerdown', 'click', 'pointerleave'] as const) {
        object.addEventListener(type, (event) => {
          numbers.add(event.pointerId);
          heard.push([type, name, event.pointerType]);
        });
      }
    }
    forward(tracker);
    const [finger, pen] = [
      { pointerId: 5, pointerType: 'touch' },
      { pointerId: 6, pointerType: 'pen', isPrimary: false },
    ];
    dispatchPointer('pointerdown', LEFT, CENTER_Y, finger);
    dispatchPointer('pointerdown', RIGHT, CENTER_Y, pen);
    dispatchPointer('pointerup', LEFT, CENTER_Y, finger);
    dispatchPointer('pointerleave', LEFT, CENTER_Y, finger);
    dispatchPointer('pointerup', RIGHT, CENTER_Y, pen);
    await settleEvents(tracker);
    expect(heard).toEqual([
      ['pointerdown', 'left', 'screen-touch'],
      ['pointerdown', 'right', 'screen-pen'],
      ['click', 'left', 'screen-touch'],
      ['pointerleave', 'left', 'screen-touch'],
      ['click', 'right', 'screen-pen'],
    ]);
    expect(numbers.size).toBe(2);
  });

  test('loses nothing of fast input but moves that wait', async () => {
    const { left, right, tracker } = await twoCubes();
    const heard = recordEvents({ left, right }, ['pointerdown', 'pointerup', 'pointermove']);
    forward(tracker);
    const expected: string[] = [];
    for (let i = 0; i < 50; i++) {
      const [x, name] = i % 2 === 0 ? [LEFT, 'left'] : [RIGHT, 'right'];
      for (let j = 0; j < 5; j++) dispatchPointer('pointermove', x + j - 5);
      dispatchPointer('pointerdown', x, CENTER_Y, { buttons: 1 });
      dispatchPointer('pointerup', x);
      expected.push(`pointerdown@${name}`, `pointerup@${name}`);
    }
    await vi.waitFor(() => expect(heard.at(-1)).toBe('pointerup@right'), 10_000);
    await settleEvents(tracker);
    expect(heard.filter((each) => !each.startsWith('pointermove'))).toEqual(expected);
    const moves = heard.filter((each) => each.startsWith('pointermove')).length;
    expect(moves).toBeGreaterThanOrEqual(50);
    expect(moves).toBeLessThan(150);
  });

  test('listeners see what the event was, and hits as it met them', async () => {
    const { left, tracker } = await twoCubes();
    const seen: Heard[] = [];
    left.addEventListener('pointerdown', (event) => {
      const { offsetX, currentTarget } = event.nativeEvent;
      seen.push({ ...event, offsetX, element: currentTarget, pointer: event.pointer, point: event.point } as never);
    });
    forward(tracker);
    const x = Math.round(LEFT + 3); // WebKit's events have whole pixels
    let offsetX = 0;
    canvas.addEventListener('pointerdown', (event) => {
      offsetX = event.offsetX;
    });
    const native = dispatchPointer('pointerdown', x, CENTER_Y - 4);
    await settleEvents(tracker);
    expect(seen.length).toBe(1);
    expect(seen[0]).toMatchObject({ element: canvas, nativeEvent: native, offsetX });
    const raycaster = new Raycaster();
    raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 8 / SIZE.height), frontCamera0());
    const [truth] = raycaster.intersectObject(left);
    expect((seen[0].point as typeof truth.point).distanceTo(truth.point)).toBeLessThan(1e-4);
    expect((seen[0].pointer as Vector2).x).toBeCloseTo((2 * x) / SIZE.width - 1, 4);
  });

  test('follows objects and the camera under a pointer that rests', async () => {
    const { left, tracker } = await twoCubes();
    const heard = recordEvents({ left }, ['pointerover', 'pointerout', 'pointermove']);
    forward(tracker);
    dispatchPointer('pointerenter', CENTER_X);
    await settleEvents(tracker);
    expect(heard).toEqual([]);
    left.position.x = 0;
    await tracker.update(frontCamera(), SIZE);
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerover@left']);
    const camera = frontCamera();
    camera.position.x = 50;
    await tracker.update(camera, SIZE);
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerover@left', 'pointerout@left']);
    dispatchPointer('pointerleave', CENTER_X);
    await tracker.update(frontCamera(), SIZE);
    await settleEvents(tracker);
    expect(heard.length).toBe(2);
  });

  test('knows pointerEvents, pointerEventsType and pointerEventsOrder', async () => {
    const [near, far] = [cube(), cube()];
    far.position.z = -5;
    const tracker = await track(service, new Scene().add(near, far));
    const heard = recordEvents({ near, far }, ['pointerdown']);
    forward(tracker);
    const down = async () => {
      dispatchPointer('pointerdown', CENTER_X);
      dispatchPointer('pointercancel', CENTER_X);
      await settleEvents(tracker);
    };
    await down();
    near.pointerEvents = 'none';
    await down();
    near.pointerEvents = 'auto';
    await down();
    near.pointerEventsType = { deny: 'screen-mouse' };
    await down();
    near.pointerEventsType = 'all';
    far.pointerEventsOrder = 1;
    await down();
    expect(heard.map((each) => each.slice('pointerdown@'.length))).toEqual(['near', 'far', 'near', 'far', 'far']);
  });

  test(`finds what three's Raycaster finds, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 40, radius: 3 });
    const tracker = await track(service, root);
    let heard: Object3D | null = null;
    root.addEventListener('pointerdown', (event) => {
      heard = event.target.isVoidObject === true ? null : event.target;
    });
    forward(tracker);
    const raycaster = new Raycaster();
    let count = 0;
    for (let i = 0; i < 60; i++) {
      const [x, y] = [Math.round(random.range(200, 600)), Math.round(random.range(100, 500))];
      heard = null;
      dispatchPointer('pointerdown', x, y);
      dispatchPointer('pointercancel', x, y);
      await settleEvents(tracker);
      raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 1 - (2 * y) / SIZE.height), frontCamera0());
      const truth = raycaster.intersectObject(root)[0]?.object ?? null;
      expect(heard, `pixel ${x} ${y}`).toBe(truth);
      if (truth !== null) count++;
    }
    expect(count).toBeGreaterThan(5);
  });

  test('has the worker cast the rays, and not three', async () => {
    const { left, right, tracker } = await twoCubes();
    const heard = recordEvents({ left, right }, ['pointerdown']);
    forward(tracker);
    // three would read these, whose change was not reported.
    left.geometry = left.geometry.clone();
    await settle(tracker, frontCamera());
    (left.geometry.attributes.position.array as Float32Array).fill(1e6);
    left.geometry.boundingSphere = null;
    dispatchPointer('pointerdown', LEFT);
    dispatchPointer('pointerdown', RIGHT);
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerdown@left', 'pointerdown@right']);
  });

  test('asks objects with a raycast of their own, and invisible ones, here', async () => {
    const { left, right, tracker } = await twoCubes();
    left.raycast = () => {};
    right.visible = false;
    const ghost = cube();
    ghost.raycast = (raycaster, hits) => {
      hits.push({ distance: 1, point: raycaster.ray.at(1, frontCamera().position.clone()), object: ghost });
    };
    const heard = recordEvents({ left, right, ghost }, ['pointerdown']);
    await tracker.update(frontCamera(), SIZE);
    forward(tracker);
    dispatchPointer('pointerdown', LEFT);
    dispatchPointer('pointerdown', RIGHT);
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerdown@right']);
    left.parent!.add(ghost);
    await settle(tracker, frontCamera());
    dispatchPointer('pointerdown', 1, 1);
    await settleEvents(tracker);
    expect(heard).toEqual(['pointerdown@right', 'pointerdown@ghost']);
  });

  test('has pointers that are as was asked for', async () => {
    const { left, right, tracker } = await twoCubes();
    left.add(Object.assign(cube(), { name: 'behind' }));
    left.children[0].position.z = -2;
    await settle(tracker, frontCamera());
    const heard = recordEvents({ left, right, behind: left.children[0] }, ['pointerdown', 'click', 'contextmenu']);
    const asked = vi.spyOn(tracker, 'pickAll');
    /** A click with each of two buttons. */
    const click = async (x: number, options?: ForwardPointerOptions) => {
      heard.length = asked.mock.calls.length = 0;
      const end = forward(tracker, options);
      for (const button of [0, 2])
        for (const type of ['pointerdown', 'pointerup']) dispatchPointer(type, x, CENTER_Y, { button });
      await settleEvents(tracker);
      end();
      const questions = new Set(asked.mock.calls.map(([, , question]) => JSON.stringify(question)));
      return [...questions, ...heard];
    };
    const down = 'pointerdown@right';
    expect(await click(RIGHT)).toEqual(['{}', down, 'click@right', down, 'contextmenu@right']);
    const none = { radius: undefined, customSort: undefined, filter: undefined, contextMenuButton: undefined };
    expect(await click(RIGHT, none as never)).toEqual(['{}', down, 'click@right', down, 'contextmenu@right']);
    const swapped = await click(RIGHT, { contextMenuButton: 0, radius: 9 });
    expect(swapped).toEqual(['{"radius":9}', down, 'contextmenu@right', down, 'click@right']);
    const others = await click(RIGHT, { filter: (object) => object !== right });
    expect(others).toEqual(['{}']);
    // An event that bubbles names its target.
    expect(await click(LEFT)).not.toContain('pointerdown@behind');
    const farthest: ForwardPointerOptions = { customSort: (a, _, b) => b.distance - a.distance };
    expect((await click(LEFT, farthest)).slice(0, 3)).toEqual(['{}', 'pointerdown@behind', 'pointerdown@left']);
    expect(await click(CENTER_X)).toEqual(['{}']);
  });

  test('has the element capture what an object captures, and let go of that', async () => {
    const { left, tracker } = await twoCubes();
    const told: string[] = [];
    const says = { setPointerCapture: undefined, releasePointerCapture: undefined, hasPointerCapture: true };
    for (const name of ['setPointerCapture', 'releasePointerCapture', 'hasPointerCapture'] as const) {
      vi.spyOn(canvas, name).mockImplementation((id) => {
        told.push(`${name} ${id}`);
        return says[name] as never;
      });
    }
    left.addEventListener('pointerdown', (event) => left.setPointerCapture(event.pointerId));
    forward(tracker);
    const drag = async () => {
      told.length = 0;
      dispatchPointer('pointerdown', LEFT, CENTER_Y, { pointerId: 7 });
      dispatchPointer('pointerup', LEFT, CENTER_Y, { pointerId: 7 });
      await settleEvents(tracker);
      return [...told];
    };
    expect(await drag()).toEqual(['setPointerCapture 7', 'hasPointerCapture 7', 'releasePointerCapture 7']);
    says.hasPointerCapture = false;
    expect(await drag()).toEqual(['setPointerCapture 7', 'hasPointerCapture 7']);
  });

  test('decides at once what the browser shall not do, by the newest known hit', async () => {
    const { left, tracker } = await twoCubes();
    left.addEventListener('pointermove', () => {});
    const hits: unknown[] = [];
    forward(tracker, {
      preventDefault: ({ type }, hit) => {
        hits.push(hit?.object ?? null);
        return type === 'wheel' && hit !== null;
      },
    });
    expect(dispatchPointer('wheel', LEFT).defaultPrevented).toBe(false);
    dispatchPointer('pointermove', LEFT);
    await settleEvents(tracker);
    expect(dispatchPointer('wheel', LEFT).defaultPrevented).toBe(true);
    expect(dispatchPointer('contextmenu', LEFT).defaultPrevented).toBe(false);
    expect(hits).toEqual([null, left, left]);
  });

  test('refuses what it cannot use', async () => {
    const { tracker } = await twoCubes();
    const refuse =
      (...args: unknown[]) =>
      () =>
        (forwardPointerEvents as (...all: unknown[]) => unknown)(...args);
    expect(refuse(null, canvas)).toThrow(/^forwardPointerEvents: tracker is null, expected a SceneTracker/);
    expect(refuse(tracker, null)).toThrow(/^forwardPointerEvents: element is null/);
    expect(refuse(tracker, canvas, { every: 1 })).toThrow(/unknown key "every"/);
    expect(refuse(tracker, canvas, { signal: {} })).toThrow(/^forwardPointerEvents: signal/);
    expect(refuse(tracker, canvas, { radius: -1 })).toThrow(/^forwardPointerEvents: radius is -1/);
    expect(refuse(tracker, canvas, { filter: 1 })).toThrow(/^forwardPointerEvents: filter is 1/);
  });
});

/** The front camera with its matrices, as three's Raycaster needs it. */
function frontCamera0(): PerspectiveCamera {
  const camera = frontCamera();
  camera.updateMatrixWorld();
  return camera;
}
