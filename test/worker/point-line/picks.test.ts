// Picks of points and lines within pixels: whatever is drawn near the cursor is hit, whatever the camera.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, Ray, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { ViewTable } from '../../../src/client/frame/view-table.js';
import { pickRay } from '../../../src/client/query/pick-ray.js';
import { PLACES } from '../../fixtures/near-scene.js';
import {
  ANY_TRANSFORM,
  addElements,
  type PointLineItem,
  randomElements,
  removeElements,
} from '../../fixtures/point-line-scene.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../oracle/cameras.js';
import { countOf, drawnNear, endsOf, TOPOLOGIES } from '../../oracle/points-lines.js';
import { Random, SEED } from '../../oracle/random.js';

/** The uncertainty of a position on the screen, in pixels, from the oracle's pieces of lines and float64 far away. */
const BLUR = 1e-3;

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

describe.each(TOPOLOGIES)('%s', (topology) => {
  describe.each(PLACES)('%s', (_, place) => {
    test.each(CAMERA_KINDS)(`are hit as they are drawn within pixels: %s (seed ${SEED})`, async (_, make) => {
      const random = new Random(SEED);
      let hitCount = 0;
      for (let round = 0; round < 10; round++) {
        const items: PointLineItem[] = [];
        for (let i = 0; i < 3; i++) {
          const matrix = random.placement(place.clone().add(random.point(20)), { ...ANY_TRANSFORM, low: 1, high: 20 });
          items.push(await addElements(service, randomElements(random, topology, 150), matrix));
        }
        const camera = aimCamera(make(random), random, place);
        camera.lookAt(new Vector3().setFromMatrixPosition(random.pick(items).matrix));
        camera.updateMatrixWorld();
        const view = viewOf(camera, random.pick(DEPTHS)[1]);
        service.setView(view);
        const views = new ViewTable();
        views.set('setView', 'main', view);
        for (let i = 0; i < 8; i++) {
          const radius = random.pick([2, 10, 60]);
          const [x, y] = nearSomething(random, camera, items, radius);
          const given = pickRay(views.get('pick', 'view', 'main'), x, y)!;
          const direction = new Vector3(...given.direction).normalize();
          const ray = new Ray(new Vector3(...given.origin), direction);
          const picture = {
            projection: camera.projectionMatrix,
            view: new Matrix4().fromArray(view.view),
            ...{ width: VIEWPORT.width, height: VIEWPORT.height },
          };
          const cursor = [x - VIEWPORT.x, y - VIEWPORT.y] as const;
          const drawn = items.flatMap(({ id, elements, matrix }) =>
            drawnNear(elements, matrix, picture, cursor, ray, [given.tMin!, given.tMax!]).map((e) => ({ ...e, id })),
          );
          const hits = await service.pickAll(x, y, { radius });
          hitCount += hits.length;
          for (const { id, element, pixels, distance } of drawn) {
            const hit = hits.find((each) => each.object === id && each.element === element);
            if (pixels < radius - BLUR) expect(hit, `${pixels} pixels away, of ${radius}`).toBeDefined();
            if (pixels > radius + BLUR) expect(hit, `${pixels} pixels away, of ${radius}`).toBeUndefined();
            // A line is hit where it is drawn nearest to the cursor.
            if (hit && topology === 'points') expect(hit.distance).toBeCloseTo(distance, 5);
            if (!hit) continue;
            const at = ray.at(hit.distance, new Vector3());
            const away = topology === 'points' ? null : new Vector3(...hit.point).distanceTo(at);
            if (away !== null) expect(Math.abs(away - hit.distanceToRay!)).toBeLessThan(1e-6 * (1 + hit.distance));
          }
          expect(hits.every((hit) => drawn.some((e) => e.id === hit.object && e.element === hit.element))).toBe(true);
          expect(await service.pick(x, y, { radius })).toEqual(hits[0] ?? null);
        }
        removeElements(service, items);
      }
      expect(hitCount).toBeGreaterThan(5);
    });
  });
});

/** A point in the viewport with an element near the cursor, if one of the first items is drawn in it. */
function nearSomething(random: Random, camera: AnyCamera, items: PointLineItem[], radius: number) {
  for (let i = 0; i < 300; i++) {
    const { elements, matrix } = random.pick(items);
    const ends = endsOf(elements, random.integer(countOf(elements)));
    const drawn = ends?.[0].applyMatrix4(matrix).project(camera);
    if (!drawn || Math.max(Math.abs(drawn.x), Math.abs(drawn.y), Math.abs(drawn.z)) > 0.95) continue;
    const x = VIEWPORT.x + ((1 + drawn.x) / 2) * VIEWPORT.width + random.range(-radius, radius);
    const y = VIEWPORT.y + ((1 - drawn.y) / 2) * VIEWPORT.height + random.range(-radius, radius);
    const isIn = (at: number, start: number, size: number) => at >= start && at <= start + size;
    if (isIn(x, VIEWPORT.x, VIEWPORT.width) && isIn(y, VIEWPORT.y, VIEWPORT.height)) return [x, y];
  }
  return [VIEWPORT.x + random.range(0, VIEWPORT.width), VIEWPORT.y + random.range(0, VIEWPORT.height)];
}

test('are picked by a threshold or by pixels, not by both', async () => {
  service.setView(
    viewOf(aimCamera(CAMERA_KINDS[0][1](new Random(SEED)), new Random(SEED), new Vector3()), DEPTHS[0][1]),
  );
  await expect(service.pick(100, 100, { radius: 4, threshold: 1 })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'pick: radius is 4, expected 0 with a threshold, which is 1; one of both decides',
  });
  await expect(service.pick(100, 100, { threshold: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
