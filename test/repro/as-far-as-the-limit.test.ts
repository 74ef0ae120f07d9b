// Two objects exactly as far apart as `maxDistance` were none: the limit was rounded to the space of a mesh, and the distance
// from there. A pair as far apart as its clearance was no contact either.
import { type CollisionService, createCollisionService, type ObjectOptions } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { icosphere, soup } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test('objects as far apart as the limit are within it, and none is farther than it', async () => {
  const random = new Random(3);
  const meshes = await Promise.all([soup(random, 20, 0.3, 1), icosphere(1, 2)].map((mesh) => service.addMesh(mesh)));
  let apart = 0;
  for (let i = 0; i < 60; i++) {
    const mesh = (): ObjectOptions => ({ shape: { type: 'mesh', mesh: random.pick(meshes) } });
    const other: ObjectOptions =
      i % 2 === 0 ? mesh() : { shape: { type: 'capsule', radius: 0.1, from: [0, 0, 0], to: [0.3, 0.1, 0] } };
    const [a, b] = [mesh(), other].map((options, k) =>
      service.addObject({
        ...options,
        contacts: 'any',
        matrix: random.placement(random.direction().multiplyScalar(k * 3), { low: 0.5, high: 2, sheared: i % 3 })
          .elements,
      }),
    );
    const { distance } = (await service.distance(a, b))!;
    if (distance > 0) {
      apart++;
      const below = distance * (1 - 1e-14);
      for (const [first, second] of [
        [a, b],
        [b, a],
      ]) {
        expect((await service.distance(first, second, { maxDistance: distance }))?.distance, `case ${i}`).toBe(
          distance,
        );
        expect(await service.distance(first, second, { maxDistance: below }), `case ${i}`).toBeNull();
      }
      for (const [clearance, count] of [
        [distance, 1],
        [below, 0],
      ]) {
        service.setObject(a, { clearance });
        expect((await service.update()).contacts.count, `case ${i}, clearance ${clearance}`).toBe(count);
      }
    }
    service.removeObjects(Uint32Array.of(a, b));
  }
  expect(apart).toBeGreaterThan(30);
});
