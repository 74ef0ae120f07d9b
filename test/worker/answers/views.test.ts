// Exact results of views: what is visible, occluded, picked and enclosed is the same as before. See README.md.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { pickRay } from '../../../src/client/query/pick-ray.js';
import { checkRegion } from '../../../src/client/query/query-options.js';
import * as layout from '../../../src/shared/layout.js';
import type { Filter } from '../../../src/shared/protocol.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import {
  Answers,
  block,
  ExactRandom,
  frameAnswer,
  randomPrimitive,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { cylinder, heightField, hills, meshKinds } from '../../fixtures/exact-meshes.js';
import { type Eye, viewFrom, viewRecord } from '../../fixtures/exact-views.js';
import { ALL_FILTER, ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, soup } from '../../oracle/meshes.js';

const PRECISIONS = [layout.PRECISION_SPHERE, layout.PRECISION_AABB, layout.PRECISION_OBB, layout.PRECISION_MESH];

describe.each(PLACES)('%s', (_, place) => {
  async function scene(random: ExactRandom, count: number, halfSize: number) {
    const world = await World.create(place);
    const shapes: PlacedDescription[] = meshKinds(random)
      .slice(0, 19)
      .map(([, mesh]) => surface(world.mesh(mesh)));
    for (const topology of ['points', 'lines'] as const) {
      shapes.push(surface(world.mesh({ positions: soup(random, 40, 0.3, 1).positions, topology })));
    }
    const ids = Array.from({ length: count }, (_, i) => {
      const described = i % 2 === 0 ? shapes[(i / 2) % shapes.length]! : randomPrimitive(random);
      const matrix = random.placement(random.point(halfSize), i % 3 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM);
      const flags = described.flags | (i % 5 === 0 ? layout.FLAG_STATIC : 0);
      return world.add(described, matrix, { flags, layers: 1 << (i % 3), clipSet: i % 4 === 0 ? 1 : 0 });
    });
    return { world, ids };
  }

  function eye(random: ExactRandom, world: World): Eye {
    const [at, to] = [random.point(15), random.point(5)].map((each) => new Vector3(...world.point(each)));
    return { at: at!, to: to!, near: random.pick([0.01, 0.3, 4]), far: random.pick([12, 60, 1e5]) };
  }

  function filterOf(random: ExactRandom, i: number, ids: readonly number[]): Filter {
    const normal = random.direction();
    const planes = [...normal.toArray(), -normal.dot(random.point(3).add(place)), 0, 0, 1, -place.z];
    return {
      ...ALL_FILTER,
      side: i % 4,
      precision: PRECISIONS[(i >> 1) % 4]!,
      ...(i % 5 === 0 && { layers: 1 + (i % 7), ignore: Uint32Array.from(ids.filter((id) => id % 3 === 0)) }),
      ...(i % 3 === 0 && {
        clips: { sets: Uint32Array.of(0, 1, 0, 0, 1, 1, 0, 0), planes: Float64Array.from(planes) },
      }),
    };
  }

  test('picks, regions and sights', async () => {
    const random = new ExactRandom(71);
    const answers = new Answers();
    const { world, ids } = await scene(random, 90, 7);
    const { rays, volumes } = world.core;
    for (let i = 0; i < 60; i++) {
      const view = viewRecord({ ...viewFrom(i, eye(random, world), random), margin: i % 4 === 0 ? 0.5 : 0 });
      const filter = filterOf(random, i, ids);
      answers.add('frustum', runToEnd(volumes.frustum(view.record, filter)));
      answers.add('sees', runToEnd(rays.sees(view.record, Uint32Array.from(ids), { ...filter, clips: undefined! })));
      for (let k = 0; k < 4; k++) {
        const cursor = { x: random.range(20, 360), y: random.range(30, 290), radius: random.pick([0, 5, 40, 300]) };
        answers.add('pickScreen', rays.pickScreen(view.record, cursor, filter));
        answers.add('pickScreenAll', runToEnd(rays.pickScreenAll(view.record, cursor, filter)));
        for (const radius of [0, 6]) {
          const ray = pickRay(view, cursor.x, cursor.y, radius);
          if (ray) answers.add('pick', rays.raycast(ray, filter));
        }
        const [x, y, width, height] = [cursor.x, cursor.y, random.range(1, 200), random.range(1, 150)];
        const corners = Array.from({ length: 3 + random.integer(5) }, () => [
          x + width * random.next(),
          y + height * random.next(),
        ]);
        for (const mode of ['touch', 'enclose'] as const) {
          const rect = checkRegion('test', { x, y, width, height }, mode)(view.record);
          const lasso = checkRegion('test', Float32Array.from(corners.flat()), mode)(view.record);
          if (rect) answers.add(`rectangle: ${mode}`, runToEnd(volumes.pickRegion(view.record, rect, filter)));
          if (lasso) answers.add(`lasso: ${mode}`, runToEnd(volumes.pickRegion(view.record, lasso, filter)));
        }
      }
      const planes = Array.from({ length: 1 + (i % 6) }, () => {
        const normal = random.direction();
        return [...normal.toArray(), 2 - normal.dot(place)];
      });
      answers.add('planes', runToEnd(volumes.frustum(Float32Array.from(planes.flat()), filter)));
    }
    answers.check();
    expect(world.core.check()).toBeNull();
  });

  test('frames of several views that move', async () => {
    const random = new ExactRandom(72);
    const answers = new Answers();
    const { world, ids } = await scene(random, 200, 20);
    for (let frame = 0; frame < 6; frame++) {
      for (let slot = 0; slot < 5; slot++) {
        if (frame > 0 && random.chance(0.4)) continue;
        const options = viewFrom(slot + frame, eye(random, world), random);
        const view = viewRecord(
          {
            ...options,
            layers: slot === 1 ? 3 : -1,
            margin: slot === 2 ? 1.5 : 0,
            minPixels: slot === 3 ? 8 : 0,
          },
          slot,
        );
        world.staging.setView(view.record);
      }
      if (frame === 4) world.core.removeView(2);
      for (const id of ids) if (random.chance(0.2)) world.move(id, random.placement(random.point(20), ANY_TRANSFORM));
      answers.add('frames', frameAnswer(world.frame()));
    }
    answers.check();
  });
});

