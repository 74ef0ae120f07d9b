// A contact does not depend on which of the world's axes is called x: the same pair, with its coordinates permuted, which
// rounds nothing, has the same depth along the same direction.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { ANY_TRANSFORM, NearScene } from '../../fixtures/near-scene.js';
import { randomHull } from '../../oracle/hulls.js';
import { bumpyBall } from '../../oracle/lumps.js';
import { soup, transformed, waves } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../oracle/shapes.js';

/** x, y and z become y, z and x. */
const TURN = new Matrix4().set(0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1);

type Make = (random: Random, scene: NearScene) => () => AnyShape;

const solids: Make = (random) => () => ({ shape: randomSolid(random) });
const hulls: Make = (random, scene) => {
  const shapes = Array.from({ length: 6 }, (_, i) => scene.mesh(randomHull(random, 3 + i)));
  return () => random.pick(shapes);
};
const surfaces: Make = (random, scene) => {
  const rough = transformed(waves(10), (vertex) => vertex.setZ(vertex.z + random.range(-0.1, 0.1)));
  const shapes = [rough, bumpyBall(random, 5, 0.2), soup(random, 20, 0.5, 0.7)].map((mesh) => scene.mesh(mesh));
  return () => random.pick(shapes);
};

describe(`pairs with their axes in any order, seed ${SEED}`, () => {
  test.each([
    ['solids and surfaces', 500, solids, surfaces],
    ['solids and solids', 150, solids, solids],
    ['convex meshes and solids', 150, hulls, solids],
    ['convex meshes and surfaces', 100, hulls, surfaces],
    ['surfaces and surfaces', 100, surfaces, surfaces],
  ])('%s: %d', async (_, count, makeA, makeB) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const [some, others] = [makeA(random, scene), makeB(random, scene)];
    let met = 0;
    for (let i = 0; i < count; i++) {
      const shapes = [some(), others()];
      if (random.chance(0.5)) shapes.reverse();
      const matrices = shapes.map(() => random.placement(random.point(0.5), random.chance(0.5) ? ANY_TRANSFORM : {}));
      const [first, ...more] = [0, 1, 2].map((turns) => {
        for (const matrix of turns > 0 ? matrices : []) matrix.premultiply(TURN);
        const [a, b] = shapes.map((shape, k) => scene.add(shape, matrices[k]));
        const contact = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD);
        for (const thing of [a, b]) scene.remove(thing);
        return contact && regionsOf(contact, turns);
      });
      if (first) met++;
      for (const [k, regions] of more.entries()) {
        const message = `case ${i}, ${shapes.map(({ shape }) => shape.type)}, turned ${k + 1} times`;
        expect(regions?.length, message).toBe(first?.length);
        for (const [r, { depth, normal }] of (regions ?? []).entries()) {
          expect(Math.abs(depth - first![r].depth), message).toBeLessThan(1e-5 * (1 + depth));
          expect(normal.distanceTo(first![r].normal), message).toBeLessThan(2e-3);
        }
      }
    }
    expect(met).toBeGreaterThan(count / 3);
  });
});

/** The depths and directions of a contact, each once: which of a region's points are chosen may depend on the axes. */
function regionsOf({ depths, normals }: { depths: Float32Array; normals: Float32Array }, turns: number) {
  const regions: { depth: number; normal: Vector3 }[] = [];
  for (const [k, depth] of depths.entries()) {
    const turned = normals.subarray(3 * k, 3 * k + 3);
    const normal = new Vector3(...[0, 1, 2].map((axis) => turned[(axis - turns + 3) % 3]));
    const last = regions.at(-1);
    if (last?.depth !== depth || !last.normal.equals(normal)) regions.push({ depth, normal });
  }
  return regions;
}
