// An app that wrapped the scene's `onBeforeRender` in a callback, or restored the value that it had read there, made a culled
// scene call itself until the stack overflowed.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, type Camera, InstancedMesh, Matrix4, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { afterAll, expect, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

const SIZE = { width: 100, height: 100 };

const service = await createCollisionService();
afterAll(() => service.dispose());

type Key = 'onBeforeRender' | 'onAfterRender';
type Callback = Scene['onBeforeRender'];

/** Two instances, one of which is behind the camera. */
function stage(): { scene: Scene; camera: Camera; painter: ListPainter } {
  const boxes = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2);
  for (const i of [0, 1]) boxes.setMatrixAt(i, new Matrix4().makeTranslation(0, 0, 10 * i - 5));
  return { scene: new Scene().add(boxes), camera: new PerspectiveCamera(), painter: new ListPainter() };
}

/** Wraps the existing callback and calls it first, as libraries do. */
function wrap(scene: Scene, key: Key, said: () => void): Callback {
  const before = scene[key];
  scene[key] = function (this: Scene, ...args) {
    before.apply(this, args);
    said();
  };
  return before;
}

test.each<Key>(['onBeforeRender', 'onAfterRender'])('%s is wrapped, put back and wrapped again', async (key) => {
  const { scene, camera, painter } = stage();
  const called: string[] = [];
  scene[key] = () => called.push('own');
  const calls = (instances = 1) => {
    called.length = 0;
    expect(painter.render(scene, camera)).toHaveLength(instances);
    return called.join();
  };
  const tracker = await trackScene(service, scene, { culling: true });
  await tracker.update(camera, SIZE); // from now on it is culled
  expect(calls()).toBe('own');
  const own = wrap(scene, key, () => called.push('a'));
  expect(calls()).toBe('own,a');
  const first = wrap(scene, key, () => called.push('b'));
  const both = wrap(scene, key, () => called.push('c'));
  expect(calls()).toBe('own,a,b,c');
  scene[key] = both;
  expect(calls()).toBe('own,a,b');
  scene[key] = first;
  expect(calls()).toBe('own,a');
  scene[key] = own;
  expect(calls()).toBe('own');
  scene[key] = both;
  expect(calls()).toBe('own,a,b');
  // It is tracked and released again: the value read in the meantime still works as the callback that it replaced.
  const second = await trackScene(service, scene, { culling: true, view: 'second' });
  await second.update(camera, SIZE);
  expect(calls()).toBe('own,a,b');
  tracker.dispose();
  wrap(scene, key, () => called.push('d'));
  second.dispose();
  expect(calls(2)).toBe('own,a,b,d');
  const third = await trackScene(service, scene, { culling: true });
  await third.update(camera, SIZE);
  expect(calls()).toBe('own,a,b,d');
  scene[key] = own;
  expect(calls()).toBe('own');
  third.dispose();
  expect(calls(2)).toBe('own');
});

test('a scene that is drawn in the midst of its own drawing is culled in both', async () => {
  const { scene, camera, painter } = stage();
  const tracker = await trackScene(service, scene, { culling: true });
  await tracker.update(camera, SIZE);
  let inner: string[] | null = null;
  const before = scene.onBeforeRender;
  scene.onBeforeRender = function (this: Scene, ...args) {
    before.apply(this, args);
    if (inner !== null) return;
    inner = [];
    inner = new ListPainter().render(scene, camera);
  };
  expect(painter.render(scene, camera)).toHaveLength(1);
  expect(inner).toHaveLength(1);
  expect(tracker.culled.instances).toBe(1);
  tracker.dispose();
});
