// clash waited for the end of a tile when its signal aborted halfway through, and resolved with a report if it was the last tile.
// It also resolved if the signal aborted behind the last tile.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { clash } from 'collision-worker/clash';
import { expect, test, vi } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';

test('an abort in the midst of the last tile rejects', async () => {
  const controller = new AbortController();
  const service = await createCollisionService();
  service.dispose();
  const ofAll: CollisionService = Object.getPrototypeOf(service);
  const { update } = ofAll;
  const spy = vi.spyOn(ofAll, 'update').mockImplementation(function (this: CollisionService) {
    const answer = update.call(this);
    controller.abort('enough');
    return answer;
  });
  try {
    const parts = ['a', 'b'].map((id) => ({ id, mesh: boxMesh(1, 1, 1) }));
    const report = clash(parts, null, [{ name: 'hard', kind: 'hard' }], { signal: controller.signal });
    await expect(report).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
    expect(spy).toHaveBeenCalledOnce();
  } finally {
    spy.mockRestore();
  }
});

test('an abort by the last call of onProgress rejects', async () => {
  const controller = new AbortController();
  const parts = ['a', 'b'].map((id) => ({ id, mesh: boxMesh(1, 1, 1) }));
  const report = clash(parts, null, [{ name: 'hard', kind: 'hard' }], {
    signal: controller.signal,
    onProgress: ({ fraction }) => fraction === 1 && controller.abort('enough'),
  });
  await expect(report).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
});
