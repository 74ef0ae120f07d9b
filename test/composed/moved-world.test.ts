// The same queries in the same scene, but the whole world is moved a hundred million units, mirrored,
// rotated to other axes, or scaled up or down a million times: all of these are exact in float64, so
// the results are the same, transformed likewise. Objects are also mirrored and sheared. A relation
// between two results needs no reference for either (metamorphic testing; Chen, Cheung and Yiu, 1998).
import { type CollisionService, createCollisionService, type Shape, type ViewOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { torus } from '../oracle/lumps.js';
import { boxMesh, icosphere, type Triangles, waves } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

/** The amount of work: 10 takes ten times as long. */
const SCALE = Number(process.env.COMPOSED ?? 1);
const ROUNDS = Math.ceil(SCALE);
const OBJECTS = 14;
const QUERY_ROUNDS = 8;

const axisPermutation = new Matrix4().set(0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1);
const translation = new Matrix4().makeTranslation(2 ** 27, -(2 ** 26), 2 ** 25);
const mirror = new Matrix4().makeScale(-1, 1, 1);
const WORLDS: [name: string, matrix: Matrix4, scale: number][] = [
  ['a hundred million units away', translation, 1],
  ['mirrored', mirror, 1],
  ['mirrored, far away', translation.clone().multiply(mirror), 1],
  ['with other axes', axisPermutation, 1],
  ['a million times larger', new Matrix4().makeScale(2 ** 20, 2 ** 20, 2 ** 20), 2 ** 20],
  ['a million times smaller', new Matrix4().makeScale(2 ** -20, 2 ** -20, 2 ** -20), 2 ** -20],
];

/** Rounds, so that it is exact far away, too. */
const round = (v: Vector3) =>
  v.set(...(v.toArray().map((x) => Math.round(x * 2 ** 20) / 2 ** 20) as [number, number, number]));

function roundedMatrix(matrix: Matrix4): Matrix4 {
  return matrix.setPosition(round(new Vector3().setFromMatrixPosition(matrix)));
}

class World {
  readonly service: CollisionService;
  readonly matrix: Matrix4;
  readonly scale: number;
  meshes: number[] = [];
  ids: number[] = [];

  static async create(matrix: Matrix4, scale: number, meshes: readonly Triangles[]): Promise<World> {
    const world = new World(await createCollisionService(), matrix, scale);
    for (const { positions, indices } of meshes) {
      world.meshes.push(await world.service.addMesh({ positions: positions.slice(), indices: indices.slice() }));
    }
    return world;
  }

  constructor(service: CollisionService, matrix: Matrix4, scale: number) {
    this.service = service;
    this.matrix = matrix;
    this.scale = scale;
  }

  point(p: Vector3): [number, number, number] {
    return p.clone().applyMatrix4(this.matrix).toArray();
  }

  /** Transforms a direction, keeping its length. */
  direction(d: Vector3): [number, number, number] {
    return d.clone().transformDirection(this.matrix).toArray();
  }

  place(matrix: Matrix4): number[] {
    return this.matrix.clone().multiply(matrix).elements;
  }

  plane(normal: Vector3, constant: number): number[] {
    const n = new Vector3(...this.direction(normal));
    const pointOnPlane = normal.clone().multiplyScalar(-constant).applyMatrix4(this.matrix);
    return [...n.toArray(), -n.dot(pointOnPlane)];
  }

  view(camera: PerspectiveCamera): ViewOptions {
    const view = camera.matrixWorldInverse.clone().multiply(this.matrix.clone().invert());
    return { projection: camera.projectionMatrix.elements, view: view.elements, viewport: { width: 800, height: 600 } };
  }

  /** Returns where a result's point was before the world was moved. */
  back(p: ArrayLike<number>): Vector3 {
    return new Vector3(p[0], p[1], p[2]).applyMatrix4(this.matrix.clone().invert());
  }

  /** The index of an object in the list of all. */
  number(id: number): number {
    return this.ids.indexOf(id);
  }

  shape(meshOrShape: number | Shape): Shape {
    return typeof meshOrShape === 'number'
      ? { type: 'mesh', mesh: this.meshes[meshOrShape], solid: meshOrShape < 3 }
      : meshOrShape;
  }
}

/** A query's result in a world, transformed back to the world that is not moved. */
type Answer = Record<string, unknown>;
type WorldQuery = (world: World) => Promise<Answer>;

const sortedIndices = (world: World, ids: ArrayLike<number>) =>
  Array.from(ids, (id) => world.number(id)).sort((a, b) => a - b);

/** Queries of all kinds. */
function createQueries(random: Random, shapes: readonly (number | Shape)[]): [name: string, WorldQuery][] {
  const point = () => round(random.point(4));
  const matrix = () =>
    roundedMatrix(random.placement(random.point(3), { low: 0.4, high: 1.5, mirrored: 0.3, sheared: 0.3 }));
  const solid = (): Shape =>
    random.pick<Shape>([
      { type: 'sphere', radius: random.range(0.3, 1) },
      { type: 'box', halfExtents: [0.5, 0.7, 0.3] },
      { type: 'capsule', from: [0, -0.5, 0], to: [0, 0.5, 0], radius: 0.4 },
    ]);
  const camera = new PerspectiveCamera(random.range(30, 80), 4 / 3, 0.25, 64);
  camera.position.copy(round(random.direction().multiplyScalar(9)));
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const list: [string, WorldQuery][] = [];
  for (let i = 0; i < QUERY_ROUNDS; i++) {
    const [from, to, pose] = [point(), point(), matrix()];
    const rotation = new Matrix4().makeRotationAxis(random.direction(), random.range(0, 1));
    const endPose = roundedMatrix(rotation.multiply(pose).setPosition(random.point(3)));
    const direction = to.clone().sub(from);
    const shape = random.chance(0.7) ? solid() : random.pick(shapes);
    const [a, b] = [random.integer(OBJECTS), random.integer(OBJECTS - 1)];
    const [px, py] = [random.range(100, 700), random.range(100, 500)];
    list.push(
      [
        'raycastAll',
        async (world) => {
          const hits = await world.service.raycastAll({
            origin: world.point(from),
            direction: world.direction(direction),
          });
          return {
            hits: hits.map((hit) => [world.number(hit.object), hit.triangle]),
            distances: hits.map((hit) => hit.distance / world.scale),
          };
        },
      ],
      [
        'lineOfSight',
        async (world) => ({ isClear: await world.service.lineOfSight(world.point(from), world.point(to)) }),
      ],
      [
        'closestPoint',
        async (world) => {
          const result = await world.service.closestPoint(world.point(from));
          return { distance: result!.distance / world.scale, point: world.back(result!.point).distanceTo(from) };
        },
      ],
      [
        'containing',
        async (world) => ({ ids: sortedIndices(world, await world.service.containing(world.point(from))) }),
      ],
      [
        'overlap',
        async (world) => ({
          ids: sortedIndices(world, await world.service.overlap(world.shape(shape), world.place(pose))),
        }),
      ],
      [
        'distance',
        async (world) => {
          const result = await world.service.distance(world.ids[a], world.ids[b < a ? b : b + 1]);
          return { distance: result!.distance / world.scale };
        },
      ],
      [
        'contact',
        async (world) => {
          const result = await world.service.contact(world.ids[a], world.ids[b < a ? b : b + 1]);
          return { isThere: result !== null, contained: result?.contained };
        },
      ],
      [
        'sweepAll',
        async (world) => {
          const hits = await world.service.sweepAll(world.shape(shape), world.place(pose), world.place(endPose));
          return {
            ids: sortedIndices(
              world,
              hits.map(({ object }) => object),
            ),
            times: hits.map(({ time }) => time).sort((x, y) => x - y),
          };
        },
      ],
      [
        'section',
        async (world) => {
          const normal = direction.clone().normalize();
          const result = await world.service.section(world.plane(normal, -normal.dot(from)));
          let length = 0;
          result.starts.slice(0, -1).forEach((start, k) => {
            const points = Array.from({ length: result.starts[k + 1] - start }, (_, j) =>
              world.back(result.points.subarray(3 * (start + j))),
            );
            points.forEach((p, j) => {
              if (j > 0 || result.closed[k]) length += p.distanceTo(points.at(j - 1)!);
            });
          });
          return { ids: sortedIndices(world, result.objects), length };
        },
      ],
      [
        'pick',
        async (world) => {
          world.service.setView(world.view(camera));
          const hit = await world.service.pick(px, py);
          return {
            object: hit && world.number(hit.object),
            triangle: hit?.triangle,
            distance: hit ? hit.distance / world.scale : 0,
          };
        },
      ],
      [
        'snap',
        async (world) => {
          const hit = await world.service.pick(px, py, { snap: ['vertex', 'edge'], radius: 30 });
          return { object: hit && world.number(hit.object), kind: hit?.snap?.kind, pixels: hit?.snap?.pixels ?? 0 };
        },
      ],
      [
        'pickRegion',
        async (world) => ({
          ids: sortedIndices(world, await world.service.pickRegion({ x: px - 50, y: py - 40, width: 100, height: 80 })),
          enclosed: sortedIndices(
            world,
            await world.service.pickRegion({ x: px - 50, y: py - 40, width: 300, height: 300 }, { mode: 'enclose' }),
          ),
        }),
      ],
      [
        'frustum',
        async (world) => ({ ids: sortedIndices(world, (await world.service.frustum(world.view(camera))).ids) }),
      ],
      [
        'sees',
        async (world) => {
          const { points } = await world.service.sees(world.view(camera), world.ids);
          return { points: Array.from(points) };
        },
      ],
    );
  }
  return list;
}

/**
 * The tolerance of results where lengths are about 1: for float32 in a mesh's own space, and float64 a hundred million units
 * away. Times of sweeps end once the remaining gap is small; there are hundreds of pixels per unit of length.
 */
const TOLERANCES: Record<string, number> = { times: 3e-5, pixels: 2e-4, length: 1e-5 };
const TOLERANCE = 2e-6;

/** Compares answers; numbers that are no counts may differ by rounding. */
function expectSimilar(actual: Answer, expected: Answer, label: string): void {
  expect(Object.keys(actual), label).toEqual(Object.keys(expected));
  for (const [key, value] of Object.entries(expected)) {
    const tolerance = TOLERANCES[key] ?? TOLERANCE;
    const isNear = (a: unknown, b: unknown): boolean =>
      Array.isArray(a) && Array.isArray(b)
        ? a.length === b.length && a.every((each, i) => isNear(each, b[i]))
        : typeof a === 'number' && typeof b === 'number' && !(Number.isInteger(a) && Number.isInteger(b))
          ? Math.abs(a - b) < tolerance
          : Object.is(a, b);
    expect(isNear(actual[key], value), `${label}: ${key} is ${actual[key]} instead of ${value}`).toBe(true);
  }
}

test(`${ROUNDS} scenes in moved worlds, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const meshes = [boxMesh(1, 1.5, 0.7), icosphere(0.8, 2), torus(0.8, 0.3, 9), waves(5)];
  const [base, ...movedWorlds] = await Promise.all(
    [['as it is', new Matrix4(), 1] as const, ...WORLDS].map(([, matrix, scale]) =>
      World.create(matrix, scale, meshes),
    ),
  );
  const worlds = [base, ...movedWorlds];
  for (let roundIndex = 0; roundIndex < ROUNDS; roundIndex++) {
    const seed = random.integer(2 ** 31);
    const sceneRandom = new Random(seed);
    const shapes = Array.from({ length: OBJECTS }, (_, i): number | Shape =>
      i % 2 === 0
        ? sceneRandom.integer(meshes.length)
        : sceneRandom.pick<Shape>([
            { type: 'sphere', radius: sceneRandom.range(0.3, 1) },
            { type: 'box', halfExtents: [sceneRandom.range(0.2, 1), 0.6, 0.4] },
            { type: 'capsule', from: [-0.4, 0, 0], to: [0.5, 0.2, 0], radius: 0.3 },
          ]),
    );
    const matrices = shapes.map(() =>
      roundedMatrix(sceneRandom.placement(sceneRandom.point(3), { low: 0.4, high: 1.6, mirrored: 0.4, sheared: 0.4 })),
    );
    for (const world of worlds) {
      world.ids = shapes.map((shape, i) =>
        world.service.addObject({ shape: world.shape(shape), matrix: world.place(matrices[i]) }),
      );
    }
    const frames = await Promise.all(worlds.map(({ service }) => service.update()));
    const pairs = frames.map(({ contacts }, i) =>
      Array.from(contacts.a, (a, k) => [worlds[i].number(a), worlds[i].number(contacts.b[k])]),
    );
    for (const [i, [name]] of WORLDS.entries()) expect(pairs[i + 1], `${name}, seed ${seed}: pairs`).toEqual(pairs[0]);
    for (const [name, query] of createQueries(sceneRandom, [0, 1, 2, 3])) {
      const [expected, ...results] = await Promise.all(worlds.map((world) => query(world)));
      for (const [i, [world]] of WORLDS.entries())
        expectSimilar(results[i], expected, `${world}, round ${roundIndex}, seed ${seed}, ${name}`);
    }
    for (const { service, ids } of worlds) service.removeObjects(Uint32Array.from(ids));
  }
  for (const { service } of worlds) service.dispose();
});
