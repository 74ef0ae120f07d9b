// What a layer of a canvas asks the worker, and when it asks
// nothing; and which part of the answer belongs to which object.
import { Group, Mesh, Object3D, PerspectiveCamera, Raycaster, Vector2, Vector3 } from 'three';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { LayerQuestion } from '../../src/client/react/layer-question.js';

const root = new Object3D();
const group = new Group();
const [near, far] = [new Mesh(), new Mesh()];
group.add(near);
for (const object of [group, near, far]) object.layers.set(4);
for (const object of [root, group, near, far]) Object.assign(object, { __r3f: { root: { getState: () => state } } }); // mounted

let asked: { ray: { origin: Vector3; direction: Vector3; tMin: number; tMax: number }; layers: number }[];
let reported: unknown[];
let views: unknown[][];
let failure: Error | null;
let state: { raycaster: Raycaster; pointer: Vector2; size: { width: number; height: number } };
beforeEach(() => {
  root.clear().add(group, far);
  [asked, reported, views, failure] = [[], [], [], null];
  const raycaster = new Raycaster(new Vector3(1, 2, 3), new Vector3(0, 0, -1), 0.5, 50);
  raycaster.camera = new PerspectiveCamera();
  raycaster.layers.set(4);
  state = { raycaster, pointer: new Vector2(0.25, 0.5), size: { width: 30, height: 20 } };
});

/** It knows all objects, and hits the far one and the near one. */
const tracker = {
  standingOf: () => 'yes',
  async raycastAll(ray: (typeof asked)[0]['ray'], { layers }: { layers: number }) {
    asked.push({ ray: { ...ray, origin: ray.origin.clone(), direction: ray.direction.clone() }, layers });
    if (failure !== null) throw failure;
    return [
      { object: far, distance: 7 },
      { object: near, distance: 3 },
    ];
  },
};
const scene = {
  async trackView(...view: unknown[]) {
    views.push(view);
    return tracker;
  },
  report: (error: unknown) => reported.push(error),
};
const question = (objects: Object3D[] = [group, far]) => new LayerQuestion(scene as never, state as never, objects);

