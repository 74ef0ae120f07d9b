// A query that has to ask the service a second time, because of objects that other code has added, took the hit for one on the
// geometry that stood at its first question: with another one since then, it named a face of the wrong geometry, or was rejected
// with a RangeError.
import type { CollisionService } from 'collision-worker';
import type { SceneTracker } from 'collision-worker/three';
import { BoxGeometry, LineBasicMaterial, LineSegments, Matrix4, Mesh, Scene, SphereGeometry } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, settle, track, UNRENDERED } from '../fixtures/three-picks.js';

withService();

interface Answer {
  readonly face?: unknown;
  readonly faceIndex?: number | null | undefined;
}

const at = (z: number): Matrix4 => new Matrix4().makeTranslation(0.1, 0.2, z);

/** The queries, with the service's method that they ask first, and whether lines are in the scene. */
const QUERIES: [keyof CollisionService, boolean, (tracker: SceneTracker) => Promise<Answer | null>][] = [
  ['raycast', false, (tracker) => tracker.raycast({ origin: [0.1, 0.2, 10], direction: [0, 0, -1] })],
  ['sweep', false, (tracker) => tracker.sweep({ type: 'sphere', radius: 0.1 }, at(8), at(-3))],
  ['closestPoint', false, (tracker) => tracker.closestPoint([0.1, 0.2, 2.9])],
  ['pick', false, (tracker) => tracker.pick(SIZE.width / 2 + 1, SIZE.height / 2 - 2)],
  ['pick', true, (tracker) => tracker.pick(SIZE.width / 2 + 1, SIZE.height / 2 - 2)],
];

test.each(QUERIES)('%s (lines: %s) names a face of the geometry that its second question met', async (...query) => {
  const [method, hasLines, ask] = query;
  const geometries = [new BoxGeometry(2, 2, 2), new SphereGeometry(1, 64, 64)];
  for (const [former, geometry] of [geometries, geometries.toReversed()]) {
    const mesh = new Mesh(former);
    const scene = new Scene().add(mesh);
    const lines = new LineSegments(new BoxGeometry(), new LineBasicMaterial());
    lines.position.y = 100;
    if (hasLines) scene.add(lines);
    const tracker = await track(service, scene, undefined, UNRENDERED);
    const stranger = service.addObject({ shape: { type: 'box', halfExtents: [3, 3, 0.1] }, matrix: at(3).elements });
    const first = service[method] as (...args: unknown[]) => Promise<unknown>;
    vi.spyOn(service, method as 'raycast').mockImplementationOnce(async (...args) => {
      const answer = await first.apply(service, args);
      mesh.geometry = geometry;
      await settle(tracker, frontCamera());
      return answer as never;
    });
    const answer = await ask(tracker);
    service.removeObject(stranger);
    const expected = await ask(tracker);
    expect(expected!.face).not.toBeNull();
    expect([answer!.face, answer!.faceIndex]).toEqual([expected!.face, expected!.faceIndex]);
    tracker.dispose();
  }
});
