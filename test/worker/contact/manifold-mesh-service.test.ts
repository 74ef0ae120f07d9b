// Manifolds of meshes, as frames of the service report them: of two that intersect, and of an object inside a solid
// mesh that is not convex.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bumpyBall, comb, torus } from '../../oracle/lumps.js';
import { boxMesh, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { intersectingFaces, Surface } from '../../oracle/regions.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test(`meshes that meet part where a frame says, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const kinds = [bumpyBall(random, 5, 0.06), torus(1, 0.3, 10), comb(2)];
  const meshes = await Promise.all(kinds.map((mesh) => service.addMesh(mesh)));
  const things = new Map<number, { triangles: Triangles; matrix: Matrix4 }>();
  for (let i = 0; i < 24; i++) {
    const kind = i % kinds.length;
    const matrix = random.placement(random.point(4));
    const shape: Shape = { type: 'mesh', mesh: meshes[kind] };
    const id = service.addObject({ shape, matrix: matrix.elements, contacts: 'manifold' });
    things.set(id, { triangles: kinds[kind], matrix });
  }
  let found = 0;
  for (let frame = 0; frame < 5; frame++) {
    const { contacts } = await service.update();
    for (const { a, b, contained, points, normals, depths } of contacts) {
      found++;
      expect(a).toBeLessThan(b);
      expect(contained).toBe(0);
      const surfaces = [a, b].map((id) => {
        const { triangles, matrix } = things.get(id)!;
        return new Surface(triangles, matrix);
      }) as [Surface, Surface];
      expect(depths.length).toBeGreaterThan(0);
      expect(points.length).toBe(3 * depths.length);
      depths.forEach((depth, i) => {
        expect(depth).toBeGreaterThanOrEqual(0);
        expect(new Vector3().fromArray(normals, 3 * i).length()).toBeCloseTo(1, 6);
      });
      if (new Set(depths).size > 1) continue;
      const moved = (factor: number) => new Vector3().fromArray(normals).multiplyScalar(factor * depths[0]);
      expect.soft(intersectingFaces(...surfaces, moved(1.05)), `frame ${frame}: ${a} and ${b}`).toEqual([]);
      expect.soft(intersectingFaces(...surfaces, moved(0.95)).length, `frame ${frame}: ${a} and ${b}`).toBe(1);
    }
    // One in three moves.
    for (const [id, thing] of things) {
      if (!random.chance(1 / 3)) continue;
      thing.matrix = random.placement(random.point(4));
      service.setTransform(id, thing.matrix.elements);
    }
  }
  expect(found).toBeGreaterThan(20);
});

describe('a solid mesh that is not convex contains', () => {
  const inners: [name: string, shape: (service: CollisionService) => Promise<Shape> | Shape][] = [
    ['a mesh', async (service) => ({ type: 'mesh', mesh: await service.addMesh(torus(0.1, 0.04, 8)) })],
    ['a convex mesh', async (service) => ({ type: 'mesh', mesh: await service.addMesh(boxMesh(0.2, 0.1, 0.15)) })],
    ['a sphere', () => ({ type: 'sphere', radius: 0.12 })],
    ['a box', () => ({ type: 'box', halfExtents: [0.1, 0.15, 0.05] })],
    ['a capsule', () => ({ type: 'capsule', radius: 0.06, from: [-0.1, 0, 0], to: [0.1, 0, 0] })],
  ];
  const outers: [name: string, mesh: Triangles, place: (random: Random) => Vector3, out: number][] = [
    // Around its ring and about the centre; the longest possible way along an axis.
    ['a torus', torus(2, 0.4, 14), (random) => onRing(random.range(0, 2 * Math.PI)), 0.65],
    ['a hilly ball', bumpyBall(new Random(SEED), 7, 0.06), (random) => random.point(0.2), 1.7],
  ];
  for (const [outerName, mesh, place, out] of outers) {
    test.each(inners)(`${outerName}: %s, which leaves where the answer says`, async (_, shape) => {
      const random = new Random(SEED);
      const holder: Shape = { type: 'mesh', mesh: await service.addMesh(mesh), solid: true };
      const held = await shape(service);
      for (const isInnerFirst of [false, true]) {
        for (let i = 0; i < 6; i++) {
          const turn = random.placement(new Vector3());
          const at = random.placement(place(random)).premultiply(turn);
          const addOuter = () => service.addObject({ shape: holder, matrix: turn.elements, contacts: 'manifold' });
          const addInner = () => service.addObject({ shape: held, matrix: at.elements, contacts: 'manifold' });
          const [a, b] = isInnerFirst ? [addInner(), addOuter()] : [addOuter(), addInner()];
          const inner = isInnerFirst ? a : b;
          const { contacts } = await service.update();
          expect(contacts.count).toBe(1);
          const [{ contained, points, normals, depths }] = contacts;
          expect(contained).toBe(isInnerFirst ? 1 : 2);
          expect(depths.length).toBeGreaterThan(0);
          expect(depths[0]).toBeGreaterThan(0);
          expect(depths[0]).toBeLessThan(out);
          const normal = new Vector3().fromArray(normals);
          expect(normal.length()).toBeCloseTo(1, 6);
          // The point is on the inner one, or in it.
          const center = new Vector3().setFromMatrixPosition(at);
          expect(new Vector3().fromArray(points).distanceTo(center)).toBeLessThan(0.2);
          const movedBy = async (factor: number) => {
            const way = normal.clone().multiplyScalar((isInnerFirst ? -1 : 1) * factor * depths[0]);
            service.setTransform(inner, new Matrix4().setPosition(way).multiply(at).elements);
            return (await service.update()).contacts.count;
          };
          expect(await movedBy(1.05)).toBe(0);
          expect(await movedBy(0.95)).toBe(1);
          service.removeObject(a);
          service.removeObject(b);
        }
      }
    });
  }
});

function onRing(turn: number): Vector3 {
  return new Vector3(2 * Math.cos(turn), 2 * Math.sin(turn), 0);
}