describe('a layer asks', () => {
  test('along its ray, and what is hit is of all above it, nearest first', async () => {
    const layer = question();
    state.raycaster.ray.origin.set(9, 9, 9); // it was read when the event happened
    await layer.ask();
    const ray = { origin: new Vector3(1, 2, 3), direction: new Vector3(0, 0, -1), tMin: 0.5, tMax: 50 };
    expect(asked).toEqual([{ ray, layers: 1 << 4 }]);
    expect(views).toEqual([[root, [group, far], state.raycaster.camera, { width: 30, height: 20 }]]);
    const distances = (object: Object3D) => layer.hitsOf(object).map(({ distance }) => distance);
    expect([near, group, far, root].map(distances)).toEqual([[3], [3], [7], [3, 7]]);
    expect(distances(new Object3D())).toEqual([]);
    layer.hitsOf(root).length = 0; // a list of the caller's own
    expect(distances(root)).toEqual([3, 7]);
    expect(state.raycaster.ray.origin).toEqual(new Vector3(9, 9, 9));
    expect(reported).toEqual([]);
  });

  test.each<[string, () => void]>([
    ['without a camera', () => Object.assign(state.raycaster, { camera: undefined })],
    ['from nowhere, as the canvas has no size', () => state.raycaster.ray.origin.setX(Number.NaN)],
    ['from infinitely far', () => state.raycaster.ray.origin.setZ(Number.POSITIVE_INFINITY)],
    ['into no direction', () => state.raycaster.ray.direction.set(0, 0, 0)],
    ['into a direction that is none', () => state.raycaster.ray.direction.setY(Number.NaN)],
  ])('nothing %s', async (_, change) => {
    change();
    const layer = question();
    expect(layer.ask()).toBeNull();
    expect(layer.hitsOf(root)).toEqual([]);
    expect([asked, views]).toEqual([[], []]);
  });

  test('nothing about no objects', () => {
    expect(question([]).ask()).toBeNull();
  });

  test('again where what was hit has left since', async () => {
    const layer = question();
    expect(layer.refresh([group, far])).toBeNull();
    await layer.ask();
    expect(layer.refresh([group, far])).toBeNull();
    far.removeFromParent();
    await layer.refresh([group, far]);
    expect(asked.length).toBe(3); // of both current trees
  });

  test('once what is about to come is there; what is late is waited for once, and not for ever', async () => {
    vi.useFakeTimers();
    let standing = 'soon';
    let settle!: () => void;
    const settled = () => new Promise<void>((resolve) => (settle = resolve));
    const building = { ...tracker, settled, standingOf: () => standing };
    const ask = () =>
      new LayerQuestion({ ...scene, trackView: async () => building } as never, state as never, [far]).ask();
    const first = ask();
    await vi.advanceTimersByTimeAsync(400);
    expect(asked.length).toBe(0);
    standing = 'yes';
    settle();
    await first;
    expect(asked.length).toBe(1);
    standing = 'soon';
    const second = ask();
    await vi.advanceTimersByTimeAsync(400);
    expect(asked.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    await second;
    expect(asked.length).toBe(2);
    await ask();
    expect(asked.length).toBe(3);
    vi.useRealTimers();
  });

  test('three where the worker fails, and says so', async () => {
    failure = new Error('gone');
    const hit = { object: far, distance: 5, point: new Vector3() };
    far.raycast = (_, hits) => {
      hits.push(hit);
    };
    const layer = question();
    await layer.ask();
    expect(reported).toEqual([failure]);
    expect(layer.hitsOf(far)).toEqual([hit]);
    delete (far as Partial<Mesh>).raycast;
  });

  test('an object that has a `raycast` of its own once, though it is listed beside what it is below', async () => {
    let count = 0;
    near.raycast = (_, hits) => {
      count++;
      hits.push({ object: near, distance: 3, point: new Vector3() });
    };
    const layer = question([near, group, near, root]);
    await layer.ask();
    expect(layer.hitsOf(near).length).toBe(1);
    expect(count).toBe(1);
    delete (near as Partial<Mesh>).raycast;
  });

  test('what is below one that keeps all out only where it has handlers of its own', async () => {
    group.raycast = (() => false) as never;
    try {
      const distances = async (objects: Object3D[]) => {
        const layer = question(objects);
        await layer.ask();
        return layer.hitsOf(root).map(({ distance }) => distance);
      };
      expect(await distances([group, far])).toEqual([7]);
      expect(await distances([group, near, far])).toEqual([3, 7]);
    } finally {
      delete (group as Partial<Group>).raycast;
    }
  });

  test('thousands of objects in slices, between which the raycaster is the one of others', async () => {
    let [now, asks, turns] = [0, 0, 0];
    vi.spyOn(performance, 'now').mockImplementation(() => now++);
    const { ray } = state.raycaster;
    const model = new Group();
    for (let i = 0; i < 5000; i++) {
      const part = new Object3D();
      part.layers.set(4);
      part.raycast = () => {
        asks++;
        expect(ray.origin.toArray()).toEqual([1, 2, 3]);
      };
      (i % 7 === 0 ? root : model).add(part);
    }
    root.add(model);
    const layer = question([root]);
    ray.origin.set(9, 9, 9);
    const answer = layer.ask()!.then(() => true);
    for (let isOver: unknown = false; isOver !== true; turns++) {
      expect(ray.origin.toArray()).toEqual([9, 9, 9]);
      isOver = await Promise.race([answer, new Promise((resolve) => setImmediate(resolve))]);
    }
    vi.restoreAllMocks();
    expect(asks).toBe(5000);
    expect(turns).toBeGreaterThan(3);
    expect(asked.length).toBe(1);
  });
});

test('a layer is set up as it was, and back', () => {
  const { raycaster, pointer } = state;
  const { camera } = raycaster;
  const layer = question();
  const [other, ray] = [new PerspectiveCamera(), raycaster.ray.clone()];
  raycaster.camera = other;
  raycaster.ray.origin.set(7, 7, 7);
  pointer.set(-1, -1);
  const undo = layer.restore();
  expect(raycaster.camera).toBe(camera);
  expect(raycaster.ray).toEqual(ray);
  expect(pointer).toEqual(new Vector2(0.25, 0.5));
  undo();
  expect(raycaster.camera).toBe(other);
  expect(raycaster.ray.origin).toEqual(new Vector3(7, 7, 7));
  expect(pointer).toEqual(new Vector2(-1, -1));
});
