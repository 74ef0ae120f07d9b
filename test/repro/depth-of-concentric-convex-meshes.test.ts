// The expanding polytope ran out of room at 220 vertices: depths of nearly concentric meshes were up to 0.5 % too large.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../src/shared/layout.js';
import { type NearObject, NearScene } from '../fixtures/near-scene.js';
import { hullOfDirections } from '../oracle/hulls.js';
import { icosphere } from '../oracle/meshes.js';
import { ConvexSolid, depthAlong, penetration } from '../oracle/penetration.js';
import { Random, SEED } from '../oracle/random.js';

const PAIRS = 5;

describe(`convex meshes of many vertices all but concentric, seed ${SEED}`, () => {
  test.each([
    ['at the origin', new Vector3(), 1],
    ['in the small', new Vector3(), 1e-3],
    ['in the large', new Vector3(), 1e3],
    ['10⁶ units away', new Vector3(1e6, -1e6, 1e6), 1],
  ])('%s', async (_, place, scale) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const shapes = [icosphere(1, 2), icosphere(1, 3), hullOfDirections(random, 40), hullOfDirections(random, 70)].map(
      (mesh) => scene.mesh(mesh),
    );
    for (let pair = 0; pair < PAIRS; pair++) {
      const shape = random.pick(shapes);
      const other = pair < 2 ? shape : random.pick(shapes);
      const apart = [0, 1e-9, 1e-4, 1e-2, 0.1][pair % 5];
      const put = (each: typeof shape, size: number) => {
        const form = random.placement(random.point(apart)).scale(new Vector3().setScalar(size));
        const thing = scene.add(each, new Matrix4().makeScale(scale, scale, scale).multiply(form));
        return solid(scene, thing);
      };
      const [a, b] = [put(shape, 1), put(other, random.pick([1, 0.9]))];
      const [p, q] = [a, b].map((thing) => new ConvexSolid(thing.shape, thing.matrix));
      const exact = penetration(p, q);
      for (const [first, second, sense] of [
        [a, b, 1],
        [b, a, -1],
      ] as const) {
        const { depths, normals } = scene.core.pairs.contact(first.id, second.id, layout.CONTACTS_MANIFOLD)!;
        const message = `pair ${pair}`;
        // The depth is float32; positions 10⁶ units away are rounded by 10⁻¹⁰.
        expect(Math.abs(depths[0] - exact), message).toBeLessThan(1e-6 * exact);
        const [x, y, z] = normals.map((each) => sense * each);
        expect(Math.abs(depthAlong(p, q, x, y, z) - depths[0]), message).toBeLessThan(1e-6 * exact);
      }
    }
  });
});

test('2,562 vertices each: the depth is no more than along any face of either', async () => {
  const scene = await NearScene.at(new Vector3());
  const random = new Random(SEED);
  const shape = scene.mesh(icosphere(1, 16));
  const [a, b] = [scene.add(shape, random.placement(new Vector3())), scene.add(shape, random.placement(new Vector3()))];
  const { depths } = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD)!;
  const [p, q] = [a, b].map(({ shape: each, matrix }) => new ConvexSolid(each, matrix));
  const ways = [...p.sides.normals.slice(0, 200), ...q.sides.normals.slice(0, 200)];
  const least = Math.min(...ways.flatMap(({ x, y, z }) => [depthAlong(p, q, x, y, z), depthAlong(p, q, -x, -y, -z)]));
  expect(depths[0]).toBeLessThan(least * (1 + 1e-6));
  // Inscribed in the unit ball, a face is 0.0010 below it.
  expect(depths[0]).toBeGreaterThan(2 * 0.999);
});

/** The same object, solid: a ball inside another one then touches it. */
function solid(scene: NearScene, thing: NearObject): NearObject {
  scene.remove(thing);
  const matrix = thing.matrix;
  const { triangles, shape } = thing.shape;
  if (!triangles) throw new Error('expected a mesh');
  return scene.add({ triangles, shape: { ...shape, solid: true } }, matrix);
}
