// What `objectOptions` and `shapeOf` return was refused in the name of `addInstances`, which the caller had not called.
import { createCollisionService } from 'collision-worker';
import { type SceneDrawable, trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';

test('options and shapes of an object are refused in the name of trackScene', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const scene = new Scene();
  const update = () => tracker.update(new PerspectiveCamera(), { width: 100, height: 100 });
  const [clear, round] = [0, 1].map(() => new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  scene.add(clear, round);
  let group = 1;
  const tracker = await trackScene(service, scene, {
    objectOptions: (object: SceneDrawable) => (object === clear ? { clearance: -1 } : { group }),
    shapeOf: (object: SceneDrawable) => (object === round ? { type: 'sphere', radius: 0 } : undefined),
  });
  await update();
  const messages = () => [...tracker.untracked.values()].map(({ message }) => message);
  expect(messages()).toEqual([
    'trackScene: clearance is -1, expected a finite number >= 0',
    'trackScene: shape.radius is 0, expected a finite number > 0',
  ]);
  group = -1;
  scene.remove(clear);
  tracker.changed(round);
  await update();
  expect(messages()).toEqual([expect.stringMatching(/^trackScene: /)]);
});
