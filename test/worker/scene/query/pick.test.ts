import { PlaneGeometry, Raycaster, Vector2, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { findDifference, findInconsistency } from '../../../fixtures/ray-differences.js';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { icosphere, soup, trianglesOf } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { rayHits } from '../../../oracle/ray.js';

const CAMERAS = 20;
const PIXELS = 20;

describe.each(PLACES)(`pick, %s, seed ${SEED}`, (_, place) => {
  let twin: Twin;

  beforeAll(async () => {
    const random = new Random(SEED);
    twin = await Twin.create();
    const shapes = [
      await twin.mesh(icosphere(1, 2)),
      await twin.mesh(soup(random, 30, 0.6, 1)),
      await twin.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
      twin.box(new Vector3(1, 0.5, 0.2)),
    ];
    for (let i = 0; i < 300; i++) {
      const position = random.point(25).add(place);
      twin.add(random.pick(shapes), random.placement(position, { low: 0.3, high: 4, mirrored: 0.3 }));
    }
    return () => twin.dispose();
  });

  describe.each(CAMERA_KINDS)('%s', (_, make) => {
    test.each(DEPTHS)('%s', async (_, depth) => {
      const random = new Random(SEED);
      let hits = 0;
      for (let i = 0; i < CAMERAS; i++) {
        const camera = aimCamera(make(random), random, place);
        twin.service.setView(viewOf(camera, depth));
        for (let j = 0; j < PIXELS; j++) {
          const [x, y] = [random.next(), random.next()];
          const hit = await twin.service.pick(VIEWPORT.x + x * VIEWPORT.width, VIEWPORT.y + y * VIEWPORT.height);
          const raycaster = new Raycaster();
          raycaster.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), camera);
          const expected = rayHits(twin.items.values(), raycaster.ray).filter(
            ({ point }) => Math.abs(point.project(camera).z) <= 1,
          );
          expect(findDifference(hit, raycaster.ray, expected)).toBeNull();
          if (hit === null) continue;
          expect(findInconsistency(hit, raycaster.ray, twin.items.get(hit.object)!)).toBeNull();
          hits++;
        }
      }
      expect(hits).toBeGreaterThan((CAMERAS * PIXELS) / 10);
    });
  });

  test('beside the viewport is nothing', async () => {
    const [, make] = CAMERA_KINDS[0];
    twin.service.setView(viewOf(aimCamera(make(new Random(SEED)), new Random(SEED), place), DEPTHS[0][1]));
    const { x, y, width, height } = VIEWPORT;
    for (const [px, py] of [
      [x - 1, y + 1],
      [x + 1, y - 1],
      [x + width + 1, y + 1],
      [x + 1, y + height + 1],
    ]) {
      expect(await twin.service.pick(px, py)).toBeNull();
    }
  });
});
