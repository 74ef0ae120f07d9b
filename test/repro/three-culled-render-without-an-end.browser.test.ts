// With `culling`, `compileAsync` of WebGPURenderer, which begins a render and never ends it, and a render that throws left the
// stand-in for an InstancedMesh in the scene, `frustumCulled` altered and three's frustum test replaced until the next picture.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Frustum, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Scene } from 'three';
import { WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { type Painter, PICTURE } from '../fixtures/flights.js';

withService();

const own = Frustum.prototype.intersectsObject;

/** Draws with culling, runs `act`, and expects the scene to be as the app knows it. */
async function unchangedBy(painter: Painter, act: (scene: Scene, camera: ReturnType<typeof pictureCamera>) => unknown) {
  const row = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 9);
  for (let i = 0; i < 9; i++) row.setMatrixAt(i, new Matrix4().makeTranslation(10 * i, 0, -10));
  row.frustumCulled = false;
  const scene = new Scene().add(row);
  const camera = pictureCamera();
  const tracker = await trackScene(service, scene, { culling: true, objectOptions: () => ({ cullable: true }) });
  for (let frame = 0; frame < 3; frame++) {
    await tracker.update(camera, PICTURE);
    painter.render(scene, camera);
  }
  expect(tracker.culled.instances).toBeGreaterThan(4);
  await act(scene, camera);
  expect([row.children.length, row.frustumCulled, Frustum.prototype.intersectsObject === own]).toEqual([
    0,
    false,
    true,
  ]);
  painter.render(scene, camera);
  expect(tracker.culled.instances).toBeGreaterThan(4);
  tracker.dispose();
}

test('compileAsync', async () => {
  const painter = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await painter.init();
  await unchangedBy(painter, (scene, camera) => painter.compileAsync(scene, camera));
  painter.dispose();
});

test('a render that throws', async () => {
  await unchangedBy(renderer, async (scene, camera) => {
    const thrower = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
    thrower.position.z = -10;
    thrower.onBeforeRender = () => {
      throw new Error('on purpose');
    };
    scene.add(thrower);
    expect(() => renderer.render(scene, camera)).toThrow('on purpose');
    thrower.removeFromParent();
    await null;
  });
});
