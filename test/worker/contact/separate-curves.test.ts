// Two curves through triangles that share an edge are two regions if neither meets the edge.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { NearScene } from '../../fixtures/near-scene.js';
import type { Triangles } from '../../oracle/meshes.js';

/** A roof of two triangles whose ridge is at y = 2, and whose eaves are slightly below y = 0. */
const ROOF: Triangles = {
  positions: new Float32Array([-1, 2, 0, 1, 2, 0, 0, -0.1, 1, 0, -0.1, -1]),
  indices: Uint32Array.of(0, 1, 2, 1, 0, 3),
};
/** One large triangle in the plane y = 0. */
const FLOOR: Triangles = {
  positions: new Float32Array([-9, 0, -9, 9, 0, -9, 0, 0, 18]),
  indices: Uint32Array.of(0, 1, 2),
};

test.each([
  ['the roof first', 0],
  ['the floor first', 1],
])('both eaves of a roof in the floor, %s', async (_, turned) => {
  const scene = await NearScene.at(new Vector3());
  const [roof, floor] = [ROOF, FLOOR].map((mesh) => scene.mesh(mesh));
  const [a, b] = (turned ? [floor, roof] : [roof, floor]).map((shape) => scene.add(shape, new Matrix4()));
  const { points, normals, depths } = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD)!;
  // Each eave is a region of its own, with the two ends of its segment.
  expect(depths).toHaveLength(4);
  const sides = Array.from(depths, (_, i) => Math.sign(points[3 * i + 2]));
  expect(sides[0]).toBe(sides[1]);
  expect(sides[2]).toBe(-sides[0]);
  expect(sides[3]).toBe(sides[2]);
  // The shortest way out of the floor is straight up.
  for (const [i, depth] of depths.entries()) {
    expect(depth).toBeCloseTo(0.1, 6);
    expect(Math.abs(normals[3 * i + 1])).toBeCloseTo(1, 6);
  }
});
