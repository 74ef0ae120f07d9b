// Spheres, capsules and the stand-ins for an object at each precision: all ray queries, against bodies whose crossings
// are searched for rather than solved.
import { createCollisionService, type Hit, NO_OBJECT, type QueryOptions, type Shape } from 'collision-worker';
import { Ray, Raycaster, Vector2, Vector3 } from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aimedRays } from '../../../fixtures/ray-differences.js';
import { allKinds, type Crossing, PRECISIONS, SolidScene } from '../../../fixtures/solids.js';
import { PLACES } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { Random, SEED } from '../../../oracle/random.js';

const SIDES = ['double', 'front', 'back'] as const;
/** How deep a ray enters: less deep, it may miss, and its hit may be cut off by rounding. */
const GRAZING = 1e-6;

/** The uncertainty of a distance on both sides of the comparison: more where the ray grazes. */
function slackOf({ distance, depth, triangle, normals }: Crossing, ray: Ray): number {
  const rounding = 64 * Number.EPSILON * (distance + ray.origin.length());
  // A triangle is hit at the distance of the ray from it over the cosine.
  if (triangle >= 0)
    return rounding / Math.max(...normals.map((normal) => Math.abs(normal.dot(ray.direction))), GRAZING);
  return rounding / Math.sqrt(Math.min(Math.max(depth, GRAZING), 1));
}

function isRight(hit: Hit, crossing: Crossing, ray: Ray): boolean {
  const { id, triangle, distance, normals } = crossing;
  const point = new Vector3(...hit.point);
  const normal = new Vector3(...hit.normal);
  return (
    hit.object === id &&
    hit.triangle === triangle &&
    Math.abs(hit.distance - distance) <= slackOf(crossing, ray) &&
    point.distanceTo(ray.at(hit.distance, new Vector3())) <= slackOf(crossing, ray) &&
    normals.some((of) => of.distanceTo(normal) < 1e-5)
  );
}

/** A line for the first error in all hits of a ray, if any. */
function fault(hits: readonly Hit[], expected: readonly Crossing[], ray: Ray): string | null {
  for (let i = 1; i < hits.length; i++) {
    const [a, b] = [hits[i - 1], hits[i]];
    if ((a.distance - b.distance || a.object - b.object || a.triangle - b.triangle) > 0) return `hit ${i} is too late`;
  }
  const missing = [...expected];
  for (const hit of hits) {
    const at = missing.findIndex((crossing) => isRight(hit, crossing, ray));
    const crossings = expected.filter(({ id }) => id === hit.object);
    if (at >= 0) missing.splice(at, 1);
    else if (!crossings.some(({ depth }) => depth < GRAZING)) {
      return `${JSON.stringify(hit)} is none of ${JSON.stringify(crossings)}`;
    }
  }
  const missed = missing.find(({ depth }) => depth >= GRAZING);
  return missed ? `missed ${JSON.stringify(missed)}` : null;
}

interface Segment {
  tMin: number;
  tMax: number;
}

/** Rays as raycastMany takes them, and the rays that result from rounding. */
function packed(rays: readonly Ray[], { tMin, tMax }: Segment): [Float32Array, Ray[]] {
  const numbers = new Float32Array(rays.flatMap(({ origin: o, direction: d }) => [...o, tMin, ...d, tMax]));
  const read = rays.map((_, i) => {
    const [x, y, z, , dx, dy, dz] = numbers.subarray(8 * i);
    return new Ray(new Vector3(x, y, z), new Vector3(dx, dy, dz).normalize());
  });
  return [numbers, read];
}

