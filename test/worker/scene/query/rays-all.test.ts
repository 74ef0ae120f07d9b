import { createCollisionService, type Hit, type QueryOptions } from 'collision-worker';
import {
  BackSide,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  FrontSide,
  type Material,
  type Matrix4,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  Ray,
  Raycaster,
  Vector2,
  Vector3,
} from 'three';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aimedRays, findInconsistency, withFilteredObjects } from '../../../fixtures/ray-differences.js';
import { PLACES, Twin, type TwinShape } from '../../../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../../../oracle/cameras.js';
import { dragon } from '../../../oracle/dragon.js';
import { icosphere, soup, type Triangles, trianglesOf } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type OracleHit, rayHits } from '../../../oracle/ray.js';

const TOLERANCE = 1e-6;
const SIDES = ['double', 'front', 'back'] as const;
const MATERIALS = {
  double: new MeshBasicMaterial({ side: DoubleSide }),
  front: new MeshBasicMaterial({ side: FrontSide }),
  back: new MeshBasicMaterial({ side: BackSide }),
};

type Expected = Pick<OracleHit, 'id' | 'triangle' | 'distance'>;

/** A line for the first error, if any. Hits at nearly the same distance may be swapped. */
function fault(hits: readonly Hit[], expected: readonly Expected[], ray: Ray, items: Twin['items']): string | null {
  const order = hits.findIndex((hit, i) => i > 0 && compare(hits[i - 1], hit) > 0);
  if (order >= 0) return `hit ${order} comes after what it is before`;
  const byObject = (a: Expected, b: Expected) => a.id - b.id || a.triangle - b.triangle || a.distance - b.distance;
  const found = hits.map(({ object, triangle, distance }) => ({ id: object, triangle, distance })).sort(byObject);
  const all = expected.toSorted(byObject);
  for (let i = 0; i < Math.max(found.length, all.length); i++) {
    const [is, should] = [found[i], all[i]];
    const slack = TOLERANCE * should?.distance + 4 * Number.EPSILON * ray.origin.length();
    const isSame = is?.id === should?.id && is?.triangle === should?.triangle;
    if (isSame && Math.abs(is.distance - should.distance) <= slack) continue;
    return `${JSON.stringify(is)} instead of ${JSON.stringify(should)}, of ${found.length} instead of ${all.length}`;
  }
  for (const hit of hits) {
    const wrong = findInconsistency(hit, ray, items.get(hit.object)!);
    if (wrong !== null) return wrong;
  }
  return null;
}

const compare = (a: Hit, b: Hit) => a.distance - b.distance || a.object - b.object || a.triangle - b.triangle;

async function faults(
  twin: Twin,
  rays: readonly Ray[],
  options: QueryOptions & { tMin?: number; tMax?: number },
  expected: readonly Expected[][],
): Promise<string[]> {
  const { tMin = 0, tMax = Infinity, ...query } = options;
  const answers = await Promise.all(
    rays.map(({ origin, direction }) =>
      twin.service.raycastAll({ origin: origin.toArray(), direction: direction.toArray(), tMin, tMax }, query),
    ),
  );
  return answers.flatMap((hits, i) => {
    const wrong = fault(hits, expected[i], rays[i], twin.items);
    return wrong === null ? [] : [`ray ${i}: ${wrong}`];
  });
}

/** Shapes of every kind, 150 objects in three layers, in a cube. */
async function scene(random: Random, place: Vector3, halfSize: number, largest: number) {
  const twin = await Twin.create();
  const shapes = [
    await twin.mesh(icosphere(1, 3)),
    await twin.mesh(soup(random, 60, 0.8, 1)),
    await twin.mesh(trianglesOf(new PlaneGeometry(2, 2, 2, 2))),
    twin.box(new Vector3(1, 0.5, 0.2)),
    twin.box(new Vector3(0.3, 0.6, 0.9), new Vector3(1, 2, 0), random.rotation()),
  ];
  const layers = new Map<number, number>();
  for (let i = 0; i < 150; i++) {
    const matrix = random.placement(random.point(halfSize).add(place), {
      ...{ low: 0.3, high: largest, mirrored: 0.5, sheared: 0.5 },
    });
    const layer = 1 << random.integer(3);
    const motion = random.pick(['static', 'moving'] as const);
    layers.set(twin.add(random.pick(shapes), matrix, { layers: layer, motion }), layer);
  }
  return { twin, layers };
}

