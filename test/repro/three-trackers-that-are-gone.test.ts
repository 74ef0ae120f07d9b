// A disposed tracker was retained, with its scene, as long as its service lived: a promise of the service held a reaction of it.
// An app that loads one level after another retained them all. One whose service was disposed first was retained by its scene.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const LEVELS = 10;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const camera = frontCamera();

type Play = (tracker: SceneTracker, scene: Scene) => Promise<unknown>;

/** Plays a level; returns weak references to its tracker and its scene, once the level is over. */
async function play(level: Play): Promise<WeakRef<object>[]> {
  const scene = new Scene();
  scene.add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await level(tracker, scene);
  tracker.dispose();
  return [new WeakRef(tracker), new WeakRef(scene)];
}

/** Returns how many still exist. */
async function kept(gone: readonly WeakRef<object>[]): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve)); // pending answers, and slices, end first
  collect();
  return gone.filter((each) => each.deref() !== undefined).length;
}

test.each<[string, Play]>([
  ['was seen', (tracker) => tracker.update(camera, SIZE)],
  ['was never seen', () => Promise.resolve()],
  [
    'was asked before it was seen',
    async (tracker) => {
      const hit = tracker.pick(SIZE.width / 2, SIZE.height / 2);
      await tracker.update(camera, SIZE);
      expect(await hit).not.toBe(null);
    },
  ],
  [
    'was asked and never seen',
    async (tracker) => {
      tracker.pick(50, 50).catch(() => undefined);
    },
  ],
])('a tracker that is disposed is collected, with its scene, where it %s', async (_, level) => {
  const gone: WeakRef<object>[] = [];
  for (let i = 0; i < LEVELS; i++) gone.push(...(await play(level)));
  await expect.poll(() => kept(gone)).toBeLessThanOrEqual(2); // the last one may still be on the stack
});

test('what waits for the first view of a scene hears that the service was disposed', async () => {
  const tracker = await trackScene(service, new Scene());
  const pick = expect(tracker.pick(50, 50)).rejects.toMatchObject({ code: 'DISPOSED' });
  service.dispose();
  await pick;
});

test('what is left of a tracker whose service was disposed hears of nothing, and is collected', async () => {
  const gone: WeakRef<object>[] = [];
  const scene = new Scene().add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  for (let i = 0; i < LEVELS; i++) {
    const own = await createCollisionService();
    const tracker = await trackScene(own, scene, { updateMatrixWorld: true });
    await tracker.update(camera, SIZE);
    own.dispose();
    await tracker.update(camera, SIZE).catch(() => undefined); // a promise that is expected to reject is kept until the test ends
    gone.push(new WeakRef(tracker));
  }
  const listeners = (): number =>
    [scene, ...scene.children].flatMap((object) =>
      Object.values((object as { _listeners?: object })._listeners ?? {}).flat(),
    ).length;
  await expect.poll(listeners).toBe(0);
  await expect.poll(() => kept(gone)).toBeLessThanOrEqual(1);
});
