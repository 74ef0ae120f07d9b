// With `culling`, every `update` was rejected once a camera had its far plane at infinity: if its matrix had it there and its
// `far` did not, and forever even if it was there in only one frame. Such a view has no margin. `margin: 'motion'` was refused in
// the frames after such a one, too.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test } from 'vitest';

const SIZE = { width: 200, height: 100 };

/** Puts the far plane at infinity, as a page does by hand. */
function endless({ projectionMatrix }: PerspectiveCamera): void {
  projectionMatrix.elements.splice(10, 5, -1, -1, 0, 0, -0.2);
}

test.each([true, false])('updates go on, with culling: %s', async (culling) => {
  const service = await createCollisionService({ builders: 0 });
  onTestFinished(() => service.dispose());
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const camera = new PerspectiveCamera(60, 2, 0.1, 100);
  camera.position.z = 5;
  const tracker = await trackScene(service, new Scene().add(box), { culling });
  const motion = { margin: 'motion' } as const;
  const seen = async (options = culling ? {} : motion) => {
    camera.rotation.y += 0.01;
    const frame = await tracker.update(camera, SIZE, options);
    let isThere = false;
    frame.forEachVisible(({ object }) => {
      isThere ||= object === box;
    });
    return isThere;
  };
  for (let round = 0; round < 2; round++) {
    camera.updateProjectionMatrix();
    expect(await seen()).toBe(true);
    expect(await seen()).toBe(true);
    endless(camera);
    if (culling) for (let frame = 0; frame < 3; frame++) expect(await seen()).toBe(true);
    await expect(seen(motion)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    tracker.setView(camera, SIZE, 'main', { margin: 1 });
  }
});