/** Casts all rays in every possible way; a line for each wrong answer. Rays are rounded to float32 first. */
async function faults(
  { service }: SolidScene,
  among: readonly Ray[],
  query: QueryOptions & Partial<Segment>,
  expectedOf: (ray: Ray) => Crossing[],
): Promise<{ wrong: string[]; met: number }> {
  const { tMin = 0, tMax = Infinity, ...options } = query;
  const [numbers, rays] = packed(among, { tMin, tMax });
  const many = await service.raycastMany(numbers, options);
  const wrong: string[] = [];
  let met = 0;
  await Promise.all(
    rays.map(async (ray, i) => {
      const { origin, direction } = ray;
      const range = { tMin: Math.fround(tMin), tMax: Math.fround(tMax) };
      const asked = { origin: origin.toArray(), direction: direction.toArray(), ...range };
      const [all, first] = await Promise.all([service.raycastAll(asked, options), service.raycast(asked, options)]);
      const complain = (text: string) => wrong.push(`ray ${i}, ${JSON.stringify(asked)}: ${text}`);
      const expected = expectedOf(ray).filter(({ distance, front }) => {
        const isTurned = (options.side ?? 'double') === 'double' || front === (options.side === 'front');
        return isTurned && distance >= range.tMin && distance <= range.tMax;
      });
      if (expected.length > 0) met++;
      const fails = fault(all, expected, ray);
      if (fails) complain(fails);
      if (JSON.stringify(first) !== JSON.stringify(all[0] ?? null)) {
        // Of a mesh's triangles that share the point, any may be the first.
        const isTie = first && all[0]?.object === first.object && all[0].distance === first.distance;
        if (!isTie) complain(`raycast ${JSON.stringify(first)}, raycastAll ${JSON.stringify(all[0])}`);
      }
      // A direction that is normalized twice may differ in its last bit.
      const same = all.length === 0 ? many.objects[i] === NO_OBJECT : many.objects[i] === all[0].object;
      if (!same && !expected.some(({ depth }) => depth < GRAZING)) complain(`raycastMany: ${many.objects[i]}`);
      if (range.tMin === 0 && range.tMax < Infinity) {
        const to = ray.at(range.tMax, new Vector3()).toArray();
        const clear = await service.lineOfSight(asked.origin, to, options);
        const isNear = expectedOf(ray).some((crossing) => Math.abs(crossing.distance - range.tMax) <= 1e-6);
        if (clear !== (all.length === 0) && !isNear) complain(`lineOfSight: ${clear}`);
      }
    }),
  );
  return { wrong, met };
}

describe.each(PLACES)(`every shape and precision, %s, seed ${SEED}`, { timeout: 120_000 }, (_, place) => {
  const layers = new Map<number, number>();
  let scene: SolidScene;

  beforeAll(async () => {
    const random = new Random(SEED);
    scene = await SolidScene.create();
    const kinds = await allKinds(scene.service, random);
    for (let i = 0; i < 110; i++) {
      const matrix = random.placement(random.point(6).add(place), { low: 0.3, high: 1.5, mirrored: 0.5, sheared: 0.5 });
      const layer = 1 << random.integer(3);
      const motion = random.pick(['static', 'moving'] as const);
      layers.set(scene.add(kinds[i % kinds.length], matrix, { layers: layer, motion }), layer);
    }
    return () => scene.service.dispose();
  });

  describe.each(PRECISIONS)('%s', (precision) => {
    const expectedOf = (ray: Ray) => scene.crossings(ray, precision);
    const rays = (count: number) => aimedRays(new Random(SEED + count), count, place, 6);

    test('2,000 rays', async () => {
      const { wrong, met } = await faults(scene, rays(2000), { precision }, expectedOf);
      expect(wrong).toEqual([]);
      expect(met).toBeGreaterThan(600);
    });

    test.each(SIDES)('side %s, from inside too', async (side) => {
      const random = new Random(SEED);
      const starts = Array.from({ length: 150 }, () => new Ray(random.point(6).add(place), random.direction()));
      const { wrong, met } = await faults(scene, [...rays(150), ...starts], { precision, side }, expectedOf);
      expect(wrong).toEqual([]);
      expect(met).toBeGreaterThan(50);
    });

    test.each([
      [0, 16],
      [14, 20],
      [17, Infinity],
    ])('between tMin %d and tMax %d', async (tMin, tMax) => {
      const { wrong, met } = await faults(scene, rays(300), { precision, tMin, tMax }, expectedOf);
      expect(wrong).toEqual([]);
      expect(met).toBeGreaterThan(20);
    });

    test('some layers, without those ignored or not pickable', async () => {
      const ids = [...scene.things.keys()];
      const ignore = ids.filter((_, i) => i % 5 === 0);
      const unpickable = ids.filter((_, i) => i % 5 === 1);
      for (const id of unpickable) scene.service.setObject(id, { pickable: false });
      const seen = ids.filter((id, i) => i % 5 > 1 && layers.get(id)! & 0b101);
      const options = { precision, ignore, layers: 0b101 };
      const { wrong } = await faults(scene, rays(300), options, (ray) => scene.crossings(ray, precision, seen));
      for (const id of unpickable) scene.service.setObject(id, { pickable: true });
      expect(wrong).toEqual([]);
    });
  });

  test.each(CAMERA_KINDS)('pick and pickAll, %s', async (_, make) => {
    const random = new Random(SEED);
    let met = 0;
    for (let i = 0; i < 320; i++) {
      const [precision, [, depth]] = [PRECISIONS[i % 4], DEPTHS[i % 3]];
      const camera = aimCamera(make(random), random, place);
      scene.service.setView(viewOf(camera, depth));
      const [x, y] = [random.range(0.3, 0.7), random.range(0.3, 0.7)];
      const at = [VIEWPORT.x + x * VIEWPORT.width, VIEWPORT.y + y * VIEWPORT.height] as const;
      const hits = await scene.service.pickAll(...at, { precision });
      expect(await scene.service.pick(...at, { precision })).toEqual(hits[0] ?? null);
      const raycaster = new Raycaster();
      raycaster.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), camera);
      const { ray } = raycaster;
      const expected = scene
        .crossings(ray, precision)
        .filter(({ distance }) => Math.abs(ray.at(distance, new Vector3()).project(camera).z) <= 1);
      expect(hits.map(({ object }) => object)).toEqual(expected.map(({ id }) => id));
      const far = hits.filter((hit, k) => Math.abs(hit.distance - expected[k].distance) > 1e-6 * (hit.distance + 1));
      expect(far).toEqual([]);
      met += hits.length;
    }
    expect(met).toBeGreaterThan(50);
  });
});

