// With many objects behind each other under a pointer, each object of the scene searched all hits of the ray, so that the time was
// the product of both.
import type { SceneIntersection } from 'collision-worker/three';
import { Group, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import {
  CENTER_X,
  dispatchPointer,
  forward,
  recordEvents,
  service,
  settleEvents,
  usePointerStage,
} from '../fixtures/pointer-stage.js';
import { track } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

usePointerStage();

const LAYERS = 60;

test('each hit is looked at as often however many objects there are', async () => {
  const cubes = Array.from({ length: LAYERS }, () => cube());
  for (const [i, each] of cubes.entries()) each.position.z = -2 * i;
  const group = new Group().add(...cubes);
  group.addEventListener('pointermove', () => {}); // makes the events ask for all hits
  const tracker = await track(service, new Scene().add(group));
  let [reads, hits] = [0, 0];
  const pickAll = tracker.pickAll.bind(tracker);
  vi.spyOn(tracker, 'pickAll').mockImplementation(async (...given) => {
    const answer = await pickAll(...given);
    hits += answer.length;
    return answer.map(({ object, ...rest }) => {
      const get = () => {
        reads++;
        return object;
      };
      return Object.defineProperty(rest, 'object', { get, enumerable: true }) as SceneIntersection;
    });
  });
  const heard = recordEvents({ first: cubes[0], second: cubes[1] });
  forward(tracker);
  dispatchPointer('pointermove', CENTER_X);
  await settleEvents(tracker);
  await vi.waitFor(
    () => expect(heard).toEqual(['pointerover@first', 'pointerenter@first', 'pointermove@first']),
    10_000,
  );
  expect(hits).toBeGreaterThanOrEqual(LAYERS);
  expect(reads).toBeLessThan(10 * hits);
});
