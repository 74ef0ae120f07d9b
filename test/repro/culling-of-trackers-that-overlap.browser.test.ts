// Trackers of one scene that were disposed in the order of their creation left their wrappers around each render of the scene:
// a tracker created before the previous one was disposed, as in a hot reload, made each render slower and slower.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { PerspectiveCamera, Scene } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PICTURE } from '../fixtures/flights.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

async function tracked(scene: Scene): Promise<SceneTracker> {
  const tracker = await trackScene(service, scene, { culling: true });
  await tracker.update(new PerspectiveCamera(), PICTURE);
  return tracker;
}

test.each([
  ['as they came', [0, 1, 2]],
  ['the newest first', [2, 1, 0]],
  ['another way', [1, 2, 0]],
])('the scene is as it was, with the app in it, when the last of three has ended, %s', async (_, order) => {
  for (const own of [undefined, () => {}]) {
    const scene = new Scene();
    if (own) scene.onBeforeRender = own;
    const trackers = [await tracked(scene), await tracked(scene), await tracked(scene)];
    for (const i of order) {
      expect(scene.onBeforeRender).not.toBe(own ?? Scene.prototype.onBeforeRender);
      trackers[i].dispose();
    }
    expect(scene.onBeforeRender).toBe(own ?? Scene.prototype.onBeforeRender);
    expect(Object.hasOwn(scene, 'onBeforeRender')).toBe(own !== undefined);
    expect(Object.hasOwn(scene, 'onAfterRender')).toBe(false);
  }
});
