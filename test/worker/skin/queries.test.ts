// Queries of posed objects other than rays: the same results as for meshes that were added with their vertices where three
// has them, in a service of their own; and the results of slow float64 code for these vertices.
import { type CollisionService, createCollisionService, type ObjectId, type ObjectOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Triangle, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { frustumPlanes, isTriangleInside } from '../../oracle/frustum.js';
import { Random, SEED } from '../../oracle/random.js';
import {
  deformedPositions,
  poseOf,
  poseRandomly,
  type Rig,
  type RigOptions,
  randomRig,
  roundBones,
} from '../../oracle/rigs.js';
import { trianglePairs, trianglesUnder } from '../../oracle/triangle-pairs.js';

const KINDS: RigOptions[] = [
  { bones: 5 },
  { bones: 12, anyWeights: true },
  { bones: 0, targets: 2 },
  { bones: 3, targets: 2, relative: false },
];
const RIGS = 8;
const CAMERA = new PerspectiveCamera(60, 1, 0.1, 100);
CAMERA.position.set(0, 0, 14);
CAMERA.updateMatrixWorld();
const VIEW = {
  projection: CAMERA.projectionMatrix.elements,
  view: CAMERA.matrixWorldInverse.elements,
  viewport: { width: 200, height: 200 },
};

let posed: CollisionService;
let still: CollisionService;
let rigs: Rig[];
/** Ids in both services, by the numbers of rigs. */
let ids: ObjectId[];
let twins: ObjectId[];
const random = new Random(SEED);

beforeEach(async () => {
  [posed, still] = await Promise.all([createCollisionService(), createCollisionService()]);
  rigs = Array.from({ length: RIGS }, (_, i) => randomRig(random, KINDS[i % KINDS.length], random.point(2.5)));
  const options: Partial<ObjectOptions> = { contacts: 'full' };
  ids = [];
  twins = [];
  for (const rig of rigs) {
    poseRandomly(random, rig);
    roundBones(rig);
    const matrix = rig.mesh.matrixWorld.elements;
    const mesh = await posed.addMesh(rig.data);
    // Its bounds at rest are elsewhere.
    const id = posed.addObject({ shape: { type: 'mesh', mesh, solid: true }, matrix, ...options });
    ids.push(id);
    posed.setPose(id, poseOf(rig));
    const twin = await still.addMesh(plain(rig));
    twins.push(still.addObject({ shape: { type: 'mesh', mesh: twin, solid: true }, matrix, ...options }));
  }
  for (const service of [posed, still]) service.setView(VIEW);
  return () => {
    posed.dispose();
    still.dispose();
  };
});

const plain = (rig: Rig) => ({ positions: Float32Array.from(deformedPositions(rig)), indices: rig.data.indices! });
const numbers = (list: Iterable<ObjectId>, of: ObjectId[]) => Array.from(list, (id) => of.indexOf(id)).sort();
const placed = ({ mesh }: Rig, point: Vector3) => point.applyMatrix4(mesh.matrixWorld);
const corners = (rig: Rig) =>
  trianglesUnder(
    { positions: deformedPositions(rig) as never, indices: rig.data.indices as Uint32Array },
    rig.mesh.matrixWorld,
  );

describe(`posed objects, seed ${SEED}`, { timeout: 240_000 }, () => {
  test('regions, frusta and shapes find those that they find of still ones', async () => {
    await Promise.all([posed.update(), still.update()]);
    let found = 0;
    for (let i = 0; i < 60; i++) {
      const x = random.range(0, 180);
      const y = random.range(0, 180);
      const rect = { x, y, width: random.range(2, 60), height: random.range(2, 60) };
      const polygon = Float32Array.from({ length: 2 * (3 + random.integer(4)) }, () => random.range(0, 200));
      const mode = random.pick(['touch', 'enclose'] as const);
      const center = random.point(4).toArray();
      const ball = { type: 'sphere', radius: random.range(0.1, 2), center } as const;
      const box = { type: 'box', halfExtents: random.point(1).toArray().map(Math.abs) as never, center } as const;
      const ask = async (service: CollisionService, of: ObjectId[]) => [
        numbers(await service.pickRegion(rect, { mode }), of),
        numbers(await service.pickRegion(polygon, { mode }), of),
        numbers(await service.overlap(ball), of),
        numbers(await service.overlap(box), of),
        numbers(await service.containing(center), of),
      ];
      const [mine, theirs] = [await ask(posed, ids), await ask(still, twins)];
      expect(mine).toEqual(theirs);
      found += mine.flat().length;
    }
    expect(found).toBeGreaterThan(100);
  });

  test('views see those whose triangles they see, and more only by their bounds', async () => {
    for (let i = 0; i < 30; i++) {
      const camera = new PerspectiveCamera(random.range(2, 30), 1, 0.1, 100);
      camera.position.copy(random.direction().multiplyScalar(12));
      camera.lookAt(random.point(3));
      camera.updateMatrixWorld();
      const { elements } = camera.matrixWorldInverse;
      posed.setView({ ...VIEW, projection: camera.projectionMatrix.elements, view: elements });
      const { visible } = await posed.update();
      const planes = frustumPlanes(camera.projectionMatrix.elements, elements);
      rigs.forEach((rig, number) => {
        const isSeen = corners(rig).some((each) => isTriangleInside(each, planes));
        if (isSeen) expect([...visible.ids]).toContain(ids[number]);
        const isInside = visible.ids.subarray(0, visible.inside).includes(ids[number]);
        if (isInside) expect(corners(rig).every((each) => isTriangleInside(each, planes))).toBe(true);
      });
    }
  });

  test('closest points are those of brute force', async () => {
    await posed.update();
    const target = new Vector3();
    for (let i = 0; i < 60; i++) {
      const point = random.point(6);
      if ((await posed.containing(point.toArray())).length > 0) continue;
      let best = Number.POSITIVE_INFINITY;
      for (const rig of rigs) {
        for (const each of corners(rig)) {
          new Triangle(...each).closestPointToPoint(point, target);
          best = Math.min(best, target.distanceTo(point));
        }
      }
      const found = await posed.closestPoint(point.toArray());
      expect(Math.abs(found!.distance - best)).toBeLessThan(3e-5);
      const rig = rigs[ids.indexOf(found!.object)];
      const triangle = new Triangle(...corners(rig)[found!.triangle]);
      triangle.closestPointToPoint(point, target);
      expect(target.distanceTo(point)).toBeCloseTo(best, 4);
    }
  });

  test('contacts are of the triangles that meet in exact arithmetic, in frames and asked for', async () => {
    const { contacts } = await posed.update();
    const keys = new Map<string, [number, number][]>();
    for (const pair of contacts) {
      keys.set(
        `${ids.indexOf(pair.a)} ${ids.indexOf(pair.b)}`,
        Array.from({ length: pair.triangles.length / 2 }, (_, i) => [pair.triangles[2 * i], pair.triangles[2 * i + 1]]),
      );
    }
    let total = 0;
    for (let a = 0; a < RIGS; a++) {
      for (let b = a + 1; b < RIGS; b++) {
        const worldOf = (rig: Rig) => ({
          positions: Float64Array.from(
            corners(rig).flatMap((each) => each.flatMap((corner) => corner.toArray())),
          ) as never,
          indices: Uint32Array.from({ length: rig.data.indices!.length }, (_, i) => i),
        });
        const expected = trianglePairs(worldOf(rigs[a]), worldOf(rigs[b]), new Matrix4());
        const found = keys.get(`${a} ${b}`) ?? [];
        const names = new Set(expected.map(String));
        const shared = found.filter((pair) => names.has(String(pair))).length;
        // Objects that touch by no more than rounding may be in or out.
        expect(found.length - shared).toBeLessThanOrEqual(1 + 0.02 * expected.length);
        expect(expected.length - shared).toBeLessThanOrEqual(1 + 0.02 * expected.length);
        const report = await posed.contact(ids[a], ids[b], { detail: 'full' });
        expect(report?.triangles.length ?? 0).toBe(2 * found.length);
        total += shared;
      }
    }
    expect(total).toBeGreaterThan(50);
  });

  test('depths and normals are those of still meshes', async () => {
    const frames = [(await posed.update()).contacts, (await still.update()).contacts];
    expect(frames[0].count).toBe(frames[1].count);
    expect(frames[0].count).toBeGreaterThan(3);
    let compared = 0;
    for (let i = 0; i < frames[0].count; i++) {
      const [deepest, other] = frames.map(({ depths, start }) =>
        Math.max(0, ...depths.subarray(start[i], start[i + 1])),
      );
      if (Math.abs(deepest - other) <= 1e-3 * Math.max(deepest, 0.1)) compared++;
    }
    // Bones and targets crumple the surfaces: a self-intersecting surface
    // has no unique inside, and rounding decides where a region ends.
    expect(compared).toBeGreaterThanOrEqual(0.5 * frames[0].count);
  });

  test('distances are those of still meshes', async () => {
    await Promise.all([posed.update(), still.update()]);
    let apart = 0;
    for (let a = 0; a < RIGS; a++) {
      for (let b = a + 1; b < RIGS; b++) {
        const [found, expected] = await Promise.all([
          posed.distance(ids[a], ids[b]),
          still.distance(twins[a], twins[b]),
        ]);
        // Vertices are float32 in both, rounded in another order.
        expect(Math.abs(found!.distance - expected!.distance), `${a} and ${b}`).toBeLessThan(1e-5);
        if (found!.distance > 0) apart++;
      }
    }
    expect(apart).toBeGreaterThan(3);
  });

  test('a shape that was set anew, a movement and a hidden layer leave the pose', async () => {
    const [rig, id] = [rigs[0], ids[0]];
    const middle = placed(rig, new Vector3().fromArray(deformedPositions(rig)));
    await posed.update();
    const before = await posed.closestPoint(middle.toArray());
    posed.setObject(id, { layers: 2 });
    posed.setObject(id, { layers: 1 });
    await posed.update();
    expect(await posed.closestPoint(middle.toArray())).toMatchObject({ distance: before!.distance });
  });
});
