// trackScene was aborted in the task between its last look at the scene and its answer, and answered a tracker that was
// disposed of.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';

test('trackScene rejects when it is aborted behind its last look', async () => {
  const service = await createCollisionService();
  const abort = new AbortController();
  const tracking = trackScene(service, new Scene(), { signal: abort.signal });
  // All that it waits for before is promises that are resolved.
  setImmediate(() => abort.abort());
  await expect(tracking).rejects.toMatchObject({ code: 'ABORTED' });
  service.dispose();
});
