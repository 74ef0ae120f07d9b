// A view whose margin is computed from its motion is read once: the service is given what it would have read itself.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { type Camera, OrthographicCamera, PerspectiveCamera, Scene, StereoCamera } from 'three';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readView, type View } from '../../src/client/frame/view-table.js';
import { Random, SEED } from '../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService({ builders: 0 });
});
afterAll(() => service.dispose());

function cameraOf(random: Random): Camera {
  return random.chance(0.5) ? new PerspectiveCamera(60, 2, 0.1, 100) : new OrthographicCamera(-2, 2, 1, -1, 0, 10);
}

test(`views of cameras that move, stand still, and have no pixels, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const set = vi.spyOn(service, 'setView');
  const kinds = { read: 0, occluding: 0, empty: 0, still: 0, again: 0 };
  for (const culling of [false, { occlusion: true }, { minPixels: 2 }]) {
    const tracker = await trackScene(service, new Scene(), { culling });
    const camera = cameraOf(random);
    let size = { width: 200, height: 100 };
    for (let frame = 0; frame < 60; frame++) {
      const isStill = random.chance(0.3);
      if (!isStill) {
        camera.position.copy(random.point(1));
        camera.quaternion.copy(random.rotation());
        camera.layers.mask = random.pick([1, 3]);
        size = random.pick([size, { width: 200, height: 100 }, { width: 300, height: 100 }, { width: 0, height: 100 }]);
      }
      set.mockClear();
      tracker.setView(camera, size, 'view', {
        ...(culling === false || random.chance(0.3) ? { margin: 'motion' } : {}),
        ...(random.chance(0.3) ? { occlusion: random.chance(0.5) } : {}),
        ...(random.chance(0.2) ? { occlusionMargin: random.range(0, 2) } : {}),
        ...(random.chance(0.2) ? { minPixels: random.integer(3) } : {}),
      });
      if (set.mock.calls.length === 0) {
        kinds.again++;
        continue;
      }
      const [options, , read] = set.mock.lastCall! as unknown as [Parameters<typeof readView>[1], string, View?];
      if (isStill && options.margin === 0) kinds.still++;
      if (read === undefined) continue;
      kinds.read++;
      if (options.occlusion === true) kinds.occluding++;
      if (read.isEmpty) kinds.empty++;
      const expected = readView('setView', options);
      expected.record[0] = read.slot; // the name determines it
      expect(read.record).toEqual(expected.record);
    }
    tracker.dispose();
  }
  for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThan(0);
});

test.each([
  ['nothing', undefined],
  ['a StereoCamera, which has two', new StereoCamera()],
])('%s is no camera, and refused as such with all that culling looks at', async (_, camera) => {
  const tracker = await trackScene(service, new Scene(), { culling: { occlusion: true } });
  const size = { width: 200, height: 100 };
  const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('expected a Camera of three') };
  await expect(tracker.update(camera as unknown as Camera, size)).rejects.toMatchObject(refused);
  expect(() => tracker.setView(camera as unknown as Camera, size, 'view')).toThrow(expect.objectContaining(refused));
  tracker.dispose();
});
