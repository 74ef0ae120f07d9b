// Manifolds of convex pairs, as frames of the service report them.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { type Matrix4, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ANY_TRANSFORM } from '../../fixtures/near-scene.js';
import { icosphere } from '../../oracle/meshes.js';
import { ConvexSolid, depthAlong, penetration } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../oracle/shapes.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test(`every pair of a frame has its manifold, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const triangles = icosphere(1, 1);
  const mesh = await service.addMesh(triangles);
  const things = new Map<number, { shape: AnyShape; matrix: Matrix4 }>();
  for (let i = 0; i < 60; i++) {
    const shape: AnyShape =
      i % 4 === 0 ? { shape: { type: 'mesh', mesh: 0 }, triangles } : { shape: randomSolid(random) };
    const matrix = random.placement(random.point(4), ANY_TRANSFORM);
    const given: Shape = i % 4 === 0 ? { type: 'mesh', mesh } : (shape.shape as Shape);
    things.set(service.addObject({ shape: given, matrix: matrix.elements, contacts: 'manifold' }), { shape, matrix });
  }
  let found = 0;
  for (let frame = 0; frame < 5; frame++) {
    const { contacts } = await service.update();
    for (const { a, b, points, normals, depths } of contacts) {
      found++;
      expect(a).toBeLessThan(b);
      const [p, q] = [a, b].map((id) => {
        const { shape, matrix } = things.get(id)!;
        return new ConvexSolid(shape, matrix);
      });
      expect(depths.length).toBeGreaterThan(0);
      expect(depths.length).toBeLessThanOrEqual(4);
      const [x, y, z] = normals;
      expect(Math.hypot(x, y, z)).toBeCloseTo(1, 6);
      expect(depthAlong(p, q, x, y, z)).toBeCloseTo(depths[0], 5);
      expect(depths[0]).toBeLessThan(penetration(p, q) * 1.0001 + 1e-6);
      for (let i = 0; i < points.length; i += 3) {
        const point = new Vector3().fromArray(points, i);
        expect(Math.max(p.outside(point), q.outside(point))).toBeLessThan(2e-5);
      }
    }
    // One in five moves.
    for (const [id, thing] of things) {
      if (!random.chance(0.2)) continue;
      thing.matrix = random.placement(random.point(4), ANY_TRANSFORM);
      service.setTransform(id, thing.matrix.elements);
    }
  }
  expect(found).toBeGreaterThan(150);
});