describe.each(PLACES)(`all hits against brute force, %s, seed ${SEED}`, (_, place) => {
  const random = new Random(SEED);
  const rays = aimedRays(random, 500, place, 6);
  let twin: Twin;
  let layers: Map<number, number>;

  beforeAll(async () => {
    ({ twin, layers } = await scene(random, place, 6, 2));
    return () => twin.dispose();
  });

  test.each(SIDES)('side %s', async (side) => {
    const expected = rays.map((ray) =>
      rayHits(twin.items.values(), ray).filter(({ front }) => side === 'double' || front === (side === 'front')),
    );
    expect(await faults(twin, rays, { side }, expected)).toEqual([]);
    expect(expected.filter((hits) => hits.length > 2).length).toBeGreaterThan(100);
  });

  test.each([
    [15, 20],
    [0, 17],
    [19, Infinity],
  ])('between tMin %d and tMax %d', async (tMin, tMax) => {
    const expected = rays.map((ray) =>
      rayHits(twin.items.values(), ray).filter(({ distance }) => distance >= tMin && distance <= tMax),
    );
    expect(await faults(twin, rays, { tMin, tMax }, expected)).toEqual([]);
  });

  test('from inside, also of boxes', async () => {
    const starts = rays.map(() => new Ray(random.point(3).add(place), random.direction()));
    const expected = starts.map((ray) => rayHits(twin.items.values(), ray));
    expect(await faults(twin, starts, {}, expected)).toEqual([]);
  });

  test('only some layers, without what is ignored or not pickable', async () => {
    await withFilteredObjects(twin, layers, async (options, seen) => {
      const expected = rays.map((ray) => rayHits(seen, ray));
      expect(await faults(twin, rays, options, expected)).toEqual([]);
    });
  });

  test('the first is the one of raycast', async () => {
    for (const { origin, direction } of rays) {
      const ray = { origin: origin.toArray(), direction: direction.toArray() };
      const [first = null] = await twin.service.raycastAll(ray);
      expect(first).toEqual(await twin.service.raycast(ray));
    }
  });
});

describe.each(PLACES)(`all hits against three's Raycaster, %s, seed ${SEED}`, { timeout: 120_000 }, (_, place) => {
  const threeOf = ({ positions, indices }: Triangles) =>
    new BufferGeometry()
      .setAttribute('position', new BufferAttribute(positions, 3))
      .setIndex(new BufferAttribute(indices, 1));

  function threeMesh(id: number, geometry: BufferGeometry, matrix: Matrix4, material: Material): Mesh {
    const mesh = new Mesh(geometry, material);
    mesh.matrixWorld.copy(matrix);
    mesh.userData.id = id;
    return mesh;
  }

  test.each(SIDES)('dragons, spheres, soups and boxes, side %s', async (side) => {
    const random = new Random(SEED);
    const twin = await Twin.create();
    onTestFinished(() => twin.dispose());
    const half = new Vector3(1, 0.5, 0.3);
    const forms = [icosphere(1, 4), soup(random, 200, 0.5, 1)];
    const kinds: [TwinShape, BufferGeometry][] = [
      [twin.box(half), new BoxGeometry(2 * half.x, 2 * half.y, 2 * half.z)],
    ];
    for (const form of forms) kinds.push([await twin.mesh(form), threeOf(form)]);
    const meshes: Mesh[] = [];
    const add = ([shape, geometry]: (typeof kinds)[number], low: number, high: number) => {
      const matrix = random.placement(random.point(2).add(place), { low, high, mirrored: 0.5 });
      meshes.push(threeMesh(twin.add(shape, matrix), geometry, matrix, MATERIALS[side]));
    };
    for (let i = 0; i < 60; i++) add(random.pick(kinds), 0.3, 1);
    const small = dragon(11_102);
    const dragonKind: (typeof kinds)[number] = [await twin.mesh(small), threeOf(small)];
    for (let i = 0; i < 6; i++) add(dragonKind, 5, 10);

    const rays = aimedRays(random, 200, place, 2);
    const expected = rays.map(({ origin, direction }) =>
      new Raycaster(origin, direction).intersectObjects(meshes, false).map(({ object, faceIndex, distance }) => ({
        id: object.userData.id,
        triangle: (object as Mesh).geometry instanceof BoxGeometry ? -1 : faceIndex!,
        distance,
      })),
    );
    expect(await faults(twin, rays, { side }, expected)).toEqual([]);
    expect(expected.flat().length).toBeGreaterThan(400);
  });
});

describe.each(PLACES)(`pickAll against brute force, %s, seed ${SEED}`, (_, place) => {
  test.each(CAMERA_KINDS)('%s', async (_, make) => {
    const random = new Random(SEED);
    const { twin } = await scene(random, place, 25, 10);
    onTestFinished(() => twin.dispose());
    let several = 0;
    for (const [, depth] of DEPTHS) {
      const camera = aimCamera(make(random), random, place);
      twin.service.setView(viewOf(camera, depth));
      for (let i = 0; i < 30; i++) {
        const [x, y] = [random.next(), random.next()];
        const hits = await twin.service.pickAll(VIEWPORT.x + x * VIEWPORT.width, VIEWPORT.y + y * VIEWPORT.height);
        const raycaster = new Raycaster();
        raycaster.setFromCamera(new Vector2(2 * x - 1, 1 - 2 * y), camera);
        const expected = rayHits(twin.items.values(), raycaster.ray).filter(
          ({ point }) => Math.abs(point.project(camera).z) <= 1,
        );
        expect(fault(hits, expected, raycaster.ray, twin.items)).toBeNull();
        if (hits.length > 1) several++;
      }
    }
    expect(several).toBeGreaterThan(5);
    expect(await twin.service.pickAll(VIEWPORT.x - 1, VIEWPORT.y + 1)).toEqual([]);
  });
});

