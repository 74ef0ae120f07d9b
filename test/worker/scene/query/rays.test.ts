import { NO_OBJECT } from 'collision-worker';
import {
  BackSide,
  DoubleSide,
  FrontSide,
  Matrix4,
  MeshBasicMaterial,
  OctahedronGeometry,
  PlaneGeometry,
  Ray,
  Raycaster,
  Vector3,
} from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aimedRays, findDifference, findDifferences, withFilteredObjects } from '../../../fixtures/ray-differences.js';
import { PLACES, Twin } from '../../../fixtures/twin.js';
import { dragon } from '../../../oracle/dragon.js';
import {
  boundsOf,
  boxMesh,
  icosphere,
  rods,
  soup,
  type Triangles,
  transformed,
  trianglesOf,
  welded,
} from '../../../oracle/meshes.js';
import { PlacedShape } from '../../../oracle/placed.js';
import { Random, SEED } from '../../../oracle/random.js';
import { rayHits } from '../../../oracle/ray.js';
import { RaycastedMesh } from '../../../oracle/raycaster.js';

const SIDES = ['double', 'front', 'back'] as const;
const MATERIALS = {
  double: new MeshBasicMaterial({ side: DoubleSide }),
  front: new MeshBasicMaterial({ side: FrontSide }),
  back: new MeshBasicMaterial({ side: BackSide }),
};

/** A scene for the running test. */
async function newTwin(): Promise<Twin> {
  const twin = await Twin.create();
  onTestFinished(() => twin.dispose());
  return twin;
}

describe.each(PLACES)(`against three's Raycaster, %s, 2,000 rays, seed ${SEED}`, { timeout: 240_000 }, (_, place) => {
  const mesh = dragon(47_794);
  const raycasted = new RaycastedMesh(mesh);

  async function compare(random: Random, placements: Matrix4[], middle: Vector3, halfSize: number): Promise<void> {
    const twin = await newTwin();
    const shape = await twin.mesh(mesh);
    const objects = placements.map((matrix) => ({ id: twin.add(shape, matrix), matrix }));
    const rays = aimedRays(random, 2000, middle, halfSize);
    for (const side of SIDES) {
      const expected = rays.map(({ origin, direction }) => {
        const raycaster = new Raycaster(origin, direction);
        return objects.flatMap(({ id, matrix }) =>
          raycasted.intersect(raycaster, matrix, MATERIALS[side]).map(({ distance }) => ({ id, distance })),
        );
      });
      expect(await findDifferences(twin, rays, { side }, expected)).toEqual([]);
      expect(expected.filter((hits) => hits.length > 0).length).toBeGreaterThan(500);
    }
  }

  test('the dragon', async () => {
    const middle = boundsOf(mesh.positions).getCenter(new Vector3()).add(place);
    await compare(new Random(SEED), [new Matrix4().setPosition(place)], middle, 0.1);
  });

  test('200 dragons, turned, stretched, mirrored', async () => {
    const random = new Random(SEED);
    const placements = Array.from({ length: 200 }, () =>
      random.placement(random.point(2).add(place), { low: 0.5, high: 8, mirrored: 0.5 }),
    );
    await compare(random, placements, place, 2);
  });
});

describe.each(PLACES)(`against brute force, %s: boxes and meshes, also sheared, seed ${SEED}`, (_, place) => {
  const random = new Random(SEED);
  const rays = aimedRays(random, 1000, place, 6);
  const layers = new Map<number, number>();
  let twin: Twin;
  /** The hits of the rays, on either side. */
  let allHits: ReturnType<typeof rayHits>[];

  beforeAll(async () => {
    twin = await Twin.create();
    const shapes = [
      await twin.mesh(icosphere(1, 2)),
      await twin.mesh(soup(random, 60, 0.8, 1)),
      await twin.mesh(rods(random, 10, 1)),
      await twin.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
      twin.box(new Vector3(1, 0.5, 0.2)),
      twin.box(new Vector3(0.3, 0.6, 0.9), new Vector3(1, 2, 0), random.rotation()),
    ];
    for (let i = 0; i < 150; i++) {
      const matrix = random.placement(random.point(6).add(place), { low: 0.3, high: 2, mirrored: 0.5, sheared: 0.5 });
      const layer = 1 << random.integer(3);
      layers.set(twin.add(random.pick(shapes), matrix, { layers: layer }), layer);
    }
    allHits = rays.map((ray) => rayHits(twin.items.values(), ray));
    return () => twin.dispose();
  });

  test.each(SIDES)('side %s', async (side) => {
    const expected = allHits.map((hits) =>
      hits.filter(({ front }) => side === 'double' || front === (side === 'front')),
    );
    expect(await findDifferences(twin, rays, { side }, expected)).toEqual([]);
  });

  test('between tMin and tMax', async () => {
    const [tMin, tMax] = [15, 20];
    const expected = allHits.map((hits) => hits.filter(({ distance }) => distance >= tMin && distance <= tMax));
    expect(await findDifferences(twin, rays, { tMin, tMax }, expected)).toEqual([]);
  });

  test('only some layers, without what is ignored or not pickable', async () => {
    await withFilteredObjects(twin, layers, async (options, seen) => {
      const expected = rays.map((ray) => rayHits(seen, ray));
      expect(await findDifferences(twin, rays, options, expected)).toEqual([]);
    });
  });

  test('from inside', async () => {
    const starts = rays.map(() => new Ray(random.point(3).add(place), random.direction()));
    const expected = starts.map((ray) => rayHits(twin.items.values(), ray));
    expect(await findDifferences(twin, starts, {}, expected)).toEqual([]);
  });
});

