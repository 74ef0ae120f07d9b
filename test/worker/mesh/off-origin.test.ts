// The position of a mesh in its own space does not matter: far off its origin in any direction, and moved back by its
// matrix, it gives the same results as about its origin.

import { Matrix4, TorusGeometry, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, type NearObject, NearScene } from '../../fixtures/near-scene.js';
import { icosphere, merged, type Triangles, transformed, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import type { AnyShape } from '../../oracle/shapes.js';

/** Snaps vertices to a grid, so that they have the same digits wherever the mesh is moved to. */
const onGrid = (mesh: Triangles) =>
  transformed(mesh, (vertex) => vertex.multiplyScalar(1024).round().divideScalar(1024));
const PAIR = merged([icosphere(1, 2), transformed(icosphere(0.5, 1), (vertex) => vertex.setX(vertex.x + 2))]);
const MESHES = [icosphere(1, 2), PAIR, welded(new TorusGeometry(1, 0.4, 8, 14))].map(onGrid);
const OFFSETS = [0, 1, 2].flatMap((axis) => [-32, 32].map((value) => new Vector3().setComponent(axis, value)));

test.each(OFFSETS.map((offset) => [offset.toArray().join(', '), offset] as const))(
  `by %s, seed ${SEED}`,
  async (_, offset) => {
    const random = new Random(SEED);
    const scenes = [await NearScene.at(new Vector3()), await NearScene.at(new Vector3())];
    const shapes = scenes.map((scene, k) =>
      MESHES.map((mesh) => solid(scene.mesh(k === 0 ? mesh : transformed(mesh, (vertex) => vertex.add(offset))))),
    );
    const counts = { inside: 0, contained: 0, met: 0, hit: 0 };
    for (let i = 0; i < 120; i++) {
      const [one, other] = [random.integer(MESHES.length), random.integer(MESHES.length)];
      const form = random.placement(new Vector3(), ANY_TRANSFORM);
      const size = random.pick([0.05, 0.05, 1]);
      const there = random.placement(random.point(1), { low: 0.7 * size, high: 1.4 * size, mirrored: 0.3 });
      const put = (k: number, shape: AnyShape, matrix: Matrix4): NearObject => {
        const back = k === 0 ? new Matrix4() : new Matrix4().setPosition(offset.clone().negate());
        return scenes[k].add(shape, matrix.clone().multiply(back));
      };
      const things = scenes.map((_, k) => [put(k, shapes[k][one], form), put(k, shapes[k][other], there)]);
      const point = random.point(1.5).toArray();
      const direction = random.direction().toArray();
      const [expected, found] = scenes.map(({ core: { pairs, rays, volumes } }, k) => ({
        contact: pairs.contact(things[k][0].id, things[k][1].id, layout.CONTACTS_MANIFOLD),
        inside: [...runToEnd(volumes.containing(point, ALL_FILTER))],
        nearest: runToEnd(volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER))!,
        hit: rays.raycast({ origin: point, direction }, ALL_FILTER),
      }));
      const message = `case ${i}`;
      expect(found.inside, message).toEqual(expected.inside);
      expect(found.nearest.distance, message).toBeCloseTo(expected.nearest.distance, 5);
      expect(found.hit?.object, message).toBe(expected.hit?.object);
      if (expected.hit) expect(found.hit!.distance, message).toBeCloseTo(expected.hit.distance, 5);
      expect(found.contact?.contained, message).toBe(expected.contact?.contained);
      if (expected.contact) {
        const [depth, again] = [expected.contact, found.contact!].map(({ depths }) => Math.max(...depths));
        // The way of one out of the other is the best of a few directions, which may differ by rounding.
        const apart = expected.contact.contained ? 0.01 * depth : 5e-4;
        expect(Math.abs(again - depth), message).toBeLessThan(apart);
      }
      if (expected.inside.length > 0) counts.inside++;
      if (expected.contact) counts[expected.contact.contained ? 'contained' : 'met']++;
      if (expected.hit) counts.hit++;
      scenes.forEach((scene, k) => {
        for (const thing of things[k]) scene.remove(thing);
      });
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(2);
  },
);

function solid(shape: AnyShape): AnyShape {
  return { ...shape, shape: { ...shape.shape, solid: true } } as AnyShape;
}
