// Bounds of searches are float32, a sixteenth of a unit apart at 10⁶: nothing is skipped for that. A scene that is 10⁶
// wide keeps its origin in the middle, and its objects lie that far from it.

import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, type NearObject, NearScene } from '../../../fixtures/near-scene.js';
import { Random, SEED } from '../../../oracle/random.js';

const FAR = 1e6;
const COUNT = 400;

/** Spheres around both ends of a scene this wide. */
async function wideScene(
  random: Random,
  axis: number,
): Promise<{ scene: NearScene; ends: Map<NearObject, Vector3>[] }> {
  const scene = await NearScene.at(new Vector3());
  const ends = [-FAR, FAR].map((end) => {
    const centres = new Map<NearObject, Vector3>();
    for (let i = 0; i < COUNT; i++) {
      const centre = random.point(20);
      centre.setComponent(axis, centre.getComponent(axis) + end);
      const sphere = { shape: { type: 'sphere', radius: 0.5 } } as const;
      centres.set(scene.add(sphere, new Matrix4().setPosition(centre)), centre);
    }
    return centres;
  });
  return { scene, ends };
}

describe.each(['x', 'y', 'z'].map((name, axis) => ({ name, axis })))(
  `far apart along $name, seed ${SEED}`,
  ({ axis }) => {
    test('what just touches a shape is found, whatever side it is on', async () => {
      const random = new Random(SEED);
      const { scene, ends } = await wideScene(random, axis);
      for (const centres of ends) {
        for (const centre of centres.values()) {
          // A probe whose gap to the sphere along an axis of the world is known: its bounds overlap by as little.
          for (const overlap of [1e-7, -1e-7]) {
            const across = random.integer(3);
            const at = centre.clone();
            const step = random.pick([-1, 1]) * (0.5 + 0.01 - overlap);
            at.setComponent(across, at.getComponent(across) + step);
            const truth = [...centres].filter(([, other]) => other.distanceTo(at) <= 0.51).map(([{ id }]) => id);
            const probe = scene.describe({ shape: { type: 'sphere', radius: 0.01 } }, new Matrix4().setPosition(at));
            expect([...runToEnd(scene.core.volumes.overlap(probe, ALL_FILTER))]).toEqual(truth.sort((a, b) => a - b));
          }
        }
      }
    });

    test('a point just inside is contained, and one just outside is not', async () => {
      const random = new Random(SEED);
      const { scene, ends } = await wideScene(random, axis);
      for (const centres of ends) {
        for (const centre of centres.values()) {
          const across = new Vector3().setComponent(random.integer(3), random.pick([-1, 1]));
          for (const reach of [0.5 - 1e-7, 0.5 + 1e-7]) {
            const point = centre.clone().addScaledVector(across, reach);
            const truth = [...centres].filter(([, other]) => other.distanceTo(point) <= 0.5).map(([{ id }]) => id);
            expect([...runToEnd(scene.core.volumes.containing(point.toArray(), ALL_FILTER))]).toEqual(
              truth.sort((a, b) => a - b),
            );
          }
        }
      }
    });

    test('the nearest is found from nearby and from the other end of the scene', async () => {
      const random = new Random(SEED);
      const { scene, ends } = await wideScene(random, axis);
      const all = new Map([...ends[0], ...ends[1]]);
      for (let i = 0; i < COUNT; i++) {
        const point = random.point(random.pick([1, 25, FAR]));
        const shift = random.pick([-FAR, FAR, -3 * FAR, 3 * FAR, 0]);
        point.setComponent(axis, point.getComponent(axis) + shift);
        let nearest = Number.POSITIVE_INFINITY;
        for (const centre of all.values()) nearest = Math.min(nearest, Math.max(0, centre.distanceTo(point) - 0.5));
        const found = runToEnd(scene.core.volumes.closestPoint(point.toArray(), Number.POSITIVE_INFINITY, ALL_FILTER))!;
        expect(Math.abs(found.distance - nearest)).toBeLessThan(1e-8);
        // A limit that barely suffices, and one that barely does not.
        const limits = [nearest * (1 + 1e-12) + 1e-8, nearest * (1 - 1e-12) - 1e-8];
        const answers = limits.map(
          (limit) => limit < 0 || runToEnd(scene.core.volumes.closestPoint(point.toArray(), limit, ALL_FILTER)),
        );
        expect(answers.map(Boolean)).toEqual([true, limits[1] < 0]);
      }
    });
  },
);
