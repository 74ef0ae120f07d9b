// Queries in steps of one object each have the same results as in one piece, to the bit, whatever is asked meanwhile.

import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { ViewTable } from '../../../../src/client/frame/view-table.js';
import * as layout from '../../../../src/shared/layout.js';
import type { Filter } from '../../../../src/shared/protocol.js';
import type { Steps } from '../../../../src/worker/binding/steps.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import type { CoreVolumes } from '../../../../src/worker/binding/volumes.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { icosphere } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';

const OBJECTS = 120;
const ROUNDS = 12;
const PRECISIONS = [
  layout.PRECISION_MESH,
  layout.PRECISION_OBB,
  layout.PRECISION_AABB,
  layout.PRECISION_SPHERE,
] as const;

/** Runs with a clock that stands still, so that time never runs out. */
function atOnce<T>(steps: Steps<T>): { answer: T; count: number } {
  return run(steps, 0, () => {});
}

/** Runs with a clock on which a second passes between two readings, and calls something else between two steps. */
function slowly<T>(steps: Steps<T>, meanwhile: () => void): { answer: T; count: number } {
  return run(steps, 1000, meanwhile);
}

function run<T>(steps: Steps<T>, tick: number, meanwhile: () => void): { answer: T; count: number } {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    time += tick;
    return time;
  });
  try {
    let count = 1;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      count++;
      meanwhile();
    }
    return { answer: step.value, count };
  } finally {
    clock.mockRestore();
  }
}

describe.each(PLACES)(`in steps, %s, seed ${SEED}`, (_, place) => {
  test('regions, frusta, shapes, points and the nearest', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const { volumes } = scene.core;
    const meshes = [scene.mesh(icosphere(1, 3)), scene.mesh(icosphere(1, 1))];
    const any = (): AnyShape => (random.chance(0.4) ? random.pick(meshes) : { shape: randomSolid(random) });
    const things = Array.from({ length: OBJECTS }, () =>
      scene.add(any(), random.placement(random.point(6), ANY_TRANSFORM), {
        layers: 1 + random.integer(3),
        flags: random.chance(0.9) ? layout.FLAG_PICKABLE : 0,
      }),
    );
    let found = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const filter: Filter = {
        ...ALL_FILTER,
        precision: random.pick(PRECISIONS),
        ignore: Uint32Array.from(things.filter(() => random.chance(0.1)).map(({ id }) => id)).sort(),
        layers: 1 + random.integer(3),
      };
      const shape = scene.describe(
        any(),
        scene.exactly(random.placement(random.point(6), { ...ANY_TRANSFORM, high: 8 })),
      );
      const point = scene.point(random.point(5));
      const camera = new PerspectiveCamera(60, 1, 0.1, 100);
      camera.position.copy(place).add(random.point(12));
      camera.lookAt(place);
      camera.updateMatrixWorld();
      const seenByCamera = {
        projection: camera.projectionMatrix.elements,
        view: camera.matrixWorldInverse.elements,
        viewport: { width: 100, height: 100 },
      };
      const views = new ViewTable();
      const view = views.recordOf('test', 'view', seenByCamera);
      const occluding = views.recordOf('test', 'view', { ...seenByCamera, occlusion: true });
      const normal = random.point(1);
      const plane = Float32Array.of(normal.x, normal.y, normal.z, -normal.dot(place));
      const corners = random.integer(2) * (3 + random.integer(40));
      const region = {
        bounds: [-0.7, -0.6, 0.8, 0.9] as const,
        polygon: Float64Array.from({ length: 2 * corners }, () => 1.6 * random.next() - 0.8),
        mode: random.pick([layout.REGION_TOUCH, layout.REGION_ENCLOSE]),
      };
      const limit = random.pick([Number.POSITIVE_INFINITY, 1]);
      const asked: ((of: CoreVolumes) => Steps<Uint32Array | object | null>)[] = [
        (of) => of.overlap(shape, filter),
        (of) => of.containing(point, filter),
        (of) => of.pickRegion(view, region, filter),
        (of) => of.closestPoint(point, limit, filter),
        (of) => of.frustum(view, filter),
        (of) => of.frustum(occluding, filter),
        (of) => of.frustum(plane, filter),
      ];
      const other = scene.describe({ shape: { type: 'sphere', radius: 0.1 } }, new Matrix4());
      for (const [which, ask] of asked.entries()) {
        const { answer, count } = atOnce(ask(volumes));
        expect(count).toBe(1);
        const inSteps = slowly(ask(volumes), () => {
          runToEnd(volumes.overlap(other, ALL_FILTER));
          runToEnd(volumes.closestPoint(scene.point(new Vector3()), 9, ALL_FILTER));
        });
        expect(inSteps.answer, `round ${i}, question ${which}`).toEqual(answer);
        if (answer instanceof Uint32Array) {
          found += answer.length;
          // At least one of the found objects is examined in each step, and no more than 16.
          if (answer.length > 50) expect(inSteps.count).toBeGreaterThan(3);
        }
      }
    }
    expect(found).toBeGreaterThan(5 * ROUNDS);
  });

  test('what goes between two steps is passed over, and what comes is not looked at', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const ball: AnyShape = { shape: { type: 'sphere', radius: 1 } };
    const things = Array.from({ length: OBJECTS }, () => scene.add(ball, new Matrix4().setPosition(random.point(1))));
    const { volumes } = scene.core;
    const ids = things.map(({ id }) => id);
    const shape = scene.describe({ shape: { type: 'sphere', radius: 9 } }, new Matrix4());
    let gone: number[] = [];
    const { answer } = slowly(volumes.overlap(shape, ALL_FILTER), () => {
      if (gone.length > 0) return;
      gone = things.splice(OBJECTS / 2).map((thing) => {
        scene.remove(thing);
        return thing.id;
      });
      for (let i = 0; i < 10; i++) scene.add(ball, new Matrix4());
    });
    // Some of them were found in the first step.
    for (const { id } of things) expect(answer).toContain(id);
    for (const id of answer) expect(ids).toContain(id);
    expect(answer.length).toBeLessThan(OBJECTS / 2 + 20);
  });
});

test('the clock is read for each mesh, and once for sixteen solids', async () => {
  const scene = await NearScene.at(new Vector3());
  const looksAt = (shape: AnyShape): number => {
    const things = Array.from({ length: OBJECTS }, () => scene.add(shape, new Matrix4()));
    let looks = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++looks * 1e-9);
    const { volumes } = scene.core;
    const ball = scene.describe({ shape: { type: 'sphere', radius: 0.1 } }, new Matrix4());
    const counts = [
      () => runToEnd(volumes.containing([0, 0, 0], ALL_FILTER)),
      () => runToEnd(volumes.overlap(ball, ALL_FILTER)),
      () => runToEnd(volumes.closestPoint([0, 0, 0], 9, ALL_FILTER)),
    ].map((ask) => {
      looks = 0;
      ask();
      return looks;
    });
    clock.mockRestore();
    for (const thing of things) scene.remove(thing);
    expect(Math.max(...counts) - Math.min(...counts), `${counts}`).toBeLessThan(4);
    return counts[0]!;
  };
  expect(looksAt({ shape: { type: 'sphere', radius: 1 } })).toBeLessThan(OBJECTS / 16 + 4);
  const looks = looksAt(scene.mesh(icosphere(1, 2)));
  expect(looks).toBeGreaterThanOrEqual(OBJECTS - 1);
  expect(looks).toBeLessThan(OBJECTS + 4);
});
