// A pocket joins all curves around it, in whatever order its triangles are found: also those on a triangle for which nothing
// tells inside from outside at the edge from which the pocket reaches it.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import type { Triangles } from '../../oracle/meshes.js';

const LEFT = [-1, 0, 0];
const BACK = [0, 0, 2];
const RIGHT = [1, 0, 0];
const BELOW = [0, -2, 0.75];

/**
 * A tetrahedron that hangs from its horizontal face. The planes of both blades meet the face's front edge in its middle, and the
 * other two edges are outside of them.
 */
const FACES = [
  [LEFT, BACK, RIGHT],
  [LEFT, BELOW, BACK],
  [BACK, BELOW, RIGHT],
  [RIGHT, BELOW, LEFT],
];

/** Two triangles that each touch the horizontal face with one corner, and no other face. */
const BLADES: Triangles = {
  positions: new Float32Array(
    [-1, 1].flatMap((way) => [0.5, 1, 0.75].flatMap((t, i) => [way * 0.25 * t, i < 2 ? 0.25 : -0.25, t])),
  ),
  indices: Uint32Array.of(0, 1, 2, 3, 4, 5),
};

/** The tetrahedron, starting at face `first`, each face rotated by its digit of `turns` in base three. */
function tetrahedron(first: number, turns: number): Triangles {
  const corners = FACES.flatMap((_, i) => {
    const face = FACES[(first + i) % 4]!;
    const turn = Math.floor(turns / 3 ** i) % 3;
    return [...face.slice(turn), ...face.slice(0, turn)];
  });
  return { positions: new Float32Array(corners.flat()), indices: Uint32Array.from(corners.keys()) };
}

test.each([
  ['the tetrahedron first', false],
  ['the blades first', true],
])('both blades are one region, %s', async (_, isTurned) => {
  const scene = await NearScene.at(new Vector3());
  const blades = scene.mesh(BLADES);
  for (let first = 0; first < 4; first++) {
    for (let turns = 0; turns < 81; turns++) {
      const solid = scene.mesh(tetrahedron(first, turns));
      const [a, b] = (isTurned ? [blades, solid] : [solid, blades]).map((shape) => scene.add(shape, new Matrix4()));
      const { normals, depths } = scene.core.pairs.contact(a!.id, b!.id, layout.CONTACTS_MANIFOLD)!;
      const what = `face ${first} first, turns ${turns}`;
      // The ends of both segments, in one direction.
      expect(depths, what).toHaveLength(4);
      for (let i = 1; i < 4; i++) {
        expect(depths[i], what).toBe(depths[0]);
        expect(normals.slice(3 * i, 3 * i + 3), what).toEqual(normals.slice(0, 3));
      }
    }
  }
});
