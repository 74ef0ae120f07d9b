// The way out of a shape that contains a mesh was computed from the mesh's bounds, which are not aligned with a rotated
// box: the full dragon in one was 142.2 deep where 119.9 along a face of the box separate them.
import { type Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { NearScene } from '../fixtures/near-scene.js';
import { dragon } from '../oracle/dragon.js';
import { boundsOf, type Triangles } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';
import type { AnyShape } from '../oracle/shapes.js';

const POSES = 3;

describe(`a dragon wholly inside a box, in both orders, seed ${SEED}`, { timeout: 240_000 }, () => {
  test.each([11102, 871414] as const)('%d triangles', async (size) => {
    const random = new Random(SEED);
    const mesh = dragon(size);
    const points = pointsOf(mesh);
    const radius = Math.max(...boundsOf(mesh.positions).getSize(new Vector3()).toArray());
    const scene = await NearScene.at(new Vector3());
    const shape = scene.mesh(mesh);
    const solid = { ...shape, shape: { ...shape.shape, solid: true } } as AnyShape;
    let count = 0;
    for (let pose = 0; pose < POSES; pose++) {
      const turned = random.placement(random.point(0.1 * radius));
      const half = [1.3, 1.5, 1.8].map((each) => each * radius);
      const box = { shape: { type: 'box', halfExtents: half } } as never;
      const dragonIn = random.placement(random.point(0.1 * radius));
      const put = (what: typeof solid, matrix: Matrix4) => {
        const id = makeId(count++, 1);
        // Without the data that the scene's oracle would build of a million triangles.
        scene.core.addObjects(Uint32Array.of(id), scene.describe(what, matrix));
        return id;
      };
      const ids = [put(box, turned), put(solid, dragonIn), put(box, turned)];
      // Box and dragon, dragon and box.
      const least = leastAlongFaces(points, dragonIn, turned, half);
      for (const [a, b] of [
        [ids[0], ids[1]],
        [ids[1], ids[2]],
      ]) {
        const { contained, depths, normals } = scene.core.pairs.contact(a, b, layout.CONTACTS_MANIFOLD)!;
        expect(contained).toBe(a === ids[0] ? 2 : 1);
        expect(depths).toHaveLength(1);
        expect(depths[0]).toBeLessThan(least * (1 + 1e-5));
        expect(Math.hypot(...normals)).toBeCloseTo(1, 6);
      }
      for (const id of ids) scene.core.removeObject(id);
    }
  });
});

/** How far a box must move along its face normals, either way, to contain no point any more: the least of six. */
function leastAlongFaces(points: Vector3[], points2world: Matrix4, box: Matrix4, half: number[]): number {
  const toBox = box.clone().invert().multiply(points2world);
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = low.clone().negate();
  const place = new Vector3();
  for (const point of points) {
    place.copy(point).applyMatrix4(toBox);
    low.min(place);
    high.max(place);
  }
  return Math.min(...half.flatMap((each, k) => [each - low.getComponent(k), each + high.getComponent(k)]));
}

function pointsOf({ positions }: Triangles): Vector3[] {
  return Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
}