describe('special rays', () => {
  async function start() {
    const service = await createCollisionService();
    onTestFinished(() => service.dispose());
    return service;
  }

  test('5,000 triangles one behind the other, in any order in the mesh', async () => {
    const service = await start();
    const random = new Random(SEED);
    const count = 5000;
    const heights = Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const other = random.integer(i + 1);
      [heights[i], heights[other]] = [heights[other], heights[i]];
    }
    const positions = new Float32Array(heights.flatMap((z) => [-1, -1, -z, 1, -1, -z, 0, 1, -z]));
    const object = service.addObject({ shape: { type: 'mesh', mesh: await service.addMesh({ positions }) } });
    const ray = { origin: [0.1, 0, 5], direction: [0, 0, -3] } as const;
    const hits = await service.raycastAll(ray);
    expect(hits.map(({ triangle }) => heights[triangle])).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(hits.every((hit, i) => hit.object === object && Math.abs(hit.distance - i - 5) < 1e-12 * i + 1e-15)).toBe(
      true,
    );
    // The ends of the ray belong to it.
    const [tMin, tMax] = [hits[95].distance, hits[2995].distance];
    const part = await service.raycastAll({ ...ray, tMin, tMax });
    expect(part).toEqual(hits.slice(95, 2996));
    expect(await service.raycastAll(ray, { side: 'front' })).toEqual(hits);
    expect(await service.raycastAll(ray, { side: 'back' })).toEqual([]);
    expect(await service.raycast(ray)).toEqual(hits[0]);
  });

  test('edges and corners: every triangle that has them, as three has it, also at the end of the ray', async () => {
    const service = await start();
    const form = trianglesOf(new PlaneGeometry(2, 2, 2, 2));
    const id = service.addObject({ shape: { type: 'mesh', mesh: await service.addMesh(form) } });
    const mesh = new Mesh(new PlaneGeometry(2, 2, 2, 2), MATERIALS.double);
    for (const [x, y, count] of [
      [0.5, 0.5, 2],
      [0, 0.5, 2],
      [0, 0, 6],
      [1, 1, 2],
      [-1, 1, 1],
      [0.25, 0.5, 1],
      [2, 0, 0],
    ]) {
      const expected = new Raycaster(new Vector3(x, y, 3), new Vector3(0, 0, -1)).intersectObject(mesh);
      for (const tMax of [Infinity, 3]) {
        const hits = await service.raycastAll({ origin: [x, y, 3], direction: [0, 0, -1], tMax });
        expect(hits.map(({ triangle }) => triangle)).toEqual(expected.map(({ faceIndex }) => faceIndex).sort());
        expect(hits.length).toBe(count);
        expect(hits.every(({ object, distance }) => object === id && distance === 3)).toBe(true);
      }
    }
  });

  test('copies in one place, by object', async () => {
    const service = await start();
    const mesh = await service.addMesh(icosphere(1, 2));
    const meshes = [...service.addInstances({ shape: { type: 'mesh', mesh } }, 20)];
    const boxes = [...service.addInstances({ shape: { type: 'box', halfExtents: [1, 1, 1] } }, 20)];
    const hits = await service.raycastAll({ origin: [0.1, 0.2, 9], direction: [0, 0, -1] });
    expect(hits.map(({ object }) => object)).toEqual([...boxes, ...meshes, ...meshes, ...boxes]);
    expect(hits.map(({ normal }) => Math.sign(normal[2]))).toEqual(
      [1, 1, -1, -1].flatMap((sign) => new Array(20).fill(sign)),
    );
  });

  test('nothing is hit', async () => {
    const service = await start();
    const ray = { origin: [0, 0, 9], direction: [0, 0, -1] } as const;
    expect(await service.raycastAll(ray)).toEqual([]);
    const id = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    const frame = (await service.update()).frame;
    expect(await service.raycastAll({ ...ray, direction: [0, 0, 1] })).toEqual([]);
    expect(await service.raycastAll(ray)).toMatchObject([
      { object: id, distance: 8, triangle: -1, normal: [0, 0, 1], barycentric: [0, 0, 0], bone: -1, frame },
      { object: id, distance: 10, triangle: -1, normal: [0, 0, -1], frame },
    ]);
    expect(await service.raycastAll(ray, { side: 'back' })).toMatchObject([{ distance: 10 }]);
    expect(await service.raycastAll({ ...ray, tMax: 8 })).toMatchObject([{ distance: 8 }]);
    expect(await service.raycastAll({ ...ray, tMin: 10 })).toMatchObject([{ distance: 10 }]);
    expect(await service.raycastAll({ ...ray, tMin: 8.5, tMax: 9.5 })).toEqual([]);
  });
});
