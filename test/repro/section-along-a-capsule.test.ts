// The outline of a capsule cut by a plane along its axis was sampled
// as seen from one of its ends: the other end had three points of 64.
import { createCollisionService } from 'collision-worker';
import { Vector3 } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { flatLoop, loopArea } from '../oracle/sections.js';

const [RADIUS, HALF] = [0.5, 2];

test.each([0, 0.25, -0.4])('both ends of a capsule have as many points, %f from its axis', async (offset) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  service.addObject({ shape: { type: 'capsule', radius: RADIUS, from: [0, -HALF, 0], to: [0, HALF, 0] } });
  await service.update();
  const { points, starts } = await service.section([1, 0, 0, -offset], { roundPoints: 64 });
  expect([...starts]).toEqual([0, 64]);
  const ends = [0, 0];
  for (let i = 0; i < 64; i++) {
    if (points[3 * i + 1] > HALF) ends[0]++;
    if (points[3 * i + 1] < -HALF) ends[1]++;
  }
  expect(ends[0]).toBe(ends[1]);
  expect(ends[0]).toBeGreaterThanOrEqual(3);
  const width = Math.sqrt(RADIUS ** 2 - offset ** 2);
  const area = 4 * HALF * width + Math.PI * width ** 2;
  expect(loopArea(flatLoop(points, 0, 64, new Vector3(1, 0, 0), 0)) / area).toBeGreaterThan(0.95);
});
