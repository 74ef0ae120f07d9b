// With `culling: { occlusion }`, occluded objects no longer wrote their stencil, which is written even if they are behind.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  AlwaysStencilFunc,
  BoxGeometry,
  EqualStencilFunc,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  ReplaceStencilOp,
  Scene,
  WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

test('what is shown through a stencil of something hidden', async () => {
  const service = await createCollisionService();
  const renderer = new WebGLRenderer({ antialias: false, stencil: true });
  renderer.setSize(PICTURE.width, PICTURE.height);
  const wall = new Mesh(new BoxGeometry(20, 20, 1), new MeshBasicMaterial({ color: 0x222222 }));
  const marks = { stencilWrite: true, stencilRef: 1, stencilFunc: AlwaysStencilFunc, stencilZFail: ReplaceStencilOp };
  const marker = new Mesh(new BoxGeometry(), new MeshBasicMaterial(marks));
  marker.position.z = -5;
  const shows = { stencilWrite: true, stencilRef: 1, stencilFunc: EqualStencilFunc, depthTest: false };
  const outline = new Mesh(new PlaneGeometry(20, 20), new MeshBasicMaterial({ color: 0xff8800, ...shows }));
  [wall, marker, outline].forEach((mesh, i) => {
    mesh.renderOrder = i;
  });
  const scene = new Scene().add(wall, marker, outline);
  const camera = new PerspectiveCamera(50, PICTURE.width / PICTURE.height, 0.1, 100);
  camera.position.z = 10;
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  for (let i = 0; i < 5; i++) {
    expect(compareCulling(renderer, scene, camera).count).toBe(0);
    await tracker.update(camera, PICTURE);
  }
  // Without the stencil it would be culled.
  marker.material = outline.material = new MeshBasicMaterial();
  marker.material.depthTest = true;
  for (let i = 0; i < 5; i++) {
    renderer.render(scene, camera);
    await tracker.update(camera, PICTURE);
  }
  renderer.render(scene, camera);
  expect(tracker.culled.occluded).toBeGreaterThan(0);
  service.dispose();
  renderer.dispose();
  renderer.forceContextLoss();
});
