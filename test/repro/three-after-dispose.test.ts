// A loop that continued after dispose() was rejected 60 times a second.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { frontCamera, SIZE, settle } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test('a pick that waited for the first view, which went again in the same task, is told that the tracker is disposed', async () => {
  const tracker = await trackScene(service, cube());
  const asked = [tracker.pick(1, 1), tracker.pickRegion({ x: 0, y: 0, width: 9, height: 9 })];
  tracker.update(frontCamera(), SIZE).catch(() => {});
  tracker.dispose();
  for (const answer of asked) {
    const expected = {
      code: 'DISPOSED',
      message: expect.stringMatching(/^(pick|pickRegion): the tracker is disposed/),
    };
    await expect(answer).rejects.toMatchObject(expected);
  }
});

test('that the service is disposed is said of the call that was made', async () => {
  const root = cube();
  const tracker = await trackScene(service, root);
  const coming = trackScene(service, cube());
  service.dispose();
  const gone = (operation: string) => ({ code: 'DISPOSED', message: `${operation}: the service was disposed` });
  await expect(coming).rejects.toMatchObject(gone('trackScene'));
  await expect(trackScene(service, cube())).rejects.toMatchObject(gone('trackScene'));
  await expect(tracker.update(frontCamera(), SIZE)).rejects.toMatchObject(gone('update'));
  expect(() => tracker.teleport(root)).toThrowError(expect.objectContaining(gone('teleport')));
});

describe('a loop that goes on', () => {
  const told: unknown[] = [];
  const tell = (reason: unknown): void => void told.push(reason);
  beforeEach(() => {
    told.length = 0;
    process.on('unhandledRejection', tell);
  });
  afterEach(() => {
    process.off('unhandledRejection', tell);
  });

  test.each(['tracker', 'service'] as const)('after dispose() of the %s is told once', async (which) => {
    const tracker = await trackScene(service, cube());
    await settle(tracker, frontCamera());
    (which === 'tracker' ? tracker : service).dispose();
    for (let i = 0; i < 5; i++) {
      void tracker.update(frontCamera(), SIZE);
      await new Promise((resolve) => setImmediate(resolve)); // rejections are reported between two tasks
    }
    expect(told).toMatchObject([{ code: 'DISPOSED' }]);
    await expect(tracker.update(frontCamera(), SIZE)).rejects.toMatchObject({ code: 'DISPOSED' });
  });
});
