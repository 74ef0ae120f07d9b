// A shape that turned about a point a thousand times its size away, and passed an object without touching it, was reported to
// hit it: each step of the advancement was hundreds of times too short, and it ended with its last step.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const ANGLE = 3;

test.each([
  [10, 2e-6, 2e-7],
  [1e3, 2e-4, 1e-4],
  [1e3, 1e-3, 1e-4],
  [1e5, 1e-3, 1e-4],
])('around a drum of radius %d, %d away, within %d', async (radius, gap, tolerance) => {
  const drum = service.addObject({ shape: { type: 'sphere', radius }, layers: 1 });
  const center = [radius + 1 + gap, 0, 0] as const;
  const part = { type: 'capsule', radius: 1, from: center, to: center } as const;
  // A post that the part meets after two radians.
  const post = service.addObject({
    shape: { type: 'sphere', radius: 1 },
    matrix: new Matrix4().makeRotationZ(2).multiply(new Matrix4().setPosition(center[0], 0, 0)).elements,
    layers: 2,
  });
  const [from, to] = [new Matrix4().elements, new Matrix4().makeRotationZ(ANGLE).elements];
  expect(await service.sweep(part, from, to, { tolerance, layers: 1 })).toBeNull();
  const hit = (await service.sweep(part, from, to, { tolerance }))!;
  // The centres are two radii apart then.
  const time = (2 - 2 * Math.asin(1 / center[0])) / ANGLE;
  expect(hit.object).toBe(post);
  expect(hit.time).toBeLessThanOrEqual(time + 1e-12);
  expect(hit.time).toBeGreaterThan(time - (2 * tolerance) / center[0]);
  service.removeObjects(Uint32Array.of(drum, post));
});
