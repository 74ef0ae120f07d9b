// An object that cannot be read rejected every update() of its scene:
// it was read once more, unguarded, to record that it was left out.
import { CollisionError, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, LOD, Mesh, MeshBasicMaterial, type Object3D, PerspectiveCamera, Scene } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';

function revoked(): never {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy as never;
}

const BAD: Record<string, () => Object3D> = {
  'a list of morph targets whose length is a symbol'() {
    const mesh = new Mesh(new BoxGeometry());
    mesh.geometry.morphAttributes.position = { length: Symbol('s') } as never;
    return Object.assign(mesh, { morphTargetInfluences: [1] });
  },
  'a level of a LOD with a geometry that cannot be read': () =>
    new LOD().addLevel(Object.assign(new Mesh(), { geometry: revoked() })),
  'a material that cannot be read': () => Object.assign(new Mesh(new BoxGeometry()), { material: revoked() }),
};

test.each(Object.entries(BAD))('%s leaves out that object alone', async (_, make) => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const camera = new PerspectiveCamera();
  camera.position.z = 10;
  camera.updateMatrixWorld();
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const scene = new Scene().add(box);
  const tracker = await trackScene(service, scene);
  const update = () => tracker.update(camera, { width: 100, height: 100 });
  await update();
  const bad = make();
  scene.add(bad);
  for (let i = 0; i < 5; i++) {
    await update();
    expect((await tracker.pick(50, 50))?.object).toBe(box);
  }
  await expect.poll(async () => (await update()) && tracker.untracked.get(bad)).toBeInstanceOf(CollisionError);
  scene.remove(bad);
  await update();
  expect(tracker.untracked.size).toBe(0);
});
