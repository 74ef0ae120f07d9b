// Many rays at once: the same to the last bit as each of them alone, whichever way the core processes them.
import { NO_OBJECT, type QueryOptions } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { MixedObjectOptions } from '../../../../src/client/scene/object-description.js';
import { Twin, type TwinShape } from '../../../fixtures/twin.js';
import { bumpyBall } from '../../../oracle/lumps.js';
import { boxMesh, icosphere, rods, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';

/** About the capacity of a stream, and blocks of them. */
const COUNTS = [1, 2, 63, 64, 65, 130, 1500];
const FORM = { low: 0.3, high: 2, mirrored: 0.5, sheared: 0.5 };

async function newTwin(): Promise<Twin> {
  const twin = await Twin.create();
  onTestFinished(() => twin.dispose());
  return twin;
}

/**
 * Eight numbers each: from around a place or from within it, some along an axis, from afar, or a segment of a ray.
 */
function raysAt(random: Random, count: number, place: Vector3): Float32Array {
  const rays = new Float32Array(8 * count);
  for (let i = 0; i < count; i++) {
    const isInside = random.chance(0.2);
    const target = random.point(3).add(place);
    const away = random.chance(0.05) ? random.logRange(1e4, 1e12) : 12;
    const direction = random.chance(0.2)
      ? new Vector3().setComponent(random.integer(3), random.pick([-1, 1]))
      : random.direction();
    const origin = isInside ? target : target.clone().addScaledVector(direction, -away);
    if (random.chance(0.1)) origin.round();
    direction.multiplyScalar(random.logRange(1e-3, 1e3));
    origin.toArray(rays, 8 * i);
    direction.toArray(rays, 8 * i + 4);
    rays[8 * i + 3] = random.chance(0.3) ? random.range(0, 14) : 0;
    rays[8 * i + 7] = random.chance(0.3) ? rays[8 * i + 3] + random.range(0, 8) : Number.POSITIVE_INFINITY;
  }
  return rays;
}

/** Compares the answers; returns how many rays hit something. */
async function compare({ service }: Twin, rays: Float32Array, options: QueryOptions): Promise<number> {
  const many = await service.raycastMany(rays, options);
  const alone = await Promise.all(
    Array.from({ length: rays.length / 8 }, (_, i) => {
      const [ox, oy, oz, tMin, dx, dy, dz, tMax] = rays.subarray(8 * i, 8 * i + 8);
      return service.raycast({ origin: [ox, oy, oz], direction: [dx, dy, dz], tMin, tMax }, options);
    }),
  );
  const wrong = alone.flatMap((hit, i) => {
    const found = {
      ...{
        object: many.objects[i],
        distance: many.distances[i],
        triangle: many.triangles[i],
        element: many.elements[i],
      },
      ...{ bone: many.bones[i], barycentric: [...many.barycentrics.subarray(3 * i, 3 * i + 3)] },
    };
    const expected = hit
      ? {
          ...{
            object: hit.object,
            distance: hit.distance,
            triangle: hit.triangle,
            element: hit.element,
            bone: hit.bone,
          },
          barycentric: [...Float32Array.from(hit.barycentric ?? [0, 0, 0])],
        }
      : { object: NO_OBJECT, distance: Infinity, triangle: -1, element: -1, bone: -1, barycentric: [0, 0, 0] };
    const [a, b] = [found, expected].map((each) => JSON.stringify(Object.entries(each).sort()));
    return a === b ? [] : [`ray ${i}: ${rays.subarray(8 * i, 8 * i + 8).join(' ')}: ${a}, alone ${b}`];
  });
  expect(wrong).toEqual([]);
  return alone.filter(Boolean).length;
}

describe(`as each alone, seed ${SEED}`, () => {
  const meshes = [
    ['a ball', (random: Random) => icosphere(1, random.pick([0, 1, 3]))],
    ['a box', () => boxMesh(1, 1, 1)],
    ['rods', (random: Random) => rods(random, 40, 1)],
    ['a soup', (random: Random) => soup(random, 300, 0.3, 1)],
    ['bumps', (random: Random) => bumpyBall(random, 12, 0.3)],
  ] as const;

  test.each(meshes)('%s, one to nine objects', { timeout: 120_000 }, async (_, make) => {
    const random = new Random(SEED);
    let hits = 0;
    for (const count of [1, 2, 8, 9]) {
      const twin = await newTwin();
      const place = random.chance(0.3) ? new Vector3(4096, -512, 128) : new Vector3();
      const shapes: TwinShape[] = [await twin.mesh(make(random)), await twin.mesh(boxMesh(1, 1, 1))];
      const placements: Matrix4[] = [];
      const ids: number[] = [];
      for (let i = 0; i < count; i++) {
        // Some coincide with another object: of two hits at the same distance, the one with the lower id counts.
        const matrix =
          i > 0 && random.chance(0.3) ? random.pick(placements) : random.placement(random.point(2).add(place), FORM);
        placements.push(matrix);
        const options = {
          ...(random.chance(0.5) && { side: random.pick(['front', 'back', 'double'] as const) }),
          ...(random.chance(0.3) && { motion: 'static' as const }),
          ...(random.chance(0.2) && { layers: 2 }),
          ...(random.chance(0.3) && { faceSides: [{ start: 2, count: 4, side: 'back' }] }),
        } as unknown as MixedObjectOptions;
        ids.push(twin.add(random.pick(shapes), matrix, options));
      }
      await twin.service.update();
      for (const rayCount of COUNTS) {
        const options: QueryOptions = {
          ...(random.chance(0.4) && { side: random.pick(['front', 'back', 'double'] as const) }),
          ...(random.chance(0.3) && { layers: random.pick([1, 2, 3]) }),
          ...(random.chance(0.3) && { ignore: [random.pick(ids)] }),
        };
        hits += await compare(twin, raysAt(random, rayCount, place), options);
      }
    }
    expect(hits).toBeGreaterThan(100);
  });

  test('meshes among other shapes, points and planes', { timeout: 120_000 }, async () => {
    const random = new Random(SEED);
    const twin = await newTwin();
    const shape = await twin.mesh(icosphere(1, 2));
    twin.add(shape, random.placement(random.point(2), FORM));
    const box = twin.add(twin.box(new Vector3(0.5, 0.5, 0.5)), random.placement(random.point(2), FORM));
    await twin.service.update();
    const rays = raysAt(random, 300, new Vector3());
    let hits = await compare(twin, rays, {});
    hits += await compare(twin, rays, { ignore: [box] });
    for (const precision of ['obb', 'aabb', 'sphere'] as const) hits += await compare(twin, rays, { precision });
    hits += await compare(twin, rays, { ignore: [box], clip: [1, 0, 0, 0.5, 0, 1, 0, 0.3] });
    expect(hits).toBeGreaterThan(100);
  });

  test('a scene without anything, and one where all is ignored', async () => {
    const twin = await newTwin();
    const rays = raysAt(new Random(SEED), 70, new Vector3());
    expect(await compare(twin, rays, {})).toBe(0);
    const id = twin.add(await twin.mesh(boxMesh(1, 1, 1)), new Matrix4());
    await twin.service.update();
    expect(await compare(twin, rays, { ignore: [id] })).toBe(0);
  });
});