describe('with occlusion', () => {
  const GROUNDS: [string, Matrix4][] = [
    ['along z', new Matrix4().makeScale(40, 40, 12)],
    ['along y', new Matrix4().set(40, 0, 0, 0, 0, 0, 12, 0, 0, -40, 0, 0, 0, 0, 0, 1)],
    ['along x', new Matrix4().set(0, 0, 12, 0, 40, 0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 1)],
    [
      'along none',
      new Matrix4()
        .makeScale(40, 40, 12)
        .premultiply(new Matrix4().set(0.8, 0, 0.6, 0, 0, 1, 0, 0, -0.6, 0, 0.8, 0, 0, 0, 0, 1)),
    ],
  ];

  async function ask(world: World, random: ExactRandom, answers: Answers, eye: () => Eye): Promise<void> {
    for (let i = 0; i < 16; i++) {
      const options = viewFrom(i, eye(), random);
      for (const occlusionMargin of [undefined, 0, 0.05, 0.3]) {
        const record = viewRecord({
          ...options,
          occlusion: true,
          ...(occlusionMargin !== undefined && { occlusionMargin }),
        });
        if (i < 6 && occlusionMargin !== undefined) {
          world.staging.setView(record.record);
          answers.add('frames', frameAnswer(world.frame()));
        }
        answers.add(`margin ${occlusionMargin}`, runToEnd(world.core.volumes.frustum(record.record, ALL_FILTER)));
      }
    }
    answers.check();
  }

  test.each(GROUNDS)('behind hills %s', async (_, matrix) => {
    const random = new ExactRandom(73);
    const world = await World.create();
    world.add(surface(world.mesh(heightField(32, hills))), matrix);
    for (let i = 0; i < 200; i++) {
      const at = random.point(1).applyMatrix4(matrix);
      world.add(block([0.3, 0.3, 0.3]), new Matrix4().setPosition(at), { flags: 7 | layout.FLAG_NO_OCCLUDER });
    }
    await ask(world, random, new Answers(), () => ({
      at: new Vector3(random.range(-1, 1), random.range(-1, 1), 0.1).applyMatrix4(matrix),
      to: random.point(0.3).applyMatrix4(matrix),
    }));
  });

  const HOUSES: [string, (world: World, random: ExactRandom) => PlacedDescription[]][] = [
    ['boxes', () => [block([1, 1, 1])]],
    ['turned boxes', (_, random) => [block([0.8, 1, 0.7], [0.3, 0.1, -0.2], random.rotation().toArray())]],
    ['small meshes', (world) => [boxMesh(2, 2, 2), icosphere(1, 1)].map((mesh) => surface(world.mesh(mesh)))],
    ['large meshes', (world) => [icosphere(1.2, 5), cylinder(1.3, 1, 60)].map((mesh) => surface(world.mesh(mesh)))],
    [
      'open meshes',
      (world, random) => [heightField(3, () => 0), soup(random, 12, 1.5, 1)].map((mesh) => surface(world.mesh(mesh))),
    ],
    ['occluders alone', (world) => [{ ...surface(world.mesh(icosphere(1.3, 3))), flags: 7 | layout.FLAG_OCCLUDER }]],
  ];

  test.each(HOUSES)('among houses that are %s', async (_, make) => {
    const random = new ExactRandom(74);
    const world = await World.create();
    const shapes = make(world, random);
    for (let x = -3; x <= 3; x++) {
      for (let z = -3; z <= 3; z++) {
        const size = new Vector3(random.range(2, 4.4), random.range(3, 12), random.range(2, 4.4));
        const turn = x % 2 === 0 ? random.rotation().set(0, 0.2, 0.1, 1).normalize() : random.rotation().identity();
        world.add(random.pick(shapes), new Matrix4().compose(new Vector3(10 * x, size.y, 10 * z), turn, size));
        for (let i = 0; i < 5; i++) {
          const at = new Vector3(10 * x + random.range(-5, 5), random.range(0.2, 20), 10 * z + random.range(-5, 5));
          const half = [random.range(0.1, 1), random.range(0.1, 1), random.range(0.1, 1)];
          world.add(block(half), random.placement(at), { flags: 7 | layout.FLAG_NO_OCCLUDER });
        }
      }
    }
    await ask(world, random, new Answers(), () => ({
      at: new Vector3(random.range(-35, 35), random.range(1, 9), random.range(-35, 35)),
      to: random.point(20),
      near: random.pick([0.05, 0.3, 1]),
      far: 500,
    }));
  });
});
