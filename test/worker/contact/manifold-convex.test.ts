// Manifolds of convex pairs: depth, normal and points, against float64.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import { ANY_TRANSFORM, type NearObject, NearScene } from '../../fixtures/near-scene.js';
import { randomHull } from '../../oracle/hulls.js';
import { ConvexSolid, depthAlong, penetration } from '../../oracle/penetration.js';
import { Random, SEED } from '../../oracle/random.js';
import type { AnyShape } from '../../oracle/shapes.js';

/** Shallower depths, relative to both sizes, are less than either is thick. */
const SHALLOW = 1e-3;
/** The fraction of single points of these that are halfway, except for random deviation. */
const HALVED = 0.8;
/** How often the slow search must confirm the result; where it does not, its own way is longer. */
const CONFIRMED = 0.8;
// In each of four places, of each two kinds: four thousand in all.
const COUNT = 100;
const KINDS = ['sphere', 'box', 'capsule', 'hull'] as const;
type Kind = (typeof KINDS)[number];
const PAIRS = KINDS.flatMap((a, i) => KINDS.slice(i).map((b): [Kind, Kind] => [a, b]));

describe.each(PAIRS)(`%s and %s, seed ${SEED}`, { timeout: 240_000 }, (kindA, kindB) => {
  test.each([
    ['at the origin', new Vector3(), 1],
    ['in the small', new Vector3(), 1e-3],
    ['in the large', new Vector3(), 1e3],
    ['10⁶ units away', new Vector3(1e6, -1e6, 1e6), 1],
  ])('%s', async (name, place, scale) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const hulls = Array.from({ length: 12 }, (_, i) => scene.mesh(randomHull(random, i)));
    const shapeOf = (kind: Kind) => (kind === 'hull' ? random.pick(hulls) : anyShape(random, kind));
    const worst = { depth: 0, point: 0 };
    let [found, confirmed, single, halved] = [0, 0, 0, 0];
    for (let i = 0; found < COUNT; i++) {
      const form = random.chance(0.5) ? ANY_TRANSFORM : {};
      const matrix = () => scaled(random.placement(random.point(random.chance(0.8) ? 1 : 0.01), form), scale);
      const a = scene.add(shapeOf(kindA), matrix());
      let b = scene.add(shapeOf(kindB), matrix());
      let contact = contactOf(scene, a, b);
      if (contact && random.chance(0.3)) {
        // Barely touching.
        const rest = random.logRange(1e-5, 1);
        b = moved(scene, b, contact.normal, contact.depth * (1 - rest));
        contact = contactOf(scene, a, b);
      }
      if (!contact) continue;
      found++;
      const size = sizeOf(a) + sizeOf(b);
      const [p, q] = [a, b].map(({ shape, matrix }) => new ConvexSolid(shape, matrix));
      const exact = penetration(p, q);
      const message = `pair ${i}: ${describeThing(a)} and ${describeThing(b)}`;
      // Depths are float32; the error of positions in float64 is added.
      const rounding = 1e-12 * size + 1e-15 * place.length();
      const isExact = !p.ball && !q.ball;
      const error = (contact.depth - exact) / (exact + 1e4 * rounding);
      worst.depth = Math.max(worst.depth, isExact ? Math.abs(error) : error);
      if (Math.abs(error) < 1e-4) confirmed++;
      expect(contact.depth, message).toBeLessThan(exact * (1 + 1e-4) + rounding);
      if (isExact) expect(contact.depth, message).toBeGreaterThan(exact * (1 - 1e-4) - rounding);
      const { x, y, z } = contact.normal;
      expect(contact.normal.length(), message).toBeCloseTo(1, 6);
      // Normals are float32, too.
      expect(Math.abs(depthAlong(p, q, x, y, z) - contact.depth), message).toBeLessThan(
        1e-6 * contact.depth + 2e-7 * size,
      );
      const tolerance = 2e-6 * size + 2e-7 * place.length();
      for (const point of contact.points) {
        const outside = Math.max(p.outside(point), q.outside(point));
        worst.point = Math.max(worst.point, outside / tolerance);
        expect(outside, `${message}: point`).toBeLessThan(tolerance);
      }
      expect(contact.points.length).toBeLessThanOrEqual(4);
      if (contact.points.length === 1 && contact.depth < SHALLOW * size && place.length() === 0) {
        // Halfway between the reaches of both along the normal, unless a corner or an edge sticks out there.
        const halfway = 0.5 * (p.support(x, y, z) - q.support(-x, -y, -z));
        if (Math.abs(contact.points[0].dot(contact.normal) - halfway) < tolerance) halved++;
        single++;
      }
      expect(contact.turned, message).toBe(true);
      if (place.length() === 0) {
        expect(contactOf(scene, a, moved(scene, b, contact.normal, contact.depth * 1.001 + 2e-6 * size)), message).toBe(
          null,
        );
      }
    }
    console.log(
      `${kindA} and ${kindB} ${name}: ${JSON.stringify({ ...worst, confirmed: confirmed / found, single, halved })}`,
    );
    // Of this many by chance, 2.5 standard deviations: √(0.8 · 0.2 · single) each.
    expect(halved).toBeGreaterThanOrEqual(HALVED * single - Math.sqrt(single));
    expect(confirmed / found).toBeGreaterThan(CONFIRMED);
  });
});

