// Rays at points and lines, within a threshold in world units.
import { type CollisionService, createCollisionService, type Hit } from 'collision-worker';
import { Ray, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { PLACES } from '../../fixtures/near-scene.js';
import {
  ANY_TRANSFORM,
  addElements,
  type PointLineItem,
  randomElements,
  removeElements,
} from '../../fixtures/point-line-scene.js';
import { nearRay, TOPOLOGIES } from '../../oracle/points-lines.js';
import { Random, SEED } from '../../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

type Expected = ReturnType<typeof nearRay>[number] & { object: number };

function expectedOf(items: readonly PointLineItem[], ray: Ray, threshold: number): Expected[] {
  return items.flatMap(({ id, elements, matrix }) =>
    nearRay(elements, matrix, ray, threshold).map((each) => ({ ...each, object: id })),
  );
}

const keyOf = ({ object, element }: { object: number; element: number }) => `${object}:${element}`;

/** A line for the first error, if any. An element at the threshold to within rounding may be hit or not. */
function fault(
  hits: readonly Hit[],
  items: readonly PointLineItem[],
  ray: Ray,
  threshold: number,
  slack: number,
): string | null {
  for (let i = 1; i < hits.length; i++) if (hits[i].distance < hits[i - 1].distance) return `hit ${i} is out of order`;
  const near = expectedOf(items, ray, threshold + slack);
  const may = new Map(near.map((each) => [keyOf(each), each]));
  const found = new Set(hits.map(keyOf));
  if (found.size !== hits.length) return 'an element is hit twice';
  for (const each of near) {
    const isSure = each.distanceToRay < threshold - slack;
    if (isSure && !found.has(keyOf(each))) return `missed ${JSON.stringify(each)}`;
  }
  for (const hit of hits) {
    const is = may.get(keyOf(hit));
    if (!is) return `hit ${JSON.stringify(hit)}, which is farther away`;
    const { distance, distanceToRay, point, triangle, barycentric, normal } = hit;
    // Where a line is nearest to an almost parallel ray is uncertain; how near it is there is not.
    const off = Math.abs(distance - is.distance);
    if (!(off <= 1e-6 * is.distance + slack)) return `${JSON.stringify(hit)} instead of ${JSON.stringify(is)}`;
    if (!(Math.abs(distanceToRay! - is.distanceToRay) <= 1e-6 * threshold + slack))
      return `${distanceToRay} from the ray`;
    if (!(is.point.distanceTo(new Vector3(...point)) <= 1e-6 * is.distance + slack)) return `point ${point}`;
    if (triangle !== -1 || barycentric.some((each) => each !== 0)) return 'a triangle';
    if (!(ray.direction.distanceTo(new Vector3(...normal).negate()) < 1e-12)) return `normal ${normal}`;
  }
  return null;
}

const toRay = (ray: Ray) => ({ origin: ray.origin.toArray(), direction: ray.direction.toArray() });

describe.each(TOPOLOGIES)('%s', (topology) => {
  test.each(PLACES)(`are hit within a threshold, all and the nearest, %s (seed ${SEED})`, async (_, place) => {
    const random = new Random(SEED);
    const slack = place.length() * 1e-15 + 1e-12;
    let hitCount = 0;
    for (let round = 0; round < 30; round++) {
      const items: PointLineItem[] = [];
      for (let i = 0; i < 6; i++) {
        const matrix = random.placement(place.clone().add(random.point(4)), ANY_TRANSFORM);
        items.push(await addElements(service, randomElements(random, topology), matrix));
      }
      for (let i = 0; i < 40; i++) {
        const origin = place.clone().add(random.point(random.pick([1, 6, 20])));
        const target = place.clone().add(random.point(4));
        const ray = new Ray(origin, target.sub(origin).normalize());
        const threshold = random.pick([0.01, 0.1, 0.5, 3]);
        const hits = await service.raycastAll(toRay(ray), { threshold });
        hitCount += hits.length;
        expect(fault(hits, items, ray, threshold, slack)).toBeNull();
        const nearest = await service.raycast(toRay(ray), { threshold });
        expect(nearest).toEqual(hits[0] ?? null);
        const [from, to] = [ray.origin.toArray(), ray.origin.clone().addScaledVector(ray.direction, 5).toArray()];
        const before = hits.filter(({ distance }) => distance <= 5);
        expect(await service.lineOfSight(from, to, { threshold })).toBe(before.length === 0);
      }
      removeElements(service, items);
    }
    expect(hitCount).toBeGreaterThan(5000);
  });
});
