// Invalid arguments of picks and rays caused a second, unhandled
// rejection if a helper draws them: in Node, that ends the process.
import { createCollisionService } from 'collision-worker';
import { CollisionHelper, trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';

test('what is no ray, and options that are none', async () => {
  const service = await createCollisionService();
  const tracker = await trackScene(service, new Scene());
  new CollisionHelper(tracker);
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => unhandled.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', listen);
  try {
    const refused = { code: 'INVALID_ARGUMENT' };
    await expect(tracker.raycast(undefined as never)).rejects.toMatchObject(refused);
    await expect(tracker.raycast({ origin: [Number.NaN, 0, 0], direction: [0, 0, 1] })).rejects.toMatchObject(refused);
    await expect(tracker.pick(1, 2, null as never)).rejects.toMatchObject(refused);
    await expect(tracker.pickRegion(null as never, null as never)).rejects.toMatchObject(refused);
    await new Promise((resolve) => setImmediate(resolve)); // Node reports them after all reactions
  } finally {
    process.off('unhandledRejection', listen);
    for (const other of others) process.on('unhandledRejection', other);
  }
  expect(unhandled).toEqual([]);
  service.dispose();
});