interface Contact {
  depth: number;
  normal: Vector3;
  points: Vector3[];
  /** Whether the other order gives the same. */
  turned: boolean;
}

function contactOf(scene: NearScene, a: NearObject, b: NearObject): Contact | null {
  const contact = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_MANIFOLD);
  if (!contact) return null;
  const back = scene.core.pairs.contact(b.id, a.id, layout.CONTACTS_MANIFOLD)!;
  const { depths, normals, points } = contact;
  expect(depths.length).toBeGreaterThan(0);
  expect(new Set(depths).size).toBe(1);
  for (let i = 3; i < normals.length; i++) expect(normals[i]).toBe(normals[i - 3]);
  const turned =
    String(depths) === String(back.depths) &&
    String(points) === String(back.points) &&
    String(normals) === String(back.normals.map((each) => -each));
  return {
    depth: depths[0],
    normal: new Vector3().fromArray(normals),
    points: Array.from({ length: depths.length }, (_, i) => new Vector3().fromArray(points, 3 * i).sub(scene.place)),
    turned,
  };
}

function moved(scene: NearScene, thing: NearObject, way: Vector3, length: number): NearObject {
  const position = new Vector3().setFromMatrixPosition(thing.matrix).addScaledVector(way, length);
  return scene.add(thing.shape, thing.matrix.clone().setPosition(position));
}

function scaled(matrix: Matrix4, scale: number): Matrix4 {
  return new Matrix4().makeScale(scale, scale, scale).multiply(matrix);
}

function sizeOf({ shape, matrix }: NearObject): number {
  const solid = new ConvexSolid(shape, matrix);
  return Math.max(
    ...[0, 1, 2].map((i) => {
      const [x, y, z] = [0, 1, 2].map((k) => (k === i ? 1 : 0));
      return solid.support(x, y, z) + solid.support(-x, -y, -z);
    }),
  );
}

function anyShape(random: Random, kind: Exclude<Kind, 'hull'>): AnyShape {
  const center = random.point(0.5).toArray();
  switch (kind) {
    case 'sphere':
      return { shape: { type: 'sphere', radius: random.logRange(0.2, 2), center } };
    case 'box': {
      const halfExtents = [random.logRange(0.1, 2), random.logRange(0.1, 2), random.logRange(0.1, 2)] as const;
      return { shape: { type: 'box', halfExtents, center, rotation: random.rotation().toArray() } };
    }
    default:
      return {
        shape: { type: 'capsule', radius: random.logRange(0.05, 1), from: center, to: random.point(2).toArray() },
      };
  }
}

function describeThing({ shape, matrix }: NearObject): string {
  const { shape: what, triangles } = shape;
  return `${JSON.stringify(triangles ? { vertices: triangles.positions.length / 3 } : what)} at ${matrix.elements}`;
}