describe.each(PLACES)(`after many frames, %s, seed ${SEED}`, (_, place) => {
  test('of objects that move, come and go', async () => {
    const random = new Random(SEED);
    const twin = await newTwin();
    const shapes = [await twin.mesh(icosphere(1, 1)), twin.box(new Vector3(1, 0.5, 0.2))];
    const matrix = () => random.placement(random.point(6).add(place), { low: 0.3, high: 1.5, sheared: 0.3 });
    const add = () => twin.add(random.pick(shapes), matrix(), { motion: random.pick(['static', 'moving']) });
    for (let i = 0; i < 150; i++) add();
    for (let frame = 0; frame < 30; frame++) {
      for (const id of twin.items.keys()) {
        if (random.chance(0.3)) twin.move(id, matrix());
        else if (random.chance(0.02)) twin.remove(id);
      }
      for (let i = 0; i < 3; i++) add();
      await twin.service.update();
      const rays = aimedRays(random, 30, place, 6);
      const expected = rays.map((ray) => rayHits(twin.items.values(), ray));
      expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
    }
  });

  test.each([
    ['float32', Float32Array],
    ['float64', Float64Array],
  ])('of instances in %s under a parent', async (_, FloatArray) => {
    const random = new Random(SEED);
    const twin = await newTwin();
    const { shape, truth } = await twin.mesh(icosphere(1, 1));
    const ids = twin.service.addInstances({ shape }, 100);
    for (let frame = 0; frame < 5; frame++) {
      const parent = random.placement(place, { low: 0.5, high: 2, mirrored: 0.5 });
      const matrices = new FloatArray(1600);
      ids.forEach((_, i) => {
        random.placement(random.point(4), { low: 0.3, high: 1, sheared: 0.3 }).toArray(matrices, 16 * i);
      });
      twin.service.setTransforms(ids, matrices, parent.elements);
      await twin.service.update();
      ids.forEach((id, i) => {
        twin.items.set(
          id,
          new PlacedShape(id, truth, parent.clone().multiply(new Matrix4().fromArray(matrices, 16 * i))),
        );
      });
      const rays = aimedRays(random, 100, place, 6);
      const expected = rays.map((ray) => rayHits(twin.items.values(), ray));
      expect(await findDifferences(twin, rays, {}, expected)).toEqual([]);
    }
  });
});

