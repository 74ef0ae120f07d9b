// More features near the cursor than are examined at once: the nearest visible one, by examining each.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PIXEL_VIEW } from '../../fixtures/pixel-view.js';
import { Random, SEED } from '../../oracle/random.js';

const CURSOR = { x: 203, y: 141 };
const RADIUS = 10;
const POINTS = 5000;
/** Pixel distances are distinguished to a 64th. */
const STEP = 1 / 64;

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

// The plate hides none of them, some, or all; the last one fills the square around the cursor.
test.each([0, 3.5, 9, 11, 14])(
  `of ${POINTS} points behind a plate of %d pixels the nearest is found, seed ${SEED}`,
  async (half) => {
    const random = new Random(SEED);
    service.setView(PIXEL_VIEW);
    const cursor = new Vector3(CURSOR.x - 200, 150 - CURSOR.y, 0);
    const points = Array.from({ length: POINTS }, () => random.point(8).add(cursor));
    const mesh = await service.addMesh({
      positions: Float32Array.from(points.flatMap((p) => p.toArray())),
      topology: 'points',
    });
    const cloud = service.addObject({ shape: { type: 'mesh', mesh } });
    const plate =
      half > 0 &&
      service.addObject({
        shape: { type: 'box', halfExtents: [half, half, 1], center: [cursor.x, cursor.y, 20] },
        side: 'double',
      });
    await service.update();
    const isSeen = ({ x, y }: Vector3) => Math.abs(x - cursor.x) > half || Math.abs(y - cursor.y) > half;
    const pixels = points.filter(isSeen).map(({ x, y }) => Math.hypot(x - cursor.x, y - cursor.y));
    const least = Math.min(...pixels);
    const hit = await service.pick(CURSOR.x, CURSOR.y, { snap: ['vertex'], radius: RADIUS });
    const snap = hit?.snap?.object === cloud ? hit.snap : undefined;
    if (least <= RADIUS) {
      expect(snap).toBeDefined();
      expect(snap!.pixels).toBeGreaterThan(least - 1e-4);
      expect(snap!.pixels).toBeLessThan(least + STEP + 1e-4);
    } else {
      expect(snap).toBeUndefined();
    }
    if (plate) service.removeObject(plate);
    service.removeObject(cloud);
    service.removeMesh(mesh);
  },
);