describe.each(PLACES)(`against three, %s, 2,000 rays, seed ${SEED}`, (_, place) => {
  test('the first hit on bounding spheres and boxes', async () => {
    const random = new Random(SEED);
    const scene = await SolidScene.create();
    onTestFinished(() => scene.service.dispose());
    const kinds = await allKinds(scene.service, random);
    for (let i = 0; i < 66; i++) {
      const matrix = random.placement(random.point(6).add(place), { low: 0.3, high: 1.5, mirrored: 0.5 });
      scene.add(kinds[i % kinds.length], matrix);
    }
    const things = [...scene.things.values()];
    const spheres = things.map(({ kind, matrix }) => kind.sphere.clone().applyMatrix4(matrix));
    const boxes = things.map(({ kind, matrix }) => kind.aabb(matrix));
    const point = new Vector3();
    const wrong = await Promise.all(
      aimedRays(random, 2000, place, 6).map(async (ray, i) => {
        const precision = i % 2 === 0 ? 'sphere' : 'aabb';
        const met =
          precision === 'sphere'
            ? spheres.map((sphere) => ray.intersectSphere(sphere, point)?.distanceTo(ray.origin))
            : boxes.map((box) => ray.intersectBox(box, point)?.distanceTo(ray.origin));
        const expected = Math.min(...met.map((distance) => distance ?? Infinity));
        const { origin, direction } = ray;
        const hit = await scene.service.raycast(
          { origin: origin.toArray(), direction: direction.toArray() },
          { precision },
        );
        const distance = hit?.distance ?? Infinity;
        return distance === expected || Math.abs(distance - expected) < 1e-6 * expected
          ? null
          : { i, distance, expected };
      }),
    );
    expect(wrong.filter(Boolean)).toEqual([]);
  });
});

describe.each(PLACES)(`after many frames, %s, seed ${SEED}`, (_, place) => {
  test.each(PRECISIONS)('%s of objects that move, come and go', async (precision) => {
    const random = new Random(SEED);
    const scene = await SolidScene.create();
    onTestFinished(() => scene.service.dispose());
    const kinds = await allKinds(scene.service, random);
    const matrix = () => random.placement(random.point(6).add(place), { low: 0.3, high: 1.5, sheared: 0.3 });
    const add = () => scene.add(random.pick(kinds), matrix(), { motion: random.pick(['static', 'moving']) });
    for (let i = 0; i < 120; i++) add();
    for (let frame = 0; frame < 25; frame++) {
      for (const id of [...scene.things.keys()]) {
        // One after the other, since each must be noticed alone.
        if (frame % 3 === 0 && random.chance(0.3)) scene.move(id, matrix());
        if (frame % 3 === 1 && random.chance(0.1)) scene.remove(id);
      }
      if (frame % 3 === 2) for (let i = 0; i < 12; i++) add();
      await scene.service.update();
      const { wrong } = await faults(scene, aimedRays(random, 30, place, 6), { precision }, (ray) =>
        scene.crossings(ray, precision),
      );
      expect(wrong).toEqual([]);
    }
  });
});

// Directions in their space are so short or so long that their squares underflow or overflow.
test.each([1e-101, 1e30])(`balls and capsules of size %d, seed ${SEED}`, async (size) => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  for (let i = 0; i < 50; i++) {
    const [from, to] = [random.point(0.5), random.point(0.5)];
    const shapeOf = (scale: number): Shape => {
      const ends = [from, to].map((end) => end.clone().multiplyScalar(scale).toArray());
      if (i % 2 === 0) return { type: 'sphere', radius: scale, center: ends[0] };
      return { type: 'capsule', radius: scale, from: ends[0], to: ends[1] };
    };
    const direction = random.direction().toArray();
    const distanceFrom = async (scale: number) => {
      const id = service.addObject({ shape: shapeOf(scale) });
      const hit = await service.raycast({ origin: [0, 0, 0], direction });
      service.removeObject(id);
      return hit!.distance / scale;
    };
    expect(await distanceFrom(size), `case ${i}`).toBeCloseTo(await distanceFrom(1), 9);
  }
});
