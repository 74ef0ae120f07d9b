// Pointer events of several views: parts of one element, elements of their own, and one on top of another.
import type { PointerEvent } from '@pmndrs/pointer-events';
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type ForwardPointerOptions, forwardPointerEvents } from 'collision-worker/pointer';
import { type SceneTracker, trackScene, type ViewSize } from 'collision-worker/three';
import {
  type Camera,
  DoubleSide,
  Mesh,
  type Object3D,
  PerspectiveCamera,
  Raycaster,
  Scene,
  SphereGeometry,
  Vector2,
} from 'three';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { page, server, userEvent } from 'vitest/browser';
import { frontCamera, SIZE, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

type Type =
  | 'pointerover'
  | 'pointerout'
  | 'pointermove'
  | 'pointerdown'
  | 'pointerup'
  | 'pointercancel'
  | 'click'
  | 'wheel';

/** The canvas' halves, and a map over the corner of the right one. */
const HALF = { width: SIZE.width / 2, height: SIZE.height };
const RIGHT_HALF = { ...HALF, x: HALF.width };
const MAP = { x: 600, y: 0, width: 200, height: 150 };

let service: CollisionService;
let canvas: HTMLElement;
let ends: (() => void)[];
beforeEach(async () => {
  service = await createCollisionService();
  canvas = addElement(10, 20);
  ends = [];
});
afterEach(() => {
  for (const end of ends) end();
  for (const element of document.querySelectorAll('.shows')) element.remove();
  service.dispose();
});

function addElement(left: number, top: number): HTMLElement {
  const element = document.createElement('div');
  element.className = 'shows';
  element.style.cssText = `position:fixed; left:${left}px; top:${top}px; width:${SIZE.width}px; height:${SIZE.height}px; border:3px solid`;
  document.body.append(element);
  return element;
}

function forward(tracker: SceneTracker, options?: ForwardPointerOptions, element = canvas): () => void {
  const end = forwardPointerEvents(tracker, element, options);
  ends.push(end);
  return end;
}

function send(type: Type, x: number, y: number, init: PointerEventInit = {}, element = canvas): void {
  const { left, top } = element.getBoundingClientRect();
  const all = { clientX: left + 3 + x, clientY: top + 3 + y, bubbles: true, isPrimary: true, pointerId: 1, ...init };
  const event =
    type === 'wheel' ? new WheelEvent(type, all) : new window.PointerEvent(type, { pointerType: 'mouse', ...all });
  element.dispatchEvent(event);
}

/** A camera at a distance of 10 from the origin, which it looks at. */
function cameraFrom(x: number, y: number, z: number, { width, height } = HALF): PerspectiveCamera {
  const camera = new PerspectiveCamera(50, width / height, 0.1, 100);
  camera.position.set(x, y, z);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return camera;
}

/** Records the events of objects, and the camera of each. */
function note(objects: Record<string, Object3D>, cameras: Record<string, Camera>, types: Type[]): string[] {
  const heard: string[] = [];
  const nameOf = (camera: unknown) => Object.keys(cameras).find((name) => cameras[name] === camera);
  for (const [name, object] of Object.entries(objects)) {
    for (const type of types) {
      object.addEventListener(type, (event) => heard.push(`${type}@${name} in ${nameOf(event.camera)}`));
    }
  }
  return heard;
}

/** Waits until the listeners of all sent events have run. */
async function answered(tracker: SceneTracker): Promise<void> {
  for (let i = 0; i < 3; i++) await tracker.pick(0, 0);
  await new Promise((resolve) => setTimeout(resolve));
}

/** Two cubes; each half's camera sees a different one in front: one looks along -z, the other along +z. */
async function twoHalves() {
  const [near, far] = [cube(), cube()];
  near.position.z = 2;
  far.position.z = -2;
  const tracker = await track(service, new Scene().add(near, far));
  const cameras = { main: cameraFrom(0, 0, 10), back: cameraFrom(0, 0, -10) };
  const show = async () => {
    tracker.setView(cameras.back, RIGHT_HALF, 'back');
    await tracker.update(cameras.main, HALF);
  };
  await show();
  return { near, far, tracker, cameras, show };
}

describe('forwardPointerEvents with several views', () => {
  test('a pointer is in the view that it is over, and the event has its camera', async () => {
    const { near, far, tracker, cameras } = await twoHalves();
    const heard = note({ near, far }, cameras, ['pointerover', 'pointerout', 'click', 'wheel']);
    forward(tracker, { view: ['main', 'back'] });
    for (const x of [200, 600, 200]) {
      send('pointermove', x, 300);
      send('pointerdown', x, 300);
      send('pointerup', x, 300);
      send('wheel', x, 300);
    }
    await answered(tracker);
    expect(heard).toEqual([
      ...['pointerover@near in main', 'click@near in main', 'wheel@near in main'],
      ...['pointerout@near in back', 'pointerover@far in back', 'click@far in back', 'wheel@far in back'],
      ...['pointerout@far in main', 'pointerover@near in main', 'click@near in main', 'wheel@near in main'],
    ]);
  });

  test('has objects hear what a real mouse does, as elements in their place would', async ({ skip }) => {
    skip(server.provider !== 'playwright', 'only the driver of Chromium moves a real mouse');
    await page.viewport(SIZE.width + 50, SIZE.height + 50);
    const { near, far, tracker, cameras } = await twoHalves();
    const types: Type[] = ['pointerover', 'pointerout', 'pointerdown', 'pointerup', 'click', 'wheel'];
    const heard = note({ near, far }, cameras, types);
    const expected: string[] = [];
    const elements = (['near', 'far'] as const).map((name, i) => {
      const element = document.createElement('div');
      element.style.cssText = `position:absolute; left:${190 + 400 * i}px; top:290px; width:20px; height:20px`;
      // The object that it is left for is in the other half.
      const views = ['main', 'back'];
      const viewOf = (type: Type) => views[type === 'pointerout' ? 1 - i : i];
      for (const type of types)
        element.addEventListener(type, () => expected.push(`${type}@${name} in ${viewOf(type)}`));
      canvas.append(element);
      return element;
    });
    forward(tracker, { view: ['main', 'back'] });
    for (const element of [elements[0], elements[1], elements[0]]) {
      await userEvent.hover(element);
      await userEvent.click(element);
      await userEvent.wheel(element, { delta: { y: 10 } });
      await answered(tracker);
    }
    expect(heard).toEqual(expected);
    expect(new Set(expected).size).toBe(12);
  });

  test('a real drag goes on in the view where an object has captured the pointer', async ({ skip }) => {
    skip(server.provider !== 'playwright', 'only the driver of Chromium moves a real mouse');
    await page.viewport(SIZE.width + 50, SIZE.height + 50);
    const { near, far, tracker, cameras } = await twoHalves();
    const [start, goal] = [200, 560].map((x) => {
      const element = document.createElement('div');
      element.style.cssText = `position:absolute; left:${x - 10}px; top:290px; width:20px; height:20px`;
      canvas.append(element);
      return element;
    });
    near.addEventListener('pointerdown', ({ pointerId }) => near.setPointerCapture(pointerId));
    const places: number[] = [];
    near.addEventListener('pointermove', ({ point }) => places.push(point.x));
    const heard = note({ near, far }, cameras, ['pointerdown', 'pointerup', 'pointerover']);
    forward(tracker, { view: ['main', 'back'] });
    await userEvent.dragAndDrop(start, goal);
    await answered(tracker);
    await userEvent.hover(goal, { position: { x: 3, y: 3 } });
    await answered(tracker);
    expect(heard.slice(0, 3)).toEqual([
      'pointerover@near in main',
      'pointerdown@near in main',
      'pointerup@near in main',
    ]);
    // 360 pixels to the right on the plane through the first point, 7 in front of the camera.
    const unit = (2 * 7 * Math.tan((25 * Math.PI) / 180)) / SIZE.height;
    expect(Math.max(...places)).toBeCloseTo(360 * unit, 1);
  });

  test('without a capture a pointer that is held goes over to the other view', async () => {
    const { near, far, tracker, cameras } = await twoHalves();
    const heard = note({ near, far }, cameras, ['pointerdown', 'pointermove', 'pointerup']);
    forward(tracker, { view: ['main', 'back'] });
    send('pointerdown', 200, 300, { buttons: 1 });
    send('pointermove', 600, 300, { buttons: 1 });
    send('pointerup', 600, 300);
    await answered(tracker);
    expect(heard).toEqual(['pointerdown@near in main', 'pointermove@far in back', 'pointerup@far in back']);
  });

  test('a view that is named later lies over those before, and covers what it does not show', async () => {
    const [box, ball] = [cube(), new Mesh(new SphereGeometry(1))];
    ball.position.set(0, 0, -50);
    const tracker = await track(service, new Scene().add(box, ball));
    // The scene's camera shows the box over the whole canvas; the map looks the other way, at the ball in its centre.
    const main = cameraFrom(0, 0, 2, SIZE);
    const map = new PerspectiveCamera(20, MAP.width / MAP.height, 0.1, 100);
    map.position.z = -30;
    const cameras = { main, map };
    const heard = note({ box, ball }, cameras, ['click', 'pointerout']);
    tracker.setView(map, MAP, 'map');
    await settle(tracker, main);
    forward(tracker, { view: ['main', 'map'] });
    for (const [x, y] of [
      [400, 300],
      [700, 75],
      [602, 2],
      [598, 2],
    ]) {
      send('pointerdown', x, y);
      send('pointerup', x, y);
    }
    await answered(tracker);
    expect(heard).toEqual([
      ...['click@box in main', 'pointerout@box in map', 'click@ball in map', 'pointerout@ball in map'],
      'click@box in main',
    ]);
  });

  test(`finds in each of three views what three does (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const radius = 3;
    const scene = new Scene().add(randomScene(random, { objects: 40, radius }));
    scene.traverse((object) => {
      if (object instanceof Mesh) for (const material of [object.material].flat()) material.side = DoubleSide;
    });
    const tracker = await track(service, scene);
    const rects: ViewSize[] = [HALF, RIGHT_HALF, MAP];
    const raycaster = new Raycaster();
    let hits = 0;
    for (let round = 0; round < 4; round++) {
      const cameras = rects.map(({ width, height }) => {
        const camera = new PerspectiveCamera(60, width / height, 1e-3, 1e4);
        camera.position.copy(random.direction().multiplyScalar(random.range(1, 2) * radius));
        camera.lookAt(0, 0, 0);
        camera.updateMatrixWorld();
        return camera;
      });
      tracker.setView(cameras[1], rects[1], 'right');
      tracker.setView(cameras[2], rects[2], 'map');
      await tracker.update(cameras[0], rects[0]);
      const heard: unknown[][] = [];
      const listen = ({ object, distance, camera }: PointerEvent) => {
        if (object.isVoidObject !== true) heard.push([object.name, distance.toFixed(2), camera]);
      };
      scene.addEventListener('pointerdown', listen);
      const end = forward(tracker, { view: ['main', 'right', 'map'] });
      for (let i = 0; i < 40; i++) {
        const [x, y] = [random.range(0, SIZE.width), random.range(0, SIZE.height)].map(Math.floor);
        const at = rects.findLastIndex(({ x: left = 0, y: top = 0, width, height }) => {
          return x >= left && x <= left + width && y >= top && y <= top + height;
        });
        const { x: left = 0, y: top = 0, width, height } = rects[at];
        // Where three's ray passes between two triangles, the rays beside it do not.
        const expected = [0, 1e-3, -1e-3].map((aside) => {
          const [right, up] = [(2 * (x + aside - left)) / width - 1, 1 - (2 * (y + aside - top)) / height];
          raycaster.setFromCamera(new Vector2(right, up), cameras[at]);
          const [first] = raycaster.intersectObject(scene);
          return first === undefined ? [] : [[first.object.name, first.distance.toFixed(2), cameras[at]]];
        });
        send('pointerdown', x, y);
        send('pointercancel', x, y);
        await answered(tracker);
        const found = heard.splice(0);
        hits += found.length;
        const isRight = expected.some(
          (each) => each.flat().every((value, k) => value === found.flat()[k]) && each.length === found.length,
        );
        expect([isRight, found.flat().slice(0, 2), expected.map((each) => each.flat().slice(0, 2))]).toEqual([
          true,
          expect.anything(),
          expect.anything(),
        ]);
      }
      end();
      scene.removeEventListener('pointerdown', listen);
    }
    expect(hits).toBeGreaterThan(20);
  });

  test('a pointer in none of the views is over nothing, also for objects with a raycast of their own', async () => {
    const { near, tracker, cameras } = await twoHalves();
    near.raycast = (raycaster, hits) => {
      hits.push({ distance: 1, point: raycaster.ray.at(1, near.position.clone()), object: near });
    };
    const heard = note({ near }, cameras, ['pointerover', 'pointerout', 'click']);
    forward(tracker, { view: 'main' });
    send('pointermove', 200, 300);
    send('pointermove', 600, 300);
    send('pointerdown', 600, 300);
    send('pointerup', 600, 300);
    await answered(tracker);
    expect(heard).toEqual(['pointerover@near in main', 'pointerout@near in main']);
  });

  test('each of two elements has a view of its own, with pointers of its own', async () => {
    const { near, far, tracker, cameras } = await twoHalves();
    const other = addElement(20, 100);
    tracker.setView(cameras.back, HALF, 'back');
    const heard = note({ near, far }, cameras, ['pointerover', 'pointerout', 'click']);
    forward(tracker);
    forward(tracker, { view: 'back' }, other);
    // Not the mouse, whose position is unknown.
    send('pointermove', 200, 300, { pointerId: 8 });
    for (const type of ['pointermove', 'pointerdown', 'pointerup'] as const)
      send(type, 200, 300, { pointerId: 9 }, other);
    await answered(tracker);
    expect(heard).toEqual(['pointerover@near in main', 'pointerover@far in back', 'click@far in back']);
  });

  test('two scenes share a canvas, each with its tracker and its part', async () => {
    const [left, right] = [cube(), cube()];
    const [one, two] = [
      await trackScene(service, new Scene().add(left), UNRENDERED),
      await trackScene(service, new Scene().add(right), { ...UNRENDERED, view: 'second' }),
    ];
    const cameras = { main: cameraFrom(0, 0, 10), second: cameraFrom(0, 0, 10) };
    await Promise.all([one.update(cameras.main, HALF), two.update(cameras.second, RIGHT_HALF)]);
    const heard = note({ left, right }, cameras, ['pointerover', 'pointerout']);
    forward(one);
    forward(two);
    for (const x of [200, 600, 399]) {
      send('pointermove', x, 300);
      await answered(one);
      await answered(two);
    }
    expect(heard.sort()).toEqual(
      [
        'pointerover@left in main',
        'pointerout@left in main',
        'pointerover@right in second',
        'pointerout@right in second',
      ].sort(),
    );
  });

  test('objects that move under a pointer that rests hear of it, in whatever view it is', async () => {
    const { near, far, tracker, cameras, show } = await twoHalves();
    const heard = note({ near, far }, cameras, ['pointerover', 'pointerout']);
    forward(tracker, { view: ['main', 'back'] });
    send('pointermove', 600, 300);
    await answered(tracker);
    far.position.x = 50;
    await show();
    await answered(tracker);
    expect(heard).toEqual(['pointerover@far in back', 'pointerout@far in back', 'pointerover@near in back']);
    // Removing the map uncovers nothing here, since the half below it is no view.
    tracker.removeView('back');
    await tracker.update(cameras.main, HALF);
    await answered(tracker);
    expect(heard.slice(3)).toEqual(['pointerout@near in main']);
  });

  test('says once in the console that a view was never set, and hears of it when it is', async () => {
    const { near, far, tracker, cameras } = await twoHalves();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const heard = note({ near, far }, cameras, ['pointerdown']);
    tracker.removeView('back');
    forward(tracker, { view: ['main', 'back'] });
    for (const x of [200, 600, 600]) send('pointerdown', x, 300);
    await answered(tracker);
    expect(heard).toEqual(['pointerdown@near in main']);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^forwardPointerEvents: view is "back", which the tracker/)],
    ]);
    tracker.setView(cameras.back, RIGHT_HALF, 'back');
    send('pointerdown', 600, 300);
    await answered(tracker);
    expect(heard).toEqual(['pointerdown@near in main', 'pointerdown@far in back']);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  test('a pointer that is in no view is nowhere, not even beside all objects', async () => {
    const box = cube();
    const scene = new Scene().add(box);
    const tracker = await track(service, scene);
    const heard: string[] = [];
    for (const type of ['pointerover', 'pointermove', 'pointerdown'] as const) {
      scene.addEventListener(type, ({ target }) => heard.push(`${type} ${(target as Object3D) === box}`));
    }
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const end = forward(tracker, { view: 'map' });
    for (const type of ['pointermove', 'pointerdown', 'wheel'] as const) send(type, 400, 300);
    await answered(tracker);
    expect(heard).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
    end();
    forward(tracker);
    for (const x of [10, 400]) send('pointerdown', x, 300);
    await answered(tracker);
    expect(heard).toEqual(['pointerover false', 'pointerdown false', 'pointerover true', 'pointerdown true']);
  });

  test('what is a click, and a double one, is as short as was asked for', async () => {
    const box = cube();
    const tracker = await track(service, new Scene().add(box));
    const heard: string[] = [];
    for (const type of ['click', 'dblclick'] as const) box.addEventListener(type, () => heard.push(type));
    const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
    const clickTwice = async (options: ForwardPointerOptions) => {
      heard.length = 0;
      const end = forward(tracker, options);
      for (let i = 0; i < 2; i++) {
        send('pointerdown', 400, 300);
        await pause();
        send('pointerup', 400, 300);
        await pause();
      }
      await answered(tracker);
      end();
      return [...heard];
    };
    const long = 60_000; // the machine may be slow
    expect(await clickTwice({ clickThresholdMs: long, dblClickThresholdMs: long })).toEqual([
      'click',
      'click',
      'dblclick',
    ]);
    expect(await clickTwice({ clickThresholdMs: long, dblClickThresholdMs: 1 })).toEqual(['click', 'click']);
    expect(await clickTwice({ clickThresholdMs: 1, dblClickThresholdMs: long })).toEqual([]);
  });

  test('waits for the first update, and refuses what is no view', async () => {
    const box = cube();
    const tracker = await trackScene(service, new Scene().add(box), UNRENDERED);
    const camera = frontCamera();
    const heard = note({ box }, { main: camera }, ['pointerdown', 'click']);
    const warn = vi.spyOn(console, 'warn');
    forward(tracker, { view: ['main', 'map'] });
    send('pointerdown', 400, 300);
    send('pointerup', 400, 300);
    await settle(tracker, camera);
    await answered(tracker);
    expect(heard).toEqual(['pointerdown@box in main', 'click@box in main']);
    warn.mockRestore();
    for (const view of [[], 1, null, ['main', 2]] as never[]) {
      expect(() => forward(tracker, { view })).toThrow(
        /^forwardPointerEvents: view is .*, expected the name of a view/,
      );
    }
  });
});
