// Of 8,000 rays from 3·10¹² radii away, 19 missed a ball that they hit: float32 had decided where they pass.
import { createCollisionService } from 'collision-worker';
import { Vector3 } from 'three';
import { expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

test.each([1e12, 3e12])(`from %d radii away, seed ${SEED}`, async (distance) => {
  const service = await createCollisionService();
  const random = new Random(SEED);
  const mesh = await service.addMesh(icosphere(1, 8));
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const hits = Array.from({ length: 8000 }, () => {
    const direction = random.direction();
    // Rounding moves the ray by some 10⁻³ at its target.
    const aim = random.point(0.5);
    const origin = aim.clone().addScaledVector(direction, -distance);
    const along = new Vector3().subVectors(aim, origin).normalize();
    return service.raycast({ origin: origin.toArray(), direction: along.toArray() });
  });
  const missed = (await Promise.all(hits)).filter((hit) => hit?.object !== object);
  expect(missed.length).toBe(0);
  service.dispose();
});
