// Meshes of which so many triangles intersect, or lie in each other, that no regions are searched for: the single result for
// all of them separates them, and less does not.
import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup, type Triangles, transformed } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

/** Relative to the depth. */
const OFF = 1e-5;

const CASES: [name: string, make: (random: Random) => [Triangles, Triangles]][] = [
  ['more than 65,536 segments', (random) => [soup(random, 5000, 0.35, 1), soup(random, 5000, 0.35, 1)]],
  [
    'a pocket of more than 65,536 triangles',
    // Dents, since convex meshes have no regions.
    () => [
      transformed(icosphere(1, 6), (vertex) =>
        vertex.multiplyScalar(1 + 0.1 * Math.sin(5 * vertex.x) * Math.sin(5 * vertex.y)),
      ),
      transformed(boxMesh(4, 4, 4), (vertex) => vertex.add(new Vector3(-1.2, 0.1, 0.2))),
    ],
  ],
];

describe(`seed ${SEED}`, () => {
  test.each(CASES)('%s, in both orders', async (_, make) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const [first, second] = make(random).map((mesh) => scene.mesh(mesh));
    const matrix = random.placement(random.point(0.2), { low: 0.8, high: 1.2 });
    for (const shapes of [
      [first!, second!],
      [second!, first!],
    ]) {
      const [a, b] = shapes.map((shape) => scene.add(shape, matrix));
      const { points, normals, depths } = scene.core.pairs.contact(a!.id, b!.id, layout.CONTACTS_MANIFOLD)!;
      expect(depths.length).toBe(4);
      const [depth] = depths;
      const normal = new Vector3(...normals.subarray(0, 3));
      for (let i = 0; i < 4; i++) {
        expect(depths[i]).toBe(depth);
        expect([...normals.subarray(3 * i, 3 * i + 3)]).toEqual(normal.toArray());
        expect(points.subarray(3 * i, 3 * i + 3).every(Number.isFinite)).toBe(true);
      }
      const meetsAt = (way: number) => {
        const there = matrix
          .clone()
          .setPosition(new Vector3().setFromMatrixPosition(matrix).addScaledVector(normal, way));
        const moved = scene.add(shapes[1]!, there);
        const contact = scene.core.pairs.contact(a!.id, moved.id, layout.CONTACTS_ANY);
        scene.remove(moved);
        return contact !== null;
      };
      expect(meetsAt(depth! * (1 + OFF))).toBe(false);
      expect(meetsAt(depth! * (1 - OFF))).toBe(true);
      for (const thing of [a!, b!]) scene.remove(thing);
    }
  });
});
