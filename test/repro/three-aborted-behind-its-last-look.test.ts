// trackScene was aborted in the task between its last check of the
// scene and its result, and resolved to a tracker that was disposed.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';

test('trackScene rejects when it is aborted behind its last look', async () => {
  const service = await createCollisionService();
  const abort = new AbortController();
  const tracking = trackScene(service, new Scene(), { signal: abort.signal });
  // Before that it only waits for promises that are resolved already.
  setImmediate(() => abort.abort());
  await expect(tracking).rejects.toMatchObject({ code: 'ABORTED' });
  service.dispose();
});
