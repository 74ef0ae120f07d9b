// Contacts of boxes, spheres and capsules with meshes that are not convex, against all triangles in float64: a single
// region's depth moves the solid out, and less does not.
import { Matrix4, PlaneGeometry, TorusGeometry, type Triangle, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../fixtures/near-scene.js';
import {
  icosphere,
  merged,
  soup,
  type Triangles,
  transformed,
  trianglesOf,
  waves,
  welded,
} from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, frameOf, randomSolid, type SolidShape } from '../../oracle/shapes.js';
import { moveTriangle, OracleSolid } from '../../oracle/solid-surface.js';
import { support } from '../../oracle/solids.js';
import { type Region, regionsOf } from '../../oracle/surfaces.js';

const COUNT = 500;

describe.each(PLACES)(`manifolds of solids and meshes %s, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  test.each(Object.keys(MESHES))(`${COUNT} random solids and %s`, async (name) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const meshes = Array.from({ length: 4 }, () => scene.mesh(MESHES[name](random)));
    const counts = { contacts: 0, regions: 0, most: 0 };
    for (let i = 0; i < COUNT; i++) {
      const size = random.pick([1, 1, 1, 1e-3, 1e3]);
      const surface = random.pick(meshes);
      const there = scaled(random.placement(random.point(0.2), ANY_TRANSFORM), size);
      const shape = { shape: randomSolid(random) };
      const here = scaled(random.placement(new Vector3(), ANY_TRANSFORM), size * random.logRange(0.03, 1));
      near(here, shape.shape, placeOn(surface, random).applyMatrix4(there), random);
      const solid = () => scene.add(shape, here);
      const mesh = () => scene.add(surface, there);
      const [a, b] = random.chance(0.5) ? [solid(), mesh()] : [mesh(), solid()];
      const regions = checked(scene, a, b, `case ${i}`);
      if (regions) {
        counts.contacts++;
        counts.regions += regions.length;
        counts.most = Math.max(counts.most, regions.length);
      }
      scene.remove(a);
      scene.remove(b);
    }
    console.log(name, counts);
    expect(counts.contacts).toBeGreaterThan(COUNT / 10);
  });

  test('one large triangle through the middle of a round solid, squeezed anyhow: straight off it', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const surface = scene.mesh({
      positions: Float32Array.of(-20, -20, 0, 40, -20, 0, -20, 40, 0),
      indices: Uint32Array.of(0, 1, 2),
    });
    const normal = new Vector3(0, 0, 1);
    for (let i = 0; i < 100; i++) {
      const half = random.pick([0, 0.3]);
      const shape: SolidShape = random.chance(0.5)
        ? { type: 'sphere', radius: random.range(0.1, 0.5) }
        : { type: 'capsule', radius: random.range(0.1, 0.5), from: [-half, 0, 0], to: [half, 0, 0] };
      const solid = scene.add({ shape }, random.placement(random.point(1).setZ(0), ANY_TRANSFORM));
      const mesh = scene.add(surface, new Matrix4());
      const regions = checked(scene, mesh, solid, `case ${i}`)!;
      expect(regions.length).toBe(1);
      expect(regions[0].depth / support(solid.bodies[0], normal)).toBeCloseTo(1, 5);
      scene.remove(solid);
      scene.remove(mesh);
    }
  });

  test('one triangle: no way out of a box, sphere or capsule is shorter', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    for (let i = 0; i < 300; i++) {
      const surface = scene.mesh(soup(random, 1, random.pick([0.1, 1, 10]), 0.1));
      const there = random.placement(random.point(0.2), ANY_TRANSFORM);
      const shape = { shape: randomSolid(random) };
      // For a round shape that is squeezed, the way is not the shortest.
      const form = shape.shape.type === 'box' ? ANY_TRANSFORM : {};
      const here = random.placement(new Vector3(), form);
      near(here, shape.shape, placeOn(surface, random).applyMatrix4(there), random);
      const [mesh, solid] = [scene.add(surface, there), scene.add(shape, here)];
      const regions = checked(scene, mesh, solid, `case ${i}`);
      if (regions) {
        const body = new OracleSolid(shape.shape, solid.matrix);
        const [triangle] = body.triangles(surface.triangles!, mesh.matrix, 1e-6);
        for (let way = 0; way < 200; way++) {
          const shorter = body.way(random.direction().multiplyScalar(regions[0].depth * 0.99));
          expect(body.separation(moveTriangle(triangle, shorter)), `case ${i}: ${JSON.stringify(shape)}`).toBeLessThan(
            1e-6,
          );
        }
      }
      scene.remove(mesh);
      scene.remove(solid);
    }
  });
});

function scaled(matrix: Matrix4, size: number): Matrix4 {
  return new Matrix4().makeScale(size, size, size).multiply(matrix);
}

function placeOn({ triangles }: AnyShape, random: Random): Vector3 {
  const { positions, indices } = triangles!;
  const triangle = 3 * random.integer(indices.length / 3);
  const place = new Vector3();
  let rest = 1;
  for (const i of [0, 1, 2]) {
    const weight = i === 2 ? rest : random.range(0, rest);
    rest -= weight;
    place.addScaledVector(new Vector3().fromArray(positions, 3 * indices[triangle + i]), weight);
  }
  return place;
}

/** Moves a solid so that its surface is near a place. */
function near(matrix: Matrix4, shape: SolidShape, place: Vector3, random: Random): void {
  const { matrix: frame } = frameOf(shape);
  const body = matrix.clone().multiply(frame);
  const way = random.direction().multiplyScalar(random.range(0, 1.2)).applyMatrix4(body);
  matrix.setPosition(place.clone().sub(way).add(new Vector3().setFromMatrixPosition(matrix)));
}

const MESHES: Record<string, (random: Random) => Triangles> = {
  waves: () => waves(24),
  'rough terrain': (random) => transformed(waves(12), (vertex) => vertex.setZ(vertex.z + random.range(-0.1, 0.1))),
  'a bumpy sphere': (random) => transformed(icosphere(1, 4), (vertex) => vertex.multiplyScalar(random.range(0.8, 1))),
  'a torus': () => welded(new TorusGeometry(0.7, 0.3, 10, 16)),
  'an L': () => angle(),
  'one triangle': (random) => soup(random, 1, 1, 0.3),
  'a sheet': () => trianglesOf(new PlaneGeometry(2, 2, 3, 3)),
  'loose triangles': (random) => soup(random, 20, 0.4, 0.7),
  needles: (random) => transformed(soup(random, 20, 1, 0.7), (vertex) => vertex.multiply(new Vector3(1, 1e-3, 1))),
  'triangles twice': (random) => {
    const mesh = soup(random, 5, 0.8, 0.4);
    return merged([mesh, mesh]);
  },
};

/** A closed L of two boxes, of 2 by 2 by 1. */
function angle(): Triangles {
  const outline = [
    [-1, -1],
    [1, -1],
    [1, 0],
    [0, 0],
    [0, 1],
    [-1, 1],
  ];
  const positions = new Float32Array([-0.5, 0.5].flatMap((z) => outline.flatMap(([x, y]) => [x, y, z])));
  const cap = [0, 1, 3, 1, 2, 3, 0, 3, 5, 3, 4, 5];
  const sides = outline.flatMap((_, i) => {
    const j = (i + 1) % 6;
    return [i, j, j + 6, i, j + 6, i + 6];
  });
  const bottom = cap.map((_, i) => cap[i - (i % 3) + [0, 2, 1][i % 3]]);
  return { positions, indices: new Uint32Array([...bottom, ...cap.map((i) => i + 6), ...sides]) };
}

/** Compares with brute force; returns null if they do not touch. */
function checked(scene: NearScene, a: NearObject, b: NearObject, title: string): Region[] | null {
  const report = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD);
  const isMeshFirst = a.shape.triangles !== undefined;
  const [solid, mesh] = isMeshFirst ? [b, a] : [a, b];
  const message = `${title}: ${JSON.stringify(solid.shape.shape)}`;
  if (report === null || report.contained !== 0) return null;
  expectMirrored(scene, a, b);
  const regions = regionsOf(report, scene.place);
  expect(regions.length, message).toBeGreaterThan(0);

  const body = new OracleSolid(solid.shape.shape as SolidShape, solid.matrix);
  const triangles = body.triangles(mesh.shape.triangles!, mesh.matrix, 1e-2);
  const largest = Math.max(...triangles.flatMap(({ a, b, c }) => [a.length(), b.length(), c.length()]));
  const perUnit = new Vector3(1, 1, 1).length() / Math.cbrt(Math.abs(body.matrix.determinant()));
  // The error of float64 there, in the solid's space, with room for flat ones.
  const digits = 1e-9 + largest * 1e-12 + scene.place.length() * 1e-14 * perUnit;
  const met = triangles.filter((triangle) => body.separation(triangle) < -digits);
  const left = new Set(met);
  const perhaps = triangles.filter((triangle) => body.separation(triangle) < digits);
  for (const { normal, depth, points } of regions) {
    expect(Math.abs(normal.length() - 1), message).toBeLessThan(1e-6);
    expect(depth, message).toBeGreaterThanOrEqual(0);
    expect(points.length, message).toBeLessThanOrEqual(4);
    const way = body.way(normal.clone().multiplyScalar(isMeshFirst ? -depth : depth));
    const parted = (triangle: Triangle, share: number) =>
      body.separation(moveTriangle(triangle, way.clone().multiplyScalar(share))) > -digits;
    for (const triangle of met) if (parted(triangle, 1.05)) left.delete(triangle);
    if (way.length() > 1e3 * digits) {
      const isTight = perhaps.some((triangle) => parted(triangle, 1.05) && !parted(triangle, 0.95));
      expect(isTight, `${message}: ${depth} along ${normal.toArray()} is too far`).toBe(true);
    }
    for (const point of points) {
      const inF32 = (point.length() + scene.place.length()) * 1e-7;
      const ownPoint = point.clone().applyMatrix4(body.inverse);
      const doubt =
        digits +
        body.way(new Vector3(inF32, 0, 0)).length() +
        body.way(new Vector3(0, inF32, 0)).length() +
        body.way(new Vector3(0, 0, inF32)).length();
      expect(body.beyond(point), `${message}: point in the solid`).toBeLessThan(doubt + 1e-8);
      const off = Math.min(
        ...triangles.map((triangle) => triangle.closestPointToPoint(ownPoint, new Vector3()).distanceTo(ownPoint)),
      );
      expect(off, `${message}: point on the mesh`).toBeLessThan(doubt + 1e-8);
    }
  }
  expect(left.size, `${message}: triangles of ${met.length} left in`).toBe(0);
  return regions;
}

function expectMirrored(scene: NearScene, a: NearObject, b: NearObject): void {
  const there = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD)!;
  const back = scene.core.pairs.contact(b.id, a.id, layout.CONTACTS_MANIFOLD)!;
  expect(back.points).toEqual(there.points);
  expect(back.depths).toEqual(there.depths);
  expect(back.normals.map((value) => -value || 0)).toEqual(there.normals.map((value) => value || 0));
}
