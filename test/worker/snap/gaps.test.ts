// A face that is drawn all around the cursor hides what
// is behind it; faces with gaps between them do not.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PIXEL_VIEW } from '../../fixtures/pixel-view.js';
import { merged } from '../../oracle/meshes.js';

const CURSOR = { x: 200, y: 150 };
const RADIUS = 10;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  service.setView(PIXEL_VIEW); // the cursor is at the origin
});
afterEach(() => service.dispose());

/** Two triangles between two values of x. */
function bar(low: number, high: number) {
  return {
    positions: Float32Array.of(low, -90, 0, high, -90, 0, high, 90, 0, low, 90, 0),
    indices: Uint32Array.of(0, 1, 2, 0, 2, 3),
  };
}

// Of the first, all corners of the examined triangles are on other bars than the cursor.
test.each([
  ['bars with gaps', [bar(-90, -7), bar(-3, 3), bar(7, 90)], 5, true],
  ['a wall of two triangles', [bar(-90, 40)], 5, false],
  ['a wall of two triangles that ends near the cursor', [bar(-90, 4)], 5, true],
] as const)('behind %s', async (_, bars, x, isSeen) => {
  const wall = await service.addMesh(merged([...bars]));
  const points = await service.addMesh({ positions: Float32Array.of(x, 1, -9), topology: 'points' });
  const ids = [wall, points].map((mesh) => service.addObject({ shape: { type: 'mesh', mesh } }));
  await service.update();
  const hit = await service.pick(CURSOR.x, CURSOR.y, { snap: ['vertex'], radius: RADIUS });
  expect(hit?.object).toBe(ids[0]);
  expect(hit?.snap?.object).toBe(isSeen ? ids[1] : undefined);
});
