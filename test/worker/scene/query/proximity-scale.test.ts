// The same scene, scaled by a power of two: float64 rounds alike, so that results are the same to the last bit.

import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene } from '../../../fixtures/near-scene.js';
import { icosphere, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';

describe(`nearness at any size, seed ${SEED}`, () => {
  test.each([2 ** -60, 2 ** -20, 2 ** -10, 2 ** 10, 2 ** 20, 2 ** 40])('%f times', async (scale) => {
    expect(await answers(scale)).toEqual(await answers(1));
  });
});

async function answers(scale: number) {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const meshes = [scene.mesh(icosphere(1, 3)), scene.mesh(soup(random, 40, 0.5, 1))];
  const any = (): AnyShape => (random.chance(0.4) ? random.pick(meshes) : { shape: randomSolid(random) });
  const sized = (matrix: Matrix4) => new Matrix4().makeScale(scale, scale, scale).multiply(matrix);
  for (let i = 0; i < 200; i++) scene.add(any(), sized(random.placement(random.point(5), ANY_TRANSFORM)));
  return Array.from({ length: 100 }, () => {
    const point = random.point(6).multiplyScalar(scale).toArray();
    const nearest = runToEnd(scene.core.volumes.closestPoint(point, Number.POSITIVE_INFINITY, ALL_FILTER))!;
    return {
      met: [
        ...runToEnd(
          scene.core.volumes.overlap(
            scene.describe(any(), sized(random.placement(random.point(5), ANY_TRANSFORM))),
            ALL_FILTER,
          ),
        ),
      ],
      around: [...runToEnd(scene.core.volumes.containing(point, ALL_FILTER))],
      nearest: [nearest.object, nearest.triangle],
      distance: nearest.distance / scale,
    };
  });
}
