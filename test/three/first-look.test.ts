// The objects of a scene that begins to be tracked are added in slices, however few they are.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const COUNT = 100;
/** Milliseconds per object by the test's clock. */
const EACH = 1;
/** A slice has 4 ms, and checks the clock after each 8 objects. */
const MOST = 16;

test('shapes that need no tree come in slices while trackScene waits for them, and in one frame later', async () => {
  let clock = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const geometry = new BoxGeometry();
  const some = () => Array.from({ length: COUNT }, () => new Mesh(geometry));
  let taken = 0;
  const scene = new Scene().add(...some());
  scene.updateMatrixWorld();
  const tracking = trackScene(service, scene, {
    shapeOf: () => {
      clock += EACH;
      taken++;
      return { type: 'sphere', radius: 0.5 };
    },
  });
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(MOST);
  const tracker = await tracking;
  expect(tracker.pending).toEqual([]);
  expect(service.stats.objects).toBe(COUNT);

  scene.add(...some());
  scene.updateMatrixWorld();
  await tracker.update(frontCamera(), SIZE);
  expect(service.stats.objects).toBe(2 * COUNT);
});
