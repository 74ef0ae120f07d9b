// An InstancedMesh got a smaller attribute for far fewer instances, of which many are removed in slices: it was left out for good,
// because those that were still to be removed had no matrices any more.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Ray, Scene, Vector3 } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { frontCamera, settle, UNRENDERED } from '../fixtures/three-picks.js';

const STEP = 2;

function instancesOf(count: number): InstancedMesh {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(STEP * i, 0, 0));
  return mesh;
}

test('20,000 instances that become five, then none, then 9,000 and one, each with an attribute of its own', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const mesh = instancesOf(20_000);
  const tracker = await trackScene(service, new Scene().add(mesh), UNRENDERED);
  const instanceAt = async (i: number): Promise<number | undefined> =>
    (await tracker.raycast(new Ray(new Vector3(STEP * i, 0, 30), new Vector3(0, 0, -1))))?.instanceId;
  for (const count of [5, 0, 9000, 1]) {
    mesh.instanceMatrix = instancesOf(count).instanceMatrix;
    mesh.count = count;
    await settle(tracker, frontCamera());
    expect([...tracker.untracked.values()]).toEqual([]);
    expect(service.stats.objects).toBe(count);
    const expected = count === 0 ? [undefined, undefined] : [0, count - 1];
    expect([await instanceAt(0), await instanceAt(Math.max(0, count - 1))]).toEqual(expected);
    expect(await instanceAt(count)).toBe(undefined);
  }
});