test(`raycastMany answers as raycast does, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const twin = await newTwin();
  const shapes = [await twin.mesh(icosphere(1, 3)), twin.box(new Vector3(1, 2, 0.5))];
  for (let i = 0; i < 40; i++) twin.add(random.pick(shapes), random.placement(random.point(6), { low: 0.5, high: 2 }));
  const rays = new Float32Array(
    aimedRays(random, 500, new Vector3(), 6).flatMap(({ origin, direction }) => [
      ...origin,
      random.chance(0.5) ? 0 : random.range(0, 20),
      ...direction.multiplyScalar(random.logRange(0.01, 100)),
      random.chance(0.5) ? Infinity : random.range(20, 25),
    ]),
  );
  const many = await twin.service.raycastMany(rays, { side: 'front' });
  expect(many.objects.length).toBe(500);
  let missed = 0;
  for (let i = 0; i < 500; i++) {
    const [x, y, z, tMin, dx, dy, dz, tMax] = rays.subarray(8 * i, 8 * i + 8);
    const hit = await twin.service.raycast(
      { origin: [x, y, z], direction: [dx, dy, dz], tMin, tMax },
      { side: 'front' },
    );
    if (hit === null) missed++;
    const { object = NO_OBJECT, distance = Infinity, triangle = -1, barycentric = [0, 0, 0] } = hit ?? {};
    expect(many.objects[i]).toBe(object);
    expect(many.distances[i]).toBe(distance);
    expect(many.triangles[i]).toBe(triangle);
    expect(many.barycentrics.subarray(3 * i, 3 * i + 3)).toEqual(new Float32Array(barycentric));
  }
  expect(missed).toBeGreaterThan(50);
  expect(missed).toBeLessThan(450);
});

describe('closed meshes have no gaps', () => {
  test.each([
    ['box', boxMesh(2, 2, 2)],
    ['icosphere', icosphere(1, 3)],
    ['large icosphere', icosphere(1, 9)],
  ])(`%s, through its vertices and edges, seed ${SEED}`, async (_, mesh) => {
    const random = new Random(SEED);
    const twin = await newTwin();
    const shape = await twin.mesh(mesh);
    const vertex = (i: number) => new Vector3().fromArray(mesh.positions, 3 * mesh.indices[i]);
    for (const matrix of [new Matrix4(), random.placement(random.point(5), { low: 0.3, high: 3, mirrored: 0.5 })]) {
      const id = twin.add(shape, matrix);
      const rays: number[] = [];
      for (let i = 0; i < mesh.indices.length; i++) {
        const next = vertex(i % 3 === 2 ? i - 2 : i + 1);
        for (const along of [0, 0.25, 0.5, random.next()]) {
          const target = vertex(i).lerp(next, along).applyMatrix4(matrix);
          const from = random.point(0.3).applyMatrix4(matrix);
          const away = target.clone().lerp(from, -1); // in the opposite direction, as far again
          rays.push(...from, 0, ...target.clone().sub(from), Infinity, ...away, 0, ...from.sub(away), Infinity);
        }
      }
      const { objects } = await twin.service.raycastMany(new Float32Array(rays));
      expect(objects.indexOf(NO_OBJECT)).toBe(-1);
      twin.remove(id);
    }
  });
});

describe('rays that lie in planes and along axes', () => {
  const octahedron = welded(new OctahedronGeometry());
  const HEIGHTS = [-2, -1, -0.5, 0, 0.5, 1, 2];
  test.each([
    ['box', boxMesh(2, 2, 2)],
    ['octahedron', octahedron],
  ])('%s, as three has them', async (_, mesh) => {
    const twin = await newTwin();
    const id = twin.add(await twin.mesh(mesh), new Matrix4());
    const raycasted = new RaycastedMesh(mesh);
    for (const axis of [0, 1, 2]) {
      for (const sign of [-1, 1]) {
        for (const u of HEIGHTS) {
          for (const w of HEIGHTS) {
            const direction = new Vector3().setComponent(axis, sign);
            const origin = new Vector3().setComponent(axis, -3 * sign);
            origin.setComponent((axis + 1) % 3, u).setComponent((axis + 2) % 3, w);
            const expected = raycasted.intersect(new Raycaster(origin, direction), new Matrix4(), MATERIALS.double);
            const hit = await twin.service.raycast({ origin: origin.toArray(), direction: direction.toArray() });
            const fault = findDifference(
              hit,
              new Ray(origin, direction),
              expected.map(({ distance }) => ({ id, distance })),
            );
            expect(fault, `from ${origin.toArray()} along ${direction.toArray()}`).toBeNull();
          }
        }
      }
    }
  });
});

describe('no size is special', () => {
  const mesh = dragon(11_102);
  const random = new Random(SEED);
  const rays = aimedRays(random, 500, boundsOf(mesh.positions).getCenter(new Vector3()), 0.1);
  const scaled = (scale: number) => transformed(mesh, (vertex) => vertex.multiplyScalar(scale));

  /** The properties of hits that do not depend on size, on a mesh of the same overall size. */
  async function answers(form: Triangles, matrix: Matrix4, size: number) {
    const twin = await newTwin();
    twin.add(await twin.mesh(form), matrix);
    const hits = await Promise.all(
      rays.map(({ origin, direction }) =>
        twin.service.raycast({ origin: origin.clone().multiplyScalar(size).toArray(), direction: direction.toArray() }),
      ),
    );
    return hits.map((hit) => hit && [hit.distance / size, hit.triangle, hit.normal, hit.barycentric]);
  }

  test.each([1e-3, 1e3])(`vertices times %d, against three, seed ${SEED}`, async (scale) => {
    const twin = await newTwin();
    const id = twin.add(await twin.mesh(scaled(scale)), new Matrix4());
    const raycasted = new RaycastedMesh(scaled(scale));
    const longer = rays.map(({ origin, direction }) => new Ray(origin.clone().multiplyScalar(scale), direction));
    const expected = longer.map(({ origin, direction }) =>
      raycasted
        .intersect(new Raycaster(origin, direction), new Matrix4(), MATERIALS.double)
        .map(({ distance }) => ({ id, distance })),
    );
    expect(await findDifferences(twin, longer, {}, expected)).toEqual([]);
  });

  test.each([2 ** -40, 2 ** -10, 2 ** 10, 2 ** 40])(`times %d, to the last bit, seed ${SEED}`, async (scale) => {
    const original = await answers(mesh, new Matrix4(), 1);
    expect(await answers(scaled(scale), new Matrix4(), scale)).toEqual(original);
    expect(await answers(mesh, new Matrix4().makeScale(scale, scale, scale), scale)).toEqual(original);
  });
});
