// A canvas of size zero, such as a hidden one, was an error in every frame.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene, viewFromCamera } from 'collision-worker/three';
import { PerspectiveCamera } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

/** As an app creates it from its canvas. */
function cameraOf({ width, height }: { width: number; height: number }): PerspectiveCamera {
  const camera = new PerspectiveCamera(50, width / height, 0.1, 100);
  camera.position.z = 10;
  return camera;
}

describe.each([
  [0, 0],
  [800, 0],
  [0, 600],
])('a canvas of %i × %i', (width, height) => {
  const size = { width, height };

  test('sees nothing, and is no error, until it has a size', async () => {
    const object = cube();
    const tracker = await trackScene(service, object);
    for (const margin of ['motion', 0.5] as const) {
      for (let i = 0; i < 2; i++) {
        const hidden = await tracker.update(cameraOf(size), size, { margin });
        expect([...hidden.result.visible.ids]).toEqual([]);
        expect(await tracker.pick(0, 0)).toBeNull();
        expect(await tracker.pickAll(0, 0, { method: 'screen', radius: 1000 })).toEqual([]);
        expect(await tracker.pickRegion({ x: -10, y: -10, width: 1000, height: 1000 })).toEqual([]);
      }
      const far = cameraOf(SIZE);
      far.position.x = 40;
      const away = await tracker.update(far, SIZE, { margin });
      expect([...away.result.visible.ids]).toEqual([]);
      const shown = await tracker.update(cameraOf(SIZE), SIZE, { margin });
      expect([...shown.result.visible.ids]).toEqual([...tracker.idsOf(object)]);
      expect((await tracker.pick(400, 300))?.object).toBe(object);
    }
    service.setView(viewFromCamera(cameraOf(size), size), 'other');
    expect([...(await service.update()).views.get('other')!.ids]).toEqual([]);
  });
});

test('sizes that are none are errors, as before', async () => {
  const tracker = await trackScene(service, cube());
  for (const width of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(tracker.update(frontCamera(), { width, height: 600 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  }
  await tracker.update(frontCamera(), SIZE);
});
